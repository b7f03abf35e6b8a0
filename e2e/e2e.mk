# Target of the end-to-end tests; the Makefile of the repository includes this file.
.PHONY: e2e

e2e: charts-tools images ## The chart in a real Kubernetes on this machine, about 15 minutes (CASE=name: one case)
	@PGW_CACHE=$(CACHE) e2e/run $(CASE)
