# Targets of the images; the Makefile of the repository includes this file.
CHECK_TARGETS += docker-check
TEST_TARGETS += docker-test
FAULT_TARGETS += launch-test

.PHONY: docker-check docker-test launch-test images-test images images-current images-arm64

docker-check:
	@echo "==> checking the Dockerfiles"
	@$(VENV)/hadolint docker/*.Dockerfile

docker-test: $(BUILT)
	@echo "==> testing the bill of materials"
	@PYTHONDONTWRITEBYTECODE=1 $(VENV)/python docker/dependencies_test.py --quiet
	@echo "==> testing whom the gateway's folders are given to"
	@docker/own-test

launch-test: $(BUILT)
	@echo "==> testing the image's launcher, and how soon it starts the gateway again"
	@$(AGAIN) docker/launch-test

images-test: $(BUILT) ## Build the images, also for arm64, and start each; skipped, with the reason, where that is impossible
	@$(AGAIN) docker/test

images: setup-cluster java-build ## Build the images, start each once, print their sizes
	@docker/build
	@docker/smoke
	@docker/current --note

# The same, unless they are there already, of these sources.
images-current:
	@docker/current || $(MAKE) --no-print-directory images

# The gateway's and the driver's images for arm64, cross-compiled and started under qemu.
images-arm64: setup-cluster java-build
	@PGW_ARCH=arm64 docker/build gateway csi
	@docker/smoke-arm64
	@PGW_ARCH=arm64 docker/current --note
