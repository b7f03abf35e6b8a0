# After helm install, the kubelet knows the driver, every pod is ready, and metrics and health are there.
rolled_out
kubectl get csinodes -o 'jsonpath={.items[*].spec.drivers[*].name}' | grep -qw $driver || die "no node lists the driver $driver"
node=$(pod_of node)
for port in 9400 9401; do
  kubectl get --raw "/api/v1/namespaces/$system/pods/$node:$port/proxy/healthz" >/dev/null || die "port $port of $node is not healthy"
done
[ "$(metric keeper 9402 posix_gateway_keeper_sessions)" = 0 ] || die "a fresh keeper has sessions"
