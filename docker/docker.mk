# Targets of the images; the Makefile of the repository includes this file.
CHECK_TARGETS += docker-check
TEST_TARGETS += docker-test

.PHONY: docker-check docker-test images images-current images-arm64

docker-check:
	@echo "==> checking the Dockerfiles"
	@$(VENV)/hadolint docker/*.Dockerfile

docker-test: java-build
	@echo "==> testing the bill of materials, the image's launcher, and the images"
	@PYTHONDONTWRITEBYTECODE=1 $(VENV)/python docker/dependencies_test.py --quiet
	@$(AGAIN) docker/launch-test
	@$(AGAIN) docker/test

images: setup-cluster java-build ## Build the images, start each once, print their sizes
	@docker/build
	@docker/smoke
	@docker/current --note

images-current: ## The same, unless they are there already, of these sources
	@docker/current || $(MAKE) --no-print-directory images

images-arm64: setup-cluster java-build ## The gateway's and the driver's images for arm64, cross-compiled and started under qemu
	@PGW_ARCH=arm64 docker/build gateway csi
	@docker/smoke-arm64
	@PGW_ARCH=arm64 docker/current --note
