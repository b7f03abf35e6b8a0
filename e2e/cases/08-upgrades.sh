# New node pods, then new keeper pods, then helm upgrade to new images and back, then new node pods that start beside the old
# ones, under load: no call fails.
needs_node
claim moving
pod mover moving "$(load mover)"
running mover
until_true 120 "first rounds" logs_say mover working
kubectl -n $system rollout restart daemonset/"$RELEASE"-node >/dev/null
rolled_out
generation() { kubectl -n $system get pod "$(pod_of keeper)" -o 'jsonpath={.metadata.uid}'; }
before=$(generation)
kubectl -n $system rollout restart daemonset/"$RELEASE"-keeper >/dev/null
rolled_out
[ "$(generation)" != "$before" ] || die "the keeper's pod was not replaced"
until_true 60 "session of the new keeper" sessions_are 1
kill_gateway

version=$(sed -n 's/^appVersion: *//p' "$E2E_ROOT/charts/posix-gateway/Chart.yaml")
for image in posix-gateway posix-gateway-csi; do
  on_node ctr -n k8s.io images tag --force docker.io/library/$image:"$version" docker.io/library/$image:next >/dev/null
done
helm upgrade "$RELEASE" "$E2E_ROOT/charts/posix-gateway" -n $system --reset-then-reuse-values --set image.gateway.tag=next,image.csi.tag=next \
  --wait --timeout 5m >/dev/null
rolled_out
kubectl -n $system get pod "$(pod_of node)" -o 'jsonpath={.spec.containers[*].image}' | has 'posix-gateway:next' || die "the node pod has its old image"
until_true 60 "session of the upgraded keeper" sessions_are 1
helm rollback "$RELEASE" -n $system --wait --timeout 5m >/dev/null
rolled_out

surge=node.updateStrategy.rollingUpdate
helm upgrade "$RELEASE" "$E2E_ROOT/charts/posix-gateway" -n $system --reset-then-reuse-values --set $surge.maxSurge=1,$surge.maxUnavailable=0 \
  --wait --timeout 5m >/dev/null
pod surfer moving "$(load surfer)"
running surfer
until_true 120 "first rounds" logs_say surfer working
kubectl -n $system rollout restart daemonset/"$RELEASE"-node >/dev/null
rolled_out
helm rollback "$RELEASE" -n $system --wait --timeout 5m >/dev/null
rolled_out
stop_load moving mover surfer
