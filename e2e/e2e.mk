# Targets of the end-to-end tests; the Makefile of the repository includes this file.
.PHONY: e2e e2e-short

e2e: charts-tools images-current ## The chart in a real Kubernetes on this machine, about 10 minutes (CASE=name: one case)
	@e2e/run $(CASE)

e2e-short: ## The same in short: up, install, a claim, a kill, down; skipped, with the reason, where no cluster can be had
	@$(AGAIN) e2e/short
