# An Alluxio master or worker for trials of the chart; not for production. Contexts: the folder of server jars, and the
# gateway's image, whose Java it uses.
ARG BASE=docker.io/library/debian:bookworm-slim
ARG GATEWAY
# The tag is in the argument.
# hadolint ignore=DL3006
FROM ${BASE} AS shell
# hadolint ignore=DL3008
RUN apt-get update && apt-get install -y --no-install-recommends busybox-static && rm -rf /var/lib/apt/lists/*

# The tag is in the argument.
# hadolint ignore=DL3006
FROM ${GATEWAY}
ARG VERSION=0.0.0
LABEL org.opencontainers.image.title="Alluxio for trials of the Alluxio POSIX Gateway" \
      org.opencontainers.image.description="One master or one worker; not for production" \
      org.opencontainers.image.licenses="Apache-2.0" \
      org.opencontainers.image.version="${VERSION}"
# The shell that runs the script, with mkdir and ls in it.
COPY --from=shell /bin/busybox /usr/bin/sh
COPY lib/ /opt/alluxio/lib/
COPY --chmod=755 alluxio-server /opt/alluxio/bin/alluxio-server
ENTRYPOINT ["/opt/alluxio/bin/alluxio-server"]
CMD ["master"]
