# The kernel kills a gateway that reaches its memory limit: no call fails, no byte is wrong.
needs_node
claim greedy
pod eater greedy "$(load eater)"
running eater
until_true 120 "first rounds" logs_say eater working
before=$(gateway_process)
one=$(serving)
id=$(container node "$one")
group=$(on_node find /sys/fs/cgroup/memory/ /sys/fs/cgroup/ -maxdepth 8 -type d -name "$id" -print -quit 2>/dev/null) || true
[ -n "$group" ] || die "the gateway's cgroup is not found"
limit=$group/memory.limit_in_bytes usage=$group/memory.usage_in_bytes
on_node test -e "$limit" || limit=$group/memory.max usage=$group/memory.current
allowed=$(on_node cat "$limit")
# The limit comes down to what is in use, and a little more is asked for: the largest process of the group is the gateway. The
# next one has the limit that it would have elsewhere.
# shellcheck disable=SC2016 # the node's shell expands it
on_node sh -c 'echo $(($(cat "$1") + 4000000)) >"$2"; while kill -0 "$3"; do sleep 0.1; done; echo "$4" >"$2"' \
  sh "$usage" "$limit" "$before" "$allowed" 2>/dev/null &
kubectl -n $system exec "$(pod_of node)" -c "$one" -- java -Xms300m -XX:+AlwaysPreTouch -version >/dev/null 2>&1 || true
until_true 180 "next gateway" serves_after "$before"
# Where the kernel ends the whole container, the kubelet says why, else the container's process 1. The standby is in another one.
reason() { kubectl -n $system get pod "$(pod_of node)" -o "jsonpath={.status.containerStatuses[?(@.name==\"$one\")].lastState.terminated.reason}"; }
ended_by_limit() { [ "$(reason)" = OOMKilled ] || gateway_log "$one" | has 'killed by signal 9.* by the memory limit of the container'; }
until_true 60 "word that the memory limit ended the gateway" ended_by_limit
stop_load greedy eater
