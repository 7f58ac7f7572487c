{{- define "launchboard.name" -}}
{{- if contains .Chart.Name .Release.Name }}{{ .Release.Name }}{{ else }}{{ .Release.Name }}-{{ .Chart.Name }}{{ end -}}
{{- end }}

{{- define "launchboard.selector" -}}
app.kubernetes.io/name: {{ .Chart.Name }}
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{- define "launchboard.labels" -}}
{{ include "launchboard.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ .Chart.Name }}-{{ .Chart.Version }}
{{- end }}

{{- define "launchboard.host" -}}
{{ get (urlParse .Values.settings.SITE_URL) "hostname" }}
{{- end }}

{{- /* Refuse values that can't work together, which a schema can't express. */}}
{{- define "launchboard.validate" -}}
{{- range $list := list "workers" "followers" }}
  {{- $names := list }}
  {{- range get $.Values $list }}
    {{- if has .name $names }}{{ fail (printf "%s: two have the name %s" $list .name) }}{{ end }}
    {{- $names = append $names .name }}
  {{- end }}
{{- end }}
{{- $pictures := lower (.Values.settings.SITE_PICTURES | default "false") }}
{{- if and (has $pictures (list "true" "yes" "on" "1")) (not .Values.pictures.existingClaim) }}
  {{- fail "settings.SITE_PICTURES needs pictures.existingClaim" }}
{{- end }}
{{- if eq (lower (.Values.settings.UPLOAD_STORAGE | default "off")) "directory" }}
  {{- fail "settings.UPLOAD_STORAGE must be s3 or pinning: the chart has no volume for a directory" }}
{{- end }}
{{- end }}

{{- define "launchboard.image" -}}
{{ .Values.image.repository }}{{ if .Values.image.digest }}@{{ .Values.image.digest }}{{ else }}:{{ .Values.image.tag | default .Chart.AppVersion }}{{ end }}
{{- end }}

{{- /* Settings and secrets. Prometheus scrapes web by the name of the service, and each stream by its address. */}}
{{- define "launchboard.environment" -}}
env:
  - name: POD_IP
    valueFrom: {fieldRef: {fieldPath: status.podIP}}
  - name: ALLOWED_HOSTS
    value: {{ printf "%s,%s-web.%s,$(POD_IP)" (.Values.settings.ALLOWED_HOSTS | default (include "launchboard.host" .)) (include "launchboard.name" .) .Release.Namespace | quote }}
  {{- range $name, $text := omit .Values.settings "ALLOWED_HOSTS" }}
  - name: {{ $name }}
    value: {{ $text | quote }}
  {{- end }}
envFrom:
  - secretRef: {name: {{ .Values.existingSecret }}}
{{- end }}

{{- define "launchboard.annotations" -}}
{{- with .Values.podAnnotations }}
annotations: {{ toJson . }}
{{- end }}
{{- end }}

{{- define "launchboard.pod" -}}
automountServiceAccountToken: false
enableServiceLinks: false
{{- with .Values.imagePullSecrets }}
imagePullSecrets: {{ toJson . }}
{{- end }}
securityContext:
  runAsNonRoot: true
  runAsUser: 10001
  runAsGroup: 10001
  fsGroup: 10001
  fsGroupChangePolicy: OnRootMismatch
  seccompProfile: {type: RuntimeDefault}
{{- with .Values.nodeSelector }}
nodeSelector: {{ toJson . }}
{{- end }}
{{- with .Values.tolerations }}
tolerations: {{ toJson . }}
{{- end }}
{{- end }}

{{- define "launchboard.container" -}}
image: {{ include "launchboard.image" . }}
imagePullPolicy: {{ .Values.image.pullPolicy }}
{{ include "launchboard.environment" . }}
securityContext:
  allowPrivilegeEscalation: false
  readOnlyRootFilesystem: true
  capabilities: {drop: [ALL]}
{{- end }}

{{- /* A deployment of a process of the Procfile, with its disruption budget and its autoscaler.
       Of (root, process, suffix, values, arguments, grace). */}}
{{- define "launchboard.deployment" -}}
{{- $name := printf "%s-%s" (include "launchboard.name" .root) .process }}
{{- if .suffix }}{{ $name = printf "%s-%s" $name .suffix }}{{ end }}
{{- $scaled := dig "autoscaling" "enabled" false .values }}
{{- $pictures := and .root.Values.pictures.existingClaim (has .process (list "web" "worker")) }}
apiVersion: apps/v1
kind: Deployment
metadata:
  name: {{ $name }}
  labels:
    {{- include "launchboard.labels" .root | nindent 4 }}
    app.kubernetes.io/component: {{ .process }}
spec:
  {{- if not $scaled }}
  replicas: {{ .values.replicas | default 1 }}
  {{- end }}
  selector:
    matchLabels: &labels
      {{- include "launchboard.selector" .root | nindent 6 }}
      app.kubernetes.io/component: {{ .process }}
      launchboard/process: {{ .suffix | default .process }}
  strategy:
    {{- if eq .process "beat" }}
    # Two would send each task twice.
    type: Recreate
    {{- else }}
    type: RollingUpdate
    rollingUpdate: {maxUnavailable: 0}
    {{- end }}
  template:
    metadata:
      labels: *labels
      {{- include "launchboard.annotations" .root | nindent 6 }}
    spec:
      {{- include "launchboard.pod" .root | nindent 6 }}
      terminationGracePeriodSeconds: {{ .grace }}
      topologySpreadConstraints:
        - maxSkew: 1
          topologyKey: kubernetes.io/hostname
          whenUnsatisfiable: ScheduleAnyway
          labelSelector: {matchLabels: *labels}
      containers:
        - name: {{ .process }}
          command: [deploy/start, {{ .process }}]
          {{- with .arguments }}
          args: {{ toJson . }}
          {{- end }}
          {{- include "launchboard.container" .root | nindent 10 }}
          {{- if has .process (list "web" "stream") }}
          ports:
            - {name: http, containerPort: {{ include "launchboard.port" .process }}}
          startupProbe: &health
            httpGet: {path: /healthz, port: http}
            periodSeconds: 5
            timeoutSeconds: 3
            failureThreshold: 24
          livenessProbe:
            <<: *health
            periodSeconds: 10
            failureThreshold: 3
          readinessProbe:
            <<: *health
            httpGet: {path: {{ eq .process "web" | ternary "/readyz" "/healthz" }}, port: http}
            failureThreshold: 2
          lifecycle:
            # Proxies need some time to learn that the pod ends.
            preStop: {exec: {command: [sleep, "5"]}}
          {{- else }}
          startupProbe: &health
            exec: {command: [deploy/check, {{ .process }}]}
            periodSeconds: 5
            timeoutSeconds: 5
            failureThreshold: 24
          livenessProbe:
            <<: *health
            periodSeconds: 30
            failureThreshold: 2
          {{- end }}
          resources: {{ toJson .values.resources }}
          volumeMounts:
            - {name: tmp, mountPath: /tmp}
            {{- if $pictures }}
            - {name: pictures, mountPath: /var/lib/launchboard/pictures}
            {{- end }}
      volumes:
        - {name: tmp, emptyDir: {sizeLimit: 256Mi}}
        {{- if $pictures }}
        - {name: pictures, persistentVolumeClaim: {claimName: {{ .root.Values.pictures.existingClaim }}}}
        {{- end }}
{{- if ne .process "beat" }}
---
apiVersion: policy/v1
kind: PodDisruptionBudget
metadata:
  name: {{ $name }}
  labels: {{- include "launchboard.labels" .root | nindent 4 }}
spec:
  maxUnavailable: 1
  selector:
    matchLabels:
      {{- include "launchboard.selector" .root | nindent 6 }}
      app.kubernetes.io/component: {{ .process }}
      launchboard/process: {{ .suffix | default .process }}
{{- end }}
{{- if $scaled }}
{{- $highest := .values.autoscaling.maxReplicas }}
{{- $lowest := .values.autoscaling.minReplicas | default (min 2 ($highest | default 2)) }}
{{- $highest = $highest | default (max 6 $lowest) }}
{{- if gt (int $lowest) (int $highest) }}
  {{- fail (printf "%s: autoscaling.minReplicas is above maxReplicas" (.suffix | default .process)) }}
{{- end }}
---
apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
metadata:
  name: {{ $name }}
  labels: {{- include "launchboard.labels" .root | nindent 4 }}
spec:
  scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: {{ $name }}}
  minReplicas: {{ $lowest }}
  maxReplicas: {{ $highest }}
  metrics:
    - type: Resource
      resource:
        name: cpu
        target: {type: Utilization, averageUtilization: {{ .values.autoscaling.targetCPU | default 70 }}}
{{- end }}
{{- end }}

{{- define "launchboard.port" -}}
{{ dict "web" 8000 "stream" 8001 | dig . 0 }}
{{- end }}
