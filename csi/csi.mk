# Targets of the Go module; the Makefile of the repository includes this file.
CSI_VERSION ?= dev
CSI_GO_TEST_FLAGS ?= -race -timeout 300s
BUILD_TARGETS += csi-build
CHECK_TARGETS += csi-check
TEST_TARGETS += csi-test

.PHONY: csi-build csi-check csi-test csi-test-long csi-generate

csi-build:
	mkdir -p csi/bin
	cd csi && CGO_ENABLED=0 go build -trimpath -buildvcs=false \
	  -ldflags '-s -w -X posixgateway.io/csi/internal/version.Version=$(CSI_VERSION)' -o bin/ ./cmd/...

csi-check:
	cd csi && test -z "$$(gofmt -l . | tee /dev/stderr)" && go vet ./... && ./generate.sh --check

csi-test: java-build
	@echo "==> testing the CSI driver and the keeper"
	@cd csi && go test $(CSI_GO_TEST_FLAGS) ./...
	@echo "==> csi-sanity with the real keeper, gateway and Alluxio"
	@cd csi && test/with-alluxio go test $(CSI_GO_TEST_FLAGS) -count=1 -run TestSanity ./test

csi-test-long: java-build ## The driver's fault and load tests with the real gateway and Alluxio, about 6 min
	@cd csi && test/with-alluxio go test -race -timeout 1200s -count=1 -v ./test

csi-generate:
	csi/generate.sh
