# helm uninstall while a pod uses a volume: that pod ends after the chart is back. Without such pods nothing is left. Claims of
# retained classes stay as they are; a second install works.
needs_node
install() {
  helm install "$RELEASE" "$E2E_ROOT/charts/posix-gateway" -n $system -f "$E2E_ROOT/e2e/values.yaml" --wait --timeout 5m >/dev/null
  rolled_out
}
uninstall() {
  helm uninstall "$RELEASE" -n $system --wait --timeout 3m >/dev/null
  until_true 120 "end of all pods" no_pods
}
no_pods() { [ -z "$(kubectl -n $system get pods -o name)" ]; }

claim last
pod final last 'echo bye > /data/bye; echo ready; sleep infinity'
running final
until_true 60 "first write" logs_say final ready
uninstall
kubectl -n "$NAMESPACE" get pod final -o 'jsonpath={.status.phase}' | has Running || die "the pod was ended by helm uninstall"
kubectl -n "$NAMESPACE" delete pod final --wait=false >/dev/null
install
until_true 120 "end of the pod that outlived its driver" eval '! kubectl -n "$NAMESPACE" get pod final'
no_leak
remove pvc last

claim again
pod user again 'echo again > /data/file; cat /data/file'
succeeds user
remove pod user
remove pvc again
uninstall
until_true 60 "end of all mounts" no_mounts
# For who goes on in a cluster that is kept.
[ -z "${PGW_E2E_KEEP:-}${PGW_E2E_WORK:-}" ] || install
