package contract_test

import (
	"context"
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/retry"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/eks"
	"github.com/aws/aws-sdk-go-v2/service/iam"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/sts"

	"github.com/tabard-dev/tabard/awslocal"
	"github.com/tabard-dev/tabard/internal/testkit/awstest"
	"github.com/tabard-dev/tabard/internal/testkit/must"
)

const (
	account = awslocal.DefaultAccount
	// region is not us-east-1, where S3 has habits of its own.
	region = "eu-central-1"

	denyEverything = `{"Version":"2012-10-17","Statement":{"Effect":"Deny","Action":"*","Resource":"*"}}`
)

// suite is one server for all rows.
type suite struct {
	server *awstest.Lab
	issuer *issuer
	http   *http.Client
	rows   table
}

func newSuite(t *testing.T) *suite {
	t.Helper()
	issuer := newIssuer(t)
	server := awstest.Start(t, awslocal.Options{Region: region, TrustedCAs: issuer.Roots()})
	return &suite{server: server, issuer: issuer, http: server.Client(), rows: allRows()}
}

// world is what one state of one row plays in: clients of the caller, and the
// names of things. At first nothing of these names exists.
type world struct {
	*suite
	t   *testing.T
	ctx context.Context
	// caller is the ARN that the journal should show.
	caller string
	// made are the names of a list's items, where the server chose them.
	made []string
	clients
	names
}

// clients have the credentials of the caller.
type clients struct {
	ec2       *ec2.Client
	eks       *eks.Client
	eksAuth   eksAuth
	s3control s3Control
	iam       *iam.Client
	s3        *s3.Client
	sts       *sts.Client
}

// world is an empty one, whose caller is the administrator.
func (s *suite) world(t *testing.T) *world {
	s.server.Admin().Reset()
	w := &world{suite: s, t: t, ctx: t.Context(), names: unusedNames(s.issuer)}
	w.become(s.server.Administrator(account), aws.NopRetryer{})
	w.caller = userARN("administrator")
	return w
}

// ready is a world in which the needs of a row are met.
func (s *suite) ready(t *testing.T, r row) *world {
	t.Helper()
	w := s.world(t)
	w.prepare(r, "")
	return w
}

// prepare meets the needs of a row, but for the one left out and those that need
// that one.
func (w *world) prepare(r row, leftOut string) {
	w.t.Helper()
	needs, err := w.rows.before(r)
	if err == nil {
		err = w.run(w.rows.allBut(leftOut, needs)...)
	}
	if err != nil {
		w.t.Fatal(err)
	}
}

// run makes the calls of rows, without their needs.
func (w *world) run(names ...string) error {
	for _, name := range names {
		if err := w.rows[name].call(w); err != nil {
			return err
		}
	}
	return nil
}

// become gives the clients another access key.
func (w *world) become(key aws.Credentials, retryer aws.Retryer) {
	cfg := aws.Config{
		Region: region, BaseEndpoint: aws.String(w.server.URL()), HTTPClient: w.http, Credentials: credentials.StaticCredentialsProvider{Value: key},
		Retryer: func() aws.Retryer { return retryer },
	}
	w.clients = clients{
		ec2: ec2.NewFromConfig(cfg), eks: eks.NewFromConfig(cfg), eksAuth: eksAuth{cfg}, s3control: s3Control{cfg}, iam: iam.NewFromConfig(cfg), sts: sts.NewFromConfig(cfg),
		s3: s3.NewFromConfig(cfg, func(o *s3.Options) { o.UsePathStyle = true }),
	}
}

// becomeNobody makes the caller a user with no policy but the given one, if any.
func (w *world) becomeNobody(document string) {
	w.t.Helper()
	name := aws.String("nobody")
	_, err := w.iam.CreateUser(w.ctx, &iam.CreateUserInput{UserName: name})
	if err == nil && document != "" {
		_, err = w.iam.PutUserPolicy(w.ctx, &iam.PutUserPolicyInput{UserName: name, PolicyName: name, PolicyDocument: &document})
	}
	if err != nil {
		w.t.Fatal(err)
	}
	made := must.Get(w.iam.CreateAccessKey(w.ctx, &iam.CreateAccessKeyInput{UserName: name}))(w.t)
	w.become(aws.Credentials{AccessKeyID: *made.AccessKey.AccessKeyId, SecretAccessKey: *made.AccessKey.SecretAccessKey}, aws.NopRetryer{})
	w.caller = userARN("nobody")
}

func userARN(name string) string { return "arn:aws:iam::" + account + ":user/" + name }

// impatient retries as the SDK does by itself, without its pauses.
func impatient() aws.Retryer {
	return retry.NewStandard(func(o *retry.StandardOptions) { o.MaxBackoff = time.Millisecond })
}

// errorOf drops an answer: the contract is about errors.
func errorOf[T any](_ T, err error) error { return err }

// pager is a paginator of the SDK.
type pager[Page, Options any] interface {
	HasMorePages() bool
	NextPage(context.Context, ...func(*Options)) (Page, error)
}

// mostPages is more than any list here has: one that goes round in circles ends.
const mostPages = 20

// shown collects what all pages show.
func shown[Page, Options any](w *world, pages pager[Page, Options], names func(Page) []string) ([]string, error) {
	var all []string
	for range mostPages {
		if !pages.HasMorePages() {
			return all, nil
		}
		page, err := pages.NextPage(w.ctx)
		if err != nil {
			return nil, err
		}
		all = append(all, names(page)...)
	}
	return nil, fmt.Errorf("the list does not end after %d pages: %v", mostPages, all)
}

// texts returns one text of each item.
func texts[T any](items []T, text func(T) *string) []string {
	var all []string
	for _, item := range items {
		all = append(all, aws.ToString(text(item)))
	}
	return all
}
