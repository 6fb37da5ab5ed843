package cloud_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/iam"
	"github.com/google/go-cmp/cmp"

	"github.com/tabard-dev/tabard/awslocal"
	"github.com/tabard-dev/tabard/internal/cloud"
	"github.com/tabard-dev/tabard/internal/core/fault"
	"github.com/tabard-dev/tabard/internal/testkit/awstest"
	"github.com/tabard-dev/tabard/internal/testkit/must"
)

const limitARN = "arn:aws:iam::" + ownAccount + ":policy/tabard/limit"

// ensurePolicy makes the policy tabard/limit.
func (l *lab) ensurePolicy(t *testing.T, document string) (changed bool, err error) {
	t.Helper()
	arn, changed, err := l.roles.EnsurePolicy(t.Context(), person, "limit", "/tabard/", document, owner)
	if err == nil && arn != limitARN {
		t.Errorf("ARN %s, want %s", arn, limitARN)
	}
	return changed, err
}

func (l *lab) policy(t *testing.T, arn string) string {
	t.Helper()
	document, exists, err := l.roles.Policy(t.Context(), person, arn)
	must.Do(t, err)
	if exists != (document != "") {
		t.Errorf("exists %t: %q", exists, document)
	}
	return document
}

func (l *lab) versions(t *testing.T) []string {
	t.Helper()
	out := must.Get(l.iam(t).ListPolicyVersions(t.Context(), &iam.ListPolicyVersionsInput{PolicyArn: aws.String(limitARN)}))(t)
	var ids []string
	for _, version := range out.Versions {
		ids = append(ids, *version.VersionId)
	}
	return ids
}

func TestManagedPolicyIsMadeOnceAndKeptAsWanted(t *testing.T) {
	l := newLab(t)
	if got := l.policy(t, limitARN); got != "" {
		t.Errorf("the absent policy is %s", got)
	}
	for _, step := range []struct {
		name, document string
		changed        bool
	}{
		{"a new policy", reading, true},
		{"the same again", reading, false},
		{"the same with other spaces", strings.ReplaceAll(reading, `":`, `" : `), false},
		{"another one", listing, true},
		{"that again", listing, false},
		{"the first again", reading, true},
	} {
		changed, err := l.ensurePolicy(t, step.document)
		must.Do(t, err)
		if changed != step.changed {
			t.Errorf("%s: changed %t, want %t", step.name, changed, step.changed)
		}
		if step.changed {
			if diff := cmp.Diff(step.document, l.policy(t, limitARN)); diff != "" {
				t.Errorf("%s (-want +got):\n%s", step.name, diff)
			}
		}
	}
	tags := must.Get(l.iam(t).ListPolicyTags(t.Context(), &iam.ListPolicyTagsInput{PolicyArn: aws.String(limitARN)}))(t).Tags
	if len(tags) != 1 || *tags[0].Key != owner.Key || *tags[0].Value != owner.Value {
		t.Errorf("tags %v", tags)
	}
}

// TestManagedPolicyHasRoomForItsNextVersion makes more versions than IAM keeps, and then
// more while an old one is the default, which must stay.
func TestManagedPolicyHasRoomForItsNextVersion(t *testing.T) {
	l := newLab(t)
	document := func(i int) string { return strings.Replace(listing, `"*"`, fmt.Sprintf(`"arn:aws:s3:::b%d"`, i), 1) }
	for i := range 11 {
		_, err := l.ensurePolicy(t, document(i))
		must.Do(t, err)
	}
	if diff := cmp.Diff([]string{"v11", "v10", "v9", "v8", "v7"}, l.versions(t)); diff != "" {
		t.Errorf("versions (-want +got):\n%s", diff)
	}
	_, err := l.iam(t).SetDefaultPolicyVersion(t.Context(), &iam.SetDefaultPolicyVersionInput{PolicyArn: aws.String(limitARN), VersionId: aws.String("v7")})
	must.Do(t, err)
	_, err = l.ensurePolicy(t, document(99))
	must.Do(t, err)
	if diff := cmp.Diff([]string{"v12", "v11", "v10", "v9", "v7"}, l.versions(t)); diff != "" {
		t.Errorf("versions after an old one was the default (-want +got):\n%s", diff)
	}
	if got := l.policy(t, limitARN); got != document(99) {
		t.Errorf("the policy is %s", got)
	}
}

func TestManagedPolicyOfSomebodyElseIsNotTouched(t *testing.T) {
	for name, c := range map[string]struct {
		name, path string
		tag        cloud.Tag
	}{
		"of another owner":               {"limit", "/tabard/", other},
		"of another owner, other path":   {"limit", "/", other},
		"with a longer value of the tag": {"limit", "/tabard/", cloud.Tag{Key: owner.Key, Value: owner.Value + "x"}},
		"of ours at another path":        {"limit", "/elsewhere/", owner},
		"whose name differs in case":     {"LIMIT", "/tabard/", other},
	} {
		t.Run(name, func(t *testing.T) {
			l := newLab(t)
			arn, _, err := l.roles.EnsurePolicy(t.Context(), person, c.name, c.path, reading, c.tag)
			must.Do(t, err)
			changed, err := l.ensurePolicy(t, listing)
			wantFault(t, err, fault.Exists, "CreatePolicy")
			if got := l.policy(t, arn); changed || got != reading {
				t.Errorf("changed %t: %s", changed, got)
			}
		})
	}
}

// TestManagedPolicyIsFoundAmongMany has the policy's name come late in lists of several
// pages.
func TestManagedPolicyIsFoundAmongMany(t *testing.T) {
	l := newLab(t)
	for i := range 30 {
		_, _, err := l.roles.EnsurePolicy(t.Context(), person, fmt.Sprintf("a-%02d", i), "", reading, other)
		must.Do(t, err)
	}
	_, err := l.ensurePolicy(t, reading)
	must.Do(t, err)
	l.aws.Admin().SetShortPages(awslocal.ShortPages{On: true, Seed: 5})
	changed, err := l.ensurePolicy(t, listing)
	must.Do(t, err)
	if !changed || l.policy(t, limitARN) != listing {
		t.Errorf("changed %t: %s", changed, l.policy(t, limitARN))
	}
}

func TestRefusedDocumentOfAManagedPolicyIsTold(t *testing.T) {
	l := newLab(t)
	_, err := l.ensurePolicy(t, `{"Version":`)
	wantFault(t, err, fault.Invalid, "CreatePolicy")
	_, err = l.ensurePolicy(t, reading)
	must.Do(t, err)
	_, err = l.ensurePolicy(t, `{"Version":"2012-10-17","Statement":{"Effect":"Allow","Action":"nonsense","Resource":"*"}}`)
	if refusal := awstest.Refusal(nil, err); err == nil {
		t.Errorf("a policy that is none is taken: %s", refusal)
	}
	if got := l.policy(t, limitARN); got != reading {
		t.Errorf("the policy is %s", got)
	}
}

func TestPolicyOfAWSIsReadAsAnyOther(t *testing.T) {
	if got := newLab(t).policy(t, readOnly); !strings.Contains(got, `"s3:Get*"`) {
		t.Errorf("the policy is %s", got)
	}
}
