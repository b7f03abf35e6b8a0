# A Prometheus that scrapes a gateway under load has data for every panel of the dashboards, labelled with the claim.
needs_node
claim seen
pod actor seen "$(load actor)"
pod prober seen 'for i in $(seq 300); do cat /data/missing || true; dd if=/dev/zero of=/data/prober bs=100k count=5 conv=fsync; sleep 0.3; done'
running actor prober

work=$(mktemp -d)
address() { kubectl -n $system get pod "$(pod_of "$1")" -o 'jsonpath={.status.podIP}'; }
cat >"$work/prometheus.yml" <<EOF
global: {scrape_interval: 3s}
scrape_configs:
  - job_name: e2e
    static_configs:
      - {targets: ["$(address node):9400", "$(address node):9401", "$(address keeper):9402"], labels: {node: pgw-e2e}}
EOF
on_node sh -c "echo \$\$ >$work/pid; exec prometheus --config.file=$work/prometheus.yml --storage.tsdb.path=$work/data \
  --web.listen-address=127.0.0.1:9090 --log.level=error" &
trap 'on_node kill "$(cat "$work/pid")"; wait; rm -rf "$work"' EXIT
ask() { on_node promtool query instant http://127.0.0.1:9090 "$1"; }
has_data() { [ -n "$(ask "$1")" ]; }
until_true 120 "metrics of the claim" has_data 'posix_gateway_requests_total{pvc="seen",namespace="'"$NAMESPACE"'"}'

python3 "$E2E_ROOT/charts/tools/dashboards.py" rules "$E2E_ROOT/charts/posix-gateway" | jq -r '.groups[].rules[].expr' >"$work/queries"
count=0
while read -r query; do
  case $query in
  # Empty while all is well.
  *'== 0' | *repairs_total* | *'code!="OK"'* | *worker_threads_destroyed*) ask "$query" >/dev/null ;;
  *) until_true 120 "data for $query" has_data "$query" ;;
  esac
  count=$((count + 1))
done <"$work/queries"
[ $count -gt 20 ] || die "only $count queries were tried"
pod stopper seen 'touch /data/stop-actor'
succeeds stopper
succeeds actor
remove pod actor prober stopper
remove pvc seen
