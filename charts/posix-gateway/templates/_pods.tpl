{{/* Parts of pods that several workloads share. */}}

{{/* The JVM's budgets in MiB, following the container's limit: {"heap": n, "direct": n}, or {} without a limit. Takes (list . resources). */}}
{{- define "posix-gateway.memoryBudgets" -}}
{{- $gateway := (first .).Values.node.gateway -}}
{{- $limit := dig "limits" "memory" "" (index . 1) -}}
{{- $budgets := dict -}}
{{- if $limit -}}
{{- $mebibytes := include "posix-gateway.mebibytes" $limit | int64 -}}
{{- $budgets = dict "heap" (div (mul $mebibytes $gateway.heapPercent) 100) "direct" (div (mul $mebibytes $gateway.directPercent) 100) -}}
{{- end -}}
{{- toJson $budgets -}}
{{- end -}}

{{/* A container that needs no privilege at all. */}}
{{- define "posix-gateway.unprivileged" -}}
{{ include "posix-gateway.bare" . }}
seccompProfile:
  type: RuntimeDefault
{{- end -}}

{{/* The same without a word on system calls. */}}
{{- define "posix-gateway.bare" -}}
allowPrivilegeEscalation: false
readOnlyRootFilesystem: true
runAsNonRoot: true
capabilities:
  drop: [ALL]
{{- end -}}

{{/*
Probes of a gateway. Ending one is harmless, so they are patient: only a process that is really stuck is ended.
Takes (list container page), the page that says whether it is ready; empty: the pod's readiness does not depend on it.
*/}}
{{- define "posix-gateway.gatewayProbes" -}}
startupProbe:
  httpGet: {path: /healthz, port: {{ first . }}-http}
  periodSeconds: 2
  timeoutSeconds: 5
  failureThreshold: 60
livenessProbe:
  httpGet: {path: /healthz, port: {{ first . }}-http}
  periodSeconds: 20
  timeoutSeconds: 10
  failureThreshold: 6
{{- with last . }}
readinessProbe:
  httpGet: {path: {{ . }}, port: {{ first $ }}-http}
  periodSeconds: 5
  timeoutSeconds: 5
{{- end }}
{{- end -}}

{{- define "posix-gateway.csiProbes" -}}
livenessProbe:
  httpGet: {path: /healthz, port: csi-http}
  initialDelaySeconds: 10
  periodSeconds: 20
  timeoutSeconds: 10
  failureThreshold: 6
{{- end -}}

{{/*
metadata of a pod. It names no version, so that a new chart alone replaces no pod, least of all a keeper's; a change of the
site properties replaces the pods that read them. Takes (list . "component" componentValues "defaultContainer").
*/}}
{{- define "posix-gateway.podMetadata" -}}
{{- $root := index . 0 -}}
{{- $component := index . 1 -}}
{{- $values := index . 2 -}}
labels:
  {{- include "posix-gateway.selector" (list $root $component) | nindent 2 }}
  {{- with merge (dict) $values.podLabels $root.Values.commonLabels }}
  {{- toYaml . | nindent 2 }}
  {{- end }}
annotations:
  kubectl.kubernetes.io/default-container: {{ last . }}
  {{- if ne $component "keeper" }}
  posixgateway.io/site-properties: {{ include "posix-gateway.sitePropertiesText" $root | sha256sum | trunc 16 }}
  {{- end }}
  {{- with merge (dict) $values.podAnnotations $root.Values.commonAnnotations }}
  {{- toYaml . | nindent 2 }}
  {{- end }}
{{- end -}}

{{/* The lines of alluxio-site.properties. */}}
{{- define "posix-gateway.sitePropertiesText" -}}
{{- $masters := .Values.alluxio.masters -}}
{{- if .Values.alluxio.embedded.enabled -}}
{{- $masters = list (printf "%s-alluxio.%s.svc.%s:19998" (include "posix-gateway.fullname" .) .Release.Namespace .Values.clusterDomain) -}}
{{- end -}}
{{- if gt (len $masters) 1 }}
alluxio.master.rpc.addresses={{ join "," $masters }}
{{- else if $masters }}
{{- $parts := regexSplit ":" (first $masters) -1 }}
alluxio.master.hostname={{ initial $parts | join ":" }}
alluxio.master.rpc.port={{ last $parts }}
{{- end }}
{{- range $key, $value := .Values.alluxio.properties }}
{{ $key }}={{ $value }}
{{- end }}
{{- end -}}

{{/* Where pods run. Takes a component's values. What takes the startup taint away must not wait for that. */}}
{{- define "posix-gateway.placement" -}}
{{- with .nodeSelector }}
nodeSelector:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .affinity }}
affinity:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with concat (.tolerations | default list) (empty .startupTaint | ternary list (list (dict "key" .startupTaint "operator" "Exists"))) }}
tolerations:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- end -}}

{{/* Environment of a gateway. Takes (list . resources). */}}
{{- define "posix-gateway.gatewayEnv" -}}
{{- $root := first . -}}
{{- $options := $root.Values.node.gateway.javaOptions -}}
{{- with include "posix-gateway.memoryBudgets" . | fromJson -}}
- name: POSIX_GATEWAY_HEAP
  value: {{ .heap }}m
- name: POSIX_GATEWAY_DIRECT
  value: {{ .direct }}m
{{ end -}}
{{- if ne $root.Values.node.localityFrom "none" -}}
{{- $options = append $options "-Dalluxio.user.hostname=$(NODE_ADDRESS)" -}}
- name: NODE_ADDRESS
  valueFrom: {fieldRef: {fieldPath: {{ eq $root.Values.node.localityFrom "ip" | ternary "status.hostIP" "spec.nodeName" }}}}
{{ end -}}
- name: POSIX_GATEWAY_JAVA_OPTS
  value: {{ join " " $options | quote }}
# Of the gateway's commands, run in its container.
- name: POSIX_GATEWAY_SOCKET
  value: /control/control.sock
{{- end -}}

{{/* The driver's word for the log level: it has no TRACE. */}}
{{- define "posix-gateway.csiLogLevel" -}}
{{- eq .Values.logLevel "TRACE" | ternary "DEBUG" .Values.logLevel -}}
{{- end -}}

{{/*
A gateway of a node. There may be two, of which one serves and the other one waits for its end; they differ in nothing but what is
said here. Takes (list . name port resources).
*/}}
{{- define "posix-gateway.gatewayContainer" -}}
{{- $root := index . 0 -}}
{{- $name := index . 1 -}}
{{- $port := index . 2 -}}
{{- $resources := index . 3 -}}
{{- $gateway := $root.Values.node.gateway -}}
- name: {{ $name }}
  image: {{ include "posix-gateway.image" (list $root $root.Values.image.gateway) }}
  imagePullPolicy: {{ $root.Values.image.gateway.pullPolicy }}
  args:
    - serve
    - --socket=/control/control.sock
    - --keeper={{ $root.Values.runDir }}/keeper.sock
    - --http=0.0.0.0:{{ $port }}
    - --spool=/spool
    {{- with $gateway.spoolFree }}
    - --spool-free={{ . }}
    {{- end }}
    {{- if $gateway.dataCache.hostPath }}
    - --cache-dir=/cache
    {{- end }}
    {{- with $gateway.dataCache.size }}
    - --cache-dir-size={{ . }}
    {{- end }}
    {{- with $gateway.maxBytesPerSecond }}
    - --max-bytes-per-second={{ . }}
    {{- end }}
    {{- with $gateway.maxRequestsPerSecond }}
    - --max-requests-per-second={{ int . }}
    {{- end }}
    {{- with concat $root.Values.alluxio.workerBlockDirs $gateway.blockDirs }}
    - --block-folders={{ join ":" . }}
    {{- end }}
    {{- if $gateway.bypass }}
    - --bypass-socket=/bypass/socket
    {{- end }}
    - --site-properties=/etc/posix-gateway/alluxio-site.properties
    - --log-level={{ $root.Values.logLevel }}
    {{- if $root.Values.monitoring.oldMetricNames }}
    - --old-metric-names
    {{- end }}
  env:
    {{- include "posix-gateway.gatewayEnv" (list $root $resources) | nindent 4 }}
    {{- with $gateway.extraEnv }}
    {{- toYaml . | nindent 4 }}
    {{- end }}
  ports:
    - {name: {{ $name }}-http, containerPort: {{ $port }}}
  {{- include "posix-gateway.gatewayProbes" (list $name (eq $name "gateway" | ternary "/readyz" "")) | nindent 2 }}
  resources:
    {{- toYaml $resources | nindent 4 }}
  securityContext:
    {{- if $gateway.passthrough }}
    # Registering a block file with the kernel needs CAP_SYS_ADMIN, and an added capability only reaches root.
    runAsUser: 0
    allowPrivilegeEscalation: false
    readOnlyRootFilesystem: true
    capabilities:
      drop: [ALL]
      add: [SYS_ADMIN, DAC_OVERRIDE]
    {{- else }}
    runAsUser: {{ $gateway.runAsUser }}
    runAsGroup: {{ $gateway.runAsUser }}
    {{- include "posix-gateway.bare" $root | nindent 4 }}
    {{- end }}
    seccompProfile:
      {{- with $gateway.seccompProfile | default ($gateway.uringProfile | ternary "posix-gateway/io-uring.json" "") }}
      type: Localhost
      localhostProfile: {{ . }}
      {{- else }}
      type: RuntimeDefault
      {{- end }}
  volumeMounts:
    - name: control
      mountPath: /control
    - name: run
      mountPath: {{ $root.Values.runDir }}
      readOnly: true
    - name: spool
      mountPath: /spool
    {{- if $gateway.dataCache.hostPath }}
    - name: cache
      mountPath: /cache
    {{- end }}
    {{- if $gateway.bypass }}
    - name: bypass
      mountPath: /bypass
    {{- end }}
    - name: site-properties
      mountPath: /etc/posix-gateway
      readOnly: true
    - name: {{ eq $name "gateway" | ternary "tmp" "tmp-standby" }}
      mountPath: /tmp
    {{- range $index, $path := $root.Values.alluxio.workerBlockDirs }}
    - name: blocks-{{ $index }}
      mountPath: {{ $path }}
      mountPropagation: HostToContainer
      readOnly: true
    {{- end }}
    {{- with $root.Values.alluxio.domainSocketDir }}
    - name: domain-socket
      mountPath: {{ . }}
    {{- end }}
    {{- with $gateway.extraVolumeMounts }}
    {{- toYaml . | nindent 4 }}
    {{- end }}
{{- end -}}
