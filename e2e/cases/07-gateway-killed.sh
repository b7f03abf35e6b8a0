# kill -9 of the gateway under load: no call fails, no byte is wrong, the next gateway goes on; one takeover is counted each
# time. A pod with a subPath is among them.
needs_node
claim busy
pod planter busy 'mkdir /data/inner'
succeeds planter
pod worker1 busy "$(load worker1)"
pod worker2 busy "$(load worker2)" 'subPath: inner'
running worker1 worker2
until_true 120 "first rounds" logs_say worker1 working
until_true 120 "first rounds" logs_say worker2 working
takeovers() { metric node 9400 posix_gateway_takeovers_total '"busy"'; }
for nth in $(seq "${PGW_E2E_KILLS:-2}"); do
  sleep 3
  kill_gateway
  [ "$(takeovers)" = "$nth" ] || die "$(takeovers) takeovers are counted after $nth kills"
done
pod stopper busy 'touch /data/stop-worker1 /data/inner/stop-worker2'
succeeds stopper
for one in worker1 worker2; do
  succeeds $one
  figure "$(kubectl -n "$NAMESPACE" logs $one | tail -n 1)"
done
