package awslocal_test

import (
	"strconv"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/iam"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	s3types "github.com/aws/aws-sdk-go-v2/service/s3/types"
	"github.com/aws/aws-sdk-go-v2/service/sts"
	"github.com/google/go-cmp/cmp"

	"github.com/tabard-dev/tabard/awslocal"
	"github.com/tabard-dev/tabard/iampolicy"
	"github.com/tabard-dev/tabard/internal/testkit/awstest"
)

// last is what the journal says of the last call.
func (l *lab) last() awslocal.Entry {
	l.t.Helper()
	entries := l.Admin().Journal()
	if len(entries) == 0 {
		l.t.Fatal("the journal is empty")
	}
	return entries[len(entries)-1]
}

func (l *lab) assumeWith(role, token string) error {
	_, err := l.anonymous().AssumeRoleWithWebIdentity(l.t.Context(), &sts.AssumeRoleWithWebIdentityInput{
		RoleArn: &role, RoleSessionName: aws.String("pod"), WebIdentityToken: &token,
	})
	return err
}

func TestTheJournalSaysWhoAskedWithATokenAndWhichStatementOfTheTrustPolicyRefused(t *testing.T) {
	l := newLab(t)
	provider := l.provider()
	role := l.role("app", l.trust(provider))
	bare := strings.TrimPrefix(l.issuer.Issuer(), "https://")
	other := l.issuer.Claims("system:serviceaccount:team-b:app", audience)
	forged := awstest.SignToken(t, awstest.RSAKey(t, "one"), l.claims())
	who := func(subject string, verified bool) *awslocal.WebIdentity {
		return &awslocal.WebIdentity{Issuer: l.issuer.Issuer(), Subject: subject, Audience: []string{audience}, Verified: verified}
	}
	first := 0
	tests := map[string]struct {
		role, token string
		identity    *awslocal.WebIdentity
		decision    *awslocal.Decision
	}{
		"the token of the role's own account": {role: role, token: l.sign(0, l.claims()), identity: who(subject, true)},
		"the token of another account": {
			role: role, token: l.sign(0, other), identity: who("system:serviceaccount:team-b:app", true),
			decision: &awslocal.Decision{
				Action: "sts:AssumeRoleWithWebIdentity", Resource: role, Effect: iampolicy.ImplicitDeny, Kind: iampolicy.TrustPolicy, Policy: role, Statement: &first,
				Reason: "no statement allows the action; the closest one does not fit: StringEquals " + bare + `:sub is "` + subject + `", the request has "system:serviceaccount:team-b:app"`,
			},
		},
		"a role that does not exist": {
			role: role + "x", token: l.sign(0, l.claims()), identity: who(subject, true),
			decision: &awslocal.Decision{
				Action: "sts:AssumeRoleWithWebIdentity", Resource: role + "x", Effect: iampolicy.ImplicitDeny, Kind: iampolicy.TrustPolicy,
				Reason: "there is no such role",
			},
		},
		"a forged token": {role: role, token: forged, identity: who(subject, false)},
		"no token":       {role: role, token: "a.b.c"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			err := l.assumeWith(test.role, test.token)
			got := l.last()
			if (err == nil) != (got.Error == "") {
				t.Errorf("the call ended with %v, the journal says %q", err, got.Error)
			}
			if diff := cmp.Diff(test.identity, got.WebIdentity); diff != "" {
				t.Errorf("the identity (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(test.decision, got.Decision); diff != "" {
				t.Errorf("the decision (-want +got):\n%s", diff)
			}
		})
	}
}

func TestTheJournalNamesThePolicyThatRefused(t *testing.T) {
	l := newLab(t)
	first, second := 0, 1
	tests := map[string]struct {
		document string
		want     awslocal.Decision
	}{
		"no policy": {"", awslocal.Decision{Effect: iampolicy.ImplicitDeny, Reason: "no statement allows the action"}},
		"an explicit deny with a Sid": {
			`{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Action":"*","Resource":"*"},{"Sid":"NoRoles","Effect":"Deny","Action":"iam:ListRoles","Resource":"*"}]}`,
			awslocal.Decision{Effect: iampolicy.ExplicitDeny, Policy: "inline", Statement: &second, Sid: "NoRoles", Reason: "the statement denies the action"},
		},
		"another action": {
			`{"Version":"2012-10-17","Statement":{"Effect":"Allow","Action":"iam:GetRole","Resource":"*"}}`,
			awslocal.Decision{
				Effect: iampolicy.ImplicitDeny, Policy: "inline", Statement: &first,
				Reason: `no statement allows the action; the closest one does not fit: Action is "iam:GetRole", the request has "iam:ListRoles"`,
			},
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			user := "reader-" + strconv.Itoa(len(test.document))
			l.User(account, user, test.document)
			if _, err := iam.NewFromConfig(l.As(l.Key(account, user))).ListRoles(t.Context(), &iam.ListRolesInput{}); err == nil {
				t.Fatal("the call is allowed")
			}
			test.want.Action, test.want.Kind = "iam:ListRoles", iampolicy.IdentityPolicy
			got := l.last()
			if got.Decision == nil || got.Caller != "arn:aws:iam::"+account+":user/"+user {
				t.Fatalf("the journal has %+v", got)
			}
			test.want.Resource = got.Decision.Resource
			if diff := cmp.Diff(&test.want, got.Decision); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// S3 asks for another right where the first is missing, and may answer then.
func TestTheJournalHasNoDecisionWhereTheCallWasAnsweredOrAnErrorOfAnotherKind(t *testing.T) {
	l := newLab(t)
	bucket := "documents-of-the-journal"
	client := s3.NewFromConfig(l.administrator(account), func(o *s3.Options) { o.UsePathStyle = true })
	l.Must(client.CreateBucket(t.Context(), &s3.CreateBucketInput{
		Bucket: &bucket, CreateBucketConfiguration: &s3types.CreateBucketConfiguration{LocationConstraint: awstest.Region},
	}))
	if got := l.last(); got.Error != "" || got.Decision != nil {
		t.Errorf("the bucket: %+v", got)
	}
	if _, err := client.GetObject(t.Context(), &s3.GetObjectInput{Bucket: &bucket, Key: aws.String("none")}); err == nil {
		t.Error("an object that does not exist is answered")
	}
	if got := l.last(); got.Error != "NoSuchKey" || got.Decision != nil {
		t.Errorf("the object: %+v", got)
	}
	l.User(account, "getter", `{"Version":"2012-10-17","Statement":{"Effect":"Allow","Action":"s3:GetObject","Resource":"*"}}`)
	own := s3.NewFromConfig(l.As(l.Key(account, "getter")), func(o *s3.Options) { o.UsePathStyle = true })
	if _, err := own.GetObject(t.Context(), &s3.GetObjectInput{Bucket: &bucket, Key: aws.String("none")}); err == nil {
		t.Error("an object that does not exist is answered")
	}
	if got := l.last(); got.Error != "AccessDenied" || got.Decision == nil || got.Decision.Action != "s3:ListBucket" {
		t.Errorf("an object of which the caller may not know that it does not exist: %+v, %+v", got, got.Decision)
	}
}

func TestTheJournalTellsNoExternalID(t *testing.T) {
	l := newLab(t)
	trust := `{"Version":"2012-10-17","Statement":{"Effect":"Allow","Action":"sts:AssumeRole","Principal":{"AWS":"` + account + `"},"Condition":{"StringEquals":{"sts:ExternalId":"agreed-between-two"}}}}`
	role := l.role("app", trust)
	_, err := sts.NewFromConfig(l.administrator(account)).AssumeRole(t.Context(), &sts.AssumeRoleInput{RoleArn: &role, RoleSessionName: aws.String("me"), ExternalId: aws.String("guessed")})
	got := l.last()
	if err == nil || got.Decision == nil || !strings.HasSuffix(got.Decision.Reason, "StringEquals sts:ExternalId") {
		t.Errorf("%v; the journal has %+v", err, got.Decision)
	}
}
