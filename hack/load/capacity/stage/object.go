package stage

import (
	"encoding/json"
	"fmt"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/tabard-dev/tabard/internal/lab"
)

// VCPU is the annotation by which a MachineSet is seen to be annotated.
const VCPU = "machine.openshift.io/vCPU"

// SecretName is the Secret that MachineSets name.
const SecretName = "aws-cloud-credentials"

// machineSet is what OpenShift's installer makes: about 4 kB.
const machineSet = `{
"apiVersion":"machine.openshift.io/v1beta1","kind":"MachineSet",
"metadata":{"namespace":%[1]q,"name":%[2]q,"labels":{"machine.openshift.io/cluster-api-cluster":"shop-7xk2p"}},
"spec":{"replicas":0,
 "selector":{"matchLabels":{"machine.openshift.io/cluster-api-cluster":"shop-7xk2p","machine.openshift.io/cluster-api-machineset":%[2]q}},
 "template":{
  "metadata":{"labels":{"machine.openshift.io/cluster-api-cluster":"shop-7xk2p","machine.openshift.io/cluster-api-machine-role":"worker",
   "machine.openshift.io/cluster-api-machine-type":"worker","machine.openshift.io/cluster-api-machineset":%[2]q}},
  "spec":{"lifecycleHooks":{},"metadata":{},"providerSpec":{"value":{
   "apiVersion":"machine.openshift.io/v1beta1","kind":"AWSMachineProviderConfig","metadata":{"creationTimestamp":null},
   "ami":{"id":"ami-0a1b2c3d4e5f60718"},"deviceIndex":0,"instanceType":%[3]q,"capacityReservationId":"",
   "blockDevices":[{"ebs":{"encrypted":true,"iops":0,"kmsKey":{"arn":""},"volumeSize":120,"volumeType":"gp3"}}],
   "credentialsSecret":{"name":%[4]q},"userDataSecret":{"name":"worker-user-data"},
   "iamInstanceProfile":{"id":"shop-7xk2p-worker-profile"},"metadataServiceOptions":{},
   "placement":{"availabilityZone":"%[5]sa","region":%[5]q},
   "securityGroups":[{"filters":[{"name":"tag:Name","values":["shop-7xk2p-node"]}]},{"filters":[{"name":"tag:Name","values":["shop-7xk2p-lb"]}]}],
   "subnet":{"filters":[{"name":"tag:Name","values":["shop-7xk2p-subnet-private-%[5]sa"]}]},
   "tags":[{"name":"kubernetes.io/cluster/shop-7xk2p","value":"owned"},{"name":"cost-centre","value":"4711"},{"name":"owner","value":"platform"}]
  }}}}}}`

// MachineSet is one in the lab's region. It is not created by this.
func MachineSet(name, instanceType string) (*unstructured.Unstructured, error) {
	out := &unstructured.Unstructured{}
	err := json.Unmarshal(fmt.Appendf(nil, machineSet, Namespace, name, instanceType, SecretName, lab.Region), &out.Object)
	return out, err
}

// ChangeType is a patch that gives a MachineSet another instance type.
func ChangeType(instanceType string) client.Patch {
	return client.RawPatch("application/merge-patch+json", fmt.Appendf(nil,
		`{"spec":{"template":{"spec":{"providerSpec":{"value":{"instanceType":%q}}}}}}`, instanceType))
}
