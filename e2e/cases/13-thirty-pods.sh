# Thirty pods with ten volumes, created at once and deleted at once: all work, and nothing is left.
needs_node
volumes=$(seq 10)
pods=()
for volume in $volumes; do
  claim "crowd$volume"
  for one in a b c; do
    pod "crowd$volume$one" "crowd$volume" "echo $one > /data/$one; until [ -e /data/a -a -e /data/b -a -e /data/c ]; do sleep 0.5; done; cat /data/?; sleep infinity"
    pods+=("crowd$volume$one")
  done
done
running "${pods[@]}"
saw_all() { [ "$(kubectl -n "$NAMESPACE" logs "$1" | tr -d '\n')" = abc ]; }
for one in "${pods[@]}"; do until_true 60 "$one sees what its neighbours wrote" saw_all "$one"; done
until_true 60 "ten sessions of ten volumes" sessions_are 10
remove pod "${pods[@]}"
no_leak
