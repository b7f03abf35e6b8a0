# Each claim of a class gets a directory of its own, which goes with the claim.
claim one
claim two
pod writer one 'echo hello > /data/greeting; mkdir /data/folder; cp /usr/bin/bash /data/folder/; sync'
succeeds writer
pod reader one 'cmp /usr/bin/bash /data/folder/bash; cat /data/greeting; ls /data'
succeeds reader
logs_say reader hello || die "the second pod does not read what the first wrote"
pod other two 'ls -A /data; test -z "$(ls -A /data)"'
succeeds other
volume=$(kubectl -n "$NAMESPACE" get pvc one -o 'jsonpath={.spec.volumeName}')
remove pod writer reader other
remove pvc one two
volume_gone() { ! kubectl get pv "$volume"; }
until_true 60 "deletion of the volume" volume_gone
