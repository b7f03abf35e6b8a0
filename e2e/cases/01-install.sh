# After helm install, the kubelet knows the driver, every pod is ready, and metrics and health are there. Says how long the
# first mount takes, and the next.
rolled_out
kubectl get csinodes -o 'jsonpath={.items[*].spec.drivers[*].name}' | has -w $driver || die "no node lists the driver $driver"
for port in 9400 9401; do
  page node $port healthz >/dev/null || die "port $port of the node pod is not healthy"
done
[ "$(metric keeper 9402 posix_gateway_keeper_sessions)" = 0 ] || die "a fresh keeper has sessions"

# seconds METHOD: in all calls so far.
seconds() { metric node 9401 posix_gateway_csi_operation_seconds_sum "\"$1\""; }
less() { awk "BEGIN { printf \"%.2f\", $1 - $2 }"; }
for nth in first second; do
  claim $nth
  before=$(seconds NodeStageVolume) published=$(seconds NodePublishVolume)
  pod $nth $nth 'echo here > /data/file; cat /data/file'
  succeeds $nth
  started=$(kubectl -n "$NAMESPACE" get pod $nth -o json | jq '(.status.containerStatuses[0].state.terminated.startedAt | fromdate) -
    (.status.conditions[] | select(.type == "PodScheduled") | .lastTransitionTime | fromdate)')
  figure "$nth mount: staged in $(less "$(seconds NodeStageVolume)" "$before") s, published in $(less "$(seconds NodePublishVolume)" "$published") s," \
    "the container started $started s after the pod was scheduled"
  [ "$started" -le "${PGW_E2E_FIRST_MOUNT:-15}" ] || die "the $nth pod started only after $started s"
done
