# The example Job with the bypass library gets block files from the gateway, which is asked no byte of them; what it reads is what
# was written, and what a pod without the library reads.
needs_node
example=$E2E_ROOT/charts/posix-gateway/examples/bypass.yaml
# By cat, since streams of libc, as sha256sum has them, are bypassed for files of one block alone.
summed='for file in *; do cat "$file" | sha256sum; done'
NAMESPACE=default pod planter everything "mkdir -p /data/bypassed; cd /data/bypassed; head -c 5000000 /dev/urandom > one
  head -c 70000000 /dev/urandom > many; echo small > small; $summed"
NAMESPACE=default succeeds planter
sums=$(NAMESPACE=default kubectl -n default logs planter)
NAMESPACE=default remove pod planter

# Where the worker is the node's, alluxio.workerBlockDirs says the same. The trial's keeps its blocks in a folder of its pod.
read -r uid ip < <(kubectl -n $system get pod "$RELEASE-alluxio-0" -o 'jsonpath={.metadata.uid} {.status.podIP}{"\n"}')
folder="/var/lib/kubelet/pods/$uid/volumes/kubernetes.io~empty-dir/data/blocks"
trap 'helm rollback "$RELEASE" -n $system --wait --timeout 5m >/dev/null; rolled_out' EXIT
helm upgrade "$RELEASE" "$E2E_ROOT/charts/posix-gateway" -n $system --reuse-values --set node.gateway.bypass=true \
  --set node.localityFrom=none --set "alluxio.properties.alluxio\.user\.hostname=$ip" \
  --set-json "node.extraVolumes=[{\"name\": \"blocks\", \"hostPath\": {\"path\": \"$folder\", \"type\": \"Directory\"}}]" \
  --set-json 'node.gateway.extraVolumeMounts=[{"name": "blocks", "mountPath": "/data/blocks", "readOnly": true}]' \
  --set-json 'node.gateway.blockDirs=["/data/blocks"]' \
  --wait --timeout 5m >/dev/null
rolled_out

# More fields among the attributes: only what nobody changes is given.
static_volume dataset '/bypassed, bypass: "true", consistency: immutable' ReadWriteMany
given_are() { [ "$(metric node "$(gateway_port)" posix_gateway_bypass_opens_total)" = "$1" ]; }
counts() { page node "$(gateway_port)" metrics | awk '/^posix_gateway_bypass/ && $NF > 0'; }
pod plain dataset "cd /data; $summed; echo read; sleep infinity"
running plain
until_true 120 "end of the reading" logs_say plain read
[ "$(kubectl -n "$NAMESPACE" logs plain)" = "$sums"$'\nread' ] || die "without the library: $(kubectl -n "$NAMESPACE" logs plain)"
given_are 0 || die "files were given to a pod without the library: $(counts)"

# run_example: the Job on standard input, to its end.
run_example() {
  kubectl -n "$NAMESPACE" apply -f - >/dev/null
  kubectl -n "$NAMESPACE" wait --for=condition=complete job/bypass --timeout=180s >/dev/null ||
    die "the example does not complete: $(kubectl -n "$NAMESPACE" logs job/bypass --tail 20)"
  output=$(kubectl -n "$NAMESPACE" logs job/bypass)
  remove job bypass
}
# What it runs, by the name under which nodes would pull it.
on_node ctr -n k8s.io images tag --force docker.io/library/e2e-pod:1 docker.io/library/debian:bookworm-slim >/dev/null
run_example <"$example"
until_true 60 "gift of the two large files" given_are 2
[ "$(grep -c '(70 MB, 67 MiB) copied' <<<"$output")" = 1 ] || die "the example read: $output"
# Anew, as sums. The linker would complain that it has no library.
run_example < <(SUMMED="cd /data; $summed" awk '$1 == "command:" { sub(/\[.*/, "[bash, -c, \"$(SUMMED)\"]") } { print }
  $1 == "env:" { print "            - {name: SUMMED, value: " q ENVIRON["SUMMED"] q "}" }' q="'" "$example")
[ "$output" = "$sums" ] || die "with the library: $output, not $sums"
until_true 60 "gift of the two large files, read again" given_are 4
remove pod plain
remove pvc dataset
remove pv dataset
