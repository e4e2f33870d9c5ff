{{- define "gatehouse.name" -}}
{{- default .Chart.Name .Values.nameOverride | trunc 50 | trimSuffix "-" }}
{{- end }}

{{- define "gatehouse.fullname" -}}
{{- $name := include "gatehouse.name" . }}
{{- if .Values.fullnameOverride }}
{{- .Values.fullnameOverride | trunc 50 | trimSuffix "-" }}
{{- else if contains $name .Release.Name }}
{{- .Release.Name | trunc 50 | trimSuffix "-" }}
{{- else }}
{{- printf "%s-%s" .Release.Name $name | trunc 50 | trimSuffix "-" }}
{{- end }}
{{- end }}

{{- define "gatehouse.selector" -}}
app.kubernetes.io/name: {{ include "gatehouse.name" . }}
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{- define "gatehouse.labels" -}}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_" }}
{{ include "gatehouse.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
{{- end }}

{{- define "gatehouse.image" -}}
{{- if .Values.image.digest -}}
{{ .Values.image.repository }}@{{ .Values.image.digest }}
{{- else -}}
{{ .Values.image.repository }}:{{ default .Chart.AppVersion .Values.image.tag }}
{{- end }}
{{- end }}

{{/* A value as the user wrote it: Helm reads every number as a float, and prints large ones with an exponent. */}}
{{- define "gatehouse.plain" -}}
{{- if and (kindIs "float64" .) (eq (floor .) .) }}{{ printf "%.0f" . }}{{ else }}{{ toString . }}{{ end }}
{{- end }}

{{/* Refuses a setting that contradicts a chart value: Kubernetes would silently use one of the two. */}}
{{- define "gatehouse.refuse-own" -}}
{{- $own := dict
  "GATEHOUSE_PORT" (list "4000" "service.port, which callers use; the port in the pod is always 4000")
  "GATEHOUSE_DATA_DIR" (list "/data" "persistence; the folder in the pod is always /data")
  "GATEHOUSE_DRAIN_DELAY_MS" (list (mul (int .Values.drainDelaySeconds) 1000 | toString) "drainDelaySeconds")
  "GATEHOUSE_SHUTDOWN_TIMEOUT_MS" (list (mul (int .Values.shutdownTimeoutSeconds) 1000 | toString) "shutdownTimeoutSeconds") }}
{{- if .Values.metrics.enabled }}
{{- $_ := set $own "GATEHOUSE_METRICS_PORT" (list (toString .Values.metrics.port) "metrics.port") }}
{{- end }}
{{- if .Values.configuration }}
{{- $_ := set $own "GATEHOUSE_CONFIG" (list "/etc/gatehouse/gatehouse.yaml" "configuration, or leave that out") }}
{{- end }}
{{- range $name, $value := .Values.settings }}
{{- with get $own $name }}
{{- if ne (include "gatehouse.plain" $value) (first .) }}
{{- fail (printf "settings.%s is set by the chart (to %s): use %s" $name (first .) (last .)) }}
{{- end }}
{{- end }}
{{- end }}
{{- end }}
