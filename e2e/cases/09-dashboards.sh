# A Prometheus that scrapes a gateway under load as the chart's PodMonitors say has data for every panel of the dashboards,
# labelled with the claim. An alert fires when Alluxio stands still, and no other does.
needs_node
python=${PGW_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/posix-gateway}/venv/bin/python
chart=$E2E_ROOT/charts/posix-gateway
claim seen
pod actor seen "$(load actor)"
pod prober seen 'for i in $(seq 300); do cat /data/missing || true; dd if=/dev/zero of=/data/prober bs=100k count=5 conv=fsync; sleep 0.3; done'
running actor prober

work=$(mktemp -d)
sed 's/for: .*/for: 5s/' "$chart/files/alerts.yaml" >"$work/alerts.yaml"
helm template "$RELEASE" "$chart" -n $system --kube-version 1.34.0 --set monitoring.podMonitor.enabled=true \
  --show-only templates/podmonitors.yaml >"$work/monitors.yaml"
kubectl -n $system get pods --field-selector status.phase=Running -o json >"$work/pods.json"
"$python" "$E2E_ROOT/e2e/prometheus.py" "$work/alerts.yaml" "$work/monitors.yaml" "$work/pods.json" >"$work/prometheus.yml"
on_node sh -c "echo \$\$ >$work/pid; exec prometheus --config.file=$work/prometheus.yml --storage.tsdb.path=$work/data \
  --web.listen-address=127.0.0.1:9090 --log.level=error" &
trap 'on_node kill "$(cat "$work/pid")"; signal_alluxio SIGCONT master worker; wait; rm -rf "$work"' EXIT
ask() { on_node promtool query instant http://127.0.0.1:9090 "$1"; }
has_data() { [ -n "$(ask "$1")" ]; }
until_true 120 "metrics of the claim" has_data 'posix_gateway_requests_total{pvc="seen",namespace="'"$NAMESPACE"'",node!=""}'

# A container has no fusectl, which tells what waits in the kernel; no volume operation has failed; and there is no data cache.
every_panel() { on_node env PYTHONDONTWRITEBYTECODE=1 "$python" "$E2E_ROOT/charts/tools/ask.py" check http://127.0.0.1:9090 'kernel_waiting|code!=|data_cache'; }
until_true 180 "data for every panel" every_panel
stop_load seen actor

firing() { ask 'ALERTS{alertstate="firing"}' | grep -o 'alertname="[A-Za-z]*"' | sort -u; }
signal_alluxio SIGSTOP master
until_true 180 "alert" has_data 'ALERTS{alertname="PosixGatewayAlluxioUnreachable",alertstate="firing",pvc="seen"}'
[ "$(firing)" = 'alertname="PosixGatewayAlluxioUnreachable"' ] || die "other alerts fire, too: $(firing)"
signal_alluxio SIGCONT master
until_true 180 "end of the alert" eval '! firing | has PosixGatewayAlluxioUnreachable'
