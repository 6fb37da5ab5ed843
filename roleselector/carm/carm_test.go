package carm

import (
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/tabard-dev/tabard/api/services/v1alpha1"
)

const (
	own   = "000000000000"
	one   = "111111111111"
	two   = "222222222222"
	roleA = "arn:aws:iam::111111111111:role/a"
	roleB = "arn:aws:iam::222222222222:role/b"
)

// controller is one of the service s3, ec2, …, with all else as usual.
func controller(alias string, change ...func(*Controller)) Controller {
	group := alias + ".services.k8s.aws"
	c := Controller{
		Name: alias, Alias: alias, Group: group, SystemNamespace: "ack-system", Account: own, Region: "eu-west-1",
		Kinds: []schema.GroupVersionKind{{Group: group, Version: "v1alpha1", Kind: "Thing"}, {Group: group, Version: "v1alpha1", Kind: "Other"}},
	}
	for _, f := range change {
		f(&c)
	}
	return c
}

func team(c *Controller)    { c.TeamLevelCARM = true }
func service(c *Controller) { c.ServiceLevelCARM = true }
func off(c *Controller)     { c.DisableCARM = true }

func watching(names ...string) func(*Controller) {
	return func(c *Controller) { c.WatchNamespaces = names }
}

// namespace has annotations as pairs of key and value; the prefix may be left out.
func namespace(name string, annotations ...string) Namespace {
	n := Namespace{Name: name, Annotations: map[string]string{}, Labels: map[string]string{"kubernetes.io/metadata.name": name}}
	for i := 0; i < len(annotations); i += 2 {
		key := annotations[i]
		if !strings.Contains(key, "/") {
			key = "services.k8s.aws/" + key
		}
		n.Annotations[key] = annotations[i+1]
	}
	return n
}

// resource is a Thing.
func resource(alias, namespace, name, owner string) Resource {
	return Resource{
		Kind:      schema.GroupVersionKind{Group: alias + ".services.k8s.aws", Version: "v1alpha1", Kind: "Thing"},
		Namespace: namespace, Name: name, OwnerAccount: owner,
	}
}

// existing is a selector of somebody else.
func existing(name, arn string, change func(*v1alpha1.IAMRoleSelectorSpec)) Selector {
	s := Selector{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: &v1alpha1.IAMRoleSelectorSpec{ARN: arn}}
	if change != nil {
		change(s.Spec)
	}
	return s
}

func inNamespaces(names ...string) func(*v1alpha1.IAMRoleSelectorSpec) {
	return func(s *v1alpha1.IAMRoleSelectorSpec) {
		s.NamespaceSelector = &v1alpha1.NamespaceSelector{Names: names}
	}
}

func entries(pairs ...string) map[string]string {
	m := map[string]string{}
	for i := 0; i < len(pairs); i += 2 {
		m[pairs[i]] = pairs[i+1]
	}
	return m
}

// cluster has one system namespace.
func cluster(accounts, teams map[string]string, namespaces ...Namespace) Cluster {
	return Cluster{Namespaces: namespaces, Maps: map[string]Maps{"ack-system": {Accounts: accounts, Teams: teams}}}
}

func TestUnusableInputIsRefused(t *testing.T) {
	good := controller("s3")
	with := func(f func(*Controller)) []Controller { return []Controller{controller("s3", f)} }
	for name, test := range map[string]struct {
		cluster     Cluster
		controllers []Controller
		want        string
	}{
		"no controllers":          {Cluster{}, nil, "no controller is described"},
		"two of one name":         {Cluster{}, []Controller{good, good}, `two controllers are called "s3"`},
		"no name":                 {Cluster{}, with(func(c *Controller) { c.Name = "" }), "it has no name"},
		"no alias":                {Cluster{}, with(func(c *Controller) { c.Alias = "" }), "controller s3: its alias is missing"},
		"no group":                {Cluster{}, with(func(c *Controller) { c.Group = "" }), "its API group is missing"},
		"no account":              {Cluster{}, with(func(c *Controller) { c.Account = "" }), `its account is ""`},
		"an account that is none": {Cluster{}, with(func(c *Controller) { c.Account = "12345678901a" }), "twelve digits"},
		"no system namespace":     {Cluster{}, with(func(c *Controller) { c.SystemNamespace = "" }), "its system namespace is missing"},
		"no kinds":                {Cluster{}, with(func(c *Controller) { c.Kinds = nil }), "no kind of its group s3.services.k8s.aws is known"},
		"a kind of another group": {Cluster{}, with(func(c *Controller) { c.Kinds[0].Group = "ec2" }), "it cannot serve ec2/v1alpha1/Thing"},
		"a namespace twice":       {cluster(nil, nil, namespace("a"), namespace("a")), with(team), `namespace "a" is given twice`},
		"a resource of a namespace that is not there": {
			Cluster{Resources: []Resource{resource("s3", "a", "x", "")}}, with(team), "s3.services.k8s.aws/v1alpha1/Thing a/x: its namespace is not among the namespaces"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := Migrate(test.cluster, test.controllers, Options{})
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("Migrate: %v, want %q", err, test.want)
			}
			if _, err := Prove(test.cluster, test.controllers, nil, ProofOptions{}); err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("Prove: %v, want %q", err, test.want)
			}
		})
	}
	if _, err := Migrate(cluster(nil, nil), []Controller{good}, Options{LabelMode: true, WildcardTypes: true}); err == nil {
		t.Error("labels and wildcard types were combined")
	}
}
