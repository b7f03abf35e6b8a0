# Targets of the chart; the Makefile of the repository includes this file.
CHECK_TARGETS += charts-check
TEST_TARGETS += charts-test

HELM := $(CACHE)/bin/helm
HELM_UNITTEST := $(CACHE)/bin/helm-unittest

.PHONY: charts-check charts-test charts-docs charts-pictures charts-tools

# Helm and helm-unittest at the versions of charts/tools/go.mod; a few minutes the first time.
charts-tools:
	@sums=$$(cat charts/tools/go.mod charts/tools/go.sum | sha256sum); stamp=$(CACHE)/bin/.charts-tools; \
	if ! [ -x $(HELM) ] || ! [ -x $(HELM_UNITTEST) ] || [ "$$(cat $$stamp 2>/dev/null)" != "$$sums" ]; then \
	  echo "==> building Helm and helm-unittest"; mkdir -p $(CACHE)/bin && cd charts/tools && \
	  CGO_ENABLED=0 go build -trimpath -buildvcs=false -ldflags '-s -w' -o $(CACHE)/bin/ tool && echo "$$sums" >$$stamp; \
	fi

charts-check: charts-tools
	@echo "==> checking the chart: its tables, lint, alerts, the API of each Kubernetes version"
	@$(VENV)/python charts/tools/values_docs.py check charts/posix-gateway
	@$(VENV)/python charts/tools/privileges.py check charts/posix-gateway docs/security.md $(HELM)
	@$(VENV)/python charts/tools/dashboards.py check charts/posix-gateway
	@$(VENV)/python charts/tools/grafana_schema.py charts/posix-gateway/dashboards/*.json
	@$(VENV)/python charts/tools/dashboards.py refer charts/posix-gateway \
	  docs/metrics.md csi/docs/metrics.md csi/README.md docs/operations.md
	@$(VENV)/python charts/tools/dashboards.py rules charts/posix-gateway >$(CACHE)/dashboard-rules.yaml
	@promtool check rules charts/posix-gateway/files/alerts.yaml $(CACHE)/dashboard-rules.yaml
	@PGW_TOOLS=$(CACHE) charts/validate

charts-test: charts-tools
	@echo "==> testing the chart"
	@$(HELM_UNITTEST) -f 'unittests/*_test.yaml' charts/posix-gateway
	@promtool test rules charts/tests/alerts.yaml
	@charts/tests/complete
	@charts/tests/seccomp
	@PGW_PYTHON=$(VENV)/python charts/tests/schema

# The chart's README table, values.schema.json and dashboards; the table of docs/security.md.
charts-docs: charts-tools
	@$(VENV)/python charts/tools/values_docs.py write charts/posix-gateway
	@$(VENV)/python charts/tools/privileges.py write charts/posix-gateway docs/security.md $(HELM)
	@$(VENV)/python charts/tools/dashboards.py write charts/posix-gateway

# Pictures of the dashboards from a loaded gateway, about 3 min (docs/images).
charts-pictures: java-build
	@mkdir -p docs/images
	@cd csi && PGW_DRAW=$(CURDIR)/docs/images PGW_PYTHON=$(VENV)/python \
	  test/with-alluxio go test -timeout 600s -count=1 -run TestTheDashboards ./test
