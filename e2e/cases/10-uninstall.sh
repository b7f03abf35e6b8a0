# helm uninstall leaves no mount and no pod; claims of retained classes stay as they are; a second install works.
needs_node
claim last
pod final last 'echo bye > /data/bye'
succeeds final
remove pod final
remove pvc last
helm uninstall "$RELEASE" -n $system --wait --timeout 3m >/dev/null
no_pods() { [ -z "$(kubectl -n $system get pods -o name)" ]; }
until_true 120 "end of all pods" no_pods
[ "$(fuse_mounts)" = 0 ] || die "mounts are left: $(on_node cat /proc/1/mountinfo | grep fuse.posix-gateway)"
helm install "$RELEASE" "$E2E_ROOT/charts/posix-gateway" -n $system -f "$E2E_ROOT/e2e/values.yaml" --wait --timeout 5m >/dev/null
rolled_out
