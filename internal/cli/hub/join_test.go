package hub

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/controller-runtime/pkg/client"

	core "github.com/tabard-dev/tabard/internal/core/hub"
	"github.com/tabard-dev/tabard/internal/testkit/must"
	"github.com/tabard-dev/tabard/internal/testkit/ocm"
)

// spoke is a cluster that joins a hub, which is the same cluster here.
type spoke struct {
	*typed
	token string
}

func startSpoke(t *testing.T, called string) spoke {
	t.Helper()
	c := startTyped(t, "klusterlet", called)
	c.Make(&corev1.ConfigMap{ // as Kubernetes' own controllers do in each namespace
		ObjectMeta: metav1.ObjectMeta{Namespace: "kube-public", Name: "kube-root-ca.crt"}, Data: map[string]string{"ca.crt": string(must.Get(os.ReadFile(c.Config.CAFile))(t))},
	})
	return spoke{c, ocm.MakeBootstrap(t, c.Cluster).BearerToken}
}

// story is how the requirement's second story calls join, with more flags after it.
func (s spoke) story(more ...string) []string {
	return append([]string{"join", "--hub-token", s.token, "--hub-apiserver", s.Config.Host, "--registration-auth", "awsirsa", "--hub-cluster-arn", hubARN}, more...)
}

func (s spoke) wantNothing() {
	s.Helper()
	for _, object := range []client.Object{
		theKlusterlet.empty(), &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: core.AgentNamespace, Name: bootstrapSecret}}, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: core.AgentNamespace}},
	} {
		if err := s.Get(s.Context(), client.ObjectKeyFromObject(object), object); err == nil {
			s.Errorf("%s %s was written", object.GetObjectKind().GroupVersionKind().Kind, object.GetName())
		}
	}
}

// TestAClusterOutsideEKSNeedsFieldsAndHook, and nothing is written until both are there. With
// --context, the ARN is never that of the current context.
func TestAClusterOutsideEKSNeedsFieldsAndHook(t *testing.T) {
	s := startSpoke(t, "onprem-1")
	config := must.Get(clientcmd.LoadFromFile(s.kubeconfig))(t)
	config.Contexts["spoke"] = config.Contexts[config.CurrentContext]
	config.Clusters[spokeARN] = config.Clusters["onprem-1"]
	elsewhere := config.Contexts["spoke"].DeepCopy()
	elsewhere.Cluster = spokeARN
	config.Contexts["elsewhere"], config.CurrentContext = elsewhere, "elsewhere"
	must.Do(t, clientcmd.WriteToFile(*config, s.kubeconfig))

	story := s.story("--context", "spoke", "--iam-config-secret", "iam-config")
	s.want(1, "tabard hub fields --apply", story...)
	s.want(1, "--set ocm.enabled=true", s.story("--context", "spoke", "--hub-role", "web-identity")...)
	s.want(0, "changed", "fields", "--apply")
	said := s.want(1, "--set ocm.enabled=true", story...)
	if !strings.Contains(said, "is treated as one outside EKS") || !strings.Contains(said, "the cluster's name at the hub is onprem-1, as the kubeconfig names it") || strings.Contains(said, s.token) {
		t.Errorf("it says:\n%s", said)
	}
	s.wantNothing()
}

func TestAClusterInEKSJoins(t *testing.T) {
	s := startSpoke(t, spokeARN)
	printed := s.want(0, "this was a dry run", s.story("--dry-run", "-o", "yaml", "--klusterlet-annotation", "zone=a")...)
	for _, want := range []string{"the cluster is " + spokeARN + ", as the kubeconfig names it", "spoke-1, as in EKS", "tabard.dev/ocm: enabled", "REDACTED", "managedClusterArn: " + spokeARN, "agent.open-cluster-management.io/zone: a", "expirationSeconds: 86400"} {
		if !strings.Contains(printed, want) {
			t.Errorf("the dry run does not say %q:\n%s", want, printed)
		}
	}
	if strings.Contains(printed, s.token) {
		t.Error("the token is printed")
	}
	s.wantNothing()

	said := s.want(0, "+ Klusterlet klusterlet", s.story("--singleton")...)
	if !strings.Contains(said, "tabard hub accept --clusters spoke-1") || !strings.Contains(said, "unverified: SHA-256 "+fingerprint(must.Get(os.ReadFile(s.Config.CAFile))(t))) || strings.Contains(said, s.token) {
		t.Errorf("it says:\n%s", said)
	}
	registration := s.registration(theKlusterlet.empty())
	for field, want := range map[string]any{
		"registrationDriver":                map[string]any{"authType": "awsirsa", "awsIrsa": map[string]any{"hubClusterArn": hubARN, "managedClusterArn": spokeARN}},
		"addOnKubeClientRegistrationDriver": map[string]any{"authType": "token", "token": map[string]any{"expirationSeconds": int64(86400)}},
	} {
		if diff := cmp.Diff(want, registration[field]); diff != "" {
			t.Errorf("the Klusterlet's %s (-want +got):\n%s", field, diff)
		}
	}
	s.wantBootstrap()
	s.want(0, "= Klusterlet klusterlet", s.story("--singleton")...)
	s.want(1, "clusteradm unjoin --cluster-name spoke-1", s.story("--cluster-name", "other")...)
	s.waits()
}

// wantBootstrap says that agents reach the hub by what was written, with its authority.
func (s spoke) wantBootstrap() {
	s.Helper()
	var secret corev1.Secret
	must.Do(s, s.Get(s.Context(), client.ObjectKey{Namespace: core.AgentNamespace, Name: bootstrapSecret}, &secret))
	config := must.Get(clientcmd.RESTConfigFromKubeConfig(secret.Data["kubeconfig"]))(s)
	cluster := ocm.New(ocm.ManagedCluster, "", "spoke-1")
	cluster.Object["spec"] = map[string]any{"hubAcceptsClient": false}
	must.Do(s, s.ClientFor(config).Create(s.Context(), cluster))
	s.Remove(cluster)
	var namespace corev1.Namespace
	must.Do(s, s.Get(s.Context(), client.ObjectKey{Name: core.AgentNamespace}, &namespace))
	if namespace.Labels[core.HookLabel] != core.HookLabelValue {
		s.Errorf("the labels of the namespace are %v", namespace.Labels)
	}
}

// waits has the operator and the agent come up one after the other.
func (s spoke) waits() {
	s.Helper()
	wait := s.story("--singleton", "--wait", "--timeout", "0")
	s.want(1, "the registration agent does not run yet", wait...)
	s.MergeStatus(theKlusterlet.empty(), `{"status":{"conditions":[
		{"type":"Applied","status":"True","reason":"a","message":"a","lastTransitionTime":"2026-01-01T00:00:00Z"},
		{"type":"RegistrationDesiredDegraded","status":"False","reason":"a","message":"a","lastTransitionTime":"2026-01-01T00:00:00Z"},
		{"type":"WorkDesiredDegraded","status":"False","reason":"a","message":"a","lastTransitionTime":"2026-01-01T00:00:00Z"}]}}`)
	s.want(1, "the hub does not know the cluster yet", wait...)
	cluster := ocm.New(ocm.ManagedCluster, "", "spoke-1")
	cluster.Object["spec"] = map[string]any{"hubAcceptsClient": false}
	s.Make(cluster)
	s.want(0, "the hub knows the cluster", s.story("--singleton", "--wait")...)
}

func TestJoinRefuses(t *testing.T) {
	s := startSpoke(t, "kubernetes")
	other := filepath.Join(t.TempDir(), "ca.crt")
	must.Do(t, os.WriteFile(other, []byte("nothing"), 0o600))
	certificate := func(args ...string) []string {
		return append([]string{"join", "--hub-apiserver", s.Config.Host, "--cluster-name", "a"}, args...)
	}
	s.want(2, "--hub-token is missing", certificate()...)
	s.want(2, "--hub-apiserver is", "join", "--hub-token", "a", "--hub-apiserver", "http://hub")
	s.want(2, "as many clusters are called", s.story()...)
	s.want(2, "leave it out for a cluster that is not in EKS", s.story("--managed-cluster-arn", "a")...)
	s.want(2, "--iam-config-secret is for --registration-auth awsirsa", certificate("--hub-token", s.token, "--iam-config-secret", "a")...)
	s.want(1, "expected web-identity", s.story("--cluster-name", "a", "--hub-role", "a")...)
	s.want(1, "remove one of both", s.story("--cluster-name", "a", "--hub-role", "web-identity", "--iam-config-secret", "a")...)
	s.want(1, "a cluster in EKS joins by the role of its own account", s.story("--cluster-name", "a", "--hub-role", "web-identity", "--managed-cluster-arn", spokeARN)...)
	s.want(1, "does not accept --hub-token", certificate("--hub-token", "a")...)
	s.want(2, "has no certificate in PEM", certificate("--hub-token", s.token, "--ca-file", other)...)
	s.wantNothing()
	said := s.want(0, "the Klusterlet is written", certificate("--hub-token", s.token, "--ca-file", s.Config.CAFile)...)
	if strings.Contains(said, "unverified") {
		t.Errorf("with --ca-file it says:\n%s", said)
	}
}

// TestWhatIsNotAsWantedIsRefused, of a Klusterlet as the API server has it after it was applied.
func TestWhatIsNotAsWantedIsRefused(t *testing.T) {
	outside := core.Join{Cluster: "onprem-1", AgentNamespace: core.AgentNamespace, AuthType: core.DriverAWS, Hub: must.Get(core.ParseARN(hubARN))(t), IAMConfigSecret: "iam-config", Mode: core.ModeDefault}
	inEKS := outside
	inEKS.Managed, inEKS.IAMConfigSecret = must.Get(core.ParseARN(spokeARN))(t), ""
	klusterlet := func(annotations map[string]any, aws ...string) map[string]any {
		fields := map[string]any{"hubClusterArn": hubARN}
		for i := 0; i < len(aws); i += 2 {
			fields[aws[i]] = aws[i+1]
		}
		return map[string]any{
			"metadata": map[string]any{"name": "klusterlet", "annotations": annotations},
			"spec":     map[string]any{"clusterName": "onprem-1", "registrationConfiguration": map[string]any{"registrationDriver": map[string]any{"authType": "awsirsa", "awsIrsa": fields}}},
		}
	}
	placeholder := placeholderOf(klusterlet(nil, configField, "iam-config"))
	for name, test := range map[string]struct {
		want  core.Join
		after map[string]any
		says  string // empty for as wanted
	}{
		"as wanted":                      {outside, klusterlet(nil, configField, "iam-config", managedField, placeholder), ""},
		"in EKS":                         {inEKS, klusterlet(nil, managedField, spokeARN), ""},
		"the Secret was dropped":         {outside, klusterlet(nil, managedField, placeholder), core.FieldsCommand},
		"no hook":                        {outside, klusterlet(nil, configField, "iam-config"), "--set ocm.enabled=true"},
		"an ARN of somebody else":        {outside, klusterlet(nil, configField, "iam-config", managedField, spokeARN), "which somebody else wrote"},
		"the placeholder of other words": {outside, klusterlet(nil, configField, "iam-config", managedField, placeholderOf(klusterlet(nil))), "which somebody else wrote"},
		"another ARN":                    {inEKS, klusterlet(nil, managedField, placeholder), "which somebody else wrote"},
		"a Secret of somebody else":      {inEKS, klusterlet(nil, managedField, spokeARN, configField, "iam-config"), "iamConfigSecret"},
		"a role of somebody else":        {inEKS, klusterlet(map[string]any{"identity.tabard.dev/hub-role": "web-identity"}, managedField, spokeARN), "the annotation identity.tabard.dev/hub-role"},
	} {
		err := (&joining{want: test.want}).compare(test.after)
		if (err == nil) != (test.says == "") || err != nil && !strings.Contains(err.Error(), test.says) {
			t.Errorf("%s: %v, want %q", name, err, test.says)
		}
	}
}
