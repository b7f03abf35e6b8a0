# The kernel kills a gateway that reaches its memory limit: no call fails, no byte is wrong.
needs_node
claim greedy
pod eater greedy "$(load eater)"
running eater
until_true 120 "first rounds" logs_say eater working
before=$(container node gateway)
group=$(on_node find /sys/fs/cgroup/memory/ /sys/fs/cgroup/ -maxdepth 8 -type d -name "$before" -print -quit 2>/dev/null) || true
[ -n "$group" ] || die "the gateway's cgroup is not found"
# The limit comes down to what is in use, and a little more is asked for: the largest process of the group is the gateway.
# shellcheck disable=SC2016 # the node's shell expands it
on_node sh -c '
  for name in memory.limit_in_bytes:memory.usage_in_bytes memory.max:memory.current; do
    limit=$1/${name%:*} usage=$1/${name#*:}
    [ ! -e "$limit" ] || echo $(($(cat "$usage") + 4000000)) >"$limit"
  done' sh "$group"
kubectl -n $system exec "$(pod_of node)" -c gateway -- java -Xms300m -XX:+AlwaysPreTouch -version >/dev/null 2>&1 || true
until_true 180 "next gateway" replaced node gateway "$before"
reason=$(kubectl -n $system get pod "$(pod_of node)" -o 'jsonpath={.status.containerStatuses[?(@.name=="gateway")].lastState.terminated.reason}')
[ "$reason" = OOMKilled ] || die "the gateway ended by '$reason', not by its memory limit"
stop_load greedy eater
