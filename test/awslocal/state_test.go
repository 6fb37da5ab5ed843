package awslocal_test

import (
	"bytes"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/iam"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"
	ststypes "github.com/aws/aws-sdk-go-v2/service/sts/types"

	"github.com/tabard-dev/tabard/internal/testkit/must"
)

var trustOfAccount = trusting("arn:aws:iam::"+account+":root", "")

func TestKeysAndSessionsSurviveARestart(t *testing.T) {
	l := newLab(t)
	client := l.iam()
	sessions := map[string]*ststypes.Credentials{}
	for _, role := range []string{"app", "gone", "again"} {
		l.role(role, trustOfAccount)
		got := must.Get(assume(t, l.administrator(account), role, nil))(t)
		sessions[role] = got.Credentials
	}
	for _, role := range []string{"gone", "again"} {
		l.Must(client.DeleteRole(t.Context(), &iam.DeleteRoleInput{RoleName: &role}))
	}
	l.role("again", trustOfAccount)
	worker := aws.String("worker")
	l.Must(client.CreateUser(t.Context(), &iam.CreateUserInput{UserName: worker}))
	active, inactive := l.Key(account, "worker"), l.Key(account, "worker")
	l.Must(client.UpdateAccessKey(t.Context(), &iam.UpdateAccessKeyInput{UserName: worker, AccessKeyId: &inactive.AccessKeyID, Status: "Inactive"}))
	l.Admin().AdvanceClock(10 * time.Minute)
	administrator := l.Administrator(account)
	if _, problem := whoAmI(t, l.as(sessions["app"])); problem != "" {
		t.Fatal(problem)
	}
	lastUsed := func() time.Time {
		got, err := l.iam().GetRole(t.Context(), &iam.GetRoleInput{RoleName: aws.String("app")})
		if err != nil || got.Role.RoleLastUsed.LastUsedDate == nil {
			t.Fatalf("the role was never used, error %v", err)
		}
		return *got.Role.RoleLastUsed.LastUsedDate
	}
	before := lastUsed()
	l.Restart()
	if after := lastUsed(); !after.Equal(before) {
		t.Errorf("the role was last used %v, want %v", after, before)
	}
	if l.Administrator(account) != administrator {
		t.Error("the administrator has another key")
	}
	for name, c := range map[string]struct {
		cfg  aws.Config
		want string
	}{
		"a session":                            {l.as(sessions["app"]), "arn:aws:sts::" + account + ":assumed-role/app/session"},
		"a session of a role that is gone":     {l.as(sessions["gone"]), "InvalidClientTokenId"},
		"a session of a role that came again":  {l.as(sessions["again"]), "InvalidClientTokenId"},
		"an active key":                        {l.As(active), "arn:aws:iam::" + account + ":user/worker"},
		"an inactive key":                      {l.As(inactive), "InvalidClientTokenId"},
		"the administrator of another account": {l.administrator(stranger), "arn:aws:iam::" + stranger + ":user/administrator"},
	} {
		if arn, problem := whoAmI(t, c.cfg); !strings.Contains(arn+problem, c.want) {
			t.Errorf("%s is %s%s, want %s", name, arn, problem, c.want)
		}
	}
	// The clock runs on from where it was: ten minutes of the session's hour are over.
	l.Admin().SetCredentialClockOffset(51 * time.Minute)
	if arn, problem := whoAmI(t, l.as(sessions["app"])); !strings.Contains(problem, "ExpiredToken") {
		t.Errorf("after its hour the session is %s%s, want ExpiredToken", arn, problem)
	}
}

func TestBrokenTrustStaysBrokenAfterARestart(t *testing.T) {
	l := newLab(t)
	client := l.iam()
	l.Must(client.CreateUser(t.Context(), &iam.CreateUserInput{UserName: aws.String("trusted")}))
	l.role("app", trusting("arn:aws:iam::"+account+":user/trusted", ""))
	l.Must(client.DeleteUser(t.Context(), &iam.DeleteUserInput{UserName: aws.String("trusted")}))
	l.Must(client.CreateUser(t.Context(), &iam.CreateUserInput{UserName: aws.String("trusted")}))
	trust := func() string {
		got := must.Get(l.iam().GetRole(t.Context(), &iam.GetRoleInput{RoleName: aws.String("app")}))(t)
		return *got.Role.AssumeRolePolicyDocument
	}
	before := trust()
	if !strings.Contains(before, "AIDA") {
		t.Fatalf("the trust is not broken: %s", before)
	}
	l.Restart()
	if after := trust(); after != before {
		t.Errorf("the trust is\n%s\nwant\n%s", after, before)
	}
}

func TestTokensAreTakenAfterARestart(t *testing.T) {
	l := newLab(t)
	l.role("app", l.trust(l.provider()))
	token := l.sign(0, l.claims())
	l.Restart()
	if _, err := exchange(t, l, token, nil); err != nil {
		t.Error(err)
	}
}

func TestObjectsSurviveARestart(t *testing.T) {
	l := newLab(t)
	newClient := func() *s3.Client {
		cfg := at(l.PlainURL(), l.administrator(account))
		cfg.Region = "us-east-1"
		return s3.NewFromConfig(cfg, func(o *s3.Options) { o.UsePathStyle = true })
	}
	client, bucket, key := newClient(), aws.String("bucket"), aws.String("a/b \u00fc")
	l.Must(client.CreateBucket(t.Context(), &s3.CreateBucketInput{Bucket: bucket}))
	policy := `{"Version":"2012-10-17","Statement":{"Effect":"Allow","Principal":{"AWS":"` + stranger + `"},"Action":"s3:GetObject","Resource":"arn:aws:s3:::bucket/*"}}`
	l.Must(client.PutBucketPolicy(t.Context(), &s3.PutBucketPolicyInput{Bucket: bucket, Policy: &policy}))
	tags := &types.Tagging{TagSet: []types.Tag{{Key: aws.String("k"), Value: aws.String("v")}}}
	l.Must(client.PutBucketTagging(t.Context(), &s3.PutBucketTaggingInput{Bucket: bucket, Tagging: tags}))
	body := bytes.Repeat([]byte("\x00\xff"), 5000)
	l.Must(client.PutObject(t.Context(), &s3.PutObjectInput{
		Bucket: bucket, Key: key, Body: bytes.NewReader(body), ContentType: aws.String("x/y"), CacheControl: aws.String("no-store"),
		Metadata: map[string]string{"a": "1"}, Tagging: aws.String("t=1"), ChecksumAlgorithm: types.ChecksumAlgorithmSha256,
	}))
	link := must.Get(s3.NewPresignClient(client).PresignGetObject(t.Context(), &s3.GetObjectInput{Bucket: bucket, Key: key}))(t)
	look := func() []any {
		client := newClient()
		object := must.Get(client.GetObject(t.Context(), &s3.GetObjectInput{Bucket: bucket, Key: key, ChecksumMode: types.ChecksumModeEnabled}))(t)
		got, err := io.ReadAll(object.Body)
		if err := errors.Join(err, object.Body.Close()); err != nil || !bytes.Equal(got, body) {
			t.Fatalf("the body has %d bytes, error %v", len(got), err)
		}
		policy, policyErr := client.GetBucketPolicy(t.Context(), &s3.GetBucketPolicyInput{Bucket: bucket})
		bucketTags, tagsErr := client.GetBucketTagging(t.Context(), &s3.GetBucketTaggingInput{Bucket: bucket})
		objectTags, objectErr := client.GetObjectTagging(t.Context(), &s3.GetObjectTaggingInput{Bucket: bucket, Key: key})
		block, blockErr := client.GetPublicAccessBlock(t.Context(), &s3.GetPublicAccessBlockInput{Bucket: bucket})
		must.Do(t, errors.Join(policyErr, tagsErr, objectErr, blockErr))
		return []any{
			*object.ETag, *object.ChecksumSHA256, *object.LastModified, *object.ContentType, *object.CacheControl, object.Metadata["a"],
			*policy.Policy, *bucketTags.TagSet[0].Key, *objectTags.TagSet[0].Key, *block.PublicAccessBlockConfiguration.BlockPublicPolicy,
		}
	}
	before := look()
	l.Restart()
	for i, after := range look() {
		if after != before[i] {
			t.Errorf("after the restart there is %v, want %v", after, before[i])
		}
	}
	request := must.Get(http.NewRequestWithContext(t.Context(), http.MethodGet, link.URL, nil))(t)
	if status, _, body := l.Send(http.DefaultClient, request); status != http.StatusOK {
		t.Errorf("the presigned URL is answered %d %s", status, body)
	}
}
