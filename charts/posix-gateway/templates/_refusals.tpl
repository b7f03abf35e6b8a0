{{/* Values that the schema cannot refuse, because they contradict each other or came with another chart. */}}
{{- define "posix-gateway.refusals" -}}
{{- $node := .Values.node -}}
{{- $gateway := $node.gateway -}}
{{- if not (and (hasKey $gateway "standbyHttpPort") (hasKey $gateway "blockDirs") (hasKey $gateway "uringProfile") (hasKey $gateway "dataCache") (hasKey .Values.csiDriver "ephemeralAllowed")) -}}
{{- fail "the values of an earlier chart lack values of this one: use helm upgrade --reset-then-reuse-values instead of --reuse-values" -}}
{{- end -}}
{{- if gt (add $gateway.heapPercent $gateway.directPercent) 90 -}}
{{- fail (printf "node.gateway: heapPercent %v + directPercent %v leave less than 10 percent of the memory limit for threads, code and the C library; lower one of them" $gateway.heapPercent $gateway.directPercent) -}}
{{- end -}}
{{- $cache := $gateway.dataCache -}}
{{- if and $cache.size (not $cache.hostPath) -}}
{{- fail (printf "node.gateway.dataCache.size=%s has no effect without a folder: set node.gateway.dataCache.hostPath, too, or leave the size out" $cache.size) -}}
{{- end -}}
{{- $others := concat (list (printf "%s/spool" .Values.stateDir) (printf "%s/csi" .Values.stateDir) .Values.runDir .Values.kubeletDir) .Values.alluxio.workerBlockDirs -}}
{{- range (empty $cache.hostPath) | ternary list $others -}}
{{- if or (hasPrefix (printf "%s/" .) (printf "%s/" $cache.hostPath)) (hasPrefix (printf "%s/" $cache.hostPath) (printf "%s/" .)) -}}
{{- fail (printf "node.gateway.dataCache.hostPath=%s and the folder %s of this chart lie in each other: give the cache a folder of its own" $cache.hostPath .) -}}
{{- end -}}
{{- end -}}
{{- if and .Values.alluxio.embedded.enabled .Values.alluxio.masters -}}
{{- fail "alluxio.masters and alluxio.embedded.enabled exclude each other: set the addresses of your Alluxio, or let the chart run one" -}}
{{- end -}}
{{- if and (or $node.hostNetwork .Values.sidecars.enabled) (dig "rollingUpdate" "maxSurge" 0 $node.updateStrategy) -}}
{{- fail "node.updateStrategy.rollingUpdate.maxSurge: with node.hostNetwork or sidecars.enabled two pods cannot run on one node; leave it out" -}}
{{- end -}}
{{- end -}}
