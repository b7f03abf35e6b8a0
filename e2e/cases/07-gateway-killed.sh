# kill -9 of the gateway under load, at first of one with a standby, at last of its whole container: no call fails, no byte is
# wrong, the next gateway goes on; one takeover is counted each time; only for the container the kubelet is needed. A pod with a
# subPath is among them.
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
kills=${PGW_E2E_KILLS:-2}
until_true 120 "standby" standby_is_ready
for nth in $(seq "$kills"); do
  kill_gateway
  [ "$nth" != 1 ] || gateway_log | has 'the standby goes on' || die "the standby did not go on"
  [ "$(takeovers)" = "$nth" ] || die "$(takeovers) takeovers are counted after $nth kills"
done
[ "$(restarts)" = 0 ] || die "the kubelet started the gateway's container anew"
before=$(container node gateway)
kill_container node gateway
until_true 180 "next container" replaced node gateway "$before"
[ "$(takeovers)" = $((kills + 1)) ] || die "$(takeovers) takeovers are counted after $kills kills and that of the container"
pod stopper busy 'touch /data/stop-worker1 /data/inner/stop-worker2'
succeeds stopper
for one in worker1 worker2; do
  succeeds $one
  figure "$(kubectl -n "$NAMESPACE" logs $one | tail -n 1)"
done
