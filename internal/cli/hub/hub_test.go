package hub

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/tabard-dev/tabard/internal/cli/command"
	core "github.com/tabard-dev/tabard/internal/core/hub"
)

const (
	hubARN   = "arn:aws:eks:us-west-2:111111111111:cluster/eks-hub"
	spokeARN = "arn:aws:eks:us-east-1:222222222222:cluster/spoke-1"
	issuer   = "https://acme-oidc-4f1c.s3.eu-central-1.amazonaws.com"
)

// cluster is a hub's, which has objects by their kind and name; it knows no kind if it is nil.
type cluster map[string]map[string]any

func (c cluster) Get(_ context.Context, key client.ObjectKey, object client.Object, _ ...client.GetOption) error {
	kind := object.GetObjectKind().GroupVersionKind()
	if c == nil {
		return &meta.NoKindMatchError{GroupKind: kind.GroupKind(), SearchedVersions: []string{kind.Version}}
	}
	found, ok := c[kind.Kind+" "+key.Name]
	if !ok {
		return apierrors.NewNotFound(schema.GroupResource{Group: kind.Group, Resource: kind.Kind}, key.Name)
	}
	object.(*unstructured.Unstructured).Object = found
	return nil
}

func (c cluster) List(context.Context, client.ObjectList, ...client.ListOption) error {
	return errors.New("nothing is listed here")
}

func manager(arn string) map[string]any {
	return map[string]any{"spec": map[string]any{"registrationConfiguration": map[string]any{"registrationDrivers": []any{
		map[string]any{"authType": "csr"}, map[string]any{"authType": "awsirsa", "awsirsa": map[string]any{"hubClusterArn": arn}},
	}}}}
}

func joined(annotations map[string]any) map[string]any {
	return map[string]any{"metadata": map[string]any{"annotations": annotations}}
}

// run types a command; asked says that it wanted to read a cluster.
func run(c cluster, args ...string) (out, said string, code int, asked bool) {
	var stdout, stderr bytes.Buffer
	root := New(World{
		Streams: command.Streams{Out: &stdout, Err: &stderr},
		Hub:     func(*command.Kubeconfig) (client.Reader, error) { asked = true; return c, nil },
	})
	root.SetArgs(args)
	if exit, ok := errors.AsType[*command.Exit](root.Execute()); ok {
		code = exit.Code
	}
	return stdout.String(), stderr.String(), code, asked
}

func TestTheHubAndTheSpokeAreFound(t *testing.T) {
	whole := cluster{
		"ClusterManager cluster-manager": manager(hubARN),
		"ManagedCluster cluster1":        joined(map[string]any{core.ARNAnnotation: spokeARN, core.SuffixAnnotation: "141fc72f17164e5a28c2b4e384694bae"}),
		"ManagedCluster onprem-1":        joined(map[string]any{core.SuffixAnnotation: "347a66776893e40615516d2e0491e696"}),
		"ManagedCluster broken":          joined(map[string]any{core.ARNAnnotation: spokeARN}),
	}
	cases := map[string]struct {
		cluster cluster
		args    []string
		says    string
		code    int
		asks    bool
	}{
		"all from the hub":                      {whole, []string{"suffix", "cluster1"}, "141fc72f17164e5a28c2b4e384694bae", 0, true},
		"one that is not in EKS":                {whole, []string{"suffix", "onprem-1"}, "347a66776893e40615516d2e0491e696", 0, true},
		"both ARNs by flags":                    {nil, []string{"suffix", "cluster1", "--hub-cluster-arn", hubARN, "--managed-cluster-arn", spokeARN}, "141fc72f17164e5a28c2b4e384694bae", 0, false},
		"the hub by a flag":                     {nil, []string{"suffix", "onprem-1", "--hub-cluster-arn", hubARN}, "347a66776893e40615516d2e0491e696", 0, false},
		"a cluster that is no hub":              {nil, []string{"suffix", "onprem-1"}, "no hub", 2, true},
		"no ClusterManager":                     {cluster{}, []string{"suffix", "onprem-1"}, "--hub-cluster-arn", 2, true},
		"a ClusterManager without an ARN":       {cluster{"ClusterManager cluster-manager": manager("")}, []string{"suffix", "onprem-1"}, "does not say the hub's ARN", 2, true},
		"one that has not joined":               {whole, []string{"role", "later"}, "has not joined yet", 2, true},
		"annotations that cannot be used":       {whole, []string{"suffix", "broken"}, core.SuffixAnnotation, 2, true},
		"an ARN that is none":                   {nil, []string{"suffix", "a", "--hub-cluster-arn", "eks-hub"}, "the ARN of the hub", 2, false},
		"a spoke's ARN that is none":            {nil, []string{"suffix", "a", "--hub-cluster-arn", hubARN, "--managed-cluster-arn", "eks-hub"}, "the ARN of the joining cluster", 2, false},
		"no name":                               {nil, []string{"suffix"}, "takes the name of one ManagedCluster", 2, false},
		"an issuer needs no ManagedCluster":     {cluster{"ClusterManager cluster-manager": manager(hubARN)}, []string{"role", "onprem-1", "--issuer", issuer}, "klusterlet-work-sa", 0, true},
		"an issuer of AKS ends with a slash":    {whole, []string{"role", "onprem-1", "--issuer", "https://eastus.oic.prod-aks.azure.com/T/C/", "--print", "json"}, `"eastus.oic.prod-aks.azure.com/T/C/:sub"`, 0, true},
		"outside EKS, with nothing to go by":    {whole, []string{"role", "onprem-1"}, "needs either its token issuer", 2, true},
		"a joined one in EKS":                   {whole, []string{"role", "cluster1"}, "arn:aws:iam::222222222222:role/ocm-managed-cluster-141fc72f17164e5a28c2b4e384694bae", 0, true},
		"its own role, without its issuer":      {whole, []string{"role", "cluster1", "--in", "spoke"}, "describe-cluster", 2, true},
		"its own role":                          {whole, []string{"role", "cluster1", "--in", "spoke", "--issuer", "https://oidc.eks.us-east-1.amazonaws.com/id/A", "--managed-cluster-arn", spokeARN}, "become-hub-role", 0, true},
		"credentials of its own":                {whole, []string{"role", "onprem-1", "--principal", "arn:aws:iam::444444444444:user/broker"}, "Each of these needs the right sts:AssumeRole", 0, true},
		"another account than hub or spoke":     {whole, []string{"role", "onprem-1", "--in", "other"}, "expected hub or spoke", 2, false},
		"a form that is none":                   {whole, []string{"role", "cluster1", "--print", "pulumi"}, "--print", 2, true},
		"agents in a namespace of another name": {whole, []string{"role", "onprem-1", "--issuer", issuer, "--agent-namespace", "agents", "--singleton"}, "system:serviceaccount:agents:klusterlet-work-sa", 0, true},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			out, said, code, asked := run(c.cluster, c.args...)
			if code != c.code || !strings.Contains(out+said, c.says) || asked != c.asks {
				t.Errorf("exit code %d, asked %t: %s%s\nexpected %d, %t: %q", code, asked, out, said, c.code, c.asks, c.says)
			}
		})
	}
}

func TestTheProviderIsLeftOutIfItIsThere(t *testing.T) {
	args := []string{"role", "onprem-1", "--hub-cluster-arn", hubARN, "--issuer", issuer}
	with, _, _, _ := run(nil, args...)
	without, _, _, _ := run(nil, append(args, "--without-provider")...)
	if !strings.Contains(with, "create-open-id-connect-provider") || strings.Contains(without, "create-open-id-connect-provider") || !strings.Contains(without, "ocm-hub-347a66776893e40615516d2e0491e696") {
		t.Errorf("with the provider:\n%s\nwithout:\n%s", with, without)
	}
}
