# The cluster is a hub in the lab's account: what Open Cluster Management's kinds look like to a reader of them.
eval "$(tabard lab env)"
kubectl apply -f "$ROOT/internal/core/hub/testdata/clustermanagers.operator.open-cluster-management.io.yaml"
kubectl wait --for=condition=Established crd/clustermanagers.operator.open-cluster-management.io
kubectl apply -f - <<CRD
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: managedclusters.cluster.open-cluster-management.io}
spec:
  group: cluster.open-cluster-management.io
  scope: Cluster
  names: {kind: ManagedCluster, plural: managedclusters, singular: managedcluster, listKind: ManagedClusterList}
  versions:
  - {name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}}
CRD
kubectl wait --for=condition=Established crd/managedclusters.cluster.open-cluster-management.io
kubectl apply -f - <<OBJECTS
apiVersion: operator.open-cluster-management.io/v1
kind: ClusterManager
metadata: {name: cluster-manager}
spec:
  registrationConfiguration:
    registrationDrivers:
    - {authType: awsirsa, awsirsa: {hubClusterArn: "arn:aws:eks:us-west-2:123456789012:cluster/eks-hub"}}
---
apiVersion: cluster.open-cluster-management.io/v1
kind: ManagedCluster
metadata:
  name: cluster1
  annotations:
    agent.open-cluster-management.io/managed-cluster-arn: arn:aws:eks:us-east-1:222222222222:cluster/spoke-1
    agent.open-cluster-management.io/managed-cluster-iam-role-suffix: 9aa62807d5c7e89106d57036bf578402
OBJECTS
# Who looks at a joining cluster finds one that has no Klusterlet.
cp "$KUBECONFIG" spoke.kubeconfig
