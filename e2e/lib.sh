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

# until_true SECONDS WHAT COMMAND...: polls until the command succeeds.
until_true() {
  local deadline=$((SECONDS + $1)) what=$2
  shift 2
  until "$@" >/dev/null 2>&1; do
    [ $SECONDS -lt $deadline ] || die "$what did not happen in time: $*"
    sleep 1
  done
}

# apply: the YAML on standard input, in the case's namespace.
apply() { kubectl -n "$NAMESPACE" apply -f - >/dev/null; }

# claim NAME [SIZE]: a claim of the class `trial`.
claim() {
  apply <<EOF
{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {name: $1},
 spec: {storageClassName: trial, accessModes: [ReadWriteMany], resources: {requests: {storage: ${2:-1Gi}}}}}
EOF
}

# pod NAME CLAIM COMMAND [VOLUME-MOUNT-FIELDS [VOLUME-FIELDS]]: a pod that runs a shell command with the claim at /data.
pod() {
  local script
  script=$(printf '%s' "$3" | base64 -w0)
  apply <<EOF
apiVersion: v1
kind: Pod
metadata: {name: $1, labels: {app: $1}}
spec:
  restartPolicy: Never
  terminationGracePeriodSeconds: 2
  containers:
    - name: main
      image: docker.io/library/e2e-pod:1
      imagePullPolicy: IfNotPresent
      command: [bash, -c, 'set -eu; eval "\$(echo $script | base64 -d)"']
      volumeMounts: [{name: data, mountPath: /data${4:+, $4}}]
  volumes: [{name: data, persistentVolumeClaim: {claimName: $2${5:+, $5}}}]
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
logs_say() { kubectl -n "$NAMESPACE" logs "$1" | grep -qF -- "$2"; }

# remove KIND NAME...: deleted and gone.
remove() { kubectl -n "$NAMESPACE" delete "$@" --timeout=120s >/dev/null; }

# pod_of COMPONENT: name of the component's pod that is not on its way out.
pod_of() {
  kubectl -n $system get pods -l "app.kubernetes.io/instance=$RELEASE,app.kubernetes.io/component=$1" \
    -o 'jsonpath={range .items[?(@.status.phase=="Running")]}{.metadata.name}{" "}{.metadata.deletionTimestamp}{"\n"}{end}' |
    awk 'NF == 1 { print $1; exit }'
}

# rolled_out: every pod of the release is there and ready.
rolled_out() {
  local one
  for one in daemonset/"$RELEASE"-keeper daemonset/"$RELEASE"-node deployment/"$RELEASE"-controller; do
    kubectl -n $system rollout status "$one" --timeout=240s >/dev/null || die "$one is not ready"
  done
}

# metric COMPONENT PORT NAME: the sum of a metric's series.
metric() {
  kubectl get --raw "/api/v1/namespaces/$system/pods/$(pod_of "$1"):$2/proxy/metrics" |
    awk -v name="$3" '$1 == name || index($1, name "{") == 1 { sum += $2 } END { print sum + 0 }'
}

# container COMPONENT NAME: id of a container, as the runtime knows it.
container() {
  kubectl -n $system get pod "$(pod_of "$1")" \
    -o "jsonpath={.status.containerStatuses[?(@.name==\"$2\")].containerID}" | sed 's,.*//,,'
}

# needs_node: for cases that work on the node itself; those are left out in a cluster that was not started here.
needs_node() {
  [ "${E2E_ENTER[0]}" = nsenter ] || { echo "needs the node of a cluster that e2e/run starts itself"; exit 77; }
}

# on_node COMMAND...: on the cluster's node.
on_node() { command "${E2E_ENTER[@]}" "$@"; }

# kill_container COMPONENT NAME: kill -9 of its process.
kill_container() { on_node ctr -n k8s.io task kill -s SIGKILL "$(container "$1" "$2")"; }

# fuse_mounts: how many mounts of the driver the node has.
fuse_mounts() { on_node cat /proc/1/mountinfo | grep -c 'fuse.posix-gateway' || true; }

# A loop for pods that reads and writes checked data until /data/stop-NAME is there, and reports every call that failed.
# load NAME: its text.
load() {
  cat <<EOF
cd /data; errors=0; rounds=0
head -c 300000 /dev/urandom > $1.bin; want=\$(sha256sum < $1.bin)
echo working
while [ ! -e stop-$1 ]; do
  rounds=\$((rounds + 1))
  have=\$(sha256sum < $1.bin) || { errors=\$((errors + 1)); echo "read failed in round \$rounds"; }
  [ "\$have" = "\$want" ] || { errors=\$((errors + 1)); echo "wrong bytes in round \$rounds"; }
  echo "round \$rounds" > $1.txt.new && mv $1.txt.new $1.txt || { errors=\$((errors + 1)); echo "write failed in round \$rounds"; }
  [ "\$(cat $1.txt)" = "round \$rounds" ] || { errors=\$((errors + 1)); echo "lost write in round \$rounds"; }
done
echo "rounds \$rounds errors \$errors"
[ \$errors = 0 ]
EOF
}
