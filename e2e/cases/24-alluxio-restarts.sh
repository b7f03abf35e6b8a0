# Alluxio's worker and master are killed and come back under load. Calls wait for them, and fail with EIO when that takes long;
# no byte is wrong and no write that succeeded is lost; afterwards all goes on, with nothing mounted anew.
needs_node
claim patient
pod waiter patient "$(load waiter)"
running waiter
until_true 120 "first rounds" logs_say waiter working
for role in worker master; do
  before=$(container alluxio $role)
  kill_container alluxio $role
  until_true 180 "next $role" replaced alluxio $role "$before"
  sleep 5
done
writes() { kubectl -n "$NAMESPACE" exec waiter -- bash -c 'echo back > /data/back && cat /data/back && rm /data/back' | has back; }
until_true 60 "writes after the restarts" writes
pod stopper patient 'touch /data/stop-waiter'
succeeds stopper
until_true 60 "end of the load" ended waiter
kubectl -n "$NAMESPACE" logs waiter
! kubectl -n "$NAMESPACE" logs waiter | grep -E 'wrong bytes|lost write' || die "bytes are wrong or lost"
