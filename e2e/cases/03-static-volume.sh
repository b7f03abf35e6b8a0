# A path that exists in Alluxio, as a PersistentVolume with its claim, made by the chart.
NAMESPACE=default
pod static everything 'ls /data; mkdir -p /data/static; echo made > /data/static/file; cat /data/static/file'
succeeds static
logs_say static made || die "the static volume does not hold what was written"
remove pod static
