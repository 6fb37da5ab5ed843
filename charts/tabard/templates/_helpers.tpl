{{- /* Labels of every object beside its own, for "labels: {…}". Plain manifests, which
       config/manifests has, are made by no release service and get none. */ -}}
{{- define "tabard.labels" -}}
{{- range $key, $value := include "tabard.labels.map" . | fromYaml }}, {{ $key }}: {{ $value | quote }}{{ end }}
{{- end -}}

{{- /* The same, a line each. */ -}}
{{- define "tabard.labels.lines" -}}
{{- range $key, $value := include "tabard.labels.map" . | fromYaml }}{{ nindent 4 (printf "%s: %s" $key ($value | quote)) }}{{ end }}
{{- end -}}

{{- define "tabard.labels.map" -}}
{{- if .Release.Service -}}
app.kubernetes.io/managed-by: {{ .Release.Service }}
app.kubernetes.io/instance: {{ .Release.Name }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_" }}
{{- end }}
{{- with .Values.commonLabels }}
{{ toYaml . }}
{{- end }}
{{- end -}}

{{- /* An image by its program: (list $ "tabard"). A digest wins over the tag. */ -}}
{{- define "tabard.image" -}}
{{- $image := (index . 0).Values.image -}}
{{- $name := printf "%s/%s" $image.registry (index . 1) -}}
{{- with index $image.digests (index . 1) }}{{ $name }}@{{ . }}{{ else }}{{ $name }}:{{ $image.tag | default (index . 0).Chart.AppVersion }}{{ end }}
{{- end -}}

{{- define "tabard.pull" -}}
{{- with .Values.image.pullPolicy }}{{ nindent 8 (printf "imagePullPolicy: %s" .) }}{{ end }}
{{- end -}}

{{- /* Labels and annotations of a component's pods, after the labels that they always have. */ -}}
{{- define "tabard.pod.metadata" -}}
{{- with .podLabels }}{{ toYaml . | nindent 8 }}{{ end }}
{{- with .podAnnotations }}{{ nindent 6 "annotations:" }}{{ toYaml . | nindent 8 }}{{ end }}
{{- end -}}

{{- /* Where a component's pods run: (list $ .Values.COMPONENT). */ -}}
{{- define "tabard.placement" -}}
{{- $pod := dict -}}
{{- with (index . 0).Values.imagePullSecrets }}{{ $_ := set $pod "imagePullSecrets" . }}{{ end -}}
{{- range $key := list "nodeSelector" "tolerations" "affinity" "topologySpreadConstraints" "priorityClassName" -}}
{{- with index (index $ 1) $key }}{{ $_ := set $pod $key . }}{{ end -}}
{{- end -}}
{{- with $pod }}{{ toYaml . | nindent 6 }}{{ end }}
{{- end -}}

{{- /* A component's own arguments, after those in "args: […". */ -}}
{{- define "tabard.args" -}}
{{- range .extraArgs }}, {{ toJson . }}{{ end }}
{{- end -}}

{{- define "tabard.args.lines" -}}
{{- range .extraArgs }}{{ nindent 8 (printf "- %s" (toJson .)) }}{{ end }}
{{- end -}}

{{- /* A component's own variables, after those in "env:". */ -}}
{{- define "tabard.env" -}}
{{- with .extraEnv }}{{ toYaml . | nindent 8 }}{{ end }}
{{- end -}}

{{- /* The same where the container has no others. */ -}}
{{- define "tabard.env.list" -}}
{{- with .extraEnv }}{{ nindent 8 "env:" }}{{ toYaml . | nindent 8 }}{{ end }}
{{- end -}}

{{- /* Rights that controller-gen wrote of a component's code. */ -}}
{{- define "tabard.rights" -}}
{{- (index . 0).Files.Get (printf "files/rbac/%s.yaml" (index . 1)) -}}
{{- end -}}

{{- /* "true" where the controller certificate keeps the certificate of a webhook. */ -}}
{{- define "tabard.certificate" -}}
{{- and .Values.certificate.enabled (or .Values.webhook.enabled .Values.webhookDeployment.enabled .Values.ocm.enabled) -}}
{{- end -}}

{{- /* What hub.managedIAM says: On, Off or nothing. In a values file Off and On without quotes
       are booleans, as YAML 1.1 has them. */ -}}
{{- define "tabard.hub.iam" -}}
{{- $iam := .Values.hub.managedIAM -}}
{{- if kindIs "bool" $iam }}{{ ternary "On" "Off" $iam }}{{ else }}{{ $iam }}{{ end -}}
{{- end -}}

{{- /* The components that are on and have alerts, by their files in config/alerts, a blank between them. */ -}}
{{- define "tabard.alerts" -}}
{{- $on := list -}}
{{- range $component := list "issuer" "injection" "credentials" "capacity" -}}
{{- if (index $.Values $component).enabled }}{{ $on = append $on $component }}{{ end -}}
{{- end -}}
{{- if or .Values.webhook.enabled .Values.webhookDeployment.enabled }}{{ $on = append $on "webhook" }}{{ end -}}
{{- if eq (include "tabard.certificate" .) "true" }}{{ $on = append $on "certificate" }}{{ end -}}
{{- if .Values.hub.enabled }}{{ $on = append $on "hubaccess" }}{{ end -}}
{{- if .Values.ocm.enabled }}{{ $on = append $on "ocm" }}{{ end -}}
{{- join " " $on -}}
{{- end -}}
