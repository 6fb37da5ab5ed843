{{- /* One hook on the creation of pods. mode is
       open       a pod may start without its identity: a cluster whose webhook is down
                  must still start pods, the webhook's first;
       required   no pod may start without it, in namespaces labelled
                  tabard.dev/injection=required;
       skippable  the same, where pods may leave themselves out;
       asked      pods that ask by a label do not start without it. */ -}}
{{- define "tabard.hook" }}
{{- if eq .mode "open" }}
# Where a pod may start without its identity: a cluster whose webhook is down must
# still start pods, the webhook's first.
{{- else if eq .mode "required" }}
# Where no pod may start without it: namespaces labelled
# tabard.dev/injection=required. Label none that the webhook's own start needs. A pod
# leaves itself out only where the namespace is labelled tabard.dev/injection-skip=allowed
# as well: who may create pods may not label namespaces.
{{- else if eq .mode "skippable" }}
# The same where pods may leave themselves out.
{{- else }}
# Pods that ask for their Azure identity do not start without it.
{{- end }}
- name: {{ .name }}.tabard.dev
  clientConfig:
    service: {name: tabard-webhook, namespace: tabard-system, path: {{ .path }}, port: 443}
  rules:
  - apiGroups: [""]
    apiVersions: [v1]
    operations: [CREATE]
    resources: [pods]
    scope: Namespaced
  namespaceSelector:
    {{- if eq .mode "required" }}
    matchLabels: {tabard.dev/injection: required}
    {{- else if eq .mode "skippable" }}
    matchLabels: {tabard.dev/injection: required, tabard.dev/injection-skip: allowed}
    {{- end }}
    matchExpressions:
    {{- if eq .mode "open" }}
    - {key: tabard.dev/injection, operator: NotIn, values: [required]}
    {{- else if eq .mode "required" }}
    - {key: tabard.dev/injection-skip, operator: NotIn, values: [allowed]}
    {{- end }}
    - {key: kubernetes.io/metadata.name, operator: NotIn, values: [tabard-system, tabard-certificate{{ range .root.Values.webhook.excludedNamespaces }}, {{ . }}{{ end }}]}
  {{- if .skip }}
  objectSelector:
    matchExpressions:
    - {key: {{ .skip }}, operator: DoesNotExist}
  {{- else if eq .mode "asked" }}
  objectSelector:
    matchLabels: {azure.workload.identity/use: "true"}
  {{- end }}
  failurePolicy: {{ if eq .mode "open" }}Ignore{{ else }}Fail{{ end }}
  matchPolicy: Equivalent
  reinvocationPolicy: IfNeeded
  sideEffects: None
  timeoutSeconds: {{ .root.Values.webhook.timeoutSeconds }}
  admissionReviewVersions: [v1, v1beta1]
{{- end }}
