# Alluxio stands still while a pod reads and writes: the pod can be deleted, and no process waits for ever. A killed program ends
# when its call is answered, at the latest when the client finds its connection dead (a minute).
needs_node
claim hanging
pod stuck hanging "$(load stuck)"
running stuck
until_true 120 "first rounds" logs_say stuck working
signal_alluxio SIGSTOP master worker
trap 'signal_alluxio SIGCONT master worker' EXIT
sleep 3
begin=$SECONDS
kubectl -n "$NAMESPACE" delete pod stuck --grace-period=5 --timeout=120s >/dev/null || die "the pod is still there after 120 s"
took=$((SECONDS - begin))
echo "gone after $took s (grace period 5 s)"
[ $took -le 90 ] || die "the pod was gone only after $took s"
none_stuck
signal_alluxio SIGCONT master worker
trap - EXIT
no_leak
pod after hanging 'ls /data; echo again > /data/again; cat /data/again'
succeeds after
