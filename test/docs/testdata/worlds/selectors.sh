# The cluster has AWS's kinds, a selector and a bucket.
eval "$(tabard lab env)"
kubectl apply -f "$ROOT/internal/cli/selector/testdata/definitions.yaml"
kubectl wait --for=condition=Established --timeout=60s crd/buckets.s3.services.k8s.aws
kubectl create namespace prod
cat > selectors.yaml <<'YAML'
apiVersion: services.k8s.aws/v1alpha1
kind: IAMRoleSelector
metadata: {name: prod}
spec:
  arn: arn:aws:iam::123456789012:role/prod
  namespaceSelector: {names: [prod]}
YAML
cat > resources.yaml <<'YAML'
apiVersion: s3.services.k8s.aws/v1alpha1
kind: Bucket
metadata: {name: logs, namespace: prod}
spec: {name: prod-logs}
YAML
cat > namespaces.yaml <<'YAML'
apiVersion: v1
kind: Namespace
metadata: {name: prod, labels: {kubernetes.io/metadata.name: prod}}
YAML
kubectl apply -f selectors.yaml -f resources.yaml
