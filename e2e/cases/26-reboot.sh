# The node's power fails: after its start pods have fresh mounts with what they had written, and what is deleted leaves nothing.
# A worker that starts late makes reads fail for a while, as documented, so the pod tries again.
needs_node
claim durable
RESTART=Always pod resident durable 'while [ -e /data/file ] && ! cat /data/file; do sleep 1; done; echo written > /data/file; sync /data/file; echo up; sleep infinity'
running resident
until_true 60 "first start" logs_say resident up
kubectl -n "$NAMESPACE" delete pod goner --ignore-not-found >/dev/null
RESTART=Always pod goner durable 'echo up; sleep infinity'
running goner
kubectl -n "$NAMESPACE" delete pod goner --wait=false >/dev/null
"$E2E_ROOT/e2e/cluster/stop" "$WORK"
"$E2E_ROOT/e2e/cluster/up" "$WORK"
restarted() { [ "$(kubectl -n "$NAMESPACE" get pod resident -o 'jsonpath={.status.containerStatuses[0].restartCount}')" -ge 1 ] && logs_say resident up; }
until_true 300 "start after the reboot" restarted
logs_say resident written || die "what was written before the reboot is gone"
rolled_out
until_true 60 "end of the pod that was deleted" eval '! kubectl -n "$NAMESPACE" get pod goner'
remove pod resident
no_leak
