# Targets of the end-to-end tests; the Makefile of the repository includes this file.
.PHONY: e2e e2e-short

e2e: charts-tools images ## The chart in a real Kubernetes on this machine, about 20 minutes (CASE=name: one case)
	@PGW_CACHE=$(CACHE) e2e/run $(CASE)

e2e-short: charts-tools images ## The same in short: up, install, a claim, a kill, down
	@PGW_CACHE=$(CACHE) PGW_E2E_KILLS=1 e2e/run 01-install 02-dynamic-claim 07-gateway-killed
