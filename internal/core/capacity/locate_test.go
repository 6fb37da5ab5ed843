package capacity_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tabard-dev/tabard/internal/core/capacity"
	"github.com/tabard-dev/tabard/internal/core/instancetype"
)

func providerSpec(text string) func(*capacity.World) {
	return func(w *capacity.World) { w.Object.ProviderSpec = []byte(text) }
}

func TestTypeAndRegionOfTheMachineAPI(t *testing.T) {
	aws := func(w *capacity.World) { w.Platform = capacity.Platform{Type: "AWS", Region: "eu-west-1"} }
	azure := func(w *capacity.World) { w.Platform = capacity.Platform{Type: "Azure"} }
	environment := func(w *capacity.World) { w.DefaultRegion = "eu-north-1" }
	const noRegion = `{"kind":"AWSMachineProviderConfig","instanceType":"m5.large"}`
	tests := map[string]locateCase{
		"from the providerSpec": {change: all(), want: instancetype.Question{Type: "m5.large", Region: "us-east-1"}},
		"of the old API version": {
			change: providerSpec(`{"apiVersion":"awsproviderconfig.openshift.io/v1beta1","kind":"AWSMachineProviderConfig","instanceType":"a","placement":{"region":"b"}}`),
			want:   instancetype.Question{Type: "a", Region: "b"},
		},
		"the region of the Infrastructure is home": {change: aws, want: instancetype.Question{Type: "m5.large", Region: "us-east-1", Home: "eu-west-1"}},
		"the Infrastructure's region comes second": {
			change: all(aws, environment, providerSpec(noRegion)), want: instancetype.Question{Type: "m5.large", Region: "eu-west-1", Home: "eu-west-1"},
		},
		"the environment's region comes last": {
			change: all(environment, providerSpec(noRegion)), want: instancetype.Question{Type: "m5.large", Region: "eu-north-1", Home: "eu-north-1"},
		},
		"no region at all": {
			change:  providerSpec(noRegion),
			trouble: "ReconcileError: unable to determine AWS region from placement.region of providerSpec, from Infrastructure cluster or from AWS_REGION",
			outcome: capacity.Invalid,
		},
		"no kind on AWS": {
			change: all(aws, providerSpec(`{"instanceType":"a","placement":{"region":"b"}}`)), want: instancetype.Question{Type: "a", Region: "b", Home: "eu-west-1"},
		},
		"no kind where no platform is known": {
			change: providerSpec(`{"instanceType":"a","placement":{"region":"b"}}`), want: instancetype.Question{Type: "a", Region: "b"},
		},
		"no kind on another cloud":      {change: all(azure, providerSpec(`{"instanceType":"a"}`)), skip: capacity.SkipForeignCloud},
		"another cloud's kind":          {change: providerSpec(`{"kind":"AzureMachineProviderSpec","vmSize":"x","placement":"other"}`), skip: capacity.SkipForeignCloud},
		"another cloud's kind on AWS":   {change: all(aws, providerSpec(`{"kind":"GCPMachineProviderSpec"}`)), skip: capacity.SkipForeignCloud},
		"the AWS kind on another cloud": {change: azure, want: instancetype.Question{Type: "m5.large", Region: "us-east-1"}},
		"no instance type": {
			change:  providerSpec(`{"kind":"AWSMachineProviderConfig","placement":{"region":"b"}}`),
			trouble: "FailedUpdate: Failed to extract instance type: instanceType is empty in providerSpec", outcome: capacity.Invalid,
		},
		"no providerSpec": {
			change:  all(aws, providerSpec("")),
			trouble: "FailedUpdate: Failed to extract instance type: instanceType is empty in providerSpec", outcome: capacity.Invalid,
		},
		"a null providerSpec": {
			change:  all(aws, providerSpec("null")),
			trouble: "FailedUpdate: Failed to extract instance type: instanceType is empty in providerSpec", outcome: capacity.Invalid,
		},
		"no providerSpec on another cloud": {change: all(azure, providerSpec("")), skip: capacity.SkipForeignCloud},
		"an unreadable providerSpec": {
			change:  providerSpec(`{"kind":"AWSMachineProviderConfig","instanceType":7}`),
			trouble: "ReconcileError: failed to get providerConfig: error unmarshalling providerSpec: json: cannot unmarshal number into Go struct field providerConfig.instanceType of type string",
			outcome: capacity.Invalid,
		},
		"an unreadable one on another cloud": {change: all(azure, providerSpec(`"text"`)), skip: capacity.SkipForeignCloud},
		"no credentials": {
			change:  func(w *capacity.World) { w.Credentials.Missing = true },
			trouble: "ReconcileError: no AWS credentials configured for machineSet workers: neither IRSA environment variables nor credentialsSecret specified",
			outcome: capacity.Invalid,
		},
		"credentials half configured": {
			change: func(w *capacity.World) {
				w.Credentials.Problem = "AWS_ROLE_ARN is set but AWS_WEB_IDENTITY_TOKEN_FILE is missing"
			},
			trouble: "ReconcileError: AWS_ROLE_ARN is set but AWS_WEB_IDENTITY_TOKEN_FILE is missing", outcome: capacity.Invalid,
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) { test.run(t, openshift(large)) })
	}
}

// locateCase is a change of a world, and one of three: what AWS is asked, why
// the object is left alone, or the warning.
type locateCase struct {
	change  func(*capacity.World)
	want    instancetype.Question
	skip    capacity.Skip
	trouble string
	outcome capacity.Outcome
}

func (c locateCase) run(t *testing.T, base capacity.World) {
	t.Helper()
	w := with(base, c.change)
	got, asks := capacity.Ask(w)
	if wants := c.want != (instancetype.Question{}); wants != asks {
		t.Fatalf("asks is %v, want %v", asks, wants)
	}
	if asks {
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("question (-want +got):\n%s", diff)
		}
		return
	}
	plan := capacity.Decide(w)
	if plan.Skip != c.skip || len(plan.Steps) > 0 {
		t.Errorf("skip is %q, want %q; steps %v, want none", plan.Skip, c.skip, plan.Steps)
	}
	wantTold(t, plan, c.trouble)
	if c.outcome == "" {
		c.outcome = capacity.Skipped
	}
	if plan.Outcome != c.outcome {
		t.Errorf("outcome is %s, want %s", plan.Outcome, c.outcome)
	}
}

// wantTold demands the one warning "REASON: MESSAGE", or none.
func wantTold(t *testing.T, plan capacity.Plan, want string) {
	t.Helper()
	var got string
	for _, event := range plan.Events {
		if event.Warning {
			got += event.Reason + ": " + event.Message
		}
	}
	if got != want {
		t.Errorf("warning is %q\nwant       %q", got, want)
	}
}

func TestTypeAndRegionOfClusterAPI(t *testing.T) {
	annotation := annotated(region, "eu-south-2")
	noCluster := func(w *capacity.World) { w.Cluster, w.ClusterRegion = nil, "" }
	noClusterRegion := func(w *capacity.World) { w.ClusterRegion = "" }
	refers := func(ref capacity.Ref) func(*capacity.World) {
		return func(w *capacity.World) { w.Object.Infrastructure = ref }
	}
	docker := func(w *capacity.World) {
		w.Cluster = &capacity.Cluster{Infrastructure: capacity.Ref{APIGroup: "infrastructure.cluster.x-k8s.io", Kind: "DockerCluster", Name: "demo"}}
		w.ClusterRegion = ""
	}
	fromCluster := instancetype.Question{Type: "m5.large", Region: "us-east-1"}
	const noRegion = "FailedUpdate: Failed to resolve AWS region: unable to determine AWS region from AWSCluster or annotation capa.infrastructure.cluster.x-k8s.io/region"
	tests := map[string]locateCase{
		"from template and cluster":               {change: all(), want: fromCluster},
		"the cluster comes before the annotation": {change: annotation, want: fromCluster},
		"a v1beta2 reference": {
			change: refers(capacity.Ref{APIGroup: "infrastructure.cluster.x-k8s.io", Kind: "AWSMachineTemplate", Name: "w"}), want: fromCluster,
		},
		"a reference that says the object's own namespace": {
			change: refers(capacity.Ref{APIVersion: "infrastructure.cluster.x-k8s.io/v1beta2", Kind: "AWSMachineTemplate", Name: "w", Namespace: "team"}),
			want:   fromCluster,
		},
		"a reference into another namespace is refused": {
			change:  refers(capacity.Ref{APIVersion: "infrastructure.cluster.x-k8s.io/v1beta2", Kind: "AWSMachineTemplate", Name: "w", Namespace: "other"}),
			trouble: "FailedUpdate: Failed to resolve AWSMachineTemplate: infrastructureRef names AWSMachineTemplate other/w; it must be in the namespace team of the machineDeployment",
			outcome: capacity.Invalid,
		},
		"a reference without a name": {
			change:  refers(capacity.Ref{APIGroup: "infrastructure.cluster.x-k8s.io", Kind: "AWSMachineTemplate"}),
			trouble: "FailedUpdate: Failed to resolve AWSMachineTemplate: infrastructureRef has no name", outcome: capacity.Invalid,
		},
		"another provider's template": {
			change: refers(capacity.Ref{APIGroup: "infrastructure.cluster.x-k8s.io", Kind: "AzureMachineTemplate", Name: "w"}), skip: capacity.SkipForeignCloud,
		},
		"another group's template of that kind": {
			change: refers(capacity.Ref{APIVersion: "example.com/v1", Kind: "AWSMachineTemplate", Name: "w"}), skip: capacity.SkipForeignCloud,
		},
		"no template": {
			change:  func(w *capacity.World) { w.Template = nil },
			trouble: "FailedUpdate: Failed to resolve AWSMachineTemplate: AWSMachineTemplate team/workers not found", outcome: capacity.Failed,
		},
		"no instance type": {
			change:  func(w *capacity.World) { w.Template.InstanceType = "" },
			trouble: "FailedUpdate: Failed to extract instance type: instanceType is empty in AWSMachineTemplate", outcome: capacity.Invalid,
		},
		"no cluster and an annotation":      {change: all(noCluster, annotation), want: instancetype.Question{Type: "m5.large", Region: "eu-south-2"}},
		"no cluster and no annotation":      {change: noCluster, trouble: noRegion, outcome: capacity.Failed},
		"a cluster without region":          {change: noClusterRegion, trouble: noRegion, outcome: capacity.Failed},
		"a cluster of another provider":     {change: docker, skip: capacity.SkipForeignOrigin},
		"another provider's and annotation": {change: all(docker, annotation), want: instancetype.Question{Type: "m5.large", Region: "eu-south-2"}},
		"a cluster that refers to nothing yet": {
			change: func(w *capacity.World) { w.Cluster, w.ClusterRegion = &capacity.Cluster{}, "" }, trouble: noRegion, outcome: capacity.Failed,
		},
		"no credentials": {
			change:  func(w *capacity.World) { w.Credentials.Missing = true },
			trouble: "ReconcileError: no AWS credentials configured for machineDeployment workers: neither IRSA environment variables nor credentialsSecret specified",
			outcome: capacity.Invalid,
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			base := clusterAPI(large)
			test.run(t, base)
		})
	}
}

func TestTheObjectThatSaysTheRegion(t *testing.T) {
	o := clusterAPI(large).Object
	infra := func(kind string) capacity.Ref {
		return capacity.Ref{APIGroup: "infrastructure.cluster.x-k8s.io", Kind: kind, Name: "demo"}
	}
	plane := func(kind string) capacity.Ref {
		return capacity.Ref{APIVersion: "controlplane.cluster.x-k8s.io/v1beta2", Kind: kind, Name: "plane"}
	}
	foreign := infra("AWSCluster")
	foreign.Namespace = "other"
	tests := map[string]struct {
		cluster *capacity.Cluster
		want    string
	}{
		"no cluster":                      {nil, ""},
		"an AWSCluster":                   {&capacity.Cluster{Infrastructure: infra("AWSCluster"), ControlPlane: plane("KubeadmControlPlane")}, "AWSCluster demo"},
		"EKS":                             {&capacity.Cluster{Infrastructure: infra("AWSManagedCluster"), ControlPlane: plane("AWSManagedControlPlane")}, "AWSManagedControlPlane plane"},
		"EKS whose control plane is both": {&capacity.Cluster{Infrastructure: plane("AWSManagedControlPlane"), ControlPlane: plane("AWSManagedControlPlane")}, "AWSManagedControlPlane plane"},
		"ROSA":                            {&capacity.Cluster{Infrastructure: infra("ROSACluster"), ControlPlane: plane("ROSAControlPlane")}, "ROSAControlPlane plane"},
		"another provider":                {&capacity.Cluster{Infrastructure: infra("DockerCluster")}, ""},
		"an AWSCluster elsewhere":         {&capacity.Cluster{Infrastructure: foreign}, ""},
		"the kind in the wrong group":     {&capacity.Cluster{Infrastructure: plane("AWSCluster")}, ""},
	}
	for name, test := range tests {
		got := ""
		if ref, found := capacity.RegionRef(o, test.cluster); found {
			got = ref.Kind + " " + ref.Name
		}
		if got != test.want {
			t.Errorf("%s: got %q, want %q", name, got, test.want)
		}
	}
}

func TestTheSecretThatAnObjectNames(t *testing.T) {
	const named = `{"kind":"AWSMachineProviderConfig","credentialsSecret":{"name":"aws-cloud-credentials"}}`
	tests := map[string]struct {
		change func(*capacity.World)
		want   string
	}{
		"named":                      {providerSpec(named), "aws-cloud-credentials"},
		"none":                       {all(), ""},
		"null":                       {providerSpec(`{"credentialsSecret":null}`), ""},
		"no providerSpec":            {providerSpec(""), ""},
		"an unreadable providerSpec": {providerSpec(`{"credentialsSecret":7}`), ""},
		"not of Cluster API": {
			all(providerSpec(named), func(w *capacity.World) { w.Object.Kind = capacity.MachineDeployment }), "",
		},
	}
	for name, test := range tests {
		if got := capacity.SecretName(with(openshift(large), test.change).Object); got != test.want {
			t.Errorf("%s: got %q, want %q", name, got, test.want)
		}
	}
}

func TestTheTemplateToRead(t *testing.T) {
	tests := map[string]struct {
		change func(*capacity.World)
		want   bool
	}{
		"its own":                 {all(), true},
		"in another namespace":    {func(w *capacity.World) { w.Object.Infrastructure.Namespace = "other" }, false},
		"of another provider":     {func(w *capacity.World) { w.Object.Infrastructure.Kind = "DockerMachineTemplate" }, false},
		"without a name":          {func(w *capacity.World) { w.Object.Infrastructure.Name = "" }, false},
		"not for the Machine API": {func(w *capacity.World) { w.Object.Kind = capacity.MachineAPIMachineSet }, false},
	}
	for name, test := range tests {
		if _, got := capacity.TemplateRef(with(clusterAPI(large), test.change).Object); got != test.want {
			t.Errorf("%s: got %v, want %v", name, got, test.want)
		}
	}
}

func TestObjectsThatAreLeftAlone(t *testing.T) {
	gate := func(pausedNow bool, authority string) func(*capacity.World) {
		return func(w *capacity.World) {
			w.Options.Migration, w.Object.Paused, w.Object.Authority = true, pausedNow, authority
		}
	}
	standAlone := func(w *capacity.World) { w.Object.Kind = capacity.MachineSet }
	tests := map[string]struct {
		world capacity.World
		want  capacity.Skip
	}{
		"being deleted":                     {with(openshift(large), func(w *capacity.World) { w.Object.Deleting = true }), capacity.SkipDeleting},
		"gate off, paused":                  {with(openshift(large), func(w *capacity.World) { w.Object.Paused = true }), ""},
		"gate off, other authority":         {with(openshift(large), func(w *capacity.World) { w.Object.Authority = "ClusterAPI" }), ""},
		"gate on, authority here":           {with(openshift(large), gate(false, "MachineAPI")), ""},
		"gate on, paused":                   {with(openshift(large), gate(true, "MachineAPI")), capacity.SkipPaused},
		"gate on, paused comes first":       {with(openshift(large), gate(true, "ClusterAPI")), capacity.SkipPaused},
		"gate on, authority elsewhere":      {with(openshift(large), gate(false, "ClusterAPI")), capacity.SkipAuthority},
		"gate on, migrating":                {with(openshift(large), gate(false, "Migrating")), capacity.SkipAuthority},
		"gate on, not decided yet":          {with(openshift(large), gate(false, "")), capacity.SkipAuthority},
		"Cluster API's pause is not theirs": {with(openshift(large), annotated(paused, "")), ""},
		"Cluster API, gate on":              {with(clusterAPI(large), gate(true, "")), ""},
		"paused by annotation":              {with(clusterAPI(large), annotated(paused, "")), capacity.SkipPaused},
		"paused with its cluster":           {with(clusterAPI(large), func(w *capacity.World) { w.Cluster.Paused = true }), capacity.SkipPaused},
		"a MachineSet by itself":            {with(clusterAPI(large), standAlone), ""},
		"a MachineSet of a deployment": {
			with(clusterAPI(large), all(standAlone, func(w *capacity.World) { w.Object.HasDeployment = true })), capacity.SkipDeployment,
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			plan := capacity.Decide(test.world)
			if plan.Skip != test.want || (plan.Outcome == capacity.Skipped) != (test.want != "") {
				t.Errorf("skip is %q (%s), want %q", plan.Skip, plan.Outcome, test.want)
			}
			if test.want != "" && (len(plan.Steps)+len(plan.Events) > 0 || plan.Again != 0) {
				t.Errorf("left alone, and yet: %+v", plan)
			}
		})
	}
}
