# The controller runs. A team, an operator of OpenShift and a team with disks ask.
eval "$(tabard lab env)"
tabard lab run -n tabard-system deployment/tabard-credentials --detach tabard-credentials -- \
  "$XDG_STATE_HOME/programs/tabard" operator --controllers=credentials --service-account=tabard-credentials --infrastructure-name=prod \
  --credentials-permissions-boundary="$(kubectl -n tabard-system get configmap tabard-credentials -o jsonpath='{.data.boundaryARN}')" \
  --metrics-bind-address=0 --health-probe-bind-address=0
for namespace in team-a openshift-image-registry storage; do kubectl create namespace $namespace; done
cat > request.yaml <<'YAML'
apiVersion: cloudcredential.openshift.io/v1
kind: CredentialsRequest
metadata: {name: reports, namespace: team-a}
spec:
  storage:
    serviceAccount: {namespace: team-a, name: reports}
  providerSpec:
    apiVersion: cloudcredential.openshift.io/v1
    kind: AWSProviderSpec
    statementEntries:
    - {effect: Allow, action: [s3:GetObject], resource: "arn:aws:s3:::example-data/reports/*"}
YAML
cat > others.yaml <<'YAML'
apiVersion: cloudcredential.openshift.io/v1
kind: CredentialsRequest
metadata:
  name: registry
  namespace: openshift-image-registry
  finalizers: [cloudcredential.openshift.io/deprovision]
spec:
  secretRef: {namespace: openshift-image-registry, name: installer-cloud-credentials}
  serviceAccountNames: [registry]
  providerSpec:
    apiVersion: cloudcredential.openshift.io/v1
    kind: AWSProviderSpec
    statementEntries:
    - {effect: Allow, action: [s3:GetObject], resource: "arn:aws:s3:::example-registry/*"}
---
apiVersion: cloudcredential.openshift.io/v1
kind: CredentialsRequest
metadata: {name: disks, namespace: storage}
spec:
  secretRef: {namespace: storage, name: disks}
  serviceAccountNames: [disks]
  cloudTokenPath: /var/run/secrets/openshift/serviceaccount/token
  providerSpec: {apiVersion: cloudcredential.openshift.io/v1, kind: AzureProviderSpec}
---
apiVersion: cloudcredential.openshift.io/v1
kind: CredentialsRequest
metadata: {name: backups, namespace: storage}
spec:
  secretRef: {namespace: storage, name: backups}
  serviceAccountNames: [backups]
  cloudTokenPath: /var/run/secrets/openshift/serviceaccount/token
  providerSpec: {apiVersion: cloudcredential.openshift.io/v1, kind: GCPProviderSpec}
---
apiVersion: identity.tabard.dev/v1alpha1
kind: CredentialsBoundary
metadata: {name: all}
spec:
  namespaces: [team-a, openshift-image-registry, storage]
  aws:
    ceiling: '{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Action":"s3:GetObject","Resource":"*"}]}'
YAML
kubectl apply -f others.yaml -f request.yaml
kubectl -n team-a wait --for=create serviceaccount/reports --timeout=60s
(cd "$ROOT" && go run ./examples/workload-role -issuer "$TABARD_ISSUER_URL" -namespace team-a -service-account reports \
  -role reports -bucket example-data -prefix reports)
