{{/* Names and labels come only from here. */}}

{{- define "posix-gateway.name" -}}
{{- default .Chart.Name .Values.nameOverride | trunc 50 | trimSuffix "-" -}}
{{- end -}}

{{- define "posix-gateway.fullname" -}}
{{- if .Values.fullnameOverride -}}
{{- .Values.fullnameOverride | trunc 50 | trimSuffix "-" -}}
{{- else if contains (include "posix-gateway.name" .) .Release.Name -}}
{{- .Release.Name | trunc 50 | trimSuffix "-" -}}
{{- else -}}
{{- printf "%s-%s" .Release.Name (include "posix-gateway.name" .) | trunc 50 | trimSuffix "-" -}}
{{- end -}}
{{- end -}}

{{/* Labels that select the pods of a component; they never change over releases. Takes (list . "component"). */}}
{{- define "posix-gateway.selector" -}}
{{- $root := first . -}}
app.kubernetes.io/name: {{ include "posix-gateway.name" $root }}
app.kubernetes.io/instance: {{ $root.Release.Name }}
app.kubernetes.io/component: {{ last . }}
{{- end -}}

{{/* Labels of an object of a component. Takes (list . "component"). */}}
{{- define "posix-gateway.labels" -}}
{{- $root := first . -}}
{{ include "posix-gateway.selector" . }}
app.kubernetes.io/version: {{ $root.Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ $root.Release.Service }}
app.kubernetes.io/part-of: posix-gateway
helm.sh/chart: {{ printf "%s-%s" $root.Chart.Name $root.Chart.Version | replace "+" "_" }}
{{- with $root.Values.commonLabels }}
{{ toYaml . }}
{{- end }}
{{- end -}}

{{/* The annotations line of an object, with its own added. Takes (list . ownAnnotations). */}}
{{- define "posix-gateway.annotations" -}}
{{- $root := first . -}}
{{- with merge (dict) (last . | default dict) $root.Values.commonAnnotations }}
annotations:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- end -}}

{{/* metadata of a namespaced object. Takes (list . "component" "suffix" ownAnnotations?). */}}
{{- define "posix-gateway.metadata" -}}
{{- $root := index . 0 -}}
name: {{ include "posix-gateway.fullname" $root }}{{ with index . 2 }}-{{ . }}{{ end }}
namespace: {{ $root.Release.Namespace }}
{{ include "posix-gateway.clusterMetadata" . }}
{{- end -}}

{{/* labels and annotations of any object. Takes (list . "component" "suffix" ownAnnotations?). */}}
{{- define "posix-gateway.clusterMetadata" -}}
{{- $root := index . 0 -}}
labels:
  {{- include "posix-gateway.labels" (list $root (index . 1)) | nindent 2 }}
{{- $own := dict -}}
{{- if gt (len .) 3 -}}{{- $own = index . 3 -}}{{- end -}}
{{- include "posix-gateway.annotations" (list $root $own) }}
{{- end -}}

{{/* Name of a cluster-wide object: releases in other namespaces may have the same name. Takes (list . "suffix"). */}}
{{- define "posix-gateway.clusterName" -}}
{{- $root := first . -}}
{{- printf "%s-%s-%s" $root.Release.Namespace (include "posix-gateway.fullname" $root) (last .) | trunc 63 | trimSuffix "-" -}}
{{- end -}}

{{/* Takes (list . imageValues tagOverride?). */}}
{{- define "posix-gateway.image" -}}
{{- $root := index . 0 -}}
{{- $image := index . 1 -}}
{{- $tag := "" -}}
{{- if gt (len .) 2 -}}{{- $tag = index . 2 -}}{{- end -}}
{{- if $tag -}}
{{- printf "%s:%s" $image.repository $tag -}}
{{- else if $image.digest -}}
{{- printf "%s@%s" $image.repository $image.digest -}}
{{- else -}}
{{- printf "%s:%s" $image.repository (default $root.Chart.AppVersion $image.tag) -}}
{{- end -}}
{{- end -}}

{{- define "posix-gateway.pullSecrets" -}}
{{- with .Values.imagePullSecrets }}
imagePullSecrets:
  {{- range . }}
  - name: {{ . }}
  {{- end }}
{{- end }}
{{- end -}}

{{- define "posix-gateway.nodeAccount" -}}
{{- default (printf "%s-node" (include "posix-gateway.fullname" .)) .Values.serviceAccount.nodeName -}}
{{- end -}}

{{- define "posix-gateway.controllerAccount" -}}
{{- default (printf "%s-controller" (include "posix-gateway.fullname" .)) .Values.serviceAccount.controllerName -}}
{{- end -}}

{{/* Name of a pod's priority class. Takes (list . "wanted"). */}}
{{- define "posix-gateway.priority" -}}
{{- $root := first . -}}
{{- if $root.Values.priorityClass.create -}}
{{- include "posix-gateway.clusterName" (list $root "pods") -}}
{{- else -}}
{{- last . -}}
{{- end -}}
{{- end -}}

{{- define "posix-gateway.siteProperties" -}}
{{- default (printf "%s-alluxio" (include "posix-gateway.fullname" .)) .Values.alluxio.existingConfigMap -}}
{{- end -}}

{{- define "posix-gateway.csiSocket" -}}
{{- printf "%s/plugins/%s/csi.sock" .Values.kubeletDir .Values.csiDriver.name -}}
{{- end -}}

{{/* A Kubernetes quantity of memory in MiB, rounded down. */}}
{{- define "posix-gateway.mebibytes" -}}
{{- $text := toString . -}}
{{- $units := dict "" 1.0 "k" 1e3 "M" 1e6 "G" 1e9 "T" 1e12 "Ki" 1024.0 "Mi" 1048576.0 "Gi" 1073741824.0 "Ti" 1099511627776.0 -}}
{{- $unit := regexFind "[A-Za-z]*$" $text -}}
{{- divf (mulf (trimSuffix $unit $text | float64) (get $units $unit)) 1048576.0 | floor | int64 -}}
{{- end -}}

{{/* Names of the secrets in the release's namespace that StorageClasses use, as a JSON list. */}}
{{- define "posix-gateway.storageClassSecrets" -}}
{{- $names := list -}}
{{- range .Values.storageClasses -}}
{{- if and .secretName (eq (default $.Release.Namespace .secretNamespace) $.Release.Namespace) -}}
{{- $names = append $names .secretName -}}
{{- end -}}
{{- end -}}
{{- uniq $names | toJson -}}
{{- end -}}

{{/* The HTTP ports of a component's pods, as JSON: {"name": number}. Takes (list . "component"). */}}
{{- define "posix-gateway.httpPorts" -}}
{{- $node := (first .).Values.node -}}
{{- $ports := dict "gateway-http" $node.gateway.httpPort "csi-http" $node.csi.httpPort -}}
{{- if eq (last .) "keeper" -}}
{{- $ports = dict "keeper-http" (first .).Values.keeper.httpPort -}}
{{- else if and (eq (last .) "node") $node.gateway.standby -}}
{{- $ports = set $ports "standby-http" $node.gateway.standbyHttpPort -}}
{{- end -}}
{{- toJson $ports -}}
{{- end -}}

{{/* What a monitor scrapes of a component; every series says on which node it was measured. Takes (list . "component" monitorValues). */}}
{{- define "posix-gateway.endpoints" -}}
{{- $monitor := last . -}}
{{- range $port := include "posix-gateway.httpPorts" (list (first .) (index . 1)) | fromJson | keys | sortAlpha }}
- port: {{ $port }}
  path: /metrics
  interval: {{ $monitor.interval }}
  scrapeTimeout: {{ $monitor.scrapeTimeout }}
  # The gateway's own labels (namespace and claim of the volume) win over those of its pod.
  honorLabels: true
  relabelings:
    - sourceLabels: [__meta_kubernetes_pod_node_name]
      targetLabel: node
{{- end }}
{{- end -}}

{{/* Access modes of a static volume, as JSON. */}}
{{- define "posix-gateway.accessModes" -}}
{{- default (ternary (list "ReadOnlyMany") (list "ReadWriteMany") (default false .readOnly)) .accessModes | toJson -}}
{{- end -}}
