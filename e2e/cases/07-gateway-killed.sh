# kill -9 of the gateway under load: no call fails, no byte is wrong, the next gateway goes on.
needs_node
claim busy
pod worker1 busy "$(load worker1)"
pod worker2 busy "$(load worker2)"
running worker1 worker2
until_true 120 "first rounds" logs_say worker1 working
ready() { kubectl get --raw "/api/v1/namespaces/$system/pods/$(pod_of node):9400/proxy/readyz"; }
for _ in 1 2; do
  sleep 3
  before=$(container node gateway)
  kill_container node gateway
  replaced() { [ -n "$(container node gateway)" ] && [ "$(container node gateway)" != "$before" ] && ready; }
  until_true 180 "next gateway" replaced
done
pod stopper busy 'touch /data/stop-worker1 /data/stop-worker2'
succeeds stopper
succeeds worker1
succeeds worker2
kubectl -n "$NAMESPACE" logs worker1
remove pod worker1 worker2 stopper
remove pvc busy
