# Targets of the images; the Makefile of the repository includes this file.
CHECK_TARGETS += docker-check

.PHONY: docker-check images

docker-check:
	@echo "==> checking the Dockerfiles"
	@$(VENV)/hadolint docker/*.Dockerfile

images: setup-cluster java-build ## Build the images, start each once, print their sizes
	@PGW_CACHE=$(CACHE) docker/build
	@docker/smoke
