# The CSI driver and the keeper: two static programs and nothing else. Context: the folder csi/bin of one architecture.
FROM scratch
ARG VERSION=0.0.0
LABEL org.opencontainers.image.title="Alluxio POSIX Gateway: CSI driver and keeper" \
      org.opencontainers.image.description="Has volumes mounted for the kubelet, and holds their mounts" \
      org.opencontainers.image.licenses="Apache-2.0" \
      org.opencontainers.image.version="${VERSION}"
COPY posix-gateway-csi posix-gateway-keeper /
# The driver's and the keeper's work on nodes needs root; the chart runs the controller as an ordinary user.
# hadolint ignore=DL3002
USER 0:0
ENTRYPOINT ["/posix-gateway-csi"]
