package hub

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation"
)

// The modes in which a Klusterlet's agents are deployed here. Those whose agents run on another
// cluster are not among them.
const (
	ModeDefault   = "Default"
	ModeSingleton = "Singleton"
)

// How add-ons register at the hub.
const (
	AddOnCSR   = "csr"
	AddOnToken = "token"
)

// AddOnSeconds is the life of an add-on's token unless a person says another: a day. Open Cluster
// Management's own default is the hub's for certificates, which is a year.
const AddOnSeconds = 86400

// clusterAnnotations begins the keys of the annotations that a Klusterlet passes on to its
// ManagedCluster (open-cluster-management.io/api v1.2.0, operator/v1).
const clusterAnnotations = "agent.open-cluster-management.io/"

// spokeImages are the fields of a Klusterlet that name images, with their programs.
var spokeImages = map[string]string{
	"registrationImagePullSpec": "registration", "workImagePullSpec": "work", "imagePullSpec": "registration-operator",
}

// Join is a cluster that is to join a hub.
type Join struct {
	// Cluster is its name at the hub, AgentNamespace that of its agents.
	Cluster, AgentNamespace string
	// AuthType is the registration driver: csr, awsirsa or grpc.
	AuthType string
	// Hub and Managed are of the driver for AWS. Managed is the zero value for a cluster that is
	// not in EKS.
	Hub, Managed ARN
	// IAMConfigSecret is the name of the Secret with the agents' AWS configuration, empty for none.
	IAMConfigSecret string
	// Mode is ModeDefault or ModeSingleton.
	Mode string
	// Annotations are the Klusterlet's own, and ClusterAnnotations those of the ManagedCluster.
	Annotations, ClusterAnnotations map[string]string
	// AddOnAuth is AddOnCSR, AddOnToken, or empty for Open Cluster Management's default. AddOnSeconds
	// is the life of a token, 0 for the default here.
	AddOnAuth    string
	AddOnSeconds int64
}

// Check says what of it cannot be used, in the words of the flags.
func (j Join) Check() error {
	var errs []error
	refuse := func(format string, args ...any) { errs = append(errs, fmt.Errorf(format, args...)) }
	if wrong := validation.IsDNS1123Label(j.Cluster); len(wrong) > 0 {
		refuse("--cluster-name is %s, expected the name of a ManagedCluster: %s", quoted(j.Cluster), strings.Join(wrong, "; "))
	}
	switch {
	case j.AuthType != DriverCSR && j.AuthType != DriverAWS && j.AuthType != DriverGRPC:
		refuse("--registration-auth is %s, expected csr, awsirsa or grpc", quoted(j.AuthType))
	case j.AuthType == DriverAWS && j.Hub.IsZero():
		refuse("--registration-auth awsirsa needs the hub: add --hub-cluster-arn arn:aws:eks:REGION:ACCOUNT:cluster/NAME")
	case j.AuthType != DriverAWS:
		for flag, given := range map[string]bool{
			"--hub-cluster-arn": !j.Hub.IsZero(), "--managed-cluster-arn": !j.Managed.IsZero(),
			"--iam-config-secret": j.IAMConfigSecret != "", "--hub-role": len(j.Annotations) > 0,
		} {
			if given {
				refuse("%s is for --registration-auth awsirsa, which is %s: change one of both", flag, j.AuthType)
			}
		}
	}
	if j.Mode != ModeDefault && j.Mode != ModeSingleton {
		refuse("--mode is %s, expected Default or Singleton; agents that another cluster hosts are joined by clusteradm", quoted(j.Mode))
	}
	switch {
	case j.AddOnAuth != "" && j.AddOnAuth != AddOnCSR && j.AddOnAuth != AddOnToken:
		refuse("--addon-kubeclient-registration-auth is %s, expected csr or token", quoted(j.AddOnAuth))
	case j.AddOnSeconds < 0:
		refuse("--addon-token-expiration-seconds is %d, expected seconds, such as %d", j.AddOnSeconds, AddOnSeconds)
	case j.AddOnSeconds != 0 && j.addOnAuth() != AddOnToken:
		refuse("--addon-token-expiration-seconds is for tokens: add --addon-kubeclient-registration-auth token")
	}
	slices.SortFunc(errs, func(a, b error) int { return strings.Compare(a.Error(), b.Error()) })
	return errors.Join(errs...)
}

// ClusterAnnotations are annotations of a ManagedCluster that are written KEY=VALUE. A key that
// does not begin as the agents demand gets that beginning. Those by which the driver for AWS says
// which cluster it is are its own.
func ClusterAnnotations(given []string) (map[string]string, error) {
	var out map[string]string
	for _, each := range given {
		key, value, found := strings.Cut(each, "=")
		key = strings.TrimSpace(key)
		if !found || key == "" {
			return nil, fmt.Errorf("--klusterlet-annotation is %s, expected KEY=VALUE", quoted(each))
		}
		if !strings.HasPrefix(key, clusterAnnotations) {
			key = clusterAnnotations + key
		}
		if wrong := validation.IsQualifiedName(key); len(wrong) > 0 {
			return nil, fmt.Errorf("--klusterlet-annotation has the key %s: %s", quoted(key), strings.Join(wrong, "; "))
		}
		if key == ARNAnnotation || key == SuffixAnnotation {
			return nil, fmt.Errorf("--klusterlet-annotation has the key %s, which the agent writes itself: leave it out", key)
		}
		if out == nil {
			out = map[string]string{}
		}
		out[key] = strings.TrimSpace(value)
	}
	return out, nil
}

// Klusterlet is the object that makes the cluster join, to be applied over the existing one, nil
// for none. The error says why it cannot be.
func (j Join) Klusterlet(existing map[string]any, images Images) (map[string]any, error) {
	was := object(existing, "spec")
	if name, _ := was["clusterName"].(string); name != "" && name != j.Cluster {
		return nil, fmt.Errorf("the Klusterlet of this cluster joins the hub as %s, and --cluster-name is %s: leave the hub first (clusteradm unjoin --cluster-name %[1]s), choose the name %[1]s, or another cluster with --context", name, j.Cluster)
	}
	spec := map[string]any{"clusterName": j.Cluster, "namespace": j.AgentNamespace, "deployOption": map[string]any{"mode": j.Mode}}
	if empty := images.fill(spec, was, spokeImages); len(empty) > 0 {
		slices.Sort(empty)
		return nil, fmt.Errorf("the images of the agents are not known (%s): the image of the operator does not tell them. Say --image-registry and --bundle-version, such as quay.io/open-cluster-management and v1.2.1", strings.Join(empty, ", "))
	}
	registration := map[string]any{"registrationDriver": j.driver()}
	if len(j.ClusterAnnotations) > 0 {
		registration["clusterAnnotations"] = anyOf(j.ClusterAnnotations)
	}
	switch j.addOnAuth() {
	case AddOnToken:
		seconds := j.AddOnSeconds
		if seconds == 0 {
			seconds = AddOnSeconds
		}
		registration["addOnKubeClientRegistrationDriver"] = map[string]any{"authType": AddOnToken, "token": map[string]any{"expirationSeconds": seconds}}
	case AddOnCSR:
		registration["addOnKubeClientRegistrationDriver"] = map[string]any{"authType": AddOnCSR}
	}
	spec[registrationPart] = registration
	metadata := metadataOver("klusterlet", existing)
	if len(j.Annotations) > 0 {
		metadata["annotations"] = anyOf(j.Annotations)
	}
	return map[string]any{"apiVersion": "operator.open-cluster-management.io/v1", "kind": "Klusterlet", "metadata": metadata, "spec": spec}, nil
}

// addOnAuth is how add-ons register. Where agents have no certificate, add-ons get none either,
// unless a person says so.
func (j Join) addOnAuth() string {
	if j.AddOnAuth == "" && j.AuthType == DriverAWS {
		return AddOnToken
	}
	return j.AddOnAuth
}

func (j Join) driver() map[string]any {
	out := map[string]any{"authType": j.AuthType}
	if j.AuthType == DriverAWS {
		aws := map[string]any{"hubClusterArn": j.Hub.String()}
		if !j.Managed.IsZero() {
			aws["managedClusterArn"] = j.Managed.String()
		}
		if j.IAMConfigSecret != "" {
			aws["iamConfigSecret"] = j.IAMConfigSecret
		}
		out["awsIrsa"] = aws
	}
	return out
}

// ManagedARN is the ARN of a joining cluster: that of the flag, or else the kubeconfig's name of
// the cluster, where that is the ARN of a cluster in EKS other than the hub. It is the zero value
// for a cluster that is not in EKS. It says for people which it is and why.
func ManagedARN(flag, kubeconfig string, hub ARN) (arn ARN, said string, err error) {
	if flag != "" {
		if arn, err = ParseARN(flag); err != nil {
			return ARN{}, "", fmt.Errorf("--managed-cluster-arn: %w; leave it out for a cluster that is not in EKS", err)
		}
		return arn, "the cluster is " + flag + ", as --managed-cluster-arn says", nil
	}
	arn, err = ParseARN(kubeconfig)
	switch {
	case err != nil && kubeconfig == "":
		return ARN{}, "the cluster is treated as one outside EKS: neither --managed-cluster-arn nor the kubeconfig says its ARN", nil
	case err != nil:
		return ARN{}, fmt.Sprintf("the cluster is treated as one outside EKS: there is no --managed-cluster-arn, and the kubeconfig's name of the cluster is %s, which is no ARN of EKS", quoted(kubeconfig)), nil
	case arn == hub:
		return ARN{}, "", fmt.Errorf("the kubeconfig leads to the hub itself, %s: choose the joining cluster with --context; if the hub is to join itself, say --managed-cluster-arn", arn)
	}
	return arn, "the cluster is " + kubeconfig + ", as the kubeconfig names it", nil
}

// tooCommon are names of clusters that installers write into every kubeconfig.
var tooCommon = []string{"kubernetes", "default", "local", "cluster", "minikube"}

// ClusterName is the name under which a cluster joins: that of the flag, or else the one under
// which it joins already, its name in EKS, or the kubeconfig's name of the cluster. It says for
// people where the name is from, unless a flag says it.
func ClusterName(flag, joined string, managed ARN, kubeconfig string) (name, said string, err error) {
	const say = "say it with --cluster-name, such as --cluster-name onprem-1"
	for _, each := range []struct{ name, from string }{
		{flag, ""}, {joined, "as the Klusterlet of this cluster says"}, {managed.Name, "as in EKS"}, {kubeconfig, "as the kubeconfig names it"},
	} {
		switch {
		case each.name == "":
			continue
		case each.from == "" || each.name == joined:
			return each.name, saidName(each.name, each.from), nil
		case slices.Contains(tooCommon, each.name):
			return "", "", fmt.Errorf("the name of the cluster at the hub is not known: the kubeconfig calls it %s, as many clusters are called; %s", each.name, say)
		case len(validation.IsDNS1123Label(each.name)) > 0:
			return "", "", fmt.Errorf("the name of the cluster at the hub is not known: it is %s %s, which is no name for a ManagedCluster; %s", quoted(each.name), each.from, say)
		}
		return each.name, saidName(each.name, each.from), nil
	}
	return "", "", errors.New("the name of the cluster at the hub is not known; " + say)
}

func saidName(name, from string) string {
	if from == "" {
		return ""
	}
	return "the cluster's name at the hub is " + name + ", " + from
}

func anyOf(texts map[string]string) map[string]any {
	out := map[string]any{}
	for key, value := range texts {
		out[key] = value
	}
	return out
}
