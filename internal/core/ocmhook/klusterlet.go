package ocmhook

import (
	"encoding/json"
	"fmt"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/tabard-dev/tabard/internal/core/hub"
)

// HubRoleAnnotation is on a Klusterlet whose agents become the role on the hub's side with the
// token of their ServiceAccount; WebIdentity is its one value.
const (
	HubRoleAnnotation = "identity.tabard.dev/hub-role"
	WebIdentity       = "web-identity"
)

// Klusterlet is what matters of one.
type Klusterlet struct {
	Name string
	// Namespace is where its agents run.
	Namespace string
	// ClusterName is the cluster's at the hub, empty for one that the agent makes up.
	ClusterName string
	// AuthType is the registration driver's, such as awsirsa.
	AuthType string
	// HubARN and ManagedARN are the driver's, empty for none.
	HubARN, ManagedARN string
	// IAMConfigSecret is the name of the Secret with the agents' AWS configuration.
	IAMConfigSecret string
	// HubRole is the annotation HubRoleAnnotation.
	HubRole string
	// Deleting says that it is to be deleted.
	Deleting bool
}

// klusterletText is a Klusterlet as it is written.
type klusterletText struct {
	Metadata metav1.ObjectMeta `json:"metadata"`
	Spec     struct {
		ClusterName  string `json:"clusterName"`
		Namespace    string `json:"namespace"`
		DeployOption struct {
			Mode string `json:"mode"`
		} `json:"deployOption"`
		RegistrationConfiguration struct {
			RegistrationDriver struct {
				AuthType string `json:"authType"`
				AWSIRSA  struct {
					HubClusterARN     string `json:"hubClusterArn"`
					ManagedClusterARN string `json:"managedClusterArn"`
					IAMConfigSecret   string `json:"iamConfigSecret"`
				} `json:"awsIrsa"`
			} `json:"registrationDriver"`
		} `json:"registrationConfiguration"`
	} `json:"spec"`
}

// ReadKlusterlet reads a Klusterlet as JSON. Hosted agents run in the namespace of the
// Klusterlet's name (Open Cluster Management v1.2.1, pkg/operator/helpers: AgentNamespace).
func ReadKlusterlet(text []byte) (Klusterlet, error) {
	var read klusterletText
	if err := json.Unmarshal(text, &read); err != nil {
		return Klusterlet{}, fmt.Errorf("the Klusterlet cannot be read: %w", err)
	}
	spec, driver := read.Spec, read.Spec.RegistrationConfiguration.RegistrationDriver
	k := Klusterlet{
		Name: read.Metadata.Name, Namespace: spec.Namespace, ClusterName: spec.ClusterName, AuthType: driver.AuthType,
		HubARN: driver.AWSIRSA.HubClusterARN, ManagedARN: driver.AWSIRSA.ManagedClusterARN,
		IAMConfigSecret: driver.AWSIRSA.IAMConfigSecret, HubRole: read.Metadata.Annotations[HubRoleAnnotation],
		Deleting: read.Metadata.DeletionTimestamp != nil,
	}
	switch {
	case strings.HasSuffix(spec.DeployOption.Mode, "Hosted"):
		k.Namespace = k.Name
	case k.Namespace == "":
		k.Namespace = hub.AgentNamespace
	}
	return k, nil
}

// HasNoARN says that the cluster is not in EKS, as far as its Klusterlet says.
func (k Klusterlet) HasNoARN() bool { return k.ManagedARN == "" || isPlaceholder(k.ManagedARN) }

// arnPath is where a Klusterlet has the cluster's ARN.
const arnPath = "/spec/registrationConfiguration/registrationDriver/awsIrsa/managedClusterArn"

// AdmitKlusterlet decides about a Klusterlet that is made or changed.
func AdmitKlusterlet(k Klusterlet) Decision {
	if k.AuthType != hub.DriverAWS || k.Deleting {
		return Decision{}
	}
	if why := k.Fault(); why != "" {
		return Decision{Refusal: why}
	}
	var d Decision
	if wanted := k.placeholder().String(); k.HasNoARN() && k.ManagedARN != wanted {
		d.add("add", arnPath, wanted)
	}
	if k.IAMConfigSecret != "" {
		d.Warnings = append(d.Warnings, fmt.Sprintf("the Secret %s keeps a key of AWS in the cluster: a cluster whose issuer is public needs none, with the annotation %s=%s",
			k.IAMConfigSecret, HubRoleAnnotation, WebIdentity))
	}
	return d
}

// Fault says why a Klusterlet with the driver awsirsa cannot join; empty if it can.
func (k Klusterlet) Fault() string {
	const driver = "spec.registrationConfiguration.registrationDriver.awsIrsa"
	arn, err := hub.ParseARN(k.HubARN)
	if err != nil {
		return fmt.Sprintf("%s.hubClusterArn: %v", driver, err)
	}
	if wrong := validation.IsDNS1123Subdomain(k.IAMConfigSecret); k.IAMConfigSecret != "" && len(wrong) > 0 {
		return fmt.Sprintf("%s.iamConfigSecret is %.100q, expected the name of a Secret in the namespace %s of the agents: %s", driver, k.IAMConfigSecret, k.Namespace, strings.Join(wrong, "; "))
	}
	switch {
	case k.HubRole != "" && k.HubRole != WebIdentity:
		return fmt.Sprintf("the annotation %s is %.100q, expected %s", HubRoleAnnotation, k.HubRole, WebIdentity)
	case k.HubRole != "" && k.IAMConfigSecret != "":
		return fmt.Sprintf("the agents get their identity from the annotation %s or from %s.iamConfigSecret: remove one of both", HubRoleAnnotation, driver)
	case k.HubRole != "" && !k.HasNoARN():
		return fmt.Sprintf("a cluster in EKS joins by the role of its own account: remove the annotation %s, or %s.managedClusterArn", HubRoleAnnotation, driver)
	case !k.HasNoARN():
		return ""
	case k.ClusterName == "":
		return fmt.Sprintf("spec.clusterName is empty: without %s.managedClusterArn, the cluster's role is found by its name at the hub, such as onprem-1", driver)
	}
	if _, err := hub.Suffix(arn, hub.ARN{}, k.ClusterName); err != nil {
		return "spec.clusterName: " + err.Error()
	}
	return ""
}
