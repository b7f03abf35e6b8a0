# What the training jobs of the examples and of the end-to-end tests run in: Debian's PyTorch. Context: an empty folder.
ARG BASE=docker.io/library/debian:bookworm-slim
# The tag is in the argument.
# hadolint ignore=DL3006
FROM ${BASE}
# hadolint ignore=DL3008
RUN apt-get update \
    && apt-get install -y --no-install-recommends python3-torch python3-torchvision \
    && apt-get clean \
    && rm -rf /var/lib/apt/lists/* /usr/share/doc /usr/share/man /usr/share/locale
USER 1000:1000
