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
takeovers_are() { [ "$(metric node "$(gateway_port)" posix_gateway_takeovers_total '"busy"')" = "$1" ]; }
first=$(serving)
standby_went_on() { [ "$(serving)" != "$first" ]; }
kills=${PGW_E2E_KILLS:-2}
until_true 120 "standby" standby_is_ready
for nth in $(seq "$kills"); do
  kill_gateway
  [ "$nth" != 1 ] || until_true 60 "word of the standby that goes on" standby_went_on
  until_true 60 "count of $nth takeovers" takeovers_are "$nth"
done
[ "$(restarts)" = 0 ] || die "the kubelet started the gateway's container anew"
last=$(serving)
before=$(container node "$last")
kill_container node "$last"
until_true 180 "next container" replaced node "$last" "$before"
until_true 60 "count of the takeovers by $kills kills and that of the container" takeovers_are $((kills + 1))
pod stopper busy 'touch /data/stop-worker1 /data/inner/stop-worker2'
succeeds stopper
for one in worker1 worker2; do
  succeeds $one
  figure "$(kubectl -n "$NAMESPACE" logs $one | tail -n 1)"
done
