# What the pods of the end-to-end tests run, the sandboxes of pods included. Context: an empty folder.
ARG BASE=docker.io/library/debian:bookworm-slim
# The tag is in the argument.
# hadolint ignore=DL3006
FROM ${BASE}
ENV PATH=/usr/sbin:/usr/bin:/sbin:/bin
ENTRYPOINT ["/bin/sleep", "infinity"]
