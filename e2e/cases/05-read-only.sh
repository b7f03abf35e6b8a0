# A claim mounted read-only refuses writes with EROFS, beside a pod that writes.
claim docs
pod author docs 'echo text > /data/page'
succeeds author
pod visitor docs 'cat /data/page; if echo more > /data/page; then exit 1; fi; if touch /data/new; then exit 1; fi' 'readOnly: true'
succeeds visitor
logs_say visitor 'Read-only file system' || die "a write to a read-only mount fails otherwise than with EROFS"
pod guest docs 'cat /data/page; if rm /data/page; then exit 1; fi' '' 'readOnly: true'
succeeds guest
remove pod author visitor guest
remove pvc docs
