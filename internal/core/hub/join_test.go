package hub_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tabard-dev/tabard/internal/core/hub"
	"github.com/tabard-dev/tabard/internal/testkit/must"
)

const eksSpoke = "arn:aws:eks:us-east-1:222222222222:cluster/spoke-1"

// joining is the requirement's cluster outside AWS.
func joining(t *testing.T, change func(*hub.Join)) hub.Join {
	t.Helper()
	j := hub.Join{
		Cluster: "onprem-1", AgentNamespace: "open-cluster-management-agent", AuthType: "awsirsa", Hub: must.Get(hub.ParseARN(eksHub))(t), IAMConfigSecret: "iam-config", Mode: hub.ModeDefault,
	}
	if change != nil {
		change(&j)
	}
	return j
}

func TestTheKlusterletOfTheRequirement(t *testing.T) {
	want := map[string]any{
		"apiVersion": "operator.open-cluster-management.io/v1", "kind": "Klusterlet", "metadata": map[string]any{"name": "klusterlet"},
		"spec": map[string]any{
			"clusterName": "onprem-1", "namespace": "open-cluster-management-agent", "deployOption": map[string]any{"mode": "Default"},
			"registrationImagePullSpec": "r/registration:v1", "workImagePullSpec": "r/work:v1", "imagePullSpec": "r/registration-operator:v1",
			"registrationConfiguration": map[string]any{
				"registrationDriver":                map[string]any{"authType": "awsirsa", "awsIrsa": map[string]any{"hubClusterArn": eksHub, "iamConfigSecret": "iam-config"}},
				"addOnKubeClientRegistrationDriver": map[string]any{"authType": "token", "token": map[string]any{"expirationSeconds": int64(86400)}},
			},
		},
	}
	if diff := cmp.Diff(want, must.Get(joining(t, nil).Klusterlet(nil, hub.Images{Registry: "r", Tag: "v1"}))(t)); diff != "" {
		t.Errorf("the Klusterlet (-want +got):\n%s", diff)
	}
}

func TestHowAClusterAndItsAddOnsRegister(t *testing.T) {
	token := func(seconds int64) map[string]any {
		return map[string]any{"authType": "token", "token": map[string]any{"expirationSeconds": seconds}}
	}
	for name, test := range map[string]struct {
		change func(*hub.Join)
		driver map[string]any
		addOns any
	}{
		"a certificate":          {func(j *hub.Join) { *j = hub.Join{Cluster: "a", AuthType: "csr", Mode: "Default"} }, map[string]any{"authType": "csr"}, nil},
		"with tokens of add-ons": {func(j *hub.Join) { *j = hub.Join{Cluster: "a", AuthType: "csr", Mode: "Default", AddOnAuth: "token"} }, map[string]any{"authType": "csr"}, token(86400)},
		"in EKS": {
			func(j *hub.Join) { j.Managed, j.IAMConfigSecret = must.Get(hub.ParseARN(eksSpoke))(t), "" },
			map[string]any{"authType": "awsirsa", "awsIrsa": map[string]any{"hubClusterArn": eksHub, "managedClusterArn": eksSpoke}}, token(86400),
		},
		"add-ons with certificates": {
			func(j *hub.Join) { j.AddOnAuth, j.IAMConfigSecret = "csr", "" },
			map[string]any{"authType": "awsirsa", "awsIrsa": map[string]any{"hubClusterArn": eksHub}}, map[string]any{"authType": "csr"},
		},
		"an hour": {
			func(j *hub.Join) { j.AddOnSeconds, j.IAMConfigSecret = 3600, "" },
			map[string]any{"authType": "awsirsa", "awsIrsa": map[string]any{"hubClusterArn": eksHub}}, token(3600),
		},
	} {
		j := joining(t, test.change)
		must.Do(t, j.Check())
		registration := registrationOf(t, must.Get(j.Klusterlet(nil, hub.Images{Registry: "r", Tag: "v1"}))(t))
		if diff := cmp.Diff(test.driver, registration["registrationDriver"]); diff != "" {
			t.Errorf("%s: the driver (-want +got):\n%s", name, diff)
		}
		if diff := cmp.Diff(test.addOns, registration["addOnKubeClientRegistrationDriver"]); diff != "" {
			t.Errorf("%s: that of add-ons (-want +got):\n%s", name, diff)
		}
	}
}

func TestWhatJoinRefuses(t *testing.T) {
	arn := must.Get(hub.ParseARN(eksHub))(t)
	for name, test := range map[string]struct {
		change func(*hub.Join)
		says   string
	}{
		"another driver":              {func(j *hub.Join) { j.AuthType = "aws" }, "expected csr, awsirsa or grpc"},
		"no hub":                      {func(j *hub.Join) { j.Hub = hub.ARN{} }, "add --hub-cluster-arn"},
		"a Secret without the driver": {func(j *hub.Join) { j.AuthType, j.Hub = "csr", hub.ARN{} }, "--iam-config-secret is for --registration-auth awsirsa, which is csr"},
		"a hub without the driver":    {func(j *hub.Join) { j.AuthType, j.IAMConfigSecret = "csr", "" }, "--hub-cluster-arn is for"},
		"an ARN without the driver":   {func(j *hub.Join) { *j = hub.Join{Cluster: "a", AuthType: "csr", Mode: "Default", Managed: arn} }, "--managed-cluster-arn is for"},
		"a role without the driver": {func(j *hub.Join) {
			*j = hub.Join{Cluster: "a", AuthType: "csr", Mode: "Default", Annotations: map[string]string{"a": "b"}}
		}, "--hub-role is for"},
		"a name that is none":          {func(j *hub.Join) { j.Cluster = "A" }, `--cluster-name is "A"`},
		"agents elsewhere":             {func(j *hub.Join) { j.Mode = "Hosted" }, "are joined by clusteradm"},
		"another way of add-ons":       {func(j *hub.Join) { j.AddOnAuth = "aws" }, "expected csr or token"},
		"seconds of a certificate":     {func(j *hub.Join) { j.AddOnAuth, j.AddOnSeconds = "csr", 60 }, "is for tokens"},
		"seconds that are none":        {func(j *hub.Join) { j.AddOnSeconds = -1 }, "expected seconds"},
		"seconds with the csr default": {func(j *hub.Join) { *j = hub.Join{Cluster: "a", AuthType: "csr", Mode: "Default", AddOnSeconds: 60} }, "is for tokens"},
	} {
		if err := joining(t, test.change).Check(); err == nil || !strings.Contains(err.Error(), test.says) {
			t.Errorf("%s: %v, want %q", name, err, test.says)
		}
	}
}

func TestAKlusterletThatIsThere(t *testing.T) {
	there := map[string]any{"metadata": map[string]any{"resourceVersion": "3"}, "spec": map[string]any{
		"clusterName": "onprem-1", "registrationImagePullSpec": "m/registration:1", "workImagePullSpec": "m/work:1", "imagePullSpec": "m/registration-operator:1",
	}}
	got := must.Get(joining(t, nil).Klusterlet(there, hub.Images{Registry: "r", Tag: "v2"}))(t)
	if got["spec"].(map[string]any)["workImagePullSpec"] != "m/work:1" || got["metadata"].(map[string]any)["resourceVersion"] != "3" {
		t.Errorf("it is %v", got)
	}
	if _, err := joining(t, func(j *hub.Join) { j.Cluster = "other" }).Klusterlet(there, hub.Images{}); err == nil || !strings.Contains(err.Error(), "clusteradm unjoin --cluster-name onprem-1") {
		t.Errorf("under another name: %v", err)
	}
	if _, err := joining(t, nil).Klusterlet(nil, hub.Images{}); err == nil || !strings.Contains(err.Error(), "--image-registry") {
		t.Errorf("without images: %v", err)
	}
}

func TestWhichARNAClusterHas(t *testing.T) {
	theHub := must.Get(hub.ParseARN(eksHub))(t)
	for name, test := range map[string]struct {
		flag, kubeconfig string
		want, says       string
		fails            bool
	}{
		"the flag":                          {eksSpoke, "kubernetes", eksSpoke, "as --managed-cluster-arn says", false},
		"a flag that is none":               {"spoke-1", eksSpoke, "", "leave it out", true},
		"the kubeconfig":                    {"", eksSpoke, eksSpoke, "as the kubeconfig names it", false},
		"a kubeconfig of eksctl":            {"", "spoke.us-west-2.eksctl.io", "", `"spoke.us-west-2.eksctl.io", which is no ARN`, false},
		"an ARN of something else":          {"", "arn:aws:iam::222222222222:role/a", "", "outside EKS", false},
		"nothing":                           {"", "", "", "neither --managed-cluster-arn nor the kubeconfig", false},
		"a kubeconfig of the hub":           {"", eksHub, "", "choose the joining cluster with --context", true},
		"the hub joins itself, by the flag": {eksHub, eksHub, eksHub, "as --managed-cluster-arn says", false},
	} {
		arn, said, err := hub.ManagedARN(test.flag, test.kubeconfig, theHub)
		if err != nil {
			said = err.Error()
		}
		if arn.String() != test.want || !strings.Contains(said, test.says) || (err != nil) != test.fails {
			t.Errorf("%s: %s, %q, %v", name, arn, said, err)
		}
	}
}

func TestWhichNameAClusterHas(t *testing.T) {
	inEKS := must.Get(hub.ParseARN(eksSpoke))(t)
	odd := must.Get(hub.ParseARN("arn:aws:eks:us-east-1:222222222222:cluster/Spoke_1"))(t)
	for name, test := range map[string]struct {
		flag, joined string
		managed      hub.ARN
		kubeconfig   string
		want, says   string
	}{
		"the flag":                         {"a", "b", inEKS, "c", "a", ""},
		"one that has joined":              {"", "b", inEKS, "c", "b", "as the Klusterlet of this cluster says"},
		"in EKS":                           {"", "", inEKS, eksSpoke, "spoke-1", "as in EKS"},
		"in EKS, with an underscore":       {"", "", odd, "c", "", "--cluster-name"},
		"the kubeconfig":                   {"", "", hub.ARN{}, "kind-onprem", "kind-onprem", "as the kubeconfig names it"},
		"the kubeconfig of kubeadm":        {"", "", hub.ARN{}, "kubernetes", "", "as many clusters are called"},
		"a kubeconfig with another name":   {"", "", hub.ARN{}, "spoke.us-west-2.eksctl.io", "", "is no name for a ManagedCluster"},
		"nothing":                          {"", "", hub.ARN{}, "", "", "say it with --cluster-name"},
		"one that has joined as kubeadm's": {"", "kubernetes", hub.ARN{}, "", "kubernetes", "as the Klusterlet"},
	} {
		got, said, err := hub.ClusterName(test.flag, test.joined, test.managed, test.kubeconfig)
		if err != nil {
			said = err.Error()
		}
		if got != test.want || !strings.Contains(said, test.says) || test.says == "" && said != "" || (err != nil) != (test.want == "") {
			t.Errorf("%s: %q, %q, %v", name, got, said, err)
		}
	}
}

func TestAnnotationsOfAManagedCluster(t *testing.T) {
	want := map[string]string{"agent.open-cluster-management.io/foo": "bar=1", "agent.open-cluster-management.io/zone": "a"}
	if diff := cmp.Diff(want, must.Get(hub.ClusterAnnotations([]string{"foo=bar=1", "agent.open-cluster-management.io/zone = a"}))(t)); diff != "" {
		t.Errorf("the annotations (-want +got):\n%s", diff)
	}
	for given, says := range map[string]string{
		"foo": "expected KEY=VALUE", "=bar": "expected KEY=VALUE", "a/b=c": "has the key",
		hub.ARNAnnotation + "=" + eksSpoke: "which the agent writes itself", "managed-cluster-iam-role-suffix=a": "which the agent writes itself",
	} {
		if _, err := hub.ClusterAnnotations([]string{given}); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: %v, want %q", given, err, says)
		}
	}
}
