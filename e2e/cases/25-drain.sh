# A drained node has no mount of the driver; pods work there again afterwards.
needs_node
node=$(kubectl get nodes -o 'jsonpath={.items[0].metadata.name}')
claim drained
pod guest drained 'echo kept > /data/file; sleep infinity' '' '' 'nodeSelector: {kubernetes.io/os: linux}'
running guest
until_true 60 "session" sessions_are 1
kubectl drain "$node" --ignore-daemonsets --force --delete-emptydir-data --pod-selector=app=guest --timeout=120s >/dev/null
trap 'kubectl uncordon "$node" >/dev/null' EXIT
no_leak
kubectl uncordon "$node" >/dev/null
trap - EXIT
pod returned drained 'cat /data/file'
succeeds returned
logs_say returned kept || die "the drained pod's file is gone"
