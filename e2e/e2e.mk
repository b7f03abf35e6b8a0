# Targets of the end-to-end tests; the Makefile of the repository includes this file.
.PHONY: e2e e2e-short

e2e: charts-tools images-current ## Test the chart in a real Kubernetes on this machine, about 10 minutes (CASE=name: one case)
	@e2e/run $(CASE)

e2e-short: ## The short form of e2e: install, a claim, a kill; skipped, with the reason, where no cluster can run
	@$(AGAIN) e2e/short
