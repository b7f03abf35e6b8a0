# Pods of ordinary users, with an fsGroup, and volumes with a secret: who may do what, and who is seen as owner.
claim shared
pod user shared 'id; echo mine > /data/file; mkdir /data/folder; cat /data/file; rm -r /data/folder; test -O /data/file' '' '' \
  'securityContext: {runAsUser: 1234, runAsGroup: 1234, runAsNonRoot: true}'
succeeds user
remove pod user
claim grouped
pod member grouped 'id; touch /data/by-member; stat -c "group %g" /data /data/by-member' '' '' \
  'securityContext: {runAsUser: 1234, runAsGroup: 1234, fsGroup: 4321}'
succeeds member
[ "$(kubectl -n "$NAMESPACE" logs member | grep -c 'group 4321')" = 2 ] || die "the volume does not belong to the fsGroup: $(kubectl -n "$NAMESPACE" logs member)"
remove pod member

apply <<EOF
{apiVersion: v1, kind: Secret, metadata: {name: login}, stringData: {alluxioUser: ottilie}}
EOF
secret="{name: login, namespace: $NAMESPACE}"
static_volume personal / ReadWriteMany "nodeStageSecretRef: $secret, nodePublishSecretRef: $secret"
pod ottilie personal 'mkdir -p /data/of-ottilie; echo hers > /data/of-ottilie/file'
succeeds ottilie
alluxio ls /of-ottilie | grep -w ottilie || die "what a volume with a secret wrote does not belong to the secret's user: $(alluxio ls /of-ottilie)"
remove pod ottilie
remove pvc personal
remove pv personal
for one in node keeper; do
  ! kubectl -n $system logs --all-containers "$(pod_of $one)" | grep -F ottilie || die "the log of $one has the secret"
done
