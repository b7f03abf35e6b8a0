# A training job on thousands of images reads every byte as it was written, while its gateway is killed; it keeps checkpoints,
# from which a second job goes on. The files are those of the chart's examples.
needs_image posix-gateway-pytorch
examples=$E2E_ROOT/charts/posix-gateway/examples/pytorch
images=${PGW_E2E_IMAGES:-700}
kubectl -n "$NAMESPACE" apply -f "$examples/volumes.yaml" >/dev/null
kubectl -n "$NAMESPACE" create configmap train --from-file="$examples/train.py" >/dev/null
kubectl -n "$NAMESPACE" create configmap images --from-file="$E2E_ROOT/e2e/images.py" >/dev/null
apply <<EOF
apiVersion: v1
kind: Pod
metadata: {name: images}
spec:
  restartPolicy: Never
  containers:
    - name: main
      image: docker.io/library/posix-gateway-pytorch:1
      imagePullPolicy: IfNotPresent
      command: [python3, /code/images.py, /data, "$images"]
      volumeMounts: [{name: data, mountPath: /data}, {name: code, mountPath: /code}]
  volumes: [{name: data, persistentVolumeClaim: {claimName: dataset}}, {name: code, configMap: {name: images}}]
EOF
begin=$SECONDS
succeeds images 400
figure "$((images * 3)) images written in $((SECONDS - begin)) s"

# train EPOCHS: starts the job, until so many epochs are done.
train() { sed "s/--epochs=3/--epochs=$1/" "$examples/job.yaml" | kubectl -n "$NAMESPACE" apply -f - >/dev/null; }
log() { kubectl -n "$NAMESPACE" logs job/train; }
says() { log | has "$1"; }
trained() {
  until_true "$1" "end of the training" eval 'says "^trained" || kubectl -n "$NAMESPACE" get job train -o "jsonpath={.status.failed}" | has 1'
  says '^trained' || die "the training failed: $(log | tail -n 20)"
}
before=$(metric node "$(gateway_port)" posix_gateway_takeovers_total '"dataset"')
train 4
until_true 120 "first epoch" says '^epoch 1 '
until_true 60 "standby" standby_is_ready
kill_gateway
! says '^epoch 4 ' || die "the training ended before the gateway was killed"
trained 400
log
counted() { [ "$(metric node "$(gateway_port)" posix_gateway_takeovers_total '"dataset"')" = $((before + 1)) ]; }
until_true 60 "count of one takeover" counted
losses=$(log | awk '$1 == "epoch" { print $4 }')
awk 'NR == 1 { first = $1 } { last = $1 } END { exit !(last < first / 2) }' <<<"$losses" || die "the loss does not fall to half: $losses"
pause=$(log | awk '$1 == "epoch" && $2 > 1 { print $NF }' | sort -n | tail -n 1)
figure "longest step with the gateway killed: $pause s"
awk "BEGIN { exit !($pause <= 3 * ${PGW_E2E_SLACK:-1}) }" || die "a training step took $pause s"
checkpoint=$(log | awk '$1 == "checkpoint" { print $2 }' | tail -n 1)

kubectl -n "$NAMESPACE" delete job train --wait >/dev/null
train 6
trained 200
says "^resumed after 4 epochs from $checkpoint" || die "the second job did not go on from checkpoint $checkpoint: $(log)"
[ "$(log | awk '$1 == "epoch" { print $2 }' | tr '\n' ' ')" = '5 6 ' ] || die "the second job did other epochs than 5 and 6: $(log)"
log
kubectl -n "$NAMESPACE" delete job train --wait >/dev/null
