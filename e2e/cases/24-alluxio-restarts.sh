# Alluxio's worker and master are killed and come back under load: calls wait, none fails, no byte is wrong.
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
stop_load patient waiter
