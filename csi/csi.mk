# Targets of the Go module; the Makefile of the repository includes this file.
CSI_VERSION ?= dev
CSI_GO_TEST_FLAGS ?= -race -timeout 300s
BUILD_TARGETS += csi-build
CHECK_TARGETS += csi-check
TEST_TARGETS += csi-test

.PHONY: csi-build csi-check csi-test csi-generate

csi-build:
	mkdir -p csi/bin
	cd csi && CGO_ENABLED=0 go build -trimpath -buildvcs=false \
	  -ldflags '-s -w -X posixgateway.io/csi/internal/version.Version=$(CSI_VERSION)' -o bin/ ./cmd/...

csi-check:
	cd csi && test -z "$$(gofmt -l . | tee /dev/stderr)" && go vet ./... && ./generate.sh --check

csi-test:
	cd csi && go test $(CSI_GO_TEST_FLAGS) ./...

csi-generate:
	csi/generate.sh
