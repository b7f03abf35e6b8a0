# subPath mounts one folder of the volume.
claim tree
pod planter tree 'mkdir -p /data/a/b /data/c; echo inside > /data/a/b/file'
succeeds planter
pod climber tree 'ls -A /data; cat /data/file; test "$(ls -A /data)" = file' 'subPath: a/b'
succeeds climber
remove pod planter climber
remove pvc tree
