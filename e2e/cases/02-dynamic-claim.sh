# Each claim of a class gets a directory of its own, which goes with the claim, or stays, as its class says.
claim one
claim two
pod writer one 'echo hello > /data/greeting; mkdir /data/folder; cp /usr/bin/bash /data/folder/; sync'
succeeds writer
pod reader one 'cmp /usr/bin/bash /data/folder/bash; cat /data/greeting; ls /data'
succeeds reader
logs_say reader hello || die "the second pod does not read what the first wrote"
pod other two 'ls -A /data; test -z "$(ls -A /data)"'
succeeds other
claim keepsake kept
pod keeper keepsake 'echo for ever > /data/note'
succeeds keeper

volume=$(kubectl -n "$NAMESPACE" get pvc one -o 'jsonpath={.spec.volumeName}')
path=$(kubectl get pv "$volume" -o 'jsonpath={.spec.csi.volumeAttributes.alluxioPath}')
[ "$(alluxio cat "$path/greeting")" = hello ] || die "Alluxio has no $path/greeting"
remove pod writer reader other keeper
remove pvc one two keepsake
volume_gone() { ! kubectl get pv "$volume"; }
until_true 60 "deletion of the volume" volume_gone
! alluxio test -e "$path" || die "the claim is gone and its folder $path is not"
[ "$(alluxio cat "/kept/$NAMESPACE/keepsake/note")" = "for ever" ] || die "the folder of a class that retains is gone"
