package bucket

import (
	"testing"

	"github.com/tabard-dev/tabard/api/services/v1alpha1"
	"github.com/tabard-dev/tabard/roleselector"
	"github.com/tabard-dev/tabard/roleselector/carm"
)

// TestCARMGivesTheRoleOfTheConfigMap, with the same guard of accounts.
func TestCARMGivesTheRoleOfTheConfigMap(t *testing.T) {
	controller := carm.Controller{Name: "s3", Alias: Service, Group: Kind.Group, SystemNamespace: "ack-system", Account: hub}
	maps := carm.Maps{Accounts: map[string]string{teamA: "arn:aws:iam::" + teamA + ":role/team", "bad": "role/team"}}
	for name, c := range map[string]struct {
		owner   string
		bucket  *Bucket
		step    roleselector.Step
		account string
		role    string
		trouble string
	}{
		"a role":                          {teamA, newBucket(), roleselector.GoOn, teamA, "arn:aws:iam::" + teamA + ":role/team", ""},
		"none is the controller's own":    {"", newBucket(), roleselector.GoOn, hub, "", ""},
		"the account on record":           {"", newBucket(recorded(teamA, "", made)), roleselector.GoOn, teamA, "arn:aws:iam::" + teamA + ":role/team", ""},
		"another account than on record":  {teamA, newBucket(recorded(teamB, "", made)), roleselector.Blocked, teamA, "arn:aws:iam::" + teamA + ":role/team", ""},
		"no entry":                        {teamB, newBucket(), roleselector.GoOn, "", "", "RoleUnavailable"},
		"no entry, and there is a bucket": {teamB, newBucket(recorded(teamA, "", made)), roleselector.GoOn, "", "", "RoleUnavailable"},
		"an entry that is no ARN":         {"bad", newBucket(), roleselector.GoOn, "", "", "RoleInvalid"},
		"a selector on record is past":    {teamA, newBucket(held, deleting, recorded(teamA, "a", made)), roleselector.GoOn, teamA, "arn:aws:iam::" + teamA + ":role/team", ""},
	} {
		t.Run(name, func(t *testing.T) {
			namespace := carm.Namespace{Name: "team", Annotations: map[string]string{carm.OwnerAccountAnnotation: c.owner}}
			got := self().ByCARM(controller.Resolve(maps, namespace, c.bucket.Recorded().Account), roleselector.Situation{
				Recorded: c.bucket.Recorded(), Region: home, Deleting: !c.bucket.DeletionTimestamp.IsZero(),
			})
			if got.Course.Step != c.step || got.Account != c.account || got.Identity.RoleARN() != c.role {
				t.Errorf("step %s in %q as %q, want %s in %q as %q", got.Course.Step, got.Account, got.Identity.RoleARN(), c.step, c.account, c.role)
			}
			if reason := reasonOf(got.Trouble); reason != c.trouble {
				t.Errorf("trouble %q, want %q", reason, c.trouble)
			}
		})
	}
}

func reasonOf(trouble *Trouble) string {
	if trouble == nil {
		return ""
	}
	return trouble.Reason
}

// TestASelectorWhoseInputSTSWouldRefuseIsNotUsed: nothing is left out to make it
// fit.
func TestASelectorWhoseInputSTSWouldRefuseIsNotUsed(t *testing.T) {
	broken := selector("a", teamA, func(s *v1alpha1.IAMRoleSelector) {
		s.Spec.AssumeRole = &v1alpha1.AssumeRole{ExternalID: &v1alpha1.Text{Template: "%K8S_NAMESPACE_UID%"}}
	})
	// The namespace's UID is not known here.
	o := observed(newBucket(held), indexOf(broken), home, Sight{}, false)
	if o.NeedsLook() {
		t.Error("AWS would be called")
	}
	if got := say(o, Decide(o)); got != "KeepRecord; AssumeRoleInputInvalid" {
		t.Errorf("got %s", got)
	}
}

// TestAnnotationsSayWhereAndWhetherToStay: the Bucket's before its namespace's
// before the flags; of a region its namespace has no say once there is a bucket.
func TestAnnotationsSayWhereAndWhetherToStay(t *testing.T) {
	controller := carm.Controller{Alias: Service, Region: "us-east-1", DeletionPolicy: "delete"}
	own := func(key, value string) func(*Bucket) {
		return func(b *Bucket) { b.Annotations = map[string]string{key: value} }
	}
	const nsPolicy = "s3.services.k8s.aws/deletion-policy"
	for name, c := range map[string]struct {
		bucket    *Bucket
		namespace map[string]string
		region    string
		retain    bool
		trouble   string
	}{
		"flags":                          {newBucket(), nil, "us-east-1", false, ""},
		"the namespace":                  {newBucket(), map[string]string{carm.DefaultRegionAnnotation: "eu-west-3", nsPolicy: "retain"}, "eu-west-3", true, ""},
		"the Bucket's region":            {newBucket(own(carm.RegionAnnotation, "eu-west-2")), map[string]string{carm.DefaultRegionAnnotation: "eu-west-3"}, "eu-west-2", false, ""},
		"the Bucket's policy":            {newBucket(own(carm.DeletionPolicyAnnotation, "delete")), map[string]string{nsPolicy: "retain"}, "us-east-1", false, ""},
		"the record before a namespace":  {newBucket(recorded(teamA, "a", made)), map[string]string{carm.DefaultRegionAnnotation: "eu-west-3"}, home, false, ""},
		"the Bucket's before the record": {newBucket(recorded(teamA, "a", made), own(carm.RegionAnnotation, "eu-west-2")), nil, "eu-west-2", false, ""},
		"an unknown policy":              {newBucket(own(carm.DeletionPolicyAnnotation, "Retain")), nil, "us-east-1", false, "DeletionPolicyInvalid"},
		"an endpoint":                    {newBucket(), map[string]string{carm.EndpointAnnotation: "https://s3.example.com"}, "us-east-1", false, "EndpointUnsupported"},
	} {
		t.Run(name, func(t *testing.T) {
			got := PlaceOf(c.bucket, controller.SelectorSettings(carm.Namespace{Name: "team", Annotations: c.namespace}))
			if got.Region != c.region || got.Retain != c.retain || reasonOf(got.Trouble) != c.trouble {
				t.Errorf("got %s retain=%v trouble %q, want %s retain=%v trouble %q",
					got.Region, got.Retain, reasonOf(got.Trouble), c.region, c.retain, c.trouble)
			}
		})
	}
}
