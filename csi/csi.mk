# Targets of the Go module; the Makefile of the repository includes this file.
CSI_VERSION ?= dev
CSI_GO_TEST_FLAGS ?= -race -timeout 300s
# Those of the tests with the real gateway that are run each time.
CSI_SHORT := TestSanity|TestTheUser|TestTheGroup|TestAGatewayWithout|TestAlluxioProperties|TestTheDashboards
# Where programs go, below csi/ or absolute.
CSI_BIN ?= bin/
GOLANGCI_VERSION := v2.15.0
GOLANGCI := $(CACHE)/bin/golangci-lint-$(GOLANGCI_VERSION)
GOVULNCHECK := golang.org/x/vuln/cmd/govulncheck@v1.8.0
BUILD_TARGETS += csi-build
CHECK_TARGETS += csi-check
TEST_TARGETS += csi-short-test csi-test
FAULT_TARGETS += csi-fault-test csi-hung-test

# How often keeper and gateway are killed in the same instant.
ROUNDS ?= 30

.PHONY: csi-build csi-check csi-test csi-short-test csi-fault-test csi-hung-test csi-kill-test csi-test-long csi-fuzz csi-generate vuln

# Without gRPC's own tracing, whose templates make the linker keep every method of every Kubernetes type: 21 MB less.
csi-build:
	@echo "==> building the CSI driver and the keeper"
	@cd csi && CGO_ENABLED=0 go build -trimpath -buildvcs=false -tags grpcnotrace \
	  -ldflags '-s -w -X posixgateway.io/csi/internal/version.Version=$(CSI_VERSION)' -o $(CSI_BIN) ./cmd/...

csi-check: $(GOLANGCI)
	@echo "==> checking the Go module"
	@cd csi && test -z "$$(gofmt -l . | tee /dev/stderr)" && go mod verify >/dev/null && go mod tidy -diff
	@cd csi && $(GOLANGCI) run ./...
	@cd csi && ./generate.sh --check

# About two minutes on two cores the first time.
$(GOLANGCI):
	@echo "==> building golangci-lint $(GOLANGCI_VERSION)"
	@mkdir -p $(CACHE)/bin && work=$$(mktemp -d) && \
	  GOBIN=$$work go install -trimpath -ldflags '-s -w' github.com/golangci/golangci-lint/v2/cmd/golangci-lint@$(GOLANGCI_VERSION) && \
	  mv $$work/golangci-lint $@ && rmdir $$work

# Known vulnerabilities of the Go module (GOVULNDB names another database than vuln.go.dev).
vuln:
	@cd csi && go run $(GOVULNCHECK) $(if $(GOVULNDB),-db $(GOVULNDB)) -tags grpcnotrace ./cmd/...

csi-test:
	@echo "==> testing the CSI driver and the keeper"
	@cd csi && $(AGAIN) go test -v $(CSI_GO_TEST_FLAGS) $$(go list ./... | grep -v '/csi/test$$')

CSI_TEST_WITH_ALLUXIO = cd csi && PGW_PYTHON=$(VENV)/python $(AGAIN) test/with-alluxio go test -v $(CSI_GO_TEST_FLAGS) -count=1

csi-short-test: $(BUILT)
	@echo "==> csi-sanity, users, groups, privileges and dashboards, with the real keeper, gateway and Alluxio"
	@$(CSI_TEST_WITH_ALLUXIO) -run '$(CSI_SHORT)' ./test

csi-fault-test:
	@echo "==> the driver, the keeper and a stand-in for the gateway, killed and hung"
	@cd csi && $(AGAIN) go test -v $(CSI_GO_TEST_FLAGS) ./test

csi-hung-test: $(BUILT)
	@echo "==> an Alluxio that hangs, with the real keeper and gateway"
	@$(CSI_TEST_WITH_ALLUXIO) -run TestAHungAlluxio ./test

# Keeper and gateway killed in the same instant under load, ROUNDS times (30), about 10 s each: a stand-in for the gateway, then the
# real one with an Alluxio.
csi-kill-test: java-build
	@cd csi && PGW_KILL_ROUNDS=$(ROUNDS) test/with-alluxio go test -race -timeout 3600s -count=1 -v -run 'TestKeeperAndGatewayKilledTogether$(if $(GATEWAY),/$(GATEWAY))' ./test

# The driver's fault and load tests too, with the real gateway and Alluxio, about 7 min.
csi-test-long: java-build
	@cd csi && PGW_PYTHON=$(VENV)/python test/with-alluxio go test -race -timeout 1200s -count=1 -v ./test

# Package and target of each; what one finds is written below testdata/fuzz of the package: commit it with the repair.
CSI_FUZZ := attributes:FuzzParse attributes:FuzzParseClass driver:FuzzVolumeID driver:FuzzControlReplies keeperapi:FuzzRequest

# Volume attributes, ids, the keeper's and the gateway's protocol, fuzzed (FUZZ_SECONDS=60 each).
csi-fuzz:
	@cd csi && set -e; for each in $(CSI_FUZZ); do echo "==> fuzzing $$each"; \
	  go test -run '^$$' -fuzz "^$${each#*:}\$$" -fuzztime $(or $(FUZZ_SECONDS),60)s ./internal/$${each%:*}; done

csi-generate:
	csi/generate.sh
