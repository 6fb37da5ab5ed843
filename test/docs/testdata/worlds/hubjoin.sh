# The cluster is a hub, and joins it too: it has the kinds and the Deployments of Open Cluster Management's operators,
# which do not run. Its one cluster has joined.
eval "$(tabard lab env)"
OCM="$(go mod download -json open-cluster-management.io/ocm@v1.2.1 | sed -n 's/.*"Dir": "\(.*\)".*/\1/p')"
kubectl apply --server-side --force-conflicts -f "$OCM/deploy/cluster-manager/config/crds/0000_01_operator.open-cluster-management.io_clustermanagers.crd.yaml" \
  -f "$OCM/deploy/klusterlet/config/crds/0000_00_operator.open-cluster-management.io_klusterlets.crd.yaml"
kubectl wait --for=condition=Established crd/klusterlets.operator.open-cluster-management.io
tabard hub fields --apply
kubectl apply -f - <<OBJECTS
apiVersion: v1
kind: Namespace
metadata: {name: open-cluster-management}
---
apiVersion: v1
kind: ServiceAccount
metadata: {namespace: open-cluster-management, name: agent-registration-bootstrap}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: "open-cluster-management:bootstrap"}
rules:
- {apiGroups: [""], resources: [configmaps], verbs: [get]}
- {apiGroups: [cluster.open-cluster-management.io], resources: [managedclusters], verbs: [get, list, watch, create]}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: {name: "open-cluster-management:bootstrap"}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: "open-cluster-management:bootstrap"}
subjects:
- {kind: ServiceAccount, namespace: open-cluster-management, name: agent-registration-bootstrap}
---
apiVersion: cluster.open-cluster-management.io/v1
kind: ManagedCluster
metadata:
  name: cluster1
  annotations:
    agent.open-cluster-management.io/managed-cluster-arn: arn:aws:eks:us-east-1:222222222222:cluster/spoke-1
    agent.open-cluster-management.io/managed-cluster-iam-role-suffix: 9aa62807d5c7e89106d57036bf578402
status:
  conditions:
  - {type: HubAcceptedManagedCluster, status: "True"}
  - {type: ManagedClusterJoined, status: "True"}
  - {type: ManagedClusterConditionAvailable, status: "True"}
OBJECTS
for operator in cluster-manager klusterlet; do
  kubectl create deployment "$operator" --namespace open-cluster-management --dry-run=client -o yaml \
    --image quay.io/open-cluster-management/registration-operator:v1.2.1 | kubectl apply -f -
done
HUB_TOKEN="$(kubectl create token agent-registration-bootstrap --namespace open-cluster-management)"
HUB_API_SERVER="$(kubectl config view --minify -o jsonpath='{.clusters[0].cluster.server}')"
