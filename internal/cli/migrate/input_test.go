package migrate

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/tabard-dev/tabard/internal/cli/command"
)

func TestUnusableInputHasAnExitCodeOfItsOwn(t *testing.T) {
	const space = "apiVersion: v1\nkind: Namespace\nmetadata: {name: a}\n"
	s3 := "--controller=alias=s3,group=s3.services.k8s.aws,account=111122223333,kinds=v1alpha1/Bucket"
	for name, test := range map[string]struct {
		in   string
		args []string
		want string
	}{
		"an argument":                  {"", []string{"plan", "now"}, `takes no arguments, and got "now"`},
		"a word for a sub-command":     {"", []string{"apply"}, `takes no arguments, and got "apply"`},
		"another reader":               {"", []string{"plan", "-f", bundleFolder, "--controllers", "capa"}, "it must be ack or tabard"},
		"another reader, to verify":    {"", []string{"verify", "-f", bundleFolder, "--controllers", "capa"}, "it must be ack or tabard"},
		"another format":               {"", []string{"plan", "-f", bundleFolder, "-o", "yaml"}, "it must be text or json"},
		"files and a cluster":          {"", []string{"plan", "-f", bundleFolder, "--kubeconfig", "x"}, "give one of them"},
		"a file that is not there":     {"", []string{"plan", "-f", "/no/such/file"}, "no such file"},
		"a folder without files":       {"", []string{"plan", "-f", t.TempDir()}, "has no .yaml"},
		"no cluster":                   {"", []string{"plan", "--kubeconfig", "/no/such/file"}, "no such file"},
		"what is no YAML":              {"a: [", []string{"plan", "-f", "-"}, `"-": document 1:`},
		"what is no object":            {"a: b", []string{"plan", "-f", "-"}, "kind or apiVersion is missing"},
		"a list of what is no object":  {"apiVersion: v1\nkind: List\nitems: [7]", []string{"plan", "-f", "-"}, "item 0 of a List is no object"},
		"a list of no objects":         {"apiVersion: v1\nkind: List\nitems: [{a: b}]", []string{"plan", "-f", "-"}, "item 0 of a List: it is no object"},
		"no namespaces":                {"apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a, namespace: b}\n", []string{"plan", "-f", "-", s3}, "there is no Namespace"},
		"no controllers":               {space, []string{"plan", "-f", "-"}, "no Deployment of an ACK controller was found"},
		"an object twice":              {space + "---\n" + space, []string{"plan", "-f", "-", s3}, "Namespace /a: it is given twice"},
		"a config map of other data":   {space + "---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: ack-role-account-map, namespace: a}\ndata: {x: [1]}", []string{"plan", "-f", "-", s3}, "ConfigMap a/ack-role-account-map"},
		"a status of other data":       {space + "---\napiVersion: s3.services.k8s.aws/v1alpha1\nkind: Bucket\nmetadata: {name: b, namespace: a}\nstatus: {conditions: 7}", []string{"plan", "-f", "-", s3}, "its status cannot be read"},
		"no kinds":                     {space, []string{"plan", "-f", "-", "--controller=alias=s3,group=s3.services.k8s.aws,account=111122223333"}, "no kind of the group s3.services.k8s.aws is known"},
		"no group":                     {space, []string{"plan", "-f", "-", "--controller=alias=s3,account=111122223333,kinds=v1/Bucket"}, "its API group is not known"},
		"no account":                   {space, []string{"plan", "-f", "-", "--controller=alias=s3,group=s3.services.k8s.aws,kinds=v1/Bucket"}, "give --account"},
		"an account that is none":      {space, []string{"plan", "-f", "-", s3, "--controller=alias=x,group=x,account=7,kinds=v1/X"}, "twelve digits"},
		"two of one name":              {space, []string{"verify", "-f", "-", s3, s3}, "two controllers are called"},
		"a key that is not known":      {space, []string{"plan", "-f", "-", "--controller=alias=s3,role=x"}, "role=x is not known"},
		"a key without a value":        {space, []string{"plan", "-f", "-", "--controller=alias"}, "expected KEY=VALUE"},
		"a gate that is not known":     {space, []string{"plan", "-f", "-", s3 + ",gates=TeamLevelCarm"}, `the gate "TeamLevelCarm" is not known`},
		"both mechanisms on":           {space, []string{"plan", "-f", "-", s3 + ",gates=IAMRoleSelector"}, "it cannot start with the gate"},
		"enable-carm that is no bool":  {space, []string{"plan", "-f", "-", s3 + ",enable-carm=yes"}, "enable-carm=yes is not known"},
		"a kind without a version":     {space, []string{"plan", "-f", "-", s3 + "+Bucket"}, `kind "Bucket": expected VERSION/KIND`},
		"a blocker without an account": {space, []string{"plan", "-f", "-", s3, "--blocker-account", "x"}, "--blocker-account"},
		"labels and wildcard types":    {space, []string{"plan", "-f", "-", s3, "--labels", "--wildcard-types"}, "cannot be combined"},
		"no file of controllers":       {space, []string{"plan", "-f", "-", "--controllers-file", "/no/such/file"}, "no such file"},
		"a file of something else":     {space, []string{"plan", "-f", "-", "--controllers-file", filepath.Join(bundleFolder, "maps.yaml")}, "does not describe controllers"},
		"a file of no controllers":     {space, []string{"plan", "-f", "-", "--controllers-file", file(t, "none.yaml", "controllers: []")}, "describes no controller"},
		"a folder that is a file":      {space, []string{"plan", "-f", "-", "--out", file(t, "x", "")}, "a file, not a folder"},
		"a bad Deployment":             {space, []string{"plan", "-f", changed(t, "ServiceLevelCARM=true", "ServiceLevelCARM=on")}, `--feature-gates has "ServiceLevelCARM=on"`},
		"a bad --enable-carm":          {space, []string{"plan", "-f", changed(t, "--enable-carm=true", "--enable-carm=on")}, `--enable-carm is "on"`},
		"a Deployment that cannot run": {space, []string{"plan", "-f", changed(t, "IAMRoleSelector=false", "IAMRoleSelector=true")}, "both on; describe it with --controllers-file"},
		"a variable from elsewhere":    {space, []string{"plan", "-f", changed(t, "$(FEATURE_GATES)", "$(ELSEWHERE)")}, "--feature-gates has the value $(ELSEWHERE), which does not stand in the Deployment"},
		"an alias without a CRD":       {space, []string{"plan", "-f", changed(t, "rds-controller:1.1.0", "relational-controller:1.1.0")}, "no CRD of relational.services.k8s.aws is installed"},
		"a ServiceAccount of no role":  {space, []string{"plan", "-f", changed(t, "eks.amazonaws.com/role-arn", "example.com/role-arn")}, "the account that it runs in is not known"},
	} {
		t.Run(name, func(t *testing.T) {
			got := run(t, test.in, test.args...)
			if got.code != command.Unusable || got.out != "" || !strings.HasPrefix(got.errOut, "tabard: ") || !strings.Contains(got.errOut, test.want) {
				t.Errorf("got %+v, want exit code 2 and %q", got, test.want)
			}
		})
	}
}

func TestControllersAreFoundByTheirDeployments(t *testing.T) {
	value := func(name, value string) corev1.EnvVar { return corev1.EnvVar{Name: name, Value: value} }
	off := false
	for name, test := range map[string]struct {
		args []string
		env  []corev1.EnvVar
		want description
	}{
		"the least": {[]string{"--aws-region=eu-west-1"}, nil, description{Region: "eu-west-1"}},
		"all of it": {
			[]string{"--aws-region", "us-east-1", "--watch-namespace=a, b,", "--enable-carm=false", "--deletion-policy", "retain", "--aws-endpoint-url", "https://x",
				"--feature-gates=TeamLevelCARM=true,ServiceLevelCARM=false,Other=true", "--verbose", "stray"},
			[]corev1.EnvVar{value("K8S_NAMESPACE", "second"), value("ACK_SYSTEM_NAMESPACE", "first")},
			description{Region: "us-east-1", WatchNamespaces: []string{"a", "b"}, EnableCARM: &off, DeletionPolicy: "retain", Endpoint: "https://x",
				FeatureGates: map[string]bool{gateTeam: true, gateService: false}, SystemNamespace: "first"},
		},
		"the older variable":    {[]string{"--aws-region=x"}, []corev1.EnvVar{value("K8S_NAMESPACE", "second")}, description{Region: "x", SystemNamespace: "second"}},
		"the last of two holds": {[]string{"--aws-region=x", "--aws-region", "y"}, nil, description{Region: "y"}},
		"a part of a value":     {[]string{"--aws-region", "$(A)-$(B)-1"}, []corev1.EnvVar{value("A", "eu"), value("B", "west")}, description{Region: "eu-west-1"}},
	} {
		t.Run(name, func(t *testing.T) {
			d := &appsv1.Deployment{}
			d.Namespace, d.Name = "ack", "s3"
			test.want.Name, test.want.Alias = "ack/s3", "s3"
			got, err := describe(d, &corev1.Container{Args: test.args, Env: test.env}, "s3")
			if diff := cmp.Diff(test.want, got); err != nil || diff != "" {
				t.Errorf("%v (-want +got):\n%s", err, diff)
			}
		})
	}
}

func TestImagesNameTheService(t *testing.T) {
	for image, want := range map[string]string{
		"public.ecr.aws/aws-controllers-k8s/s3-controller:1.0.1": "s3",
		"localhost:5000/apigatewayv2-controller@sha256:00":       "apigatewayv2",
		"eks-controller": "eks",
		"public.ecr.aws/eks/aws-load-balancer:v2": "",
	} {
		got := ""
		if found := controllerImage.FindStringSubmatch(image); found != nil {
			got = found[1]
		}
		if got != want {
			t.Errorf("%s is of %q, want %q", image, got, want)
		}
	}
}

func TestControllersAreDescribedByFlags(t *testing.T) {
	on := true
	got, err := parseController("name=n,alias=s3,group=g,account=111122223333,system-namespace=s,region=r,endpoint=https://e,deletion-policy=retain,watch=a+b,enable-carm=true,gates=TeamLevelCARM+ServiceLevelCARM,kinds=v1/A+v1/B")
	want := description{
		Name: "n", Alias: "s3", Group: "g", Account: "111122223333", SystemNamespace: "s", Region: "r", Endpoint: "https://e", DeletionPolicy: "retain",
		WatchNamespaces: []string{"a", "b"}, EnableCARM: &on, FeatureGates: map[string]bool{gateTeam: true, gateService: true}, Kinds: []string{"v1/A", "v1/B"},
	}
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
}
