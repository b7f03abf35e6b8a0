# A claim mounted read-only refuses writes with EROFS, beside a pod that writes; a ReadOnlyMany volume refuses them from all. The latter's files are opened by the kernel.
claim docs
pod author docs 'echo text > /data/page'
succeeds author
refuses='cat /data/page; if echo more > /data/page; then exit 1; fi; if touch /data/new; then exit 1; fi; if rm /data/page; then exit 1; fi'
pod visitor docs "$refuses" 'readOnly: true'
pod guest docs "$refuses" '' 'readOnly: true'
path=$(kubectl get pv "$(kubectl -n "$NAMESPACE" get pvc docs -o 'jsonpath={.spec.volumeName}')" -o 'jsonpath={.spec.csi.volumeAttributes.alluxioPath}')
static_volume archive "$path, consistency: immutable, noOpen: 'on'" ReadOnlyMany
pod citizen archive "$refuses"
for one in visitor guest citizen; do
  succeeds $one
  logs_say $one 'Read-only file system' || die "a write of $one fails otherwise than with EROFS"
  logs_say $one text || die "$one does not read"
done
remove pod author visitor guest citizen
remove pvc docs archive
remove pv archive
