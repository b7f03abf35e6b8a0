# A training job of uid 1000 reads a bucket that another client filled, without markers of directories, and saves its checkpoints
# over the old ones; what the bucket then has is what the job wrote. The bucket is mounted into the embedded Alluxio.
needs_node
needs_image posix-gateway-pytorch
weed=${PGW_CACHE:-$HOME/.cache/posix-gateway}/s3
[ -x "$weed/weed" ] || { echo "there is no S3 server; make setup-s3 builds one"; exit 77; }
count=${PGW_E2E_BUCKET_IMAGES:-50}
apply <<EOF
apiVersion: v1
kind: ConfigMap
metadata: {name: s3}
data:
  identities.json: |
    {"identities": [{"name": "alluxio", "credentials": [{"accessKey": "e2e", "secretKey": "e2e-secret"}], "actions": ["Admin"]},
                    {"name": "anonymous", "actions": ["Admin"]}]}
---
apiVersion: v1
kind: Pod
metadata: {name: s3, labels: {app: s3}}
spec:
  terminationGracePeriodSeconds: 1
  containers:
    - name: main
      image: docker.io/library/e2e-pod:1
      imagePullPolicy: IfNotPresent
      command: [/weed/weed, server, -dir=/objects, -ip.bind=0.0.0.0, -volume.max=0, -filer, -s3, -s3.port=8333, -s3.port.iceberg=0,
        -s3.port.lance=0, -s3.config=/config/identities.json, -master.volumeSizeLimitMB=1024, -master.telemetry=false]
      readinessProbe: {tcpSocket: {port: 8333}, periodSeconds: 1}
      volumeMounts:
        - {name: weed, mountPath: /weed, readOnly: true}
        - {name: objects, mountPath: /objects}
        - {name: config, mountPath: /config}
  volumes:
    - {name: weed, hostPath: {path: $weed}}
    - {name: objects, emptyDir: {}}
    - {name: config, configMap: {name: s3}}
---
{apiVersion: v1, kind: Service, metadata: {name: s3}, spec: {selector: {app: s3}, ports: [{port: 8333}]}}
EOF
kubectl -n "$NAMESPACE" wait --for=condition=Ready pod/s3 --timeout=120s >/dev/null || die "the S3 server is not ready"
endpoint=http://s3.$NAMESPACE.svc.cluster.local:8333

# run NAME SCRIPT: Python in a pod of the training's image.
run() {
  kubectl -n "$NAMESPACE" create configmap "$1" --from-literal="script.py=$2" --from-file="$E2E_ROOT/e2e/images.py" >/dev/null
  apply <<EOF
apiVersion: v1
kind: Pod
metadata: {name: $1}
spec:
  restartPolicy: Never
  containers:
    - name: main
      image: docker.io/library/posix-gateway-pytorch:1
      imagePullPolicy: IfNotPresent
      command: [python3, /code/script.py, "$endpoint/datasets", "$count"]
      volumeMounts: [{name: code, mountPath: /code}]
  volumes: [{name: code, configMap: {name: $1}}]
EOF
  succeeds "$1" 300
}
run fill '
import os, subprocess, sys, tempfile, time, urllib.request
bucket, count = sys.argv[1:]
def put(url, body):
    urllib.request.urlopen(urllib.request.Request(url, body, method="PUT")).read()
for tries in range(60):
    try:
        put(bucket, b"")
        break
    except OSError:
        time.sleep(1)
folder = tempfile.mkdtemp()
subprocess.run([sys.executable, "/code/images.py", folder, count], check=True)
for path, _, names in os.walk(folder):
    for name in names:
        file = os.path.join(path, name)
        put(f"{bucket}/{os.path.relpath(file, folder)}", open(file, "rb").read())
'

kubectl -n $system create secret generic bucket --from-literal=s3a.accessKeyId=e2e --from-literal=s3a.secretKey=e2e-secret >/dev/null
cat >"$WORK/under-store.yaml" <<EOF
alluxio:
  embedded:
    underStore:
      uri: s3://datasets/
      path: /s3
      secretName: bucket
      properties:
        alluxio.underfs.s3.endpoint: $endpoint
        alluxio.underfs.s3.disable.dns.buckets: "true"
        alluxio.underfs.s3.inherit.acl: "false"
        alluxio.underfs.s3.region: us-east-1
EOF
helm upgrade "$RELEASE" "$E2E_ROOT/charts/posix-gateway" -n $system --reuse-values -f "$WORK/under-store.yaml" >/dev/null
kubectl -n $system rollout status "statefulset/$RELEASE-alluxio" --timeout=240s >/dev/null || die "Alluxio is not ready"
static_volume bucket /s3 ReadWriteMany
kubectl -n "$NAMESPACE" create configmap train --from-file="$E2E_ROOT/charts/posix-gateway/examples/pytorch/train.py" >/dev/null

# train NAME EPOCHS: a job of uid 1000.
train() {
  apply <<EOF
apiVersion: v1
kind: Pod
metadata: {name: $1}
spec:
  restartPolicy: Never
  securityContext: {runAsUser: 1000, runAsGroup: 1000, fsGroup: 1000, runAsNonRoot: true}
  containers:
    - name: main
      image: docker.io/library/posix-gateway-pytorch:1
      imagePullPolicy: IfNotPresent
      command: [python3, /code/train.py, --images=/data/images, --sums=/data/SHA256SUMS, --checkpoint=/data/checkpoint.pt,
        --epochs=$2]
      volumeMounts: [{name: data, mountPath: /data}, {name: code, mountPath: /code}]
  volumes: [{name: data, persistentVolumeClaim: {claimName: bucket}}, {name: code, configMap: {name: train}}]
EOF
  succeeds "$1" 300
}
begin=$SECONDS
train first 1
train second 3
figure "$((count * 3)) images of a bucket, 3 epochs in two jobs: $((SECONDS - begin)) s"
checkpoint() { kubectl -n "$NAMESPACE" logs "$1" | awk '$1 == "checkpoint" { print $2 }' | tail -n 1; }
logs_say second "resumed after 1 epochs from $(checkpoint first)" || die "the second job did not go on from the first one's checkpoint"
run compare "
import hashlib, sys, urllib.request
found = hashlib.sha256(urllib.request.urlopen(sys.argv[1] + '/checkpoint.pt').read()).hexdigest()
sys.exit(0 if found == '$(checkpoint second)' else f'the bucket has {found}')
"
