package hub_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tabard-dev/tabard/internal/core/hub"
	"github.com/tabard-dev/tabard/internal/testkit/must"
)

const eksHub = "arn:aws:eks:us-west-2:111111111111:cluster/eks-hub"

func TestWhatInitRefuses(t *testing.T) {
	arn := must.Get(hub.ParseARN(eksHub))(t)
	gate := map[string]bool{hub.AutoApproval: true}
	for name, test := range map[string]struct {
		init hub.Init
		says string // empty for nothing
	}{
		"nothing":                        {hub.Init{}, ""},
		"all drivers":                    {hub.Init{Drivers: []string{"csr", "awsirsa", "grpc"}, Hub: arn, DisableManagedIAM: new(true)}, ""},
		"another driver":                 {hub.Init{Drivers: []string{"aws"}}, `has "aws", expected csr, awsirsa or grpc`},
		"a driver twice":                 {hub.Init{Drivers: []string{"csr", "csr"}}, "csr twice"},
		"managed IAM without the driver": {hub.Init{Drivers: []string{"csr"}, DisableManagedIAM: new(true)}, "--disable-managed-iam is for the driver awsirsa"},
		"an ARN without the driver":      {hub.Init{Hub: arn}, "--hub-cluster-arn is for the driver awsirsa"},
		"tags without the driver":        {hub.Init{Tags: []string{"a=b"}}, "--aws-resource-tags is for the driver awsirsa"},
		"patterns without the gate":      {hub.Init{Drivers: []string{"awsirsa"}, Patterns: []string{".*"}}, "add --feature-gates ManagedClusterAutoApproval=true"},
		"patterns and the gate off":      {hub.Init{Drivers: []string{"awsirsa"}, Patterns: []string{".*"}, Gates: map[string]bool{hub.AutoApproval: false}}, "has no effect without"},
		"patterns":                       {hub.Init{Drivers: []string{"awsirsa"}, Patterns: []string{".*"}, Gates: gate}, ""},
		"patterns without the driver":    {hub.Init{Drivers: []string{"csr"}, Patterns: []string{".*"}, Gates: gate}, "--auto-approved-arn-patterns is for the driver awsirsa"},
		"a pattern that is none":         {hub.Init{Drivers: []string{"awsirsa"}, Patterns: []string{"("}, Gates: gate}, "are no regular expressions"},
		"a tag that is none":             {hub.Init{Drivers: []string{"awsirsa"}, Tags: []string{"a"}}, "--aws-resource-tags"},
		"a tag with two =":               {hub.Init{Drivers: []string{"awsirsa"}, Tags: []string{"a=b=c"}}, "more than one ="},
		"a tag of AWS":                   {hub.Init{Drivers: []string{"awsirsa"}, Tags: []string{"aws:a=b"}}, "--aws-resource-tags"},
		"tags of clusteradm's help":      {hub.Init{Drivers: []string{"awsirsa"}, Tags: []string{"product:v1:tenant:app-name=My-App", "product:v1:tenant:created-by=Team-1"}}, ""},
		"a gate that is none":            {hub.Init{Gates: map[string]bool{"AutoApproval": true}}, "expected gates of a hub"},
	} {
		err := test.init.Check()
		if (err == nil) != (test.says == "") || err != nil && !strings.Contains(err.Error(), test.says) {
			t.Errorf("%s: %v, want %q", name, err, test.says)
		}
	}
}

// managerSaying is a ClusterManager as clusteradm makes it.
func managerSaying(drivers ...any) map[string]any {
	return map[string]any{
		"metadata": map[string]any{"name": "cluster-manager", "resourceVersion": "7"},
		"spec": map[string]any{
			"registrationImagePullSpec": "mirror.example/registration:v1", "deployOption": map[string]any{"mode": "Default"},
			"registrationConfiguration": map[string]any{
				"autoApproveUsers": []any{"somebody"}, "registrationDrivers": drivers,
				"featureGates": []any{map[string]any{"feature": "DefaultClusterSet", "mode": "Disable"}},
			},
		},
	}
}

func awsDriver(fields map[string]any) map[string]any {
	return map[string]any{"authType": "awsirsa", "awsirsa": fields}
}

// registrationOf is what an object says of its registration.
func registrationOf(t *testing.T, object map[string]any) map[string]any {
	t.Helper()
	out, _ := object["spec"].(map[string]any)["registrationConfiguration"].(map[string]any)
	return out
}

func TestTheClusterManagerOfTheRequirement(t *testing.T) {
	init := hub.Init{Drivers: []string{"awsirsa"}, Hub: must.Get(hub.ParseARN(eksHub))(t), DisableManagedIAM: new(true)}
	want := map[string]any{
		"apiVersion": "operator.open-cluster-management.io/v1", "kind": "ClusterManager", "metadata": map[string]any{"name": "cluster-manager"},
		"spec": map[string]any{
			"deployOption":              map[string]any{"mode": "Default"},
			"registrationImagePullSpec": "quay.io/ocm/registration:v1.2.1", "workImagePullSpec": "quay.io/ocm/work:v1.2.1",
			"placementImagePullSpec": "quay.io/ocm/placement:v1.2.1", "addOnManagerImagePullSpec": "quay.io/ocm/addon-manager:v1.2.1",
			"registrationConfiguration": map[string]any{"registrationDrivers": []any{
				awsDriver(map[string]any{"hubClusterArn": eksHub, "disableManagedIam": true}),
			}},
		},
	}
	images, known := hub.ImagesOf("quay.io/ocm/registration-operator:v1.2.1")
	if !known {
		t.Fatal("the images are not known")
	}
	if diff := cmp.Diff(want, init.ClusterManager(nil, images)); diff != "" {
		t.Errorf("the ClusterManager (-want +got):\n%s", diff)
	}
}

// TestWhatNobodyWantsChangedIsKept: a later init with other flags does not switch managed IAM on
// again, nor loses tags and gates.
func TestWhatNobodyWantsChangedIsKept(t *testing.T) {
	there := managerSaying(map[string]any{"authType": "csr"}, awsDriver(map[string]any{"hubClusterArn": eksHub, "disableManagedIam": true, "tags": []any{"a=b"}}))
	gate := map[string]any{"feature": "DefaultClusterSet", "mode": "Disable"}
	for name, test := range map[string]struct {
		init    hub.Init
		drivers []any
		gates   []any
	}{
		"nothing is wanted": {hub.Init{}, registrationOf(t, there)["registrationDrivers"].([]any), []any{gate}},
		"another tag": {
			hub.Init{Drivers: []string{"awsirsa"}, Tags: []string{"c=d"}},
			[]any{awsDriver(map[string]any{"hubClusterArn": eksHub, "disableManagedIam": true, "tags": []any{"c=d"}})}, []any{gate},
		},
		"managed IAM again": {
			hub.Init{Drivers: []string{"csr", "awsirsa"}, DisableManagedIAM: new(false)},
			[]any{map[string]any{"authType": "csr"}, awsDriver(map[string]any{"hubClusterArn": eksHub, "disableManagedIam": false, "tags": []any{"a=b"}})}, []any{gate},
		},
		"gates, with patterns": {
			hub.Init{Drivers: []string{"awsirsa"}, Patterns: []string{"p"}, Gates: map[string]bool{hub.AutoApproval: true, "DefaultClusterSet": true}},
			[]any{awsDriver(map[string]any{"hubClusterArn": eksHub, "disableManagedIam": true, "tags": []any{"a=b"}, "autoApprovedIdentities": []any{"p"}})},
			[]any{map[string]any{"feature": "DefaultClusterSet", "mode": "Enable"}, map[string]any{"feature": hub.AutoApproval, "mode": "Enable"}},
		},
	} {
		t.Run(name, func(t *testing.T) {
			before := managerSaying(registrationOf(t, there)["registrationDrivers"].([]any)...)
			got := test.init.ClusterManager(before, hub.Images{})
			want := map[string]any{"registrationDrivers": test.drivers, "featureGates": test.gates}
			if diff := cmp.Diff(want, registrationOf(t, got)); diff != "" {
				t.Errorf("what is written (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(managerSaying(registrationOf(t, there)["registrationDrivers"].([]any)...), before); diff != "" {
				t.Errorf("what was there is changed (-want +got):\n%s", diff)
			}
			spec := got["spec"].(map[string]any)
			if spec["registrationImagePullSpec"] != "mirror.example/registration:v1" || spec["workImagePullSpec"] != nil || got["metadata"].(map[string]any)["resourceVersion"] != "7" {
				t.Errorf("it is %v", got)
			}
		})
	}
}

func TestGatesAreOfTheirPart(t *testing.T) {
	init := hub.Init{Gates: map[string]bool{"ManifestWorkReplicaSet": true, "AddonManagement": false}}
	spec := init.ClusterManager(nil, hub.Images{})["spec"].(map[string]any)
	want := map[string]any{
		"deployOption":              map[string]any{"mode": "Default"},
		"workConfiguration":         map[string]any{"featureGates": []any{map[string]any{"feature": "ManifestWorkReplicaSet", "mode": "Enable"}}},
		"addOnManagerConfiguration": map[string]any{"featureGates": []any{map[string]any{"feature": "AddonManagement", "mode": "Disable"}}},
	}
	if diff := cmp.Diff(want, spec); diff != "" {
		t.Errorf("the spec (-want +got):\n%s", diff)
	}
}

func TestInitWarns(t *testing.T) {
	disabled := awsDriver(map[string]any{"hubClusterArn": eksHub, "disableManagedIam": true})
	for name, test := range map[string]struct {
		init     hub.Init
		drivers  []any
		labelled bool
		says     []string
	}{
		"in a labelled namespace":    {hub.Init{Drivers: []string{"awsirsa"}}, []any{disabled}, true, nil},
		"in one without the label":   {hub.Init{Drivers: []string{"awsirsa"}}, []any{disabled}, false, []string{"kubectl label namespace open-cluster-management-hub tabard.dev/ocm=enabled"}},
		"with managed IAM":           {hub.Init{Drivers: []string{"awsirsa"}}, []any{awsDriver(nil)}, false, nil},
		"a driver of somebody else":  {hub.Init{Drivers: []string{"csr"}}, []any{map[string]any{"authType": "csr"}, map[string]any{"authType": "grpc"}}, false, []string{"lists the driver grpc too"}},
		"no drivers are wanted":      {hub.Init{}, []any{map[string]any{"authType": "csr"}}, false, nil},
		"everybody is accepted":      {hub.Init{Drivers: []string{"csr"}, Gates: map[string]bool{hub.AutoApproval: true}}, []any{map[string]any{"authType": "csr"}}, false, []string{"accept every cluster"}},
		"who matches a pattern only": {hub.Init{Drivers: []string{"awsirsa"}, Gates: map[string]bool{hub.AutoApproval: true}}, []any{awsDriver(nil)}, false, nil},
	} {
		got := test.init.Warnings(managerSaying(test.drivers...), test.labelled)
		if len(got) != len(test.says) || len(got) > 0 && !strings.Contains(got[0], test.says[0]) {
			t.Errorf("%s: %q, want %q", name, got, test.says)
		}
	}
}

func TestImagesOfAnOperator(t *testing.T) {
	for image, want := range map[string]hub.Images{
		"quay.io/open-cluster-management/registration-operator:v1.2.1":          {Registry: "quay.io/open-cluster-management", Tag: "v1.2.1"},
		"mirror.example:5000/ocm/registration-operator:1":                       {Registry: "mirror.example:5000/ocm", Tag: "1"},
		"quay.io/open-cluster-management/registration-operator@sha256:abc":      {},
		"quay.io/open-cluster-management/registration-operator:v1@sha256:abc":   {},
		"quay.io/open-cluster-management/registration-operator":                 {},
		"quay.io/open-cluster-management/registration-operator-of-others:v1.2.": {},
		"": {},
	} {
		if got, known := hub.ImagesOf(image); got != want || known != (want != hub.Images{}) {
			t.Errorf("%s: %+v, %t", image, got, known)
		}
	}
}
