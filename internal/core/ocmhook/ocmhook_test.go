package ocmhook_test

import (
	"encoding/json"
	"strings"
	"testing"

	jsonpatch "github.com/evanphx/json-patch/v5"
	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/tabard-dev/tabard/internal/core/ocmhook"
	"github.com/tabard-dev/tabard/internal/testkit/must"
)

const (
	hubARN   = "arn:aws:eks:us-west-2:111111111111:cluster/eks-hub"
	spokeARN = "arn:aws:eks:us-east-1:222222222222:cluster/spoke-1"
	// suffixA and suffixB are those of specification's examples: of spoke-1 in EKS, and of onprem-1.
	suffixA = "141fc72f17164e5a28c2b4e384694bae"
	suffixB = "347a66776893e40615516d2e0491e696"
)

var settings = ocmhook.Settings{TokenImage: "registry.example.com/tabard-eks-token:1"}

// onprem is a Klusterlet of a cluster outside EKS.
func onprem(change func(*ocmhook.Klusterlet)) ocmhook.Klusterlet {
	k := ocmhook.Klusterlet{
		Name: "klusterlet", Namespace: "open-cluster-management-agent", ClusterName: "onprem-1", AuthType: "awsirsa", HubARN: hubARN, IAMConfigSecret: "iam-config",
	}
	if change != nil {
		change(&k)
	}
	return k
}

// placeholderOf is what AdmitKlusterlet writes; empty for nothing.
func placeholderOf(t *testing.T, k ocmhook.Klusterlet) string {
	t.Helper()
	d := ocmhook.AdmitKlusterlet(k)
	if d.Refusal != "" || len(d.Patch) > 1 {
		t.Fatalf("%+v: %+v", k, d)
	}
	if len(d.Patch) == 0 {
		return ""
	}
	text, _ := d.Patch[0].Value.(string)
	return text
}

func TestTheRequirementsKlusterlet(t *testing.T) {
	text := `{"apiVersion":"operator.open-cluster-management.io/v1","kind":"Klusterlet","metadata":{"name":"klusterlet"},"spec":{
		"clusterName":"onprem-1","registrationConfiguration":{"registrationDriver":{"authType":"awsirsa","awsIrsa":{
		"hubClusterArn":"` + hubARN + `","iamConfigSecret":"iam-config"}}}}}`
	k := must.Get(ocmhook.ReadKlusterlet([]byte(text)))(t)
	if diff := cmp.Diff(onprem(nil), k); diff != "" {
		t.Errorf("what was read (-want +got):\n%s", diff)
	}
	d := ocmhook.AdmitKlusterlet(k)
	patched := apply(t, []byte(text), d)
	after := must.Get(ocmhook.ReadKlusterlet(patched))(t)
	if !strings.HasPrefix(after.ManagedARN, "arn:aws:eks:us-west-2:000000000000:cluster/no-arn-") {
		t.Errorf("managedClusterArn is %q", after.ManagedARN)
	}
	if len(d.Warnings) != 1 || !strings.Contains(d.Warnings[0], "web-identity") {
		t.Errorf("the warnings are %q, want one that says what needs no key", d.Warnings)
	}
	if again := ocmhook.AdmitKlusterlet(after); len(again.Patch) > 0 || again.Refusal != "" {
		t.Errorf("asked again: %+v", again)
	}
}

func TestWhatAKlusterletIsGiven(t *testing.T) {
	first := placeholderOf(t, onprem(nil))
	for name, test := range map[string]struct {
		change func(*ocmhook.Klusterlet)
		want   string // "another" is a placeholder other than the first
	}{
		"an empty ARN":                     {func(k *ocmhook.Klusterlet) { k.ManagedARN = "" }, first},
		"another name, the same identity":  {func(k *ocmhook.Klusterlet) { k.ClusterName = "onprem-2" }, first},
		"another Secret":                   {func(k *ocmhook.Klusterlet) { k.IAMConfigSecret = "other" }, "another"},
		"the placeholder of before":        {func(k *ocmhook.Klusterlet) { k.ManagedARN, k.IAMConfigSecret = first, "other" }, "another"},
		"no Secret":                        {func(k *ocmhook.Klusterlet) { k.IAMConfigSecret = "" }, "another"},
		"a token":                          {func(k *ocmhook.Klusterlet) { k.IAMConfigSecret, k.HubRole = "", "web-identity" }, "another"},
		"an ARN of its own":                {func(k *ocmhook.Klusterlet) { k.ManagedARN = spokeARN }, ""},
		"another driver":                   {func(k *ocmhook.Klusterlet) { k.AuthType = "csr" }, ""},
		"to be deleted, and without a hub": {func(k *ocmhook.Klusterlet) { k.Deleting, k.HubARN = true, "" }, ""},
	} {
		got := placeholderOf(t, onprem(test.change))
		if test.want == "another" && (got == "" || got == first) || test.want != "another" && got != test.want {
			t.Errorf("%s: %q, want %s", name, got, test.want)
		}
	}
}

func TestWhatAKlusterletIsRefusedFor(t *testing.T) {
	for name, test := range map[string]struct {
		change func(*ocmhook.Klusterlet)
		want   string
	}{
		"no hub":                      {func(k *ocmhook.Klusterlet) { k.HubARN = "" }, "hubClusterArn: \"\" is not the ARN of an EKS cluster"},
		"no name":                     {func(k *ocmhook.Klusterlet) { k.ClusterName = "" }, "spec.clusterName is empty"},
		"a name with #":               {func(k *ocmhook.Klusterlet) { k.ClusterName = "a#b" }, "is not the name of a ManagedCluster"},
		"a Secret of another place":   {func(k *ocmhook.Klusterlet) { k.IAMConfigSecret = "kube-system/aws" }, "expected the name of a Secret in the namespace open-cluster-management-agent"},
		"a Secret by a path":          {func(k *ocmhook.Klusterlet) { k.IAMConfigSecret = "../aws" }, "expected the name of a Secret"},
		"another annotation":          {func(k *ocmhook.Klusterlet) { k.HubRole, k.IAMConfigSecret = "yes", "" }, "expected web-identity"},
		"a token and a Secret":        {func(k *ocmhook.Klusterlet) { k.HubRole = "web-identity" }, "remove one of both"},
		"a token of a cluster in EKS": {func(k *ocmhook.Klusterlet) { k.HubRole, k.IAMConfigSecret, k.ManagedARN = "web-identity", "", spokeARN }, "joins by the role of its own account"},
	} {
		if d := ocmhook.AdmitKlusterlet(onprem(test.change)); !strings.Contains(d.Refusal, test.want) || len(d.Patch) > 0 {
			t.Errorf("%s: %+v, want a refusal with %s", name, d, test.want)
		}
	}
}

// agentPod is a pod as Open Cluster Management's operator has it made.
func agentPod(account string, args ...string) *corev1.Pod {
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{GenerateName: "agent-"},
		Spec: corev1.PodSpec{
			ServiceAccountName: account,
			InitContainers: []corev1.Container{{
				Name: "load-awscli", Image: "amazon/aws-cli:latest", Command: []string{"cp", "-vr", "/usr/local/aws-cli/v2/current/dist", "/awscli"},
				VolumeMounts: []corev1.VolumeMount{{Name: "awscli", MountPath: "/awscli"}},
			}},
			Containers: []corev1.Container{{
				Name: "agent", Image: "theirs", Args: args, Env: []corev1.EnvVar{{Name: "POD_NAME", Value: "x"}},
				VolumeMounts: []corev1.VolumeMount{{Name: "hub-kubeconfig", MountPath: "/spoke/hub-kubeconfig"}, {Name: "dot-aws", MountPath: "/.aws"}, {Name: "awscli", MountPath: "/awscli"}},
			}},
			Volumes: []corev1.Volume{
				{Name: "hub-kubeconfig", VolumeSource: corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{}}},
				{Name: "dot-aws", VolumeSource: corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{}}},
				{Name: "awscli", VolumeSource: corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{}}},
			},
		},
	}
}

// apply applies a decision to an object.
func apply(t *testing.T, object []byte, d ocmhook.Decision) []byte {
	t.Helper()
	if len(d.Patch) == 0 {
		return object
	}
	patch := must.Get(jsonpatch.DecodePatch(must.Get(json.Marshal(d.Patch))(t)))(t)
	return must.Get(patch.Apply(object))(t)
}

// admitted is the pod after the hook, which must not refuse it, and is asked twice.
func admitted(t *testing.T, pod *corev1.Pod, w ocmhook.World) *corev1.Pod {
	t.Helper()
	text := must.Get(json.Marshal(pod))(t)
	var after *corev1.Pod
	for range 2 {
		var seen corev1.Pod
		must.Do(t, json.Unmarshal(text, &seen))
		d := ocmhook.AdmitPod(&seen, "open-cluster-management-agent", w, settings)
		if d.Refusal != "" {
			t.Fatalf("refused: %s", d.Refusal)
		}
		before := text
		text = apply(t, text, d)
		if after != nil && !cmp.Equal(before, text) {
			t.Errorf("asked again, it is changed again:\n%s\n%s", before, text)
		}
		after = &corev1.Pod{}
		must.Do(t, json.Unmarshal(text, after))
	}
	return after
}

func registrationArgs(arn, suffix string) []string {
	return []string{
		"/registration", "agent", "--spoke-cluster-name=onprem-1", "--bootstrap-kubeconfig=/spoke/bootstrap/kubeconfig",
		"--registration-auth=awsirsa", "--hub-cluster-arn=" + hubARN, "--managed-cluster-arn=" + arn, "--managed-cluster-role-suffix=" + suffix,
	}
}

func TestAgentsGetWhatTheirKlusterletSays(t *testing.T) {
	k := onprem(nil)
	k.ManagedARN = placeholderOf(t, k)
	for name, args := range map[string][]string{
		"registration": registrationArgs(k.ManagedARN, "0123"),
		"work":         {"/work", "agent", "--spoke-cluster-name=onprem-1"},
		"both":         append([]string{"/registration-operator", "agent"}, registrationArgs(k.ManagedARN, "0123")[2:]...),
	} {
		account := "klusterlet-registration-sa"
		if name != "registration" {
			account = "klusterlet-work-sa"
		}
		pod := admitted(t, agentPod(account, args...), ocmhook.World{Klusterlets: []ocmhook.Klusterlet{k}})
		container, init := pod.Spec.Containers[0], pod.Spec.InitContainers[0]
		if joined := strings.Join(container.Args, " "); name != "work" && (strings.Contains(joined, "--managed-cluster-arn") || !strings.HasSuffix(joined, " --managed-cluster-role-suffix="+suffixB)) || name == "work" && !cmp.Equal(container.Args, args) {
			t.Errorf("%s: the arguments are %q", name, container.Args)
		}
		if container.Image != "theirs" || init.Name != "load-awscli" || init.Image != settings.TokenImage || !cmp.Equal(init.Args, []string{"install", "/awscli/dist/aws"}) {
			t.Errorf("%s: the image is %s, the init container %+v", name, container.Image, init)
		}
		if volume := pod.Spec.Volumes[1]; volume.Name != "dot-aws" || volume.EmptyDir != nil || volume.Secret == nil || volume.Secret.SecretName != "iam-config" {
			t.Errorf("%s: the volume is %+v", name, volume)
		}
		if mount := container.VolumeMounts[1]; mount.MountPath != "/.aws" || !mount.ReadOnly || mount.SubPath != "" {
			t.Errorf("%s: the mount is %+v", name, mount)
		}
		want := []corev1.EnvVar{{Name: "POD_NAME", Value: "x"}, {Name: "AWS_CONFIG_FILE", Value: "/.aws/config"}, {Name: "AWS_SHARED_CREDENTIALS_FILE", Value: "/.aws/credentials"}}
		if diff := cmp.Diff(want, container.Env); diff != "" {
			t.Errorf("%s: the environment (-want +got):\n%s", name, diff)
		}
	}
}

func TestAgentsOfAKeylessClusterGetAToken(t *testing.T) {
	k := onprem(func(k *ocmhook.Klusterlet) { k.IAMConfigSecret, k.HubRole = "", ocmhook.WebIdentity })
	k.ManagedARN = placeholderOf(t, k)
	made := agentPod("klusterlet-registration-sa", registrationArgs(k.ManagedARN, "0123")...)
	made.Spec.Containers[0].Env = append(made.Spec.Containers[0].Env, corev1.EnvVar{Name: "AWS_ROLE_ARN", Value: "arn:aws:iam::111111111111:role/another"})
	pod := admitted(t, made, ocmhook.World{Klusterlets: []ocmhook.Klusterlet{k}})
	want := []corev1.EnvVar{
		{Name: "POD_NAME", Value: "x"}, {Name: "AWS_ROLE_ARN", Value: "arn:aws:iam::111111111111:role/ocm-hub-" + suffixB},
		{Name: "AWS_WEB_IDENTITY_TOKEN_FILE", Value: "/var/run/secrets/tabard.dev/hub-role/token"},
	}
	if diff := cmp.Diff(want, pod.Spec.Containers[0].Env); diff != "" {
		t.Errorf("the environment (-want +got):\n%s", diff)
	}
	last := pod.Spec.Volumes[len(pod.Spec.Volumes)-1]
	if last.Projected == nil || last.Projected.Sources[0].ServiceAccountToken.Audience != "sts.amazonaws.com" {
		t.Errorf("the last volume is %+v", last)
	}
	if pod.Spec.Volumes[1].EmptyDir == nil {
		t.Errorf("the volume dot-aws is %+v", pod.Spec.Volumes[1])
	}
}

func TestAClusterInEKSKeepsItsARNAndItsSuffix(t *testing.T) {
	k := onprem(func(k *ocmhook.Klusterlet) { k.ManagedARN, k.IAMConfigSecret = spokeARN, "" })
	args := registrationArgs(spokeARN, suffixA)
	pod := admitted(t, agentPod("klusterlet-registration-sa", args...), ocmhook.World{Klusterlets: []ocmhook.Klusterlet{k}})
	if diff := cmp.Diff(args, pod.Spec.Containers[0].Args); diff != "" {
		t.Errorf("the arguments (-want +got):\n%s", diff)
	}
	if pod.Spec.InitContainers[0].Image != settings.TokenImage || pod.Spec.Volumes[1].EmptyDir == nil {
		t.Errorf("the pod has %+v and %+v", pod.Spec.InitContainers, pod.Spec.Volumes)
	}
}

// TestPodsThatAreNotTheirs: a pod of the same namespace gets nothing of the agents' identity.
func TestPodsThatAreNotTheirs(t *testing.T) {
	k := onprem(nil)
	k.ManagedARN = placeholderOf(t, k)
	elsewhere := onprem(func(other *ocmhook.Klusterlet) { other.Name, other.Namespace = "other", "elsewhere" })
	certificates := onprem(func(other *ocmhook.Klusterlet) { other.Name, other.AuthType = "csr", "csr" })
	w := ocmhook.World{Klusterlets: []ocmhook.Klusterlet{k, elsewhere, certificates}}
	shell := agentPod("klusterlet-work-sa", registrationArgs(k.ManagedARN, "0123")...)
	shell.Spec.Containers[0].Command = []string{"sh", "-c"}
	for name, pod := range map[string]*corev1.Pod{
		"another program as the agents":         agentPod("klusterlet-work-sa", "/bin/sh", "agent"),
		"another command of theirs":             agentPod("klusterlet-registration-sa", "/registration", "webhook-server"),
		"a shell that is given their arguments": shell,
		"no arguments":                          agentPod("klusterlet-registration-sa"),
		"a work agent of nobody":                agentPod("default", "/work", "agent"),
		"an agent of a cluster by certificate":  agentPod("csr-registration-sa", "/registration", "agent"),
	} {
		if d := ocmhook.AdmitPod(pod, "open-cluster-management-agent", w, settings); len(d.Patch) > 0 || d.Refusal != "" {
			t.Errorf("%s: %+v", name, d)
		}
	}
}

func TestWhatAPodIsRefusedFor(t *testing.T) {
	k := onprem(nil)
	k.ManagedARN = placeholderOf(t, k)
	other := placeholderOf(t, onprem(func(k *ocmhook.Klusterlet) { k.IAMConfigSecret = "other" }))
	without := onprem(func(k *ocmhook.Klusterlet) { k.HubARN = "" })
	for name, test := range map[string]struct {
		pod  *corev1.Pod
		of   ocmhook.Klusterlet
		want string
	}{
		"an agent of no Klusterlet":       {agentPod("another-registration-sa", registrationArgs(k.ManagedARN, "0123")...), k, "no Klusterlet is known"},
		"made for another Secret":         {agentPod("klusterlet-registration-sa", registrationArgs(other, "0123")...), k, "Its Deployment makes it anew"},
		"made for the ARN of before":      {agentPod("klusterlet-registration-sa", registrationArgs(spokeARN, suffixA)...), k, "Its Deployment makes it anew"},
		"made before it had an ARN":       {agentPod("klusterlet-registration-sa", registrationArgs(k.ManagedARN, "0123")...), onprem(func(k *ocmhook.Klusterlet) { k.ManagedARN = spokeARN }), "Its Deployment makes it anew"},
		"told no name":                    {agentPod("klusterlet-work-sa", "/work", "agent"), k, "give one of both"},
		"of a Klusterlet without a hub":   {agentPod("klusterlet-registration-sa", registrationArgs(k.ManagedARN, "0123")...), without, "cannot join"},
		"a cluster that would be unknown": {agentPod("klusterlet-registration-sa", strings.Split(strings.ReplaceAll(strings.Join(registrationArgs(k.ManagedARN, "0"), " "), "onprem-1", "a#b"), " ")...), k, "is not the name of a ManagedCluster"},
	} {
		d := ocmhook.AdmitPod(test.pod, "open-cluster-management-agent", ocmhook.World{Klusterlets: []ocmhook.Klusterlet{test.of}}, settings)
		if !strings.Contains(d.Refusal, test.want) || len(d.Patch) > 0 {
			t.Errorf("%s: %+v, want a refusal with %s", name, d, test.want)
		}
	}
}

func TestTheHubControllerNeverGetsTheDriver(t *testing.T) {
	begin := []string{"/registration", "controller"}
	for name, test := range map[string]struct{ args, want []string }{
		"without it": {[]string{"--enabled-registration-drivers=csr,grpc", "--feature-gates=ManagedClusterAutoApproval=true"}, nil},
		"alone":      {[]string{"--hub-cluster-arn=" + hubARN, "--enabled-registration-drivers=awsirsa"}, []string{"--enabled-registration-drivers=csr"}},
		"beside others": {
			[]string{"--labels=a=b", "--enabled-registration-drivers=csr,awsirsa,grpc", "--auto-approved-arn-patterns=.*", "--aws-resource-tags=a=b"},
			[]string{"--labels=a=b", "--enabled-registration-drivers=csr,grpc"},
		},
		"with the flag that they do not know": {[]string{"--enabled-registration-drivers=csr", "--disable-managed-iam=true"}, []string{"--enabled-registration-drivers=csr"}},
		"whom nobody has to ask": {
			[]string{"--feature-gates=ManagedClusterAutoApproval=true", "--feature-gates=A=true, ManagedClusterAutoApproval=true", "--enabled-registration-drivers=awsirsa"},
			[]string{"--feature-gates=A=true", "--enabled-registration-drivers=csr"},
		},
	} {
		pod := agentPod("registration-controller-sa", append(append([]string{}, begin...), test.args...)...)
		want := append(append([]string{}, begin...), test.want...)
		if test.want == nil {
			want = pod.Spec.Containers[0].Args
		}
		if diff := cmp.Diff(want, admitted(t, pod, ocmhook.World{}).Spec.Containers[0].Args); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

func TestServiceAccountsOfNoAccountHaveNoRole(t *testing.T) {
	off := ocmhook.World{Managers: []ocmhook.ClusterManager{must.Get(ocmhook.ReadClusterManager([]byte(
		`{"metadata":{"name":"cluster-manager"},"spec":{"registrationConfiguration":{"registrationDrivers":[{"authType":"csr"},{"authType":"awsirsa","awsirsa":{"hubClusterArn":"` + hubARN + `","disableManagedIam":true}}]}}}`)))(t)}}
	creator := "arn:aws:iam::111111111111:role/eks-hub_managed-cluster-identity-creator"
	for name, test := range map[string]struct {
		role, namespace string
		w               ocmhook.World
		removed         bool
	}{
		"the role of a placeholder":           {"arn:aws:iam::000000000000:role/ocm-managed-cluster-" + suffixB, "agents", ocmhook.World{}, true},
		"the role of a cluster in EKS":        {"arn:aws:iam::222222222222:role/ocm-managed-cluster-" + suffixA, "agents", off, false},
		"a person's own role":                 {"arn:aws:iam::222222222222:role/own", "agents", off, false},
		"what makes roles, off":               {creator, "open-cluster-management-hub", off, true},
		"what makes roles, on":                {creator, "open-cluster-management-hub", ocmhook.World{Managers: []ocmhook.ClusterManager{{Namespace: "open-cluster-management-hub"}}}, false},
		"what makes roles, of another hub":    {creator, "another-hub", off, false},
		"no role":                             {"", "agents", off, false},
		"what is no role":                     {"000000000000", "agents", off, false},
		"another role of the placeholder's 0": {"arn:aws:iam::000000000000:role/own", "agents", off, false},
	} {
		d := ocmhook.AdmitServiceAccount(map[string]string{"eks.amazonaws.com/role-arn": test.role}, test.namespace, test.w)
		after := apply(t, must.Get(json.Marshal(metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{Annotations: map[string]string{
			"eks.amazonaws.com/role-arn": test.role, "other": "kept",
		}}}))(t), d)
		if strings.Contains(string(after), "role-arn") == test.removed || !strings.Contains(string(after), "kept") {
			t.Errorf("%s: %s", name, after)
		}
	}
}
