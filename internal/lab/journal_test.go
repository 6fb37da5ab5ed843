package lab

import (
	"bytes"
	"encoding/json"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/tabard-dev/tabard/awslocal"
	"github.com/tabard-dev/tabard/internal/testkit/must"
)

var journalForTest = []awslocal.Entry{
	{Time: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC), Service: "iam", Operation: "ListRoles", Caller: "arn:aws:iam::123456789012:user/administrator", Status: 200},
	{
		Time: time.Date(2026, 1, 2, 3, 4, 6, 0, time.UTC), Service: "sts", Operation: "AssumeRoleWithWebIdentity", Caller: "anonymous", Status: 403, Error: "AccessDenied",
		Resource:    "arn:aws:iam::123456789012:role/app",
		WebIdentity: &awslocal.WebIdentity{Issuer: "https://issuer", Subject: "system:serviceaccount:a:b", Audience: []string{"sts.amazonaws.com"}, Verified: true},
		Decision: &awslocal.Decision{
			Action: "sts:AssumeRoleWithWebIdentity", Resource: "arn:aws:iam::123456789012:role/app", Effect: "implicitDeny", Kind: "trust", Policy: "arn:aws:iam::123456789012:role/app",
			Statement: new(1), Sid: "Pods", Reason: "no statement allows the action",
		},
	},
	{
		Time: time.Date(2026, 1, 2, 3, 4, 7, 0, time.UTC), Service: "sts", Operation: "AssumeRoleWithWebIdentity", Caller: "anonymous", Status: 400, Error: "InvalidIdentityToken",
		WebIdentity: &awslocal.WebIdentity{Issuer: "https://issuer", Subject: "\x1b[31mred\n2026", Audience: []string{"a", "b"}},
	},
	{Service: "iam", Operation: "GetRole", Caller: "arn:c", Status: 403, Error: "AccessDenied", Decision: &awslocal.Decision{Action: "iam:GetRole", Effect: "explicitDeny", Kind: "boundary", Policy: "arn:b", Reason: "x"}},
}

func TestAJournalForPeopleSaysWhoAskedAndWhichStatementRefused(t *testing.T) {
	var out bytes.Buffer
	must.Do(t, WriteJournal(&out, journalForTest, true, "text"))
	want := `2026-01-02T03:04:06Z  sts:AssumeRoleWithWebIdentity  403 AccessDenied
  asked by system:serviceaccount:a:b, audience sts.amazonaws.com, issuer https://issuer
  about arn:aws:iam::123456789012:role/app
  refused by the trust policy of arn:aws:iam::123456789012:role/app, statement 1 (Pods): implicitDeny of sts:AssumeRoleWithWebIdentity: no statement allows the action
2026-01-02T03:04:07Z  sts:AssumeRoleWithWebIdentity  400 InvalidIdentityToken
  asked by \x1b[31mred\n2026, audience a and b, issuer https://issuer (claims of a token whose signature was not verified)
0001-01-01T00:00:00Z  iam:GetRole  403 AccessDenied
  asked by arn:c
  refused by the permissions boundary arn:b: explicitDeny of iam:GetRole: x
`
	if diff := cmp.Diff(want, out.String()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestAJournalForProgramsIsWhatTheLocalAWSAnswers(t *testing.T) {
	for name, entries := range map[string][]awslocal.Entry{"some": journalForTest, "none": {}} {
		var out bytes.Buffer
		must.Do(t, WriteJournal(&out, entries, false, "json"))
		var got []awslocal.Entry
		must.Do(t, json.Unmarshal(out.Bytes(), &got))
		if diff := cmp.Diff(entries, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}
