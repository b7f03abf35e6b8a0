# What cases use. Every function says on failure what it expected; a case ends at its first failure (set -e).
# shellcheck shell=bash

: "${NAMESPACE:?}" "${RELEASE:?}"
system=posix-gateway
driver=posix.csi.posixgateway.io

# kubectl and helm of the cluster under test.
kubectl() { command "${E2E_ENTER[@]}" "$KUBECTL" "$@"; }
helm() { command "${E2E_ENTER[@]}" "$HELM" "$@"; }

die() {
  echo "FAILED: $*" >&2
  exit 1
}

# figure TEXT...: something measured, which the run prints when the case passed.
figure() { echo "figure: $*"; }

# until_true SECONDS WHAT COMMAND...: polls until the command succeeds.
until_true() {
  local deadline=$((SECONDS + $1)) what=$2
  shift 2
  until "$@" >/dev/null 2>&1; do
    [ $SECONDS -lt $deadline ] || die "$what did not happen in time: $*"
    sleep 0.5
  done
}

# has PATTERN: grep -q that reads all there is. One that leaves early ends who writes into the pipe, and so the case.
has() {
  local text
  text=$(cat)
  grep -q "$@" <<<"$text"
}

# apply: the YAML on standard input, in the case's namespace.
apply() { kubectl -n "$NAMESPACE" apply -f - >/dev/null; }

# claim NAME [CLASS [ACCESS-MODE]]: a claim, by default of the class `trial`.
claim() {
  apply <<EOF
{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {name: $1},
 spec: {storageClassName: ${2:-trial}, accessModes: [${3:-ReadWriteMany}], resources: {requests: {storage: 1Gi}}}}
EOF
  bound "$1"
}

# bound CLAIM: it gets its volume. A pod that comes before may wait for the scheduler's next look, minutes later.
bound() { kubectl -n "$NAMESPACE" wait --for=jsonpath='{.status.phase}'=Bound "pvc/$1" --timeout=60s >/dev/null || die "claim $1 got no volume"; }

# static_volume NAME ALLUXIO-PATH ACCESS-MODE [CSI-FIELDS]: a volume of a path that exists, and its claim of the same name.
static_volume() {
  apply <<EOF
apiVersion: v1
kind: PersistentVolume
metadata: {name: $1}
spec:
  accessModes: [$3]
  capacity: {storage: 1Gi}
  storageClassName: ""
  persistentVolumeReclaimPolicy: Retain
  claimRef: {namespace: $NAMESPACE, name: $1}
  csi: {driver: $driver, volumeHandle: $1, volumeAttributes: {alluxioPath: $2}${4:+, $4}}
---
{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {name: $1},
 spec: {storageClassName: "", volumeName: $1, accessModes: [$3], resources: {requests: {storage: 1Gi}}}}
EOF
  bound "$1"
}

# pod NAME CLAIM COMMAND [VOLUME-MOUNT-FIELDS [CLAIM-FIELDS [POD-FIELDS]]]: a pod that runs a shell command with the claim
# at /data. A CLAIM in braces is a volume's source, as it is.
pod() {
  local script volume="persistentVolumeClaim: {claimName: $2${5:+, $5}}"
  script=$(printf '%s' "$3" | base64 -w0)
  [[ $2 != "{"* ]] || volume=${2:1:-1}
  apply <<EOF
apiVersion: v1
kind: Pod
metadata: {name: $1, labels: {app: $1}}
spec:
  restartPolicy: ${RESTART:-Never}
  terminationGracePeriodSeconds: 1
  ${6:-}
  containers:
    - name: main
      image: docker.io/library/e2e-pod:1
      imagePullPolicy: IfNotPresent
      command: [bash, -c, 'set -eu; eval "\$(echo $script | base64 -d)"']
      volumeMounts: [{name: data, mountPath: /data${4:+, $4}}]
  volumes: [{name: data, $volume}]
EOF
}

# phase POD EXPECTED: is it in this phase?
phase() { [ "$(kubectl -n "$NAMESPACE" get pod "$1" -o 'jsonpath={.status.phase}')" = "$2" ]; }

# ended POD: it has succeeded or failed.
ended() { phase "$1" Succeeded || phase "$1" Failed; }

# succeeds POD [SECONDS]: it ends well.
succeeds() {
  until_true "${2:-180}" "end of pod $1" ended "$1"
  phase "$1" Succeeded || die "pod $1 failed: $(kubectl -n "$NAMESPACE" logs "$1" 2>&1 | tail -n 20)"
}

# running POD...: they run.
running() {
  local one
  for one in "$@"; do until_true 180 "start of pod $one" phase "$one" Running; done
}

# logs_say POD TEXT: its output has the text.
logs_say() { kubectl -n "$NAMESPACE" logs "$1" | has -F -- "$2"; }

# remove KIND NAME...: deleted and gone.
remove() { kubectl -n "$NAMESPACE" delete "$@" --timeout=120s >/dev/null; }

# pod_of COMPONENT: name of the component's pod that is not on its way out.
pod_of() {
  kubectl -n $system get pods -l "app.kubernetes.io/instance=$RELEASE,app.kubernetes.io/component=$1" \
    -o 'jsonpath={range .items[?(@.status.phase=="Running")]}{.metadata.name}{" "}{.metadata.deletionTimestamp}{"\n"}{end}' |
    awk 'NF == 1 && !found++ { print $1 }'
}

# rolled_out: every pod of the release is there and ready.
rolled_out() {
  local one
  for one in daemonset/"$RELEASE"-keeper daemonset/"$RELEASE"-node deployment/"$RELEASE"-controller; do
    kubectl -n $system rollout status "$one" --timeout=240s >/dev/null || die "$one is not ready"
  done
}

# page COMPONENT PORT PATH: a page of a component's HTTP port.
page() { kubectl get --raw "/api/v1/namespaces/$system/pods/$(pod_of "$1"):$2/proxy/$3"; }

# metric COMPONENT PORT NAME [TEXT]: the sum of a metric's series, or of those whose labels have the text.
metric() {
  page "$1" "$2" metrics |
    awk -v name="$3" -v text="${4:-}" '($1 == name || index($1, name "{") == 1) && (text == "" || index($0, text)) { sum += $NF } END { print sum + 0 }'
}

# container COMPONENT NAME: id of a container, as the runtime knows it.
container() {
  kubectl -n $system get pod "$(pod_of "$1")" \
    -o "jsonpath={.status.containerStatuses[?(@.name==\"$2\")].containerID}" | sed 's,.*//,,'
}

# needs_node: for cases that work on the node itself; those are left out in a cluster that was not started here.
needs_node() {
  [ -n "${E2E_OWN:-}" ] || { echo "needs the node of a cluster that e2e/run starts itself"; exit 77; }
}

# on_node COMMAND...: on the cluster's node.
on_node() { command "${E2E_ENTER[@]}" "$@"; }

# kill_container COMPONENT NAME: kill -9 of its process.
kill_container() { on_node ctr -n k8s.io task kill -s SIGKILL "$(container "$1" "$2")"; }

# replaced COMPONENT NAME BEFORE: another container than BEFORE runs and is ready.
replaced() {
  local now
  now=$(container "$1" "$2")
  [ -n "$now" ] && [ "$now" != "$3" ] &&
    [ "$(kubectl -n $system get pod "$(pod_of "$1")" -o "jsonpath={.status.containerStatuses[?(@.name==\"$2\")].ready}")" = true ]
}

# serving: the container of the node pod whose gateway serves; the other one's waits, if there is one.
serving() {
  local one
  for one in gateway standby; do
    kubectl -n $system logs --timestamps "$(pod_of node)" -c $one 2>/dev/null |
      sed -n "s/^\([^ ]*\) .*Leading: taking over.*/\1 $one/p" | tail -n 1
  done | sort | awk '{ last = $2 } END { print last == "" ? "gateway" : last }'
}

# gateway_port: of the pages of the gateway that serves.
gateway_port() { if [ "$(serving)" = standby ]; then echo 9403; else echo 9400; fi; }

# gateway_process: number, on the node, of the JVM that serves, which process 1 of its container started.
gateway_process() {
  local parent
  parent=$(on_node ctr -n k8s.io task ls | awk -v id="$(container node "$(serving)")" '$1 == id { print $2 }')
  [ -z "$parent" ] || on_node pgrep -o -P "$parent"
}

# gateway_log [CONTAINER]: of the one that there is now, of that which serves.
gateway_log() { kubectl -n $system logs "$(pod_of node)" -c "${1:-$(serving)}"; }

# standby_is_ready: a gateway waits, with all classes loaded, in the container that does not serve.
standby_is_ready() {
  local other=standby
  [ "$(serving)" != standby ] || other=gateway
  gateway_log $other | awk '/Ready; waiting for the end/ { ready = 1 } /Leading: taking over|the JVM .* restarted/ { ready = 0 } END { exit !ready }'
}

# serves_after PROCESS: another JVM than this one is there and serves every mount.
serves_after() {
  local now
  now=$(gateway_process)
  [ -n "$now" ] && [ "$now" != "$1" ] && page node "$(gateway_port)" readyz
}

# kill_gateway: kill -9 of the JVM of the node's gateway; returns when the next one serves every mount.
kill_gateway() {
  local before
  before=$(gateway_process)
  [ -n "$before" ] || die "the node's gateway is not found"
  on_node kill -9 "$before"
  until_true 180 "next gateway" serves_after "$before"
}

# restarts: how often the kubelet started the container of the node's gateway anew.
restarts() {
  kubectl -n $system get pod "$(pod_of node)" -o 'jsonpath={.status.containerStatuses[?(@.name=="gateway")].restartCount}'
}

# fuse_mounts: how many mounts of the driver the node has.
fuse_mounts() { on_node cat /proc/1/mountinfo | grep -c 'fuse.posix-gateway' || true; }

# no_mounts: it has none.
no_mounts() { [ "$(fuse_mounts)" = 0 ]; }

# sessions_are NUMBER: so many sessions does the keeper hold.
sessions_are() { [ "$(metric keeper 9402 posix_gateway_keeper_sessions)" = "$1" ]; }

# no_leak: within a minute no session, no mount and no process that waits for the kernel is left.
no_leak() {
  until_true 120 "end of all sessions" sessions_are 0
  until_true 60 "end of all mounts" no_mounts
  none_stuck
}

# none_stuck: no process stays in state D (which no signal ends).
none_stuck() { until_true 30 "end of waits that no signal ends" eval '! on_node ps -eo stat= | has ^D'; }

# needs_image NAME: an image besides those of every run; made when it is missing, loaded into the node when it is not there.
needs_image() {
  local archive
  needs_node
  archive=${PGW_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/posix-gateway}/images/$1-$(dpkg --print-architecture).tar
  [ -e "$archive" ] || "$E2E_ROOT/docker/build" "${1#posix-gateway-}"
  on_node ctr -n k8s.io images ls -q | has "/$1:" || on_node ctr -n k8s.io images import "$archive" >/dev/null
}

# alluxio ARGUMENTS...: Alluxio's own shell, as a second opinion on what is there.
alluxio() {
  # shellcheck disable=SC2016 # the container's shell expands it
  kubectl -n $system exec "$RELEASE-alluxio-0" -c master -- sh -c 'exec java -Xmx64m -XX:TieredStopAtLevel=1 -Dalluxio.logs.dir=/tmp \
    -Dalluxio.master.hostname="$ALLUXIO_MASTER_HOSTNAME" -cp "/opt/alluxio/lib/*" alluxio.cli.fs.FileSystemShell "$@"' sh "$@" 2>/dev/null
}

# signal_alluxio SIGNAL ROLE...: to the servers of the embedded Alluxio.
signal_alluxio() {
  local signal=$1 role
  shift
  for role in "$@"; do on_node ctr -n k8s.io task kill -s "$signal" "$(container alluxio "$role")"; done
}

# stop_load CLAIM POD...: has the claim's loads end, and prints what they counted. A failed call fails the case.
stop_load() {
  local claim=$1 one
  shift
  pod stopper "$claim" "cd /data; touch $(printf 'stop-%s ' "$@")"
  succeeds stopper
  for one in "$@"; do
    succeeds "$one"
    figure "$(kubectl -n "$NAMESPACE" logs "$one" | tail -n 1)"
  done
  remove pod stopper "$@"
}

# A loop for pods that reads and writes checked data until /data/stop-NAME is there, and reports every call that failed, and
# how long the longest round took. load NAME: its text. Bash does not look at what close says, so a program writes.
load() {
  cat <<EOF
cd /data; errors=0; rounds=0; longest=0
complain() { errors=\$((errors + 1)); echo "\$1 in round \$rounds"; }
head -c 300000 /dev/urandom > $1.bin; want=\$(sha256sum < $1.bin)
echo working
while [ ! -e stop-$1 ]; do
  rounds=\$((rounds + 1)); begin=\${EPOCHREALTIME/./}
  if ! have=\$(sha256sum < $1.bin); then complain "read failed"
  elif [ "\$have" != "\$want" ]; then complain "wrong bytes"; fi
  if ! { /usr/bin/printf 'round %d\n' \$rounds > $1.txt.new && mv $1.txt.new $1.txt; }; then complain "write failed"
  elif ! have=\$(cat $1.txt); then complain "read failed"
  elif [ "\$have" != "round \$rounds" ]; then complain "lost write"; fi
  took=\$(( (\${EPOCHREALTIME/./} - begin) / 1000 )); [ \$took -le \$longest ] || longest=\$took
done
echo "$1: rounds \$rounds errors \$errors longest \$longest ms"
[ \$errors = 0 ]
EOF
}
