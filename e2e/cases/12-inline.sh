# An inline volume shows a path below the root that the administrator allows, and no other; it ends with its pod.
NAMESPACE=default pod planter everything 'mkdir -p /data/inline/tree; echo leaf > /data/inline/tree/leaf'
NAMESPACE=default succeeds planter
NAMESPACE=default remove pod planter
inline() { echo "{csi: {driver: $driver, volumeAttributes: {alluxioPath: $1}}}"; }
pod inside "$(inline /inline/tree)" 'cat /data/leaf; echo more > /data/more'
succeeds inside
logs_say inside leaf || die "an inline volume does not show its path"
pod outside "$(inline /volumes)" 'ls /data'
refused() { kubectl -n "$NAMESPACE" get events --field-selector involvedObject.name=outside | has 'inline volumes may mount paths below /inline'; }
until_true 60 "an event that says why" refused
remove pod inside outside
no_leak
