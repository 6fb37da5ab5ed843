package platform

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

var now = time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)

func found(fields map[string]any) Seen {
	return Seen{Object: &unstructured.Unstructured{Object: fields}}
}

func unreadable() Seen { return Seen{Unread: "forbidden"} }

func spec(fields map[string]any) Seen { return found(map[string]any{"spec": fields}) }

func status(fields map[string]any) Seen { return found(map[string]any{"status": fields}) }

func mode(said string) Seen { return spec(map[string]any{"credentialsMode": said}) }

func disabled(said any) Seen { return found(map[string]any{"data": map[string]any{"disabled": said}}) }

// TestTheEffectiveMode is the table of the modes, each also with what cannot be read.
func TestTheEffectiveMode(t *testing.T) {
	absent, otherKeys := Seen{}, found(map[string]any{"data": map[string]any{}})
	tests := map[string]struct {
		credential, legacy Seen
		want               Mode
		why                string
	}{
		"disabled, and no mode":                    {mode(""), disabled("true"), Manual, "says disabled"},
		"disabled, and Manual":                     {mode("Manual"), disabled("true"), Manual, "says Manual"},
		"disabled, and Mint":                       {mode("Mint"), disabled("true"), Conflict, "remove the ConfigMap"},
		"disabled, and Passthrough":                {mode("Passthrough"), disabled("true"), Conflict, "remove the ConfigMap"},
		"not disabled, and no mode":                {mode(""), disabled("false"), Default, "sets no mode"},
		"not disabled, and Manual":                 {mode("Manual"), disabled("false"), Manual, "says Manual"},
		"not disabled, and Mint":                   {mode("Mint"), disabled("false"), Mint, "says Mint"},
		"not disabled, and Passthrough":            {mode("Passthrough"), disabled("false"), Passthrough, "says Passthrough"},
		"no ConfigMap, and no mode":                {mode(""), absent, Default, "sets no mode"},
		"no ConfigMap, and Manual":                 {mode("Manual"), absent, Manual, "says Manual"},
		"no ConfigMap, and Mint":                   {mode("Mint"), absent, Mint, "says Mint"},
		"no ConfigMap, and Passthrough":            {mode("Passthrough"), absent, Passthrough, "says Passthrough"},
		"a ConfigMap without the key":              {mode(""), otherKeys, Default, "sets no mode"},
		"a ConfigMap that is not read, no mode":    {mode(""), unreadable(), Unknown, "forbidden"},
		"a ConfigMap that is not read, Manual":     {mode("Manual"), unreadable(), Manual, "says Manual"},
		"a ConfigMap that is not read, Mint":       {mode("Mint"), unreadable(), Unknown, "forbidden"},
		"a ConfigMap that is not read, Passthru":   {mode("Passthrough"), unreadable(), Unknown, "forbidden"},
		"a ConfigMap that says neither":            {mode(""), disabled("yes"), Unknown, `"yes", expected true or false`},
		"a ConfigMap that says neither, Manual":    {mode("Manual"), disabled("yes"), Manual, "says Manual"},
		"a ConfigMap with a number":                {mode("Mint"), disabled(int64(1)), Unknown, "not a string"},
		"no CloudCredential":                       {absent, absent, Unknown, "does not exist"},
		"no CloudCredential, disabled":             {absent, disabled("true"), Unknown, "does not exist"},
		"a CloudCredential that is not read":       {unreadable(), absent, Unknown, "forbidden"},
		"a CloudCredential that is not read, true": {unreadable(), disabled("true"), Unknown, "forbidden"},
		"nothing is read":                          {unreadable(), unreadable(), Unknown, "forbidden"},
		"a mode of another version":                {mode("Token"), absent, Unknown, `"Token", which is no credentials mode`},
		"a mode in other letters":                  {mode("manual"), absent, Unknown, `"manual"`},
		"a mode that is a list":                    {spec(map[string]any{"credentialsMode": []any{"Manual"}}), absent, Unknown, "not a string"},
		"a mode that is null":                      {spec(map[string]any{"credentialsMode": nil}), absent, Default, "sets no mode"},
		"a CloudCredential without spec":           {found(map[string]any{}), absent, Default, "sets no mode"},
		"a CloudCredential whose spec is a string": {found(map[string]any{"spec": "Manual"}), absent, Unknown, "another type"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			got := Read(Objects{CloudCredential: test.credential, Legacy: test.legacy}, Override{}, now)
			if got.Mode != test.want || !strings.Contains(got.ModeWhy, test.why) {
				t.Errorf("the mode is %s (%s), want %s (%s)", got.Mode, got.ModeWhy, test.want, test.why)
			}
		})
	}
}

// variant is one way in which an object can be seen, and whether it shows an operator.
type variant struct {
	seen Seen
	live bool
}

func renewed(ago time.Duration, holder string) Seen {
	return spec(map[string]any{
		"holderIdentity": holder, "leaseDurationSeconds": int64(360), "renewTime": now.Add(-ago).Format(time.RFC3339Nano),
	})
}

var (
	deployments = map[string]variant{
		"no Deployment":               {Seen{}, false},
		"a Deployment not read":       {unreadable(), true},
		"a Deployment of the default": {spec(map[string]any{}), true},
		"a Deployment of null":        {spec(map[string]any{"replicas": nil}), true},
		"a Deployment of two":         {spec(map[string]any{"replicas": int64(2)}), true},
		"a Deployment of none":        {spec(map[string]any{"replicas": int64(0)}), false},
		"a Deployment that is being drained": {found(map[string]any{
			"spec": map[string]any{"replicas": int64(0)}, "status": map[string]any{"replicas": int64(1)},
		}), true},
		"a Deployment of nonsense": {spec(map[string]any{"replicas": "0"}), true},
	}
	clusterOperators = map[string]variant{
		"no ClusterOperator":         {Seen{}, false},
		"a ClusterOperator":          {found(map[string]any{}), true},
		"a ClusterOperator not read": {unreadable(), true},
	}
	leases = map[string]variant{
		"no Lease":                    {Seen{}, false},
		"a Lease not read":            {unreadable(), true},
		"a Lease renewed":             {renewed(5*time.Minute, "a pod"), true},
		"a Lease renewed this second": {renewed(0, "a pod"), true},
		"a Lease ahead of our clock":  {renewed(-time.Hour, "a pod"), true},
		"a Lease of yesterday":        {renewed(24*time.Hour, "a pod"), false},
		"a Lease just over":           {renewed(6*time.Minute+time.Second, "a pod"), false},
		"a Lease given up":            {renewed(0, ""), false},
		"a Lease without a time":      {spec(map[string]any{"holderIdentity": "a pod"}), true},
		"a Lease with a wrong time":   {spec(map[string]any{"holderIdentity": "a pod", "renewTime": "noon"}), true},
		"a Lease of a long hold": {spec(map[string]any{
			"holderIdentity": "a pod", "leaseDurationSeconds": int64(3600), "renewTime": now.Add(-50 * time.Minute).Format(time.RFC3339Nano),
		}), true},
		"a Lease of a longer hold than there is": {spec(map[string]any{
			"holderIdentity": "a pod", "leaseDurationSeconds": int64(1) << 62, "renewTime": now.Add(-time.Hour).Format(time.RFC3339Nano),
		}), true},
		"a Lease without a spec": {found(map[string]any{}), false},
	}
)

// TestAnyOneSignOfAnOperatorIsEnough goes through all combinations: the operator is live
// if any object shows it or cannot be read, and the flag wins.
func TestAnyOneSignOfAnOperatorIsEnough(t *testing.T) {
	for deploymentName, d := range deployments {
		for operatorName, c := range clusterOperators {
			for leaseName, l := range leases {
				for _, config := range []Config{NotServed, Served, Unclear} {
					for _, kind := range append(Kinds(), "") {
						objects := Objects{Config: config, Deployment: d.seen, ClusterOperator: c.seen, Lease: l.seen}
						contradicts := config == Unclear || config == NotServed && kind == OpenShift
						live := d.live || c.live || l.live || contradicts
						for presence, want := range map[Presence]bool{"": live, Detect: live, Present: true, Absent: false} {
							got := Read(objects, Override{Platform: kind, Operator: presence}, now).Operator
							if got.Live != want || got.Why == "" {
								t.Errorf("%s, %s, %s, config %q, platform %q, flag %q: live %t (%s), want %t",
									deploymentName, operatorName, leaseName, config, kind, presence, got.Live, got.Why, want)
							}
							if presence == Absent && live && !strings.Contains(got.Why, "against what is seen") {
								t.Errorf("%s, %s, %s: the flag is not told against what is seen: %s", deploymentName, operatorName, leaseName, got.Why)
							}
						}
					}
				}
			}
		}
	}
}

func TestWhyAnOperatorIsLive(t *testing.T) {
	drained := spec(map[string]any{"replicas": int64(0)})
	tests := map[string]struct {
		objects  Objects
		override Override
		want     Operator
	}{
		"nothing is there":                 {Objects{}, Override{}, Operator{Why: "there is no Cloud Credential Operator"}},
		"OpenShift without the capability": {Objects{Config: Served}, Override{}, Operator{Why: "there is no Cloud Credential Operator"}},
		"a drained operator is live": {
			Objects{Config: Served, Deployment: drained, ClusterOperator: found(map[string]any{})}, Override{},
			Operator{Live: true, Why: `a Cloud Credential Operator is live: ClusterOperator "cloud-credential" exists; Deployment openshift-cloud-credential-operator/cloud-credential-operator wants no replica`},
		},
		"what is left of one is not": {
			Objects{Deployment: drained, Lease: renewed(24*time.Hour, "a pod")}, Override{},
			Operator{Why: "no Cloud Credential Operator is live: Deployment openshift-cloud-credential-operator/cloud-credential-operator wants no replica; Lease openshift-cloud-credential-operator/cloud-credential-operator-leader was last renewed at 2026-04-30T12:00:00Z"},
		},
		"a Lease alone holds for its time": {
			Objects{Lease: renewed(time.Minute, "a pod")}, Override{},
			Operator{
				Live: true, Until: now.Add(5 * time.Minute),
				Why: "a Cloud Credential Operator is live: Lease openshift-cloud-credential-operator/cloud-credential-operator-leader is held",
			},
		},
		"a Lease beside a ClusterOperator ends nothing": {
			Objects{Lease: renewed(time.Minute, "a pod"), ClusterOperator: found(map[string]any{})}, Override{},
			Operator{
				Live: true,
				Why:  `a Cloud Credential Operator is live: ClusterOperator "cloud-credential" exists; Lease openshift-cloud-credential-operator/cloud-credential-operator-leader is held`,
			},
		},
		"one that may not be looked for may be there": {
			Objects{Lease: Seen{Unread: "forbidden"}}, Override{},
			Operator{Live: true, Unseen: true, Why: "a Cloud Credential Operator is live: Lease openshift-cloud-credential-operator/cloud-credential-operator-leader cannot be read: forbidden"},
		},
		"one that is seen is there, whatever else cannot be read": {
			Objects{Lease: Seen{Unread: "forbidden"}, ClusterOperator: found(map[string]any{})}, Override{},
			Operator{Live: true, Why: `a Cloud Credential Operator is live: ClusterOperator "cloud-credential" exists; Lease openshift-cloud-credential-operator/cloud-credential-operator-leader cannot be read: forbidden`},
		},
		"the flag says absent": {
			Objects{}, Override{Operator: Absent}, Operator{Why: "no Cloud Credential Operator: --cloud-credential-operator=absent says so"},
		},
		"the flag says absent against the cluster": {
			Objects{ClusterOperator: found(map[string]any{})}, Override{Operator: Absent},
			Operator{Why: `no Cloud Credential Operator: --cloud-credential-operator=absent says so, against what is seen: ClusterOperator "cloud-credential" exists`},
		},
		"the flag says present": {
			Objects{}, Override{Operator: Present}, Operator{Live: true, Why: "a Cloud Credential Operator is live: --cloud-credential-operator=present says so"},
		},
		"the flag says OpenShift against the cluster": {
			Objects{}, Override{Platform: OpenShift},
			Operator{Live: true, Why: "a Cloud Credential Operator is live: --platform=OpenShift is set, and config.openshift.io is not served"},
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(test.want, Read(test.objects, test.override, now).Operator); diff != "" {
				t.Errorf("operator (-want +got):\n%s", diff)
			}
		})
	}
}

func aws() map[string]any {
	return map[string]any{
		"infrastructureName": "prod-x7k2p", "controlPlaneTopology": "HighlyAvailable", "infrastructureTopology": "SingleReplica",
		"platform": "None",
		"platformStatus": map[string]any{"type": "AWS", "aws": map[string]any{
			"region":       "eu-central-1",
			"resourceTags": []any{map[string]any{"key": "team", "value": "a"}, map[string]any{"key": "stage", "value": ""}},
		}},
	}
}

func without(key string) map[string]any {
	out := aws()
	delete(out, key)
	return out
}

func TestWhatTheClusterIs(t *testing.T) {
	const issuer = "https://oidc.example"
	authentication := spec(map[string]any{"serviceAccountIssuer": issuer})
	flags := Override{Infrastructure: "lab", Region: "us-east-1"}
	whole := Facts{
		OpenShift: true, ClusterOwnsCRD: true, Cloud: AWS, Infrastructure: "prod-x7k2p", Region: "eu-central-1", Issuer: issuer,
		ResourceTags: map[string]string{"team": "a", "stage": ""}, ControlPlaneTopology: "HighlyAvailable", InfrastructureTopology: "SingleReplica",
	}
	change := func(by func(*Facts)) Facts {
		out := whole
		by(&out)
		return out
	}
	unknown := func(missing ...string) Facts {
		return Facts{OpenShift: true, ClusterOwnsCRD: true, Issuer: issuer, Missing: missing}
	}
	tests := map[string]struct {
		objects  Objects
		override Override
		want     Facts
		has      []Cloud
	}{
		"plain Kubernetes": {Objects{}, flags, Facts{Infrastructure: "lab", Region: "us-east-1"}, []Cloud{AWS, Azure, GCP}},
		"AWS":              {Objects{Config: Served, Infrastructure: status(aws()), Authentication: authentication}, Override{}, whole, []Cloud{AWS}},
		"flags of plain Kubernetes do not count on OpenShift": {
			Objects{Config: Served, Infrastructure: status(aws()), Authentication: authentication}, flags, whole, []Cloud{AWS},
		},
		"the flag says Kubernetes": {
			Objects{Config: Served, Infrastructure: status(aws()), Authentication: authentication},
			Override{Platform: Kubernetes, Infrastructure: "lab"}, Facts{ClusterOwnsCRD: true, Infrastructure: "lab"}, []Cloud{AWS, Azure, GCP},
		},
		"the flag says Kubernetes, and the API server nothing": {
			Objects{Config: Unclear, ConfigWhy: "timeout"}, Override{Platform: Kubernetes}, Facts{ClusterOwnsCRD: true}, []Cloud{AWS, Azure, GCP},
		},
		"the API server does not say what it serves": {
			Objects{Config: Unclear, ConfigWhy: "timeout"}, flags,
			Facts{ClusterOwnsCRD: true, Missing: []string{"whether config.openshift.io is served is not known: timeout"}}, nil,
		},
		"the flag says OpenShift against the cluster": {
			Objects{}, Override{Platform: OpenShift, Infrastructure: "lab"},
			Facts{OpenShift: true, Missing: []string{"--platform=OpenShift is set, and the API server does not serve config.openshift.io"}}, nil,
		},
		"no issuer is set": {
			Objects{Config: Served, Infrastructure: status(aws()), Authentication: found(map[string]any{"spec": map[string]any{}})}, Override{},
			change(func(f *Facts) { f.Issuer = "" }), []Cloud{AWS},
		},
		"the deprecated platform": {
			Objects{Config: Served, Authentication: authentication, Infrastructure: status(map[string]any{"infrastructureName": "x", "platform": "Azure"})},
			Override{}, Facts{OpenShift: true, ClusterOwnsCRD: true, Cloud: Azure, Infrastructure: "x", Issuer: issuer}, []Cloud{Azure},
		},
		"Google Cloud with a universe of its own": {
			Objects{Config: Served, Authentication: authentication, Infrastructure: status(map[string]any{
				"infrastructureName": "x", "platformStatus": map[string]any{"type": "GCP", "gcp": map[string]any{"region": "europe-west3", "universeDomain": "apis.example"}},
			})},
			Override{}, Facts{OpenShift: true, ClusterOwnsCRD: true, Cloud: GCP, Infrastructure: "x", Region: "europe-west3", UniverseDomain: "apis.example", Issuer: issuer},
			[]Cloud{GCP},
		},
		"another platform": {
			Objects{Config: Served, Authentication: authentication, Infrastructure: status(map[string]any{
				"infrastructureName": "x", "controlPlaneTopology": "External", "platformStatus": map[string]any{"type": "VSphere"},
			})},
			Override{}, Facts{OpenShift: true, ClusterOwnsCRD: true, Cloud: "VSphere", Infrastructure: "x", ControlPlaneTopology: TopologyExternal, Issuer: issuer}, nil,
		},
		"no Infrastructure": {
			Objects{Config: Served, Authentication: authentication}, flags, unknown(`Infrastructure "cluster" does not exist`), nil,
		},
		"an Infrastructure that is not read": {
			Objects{Config: Served, Authentication: authentication, Infrastructure: unreadable()}, flags,
			unknown(`Infrastructure "cluster" cannot be read: forbidden`), nil,
		},
		"an Infrastructure without a name": {
			Objects{Config: Served, Authentication: authentication, Infrastructure: status(without("infrastructureName"))}, Override{},
			unknown(`Infrastructure "cluster": status.infrastructureName is not set`), nil,
		},
		"an Infrastructure without status": {
			Objects{Config: Served, Authentication: authentication, Infrastructure: found(map[string]any{})}, Override{},
			unknown(`Infrastructure "cluster": status.platformStatus.type is not set`), nil,
		},
		"tags that are none": {
			Objects{Config: Served, Authentication: authentication, Infrastructure: status(map[string]any{
				"infrastructureName": "x", "platformStatus": map[string]any{"type": "AWS", "aws": map[string]any{"resourceTags": []any{map[string]any{"key": "team"}}}},
			})}, Override{}, unknown(`Infrastructure "cluster": status.platformStatus.aws.resourceTags[0] has no key and value`), nil,
		},
		"no Authentication": {
			Objects{Config: Served, Infrastructure: status(aws())}, Override{},
			change(func(f *Facts) { f.Issuer, f.Missing = "", []string{`Authentication "cluster" does not exist`} }), []Cloud{AWS},
		},
		"an issuer that is a list": {
			Objects{Config: Served, Infrastructure: status(aws()), Authentication: spec(map[string]any{"serviceAccountIssuer": []any{}})}, Override{},
			change(func(f *Facts) {
				f.Issuer, f.Missing = "", []string{`Authentication "cluster": spec.serviceAccountIssuer is not a string`}
			}), []Cloud{AWS},
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			got := Read(test.objects, test.override, now)
			text := got.String()
			got.Mode, got.ModeWhy, got.Operator = "", "", Operator{}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("facts (-want +got):\n%s", diff)
			}
			var has []Cloud
			for _, cloud := range []Cloud{AWS, Azure, GCP, "VSphere", ""} {
				if got.Has(cloud) {
					has = append(has, cloud)
				}
			}
			if diff := cmp.Diff(test.has, has); diff != "" {
				t.Errorf("clouds (-want +got):\n%s", diff)
			}
			if got.Known() != (len(test.want.Missing) == 0) || !strings.Contains(text, strings.Join(test.want.Missing, "; ")) {
				t.Errorf("it is known: %t, and says %s", got.Known(), text)
			}
		})
	}
}
