# New node pods, then new keeper pods, under load: no call fails.
needs_node
claim moving
pod mover moving "$(load mover)"
running mover
until_true 120 "first rounds" logs_say mover working
kubectl -n $system rollout restart daemonset/"$RELEASE"-node
rolled_out
generation() { kubectl -n $system get pod "$(pod_of keeper)" -o 'jsonpath={.metadata.uid}'; }
before=$(generation)
kubectl -n $system rollout restart daemonset/"$RELEASE"-keeper
rolled_out
[ "$(generation)" != "$before" ] || die "the keeper's pod was not replaced"
[ "$(metric keeper 9402 posix_gateway_keeper_sessions)" = 1 ] || die "the new keeper does not hold the session"
kill_container node gateway
sleep 5
pod stopper moving 'touch /data/stop-mover'
succeeds stopper
succeeds mover
remove pod mover stopper
remove pvc moving
