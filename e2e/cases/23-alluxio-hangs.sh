# Alluxio stands still while a pod reads and writes: a pod that is deleted is gone soon after its grace period, since the
# calls of a killed program are interrupted (reads after 2 s, writes after 10 s), and no process waits for ever.
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
figure "gone after $took s (grace period 5 s)"
[ $took -le 20 ] || die "the pod was gone only after $took s"
none_stuck
signal_alluxio SIGCONT master worker
trap - EXIT
no_leak
pod after hanging 'ls /data; echo again > /data/again; cat /data/again'
succeeds after
