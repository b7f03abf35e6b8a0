# After helm install, the kubelet knows the driver, every pod is ready, and metrics and health are there. The first pod starts
# within 5 s of being scheduled; of a later one the driver's calls take at most 1 s (PGW_E2E_SLACK: so many times as long).
rolled_out
kubectl get csinodes -o 'jsonpath={.items[*].spec.drivers[*].name}' | has -w $driver || die "no node lists the driver $driver"
for port in 9400 9401; do
  page node $port healthz >/dev/null || die "port $port of the node pod is not healthy"
done
ready() { [ "$(metric "$1" 9400 posix_gateway_ready)" = 1 ]; }
for one in node controller; do until_true 60 "readiness of the gateway of the $one" ready $one; done
sessions_are 0 || die "a fresh keeper has sessions"

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
  staging=$(less "$(seconds NodeStageVolume)" "$before") publishing=$(less "$(seconds NodePublishVolume)" "$published")
  figure "$nth mount: staged in $staging s, published in $publishing s, the container started $started s after the pod was scheduled"
  [ "$started" -le $((5 * ${PGW_E2E_SLACK:-1})) ] || die "the $nth pod started only after $started s"
done
awk "BEGIN { exit !($staging + $publishing <= 1 * ${PGW_E2E_SLACK:-1}) }" || die "the calls for a later mount took $staging and $publishing s"
