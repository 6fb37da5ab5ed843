// Package eks_test asks the local EKS, EKS Auth and Pod Identity agent
// with clients that are not ours: the AWS SDK for Go and the aws command line.
package eks_test

import (
	"encoding/json"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/eks"
	"github.com/aws/aws-sdk-go-v2/service/iam"
	"github.com/aws/aws-sdk-go-v2/service/sts"
	"github.com/go-jose/go-jose/v4"

	"github.com/tabard-dev/tabard/awslocal"
	"github.com/tabard-dev/tabard/internal/testkit/awstest"
	"github.com/tabard-dev/tabard/internal/testkit/must"
)

const (
	ours    = "123456789012"
	theirs  = "111122223333"
	region  = "eu-central-1"
	issuer  = "https://oidc.lab.test/cluster"
	cluster = "lab"

	clusterARN = "arn:aws:eks:" + region + ":" + ours + ":cluster/" + cluster
	podTrust   = `{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Principal":{"Service":"pods.eks.amazonaws.com"},"Action":["sts:AssumeRole","sts:TagSession"]}]}`
)

// lab is a local AWS with one registered cluster, whose tokens it signs.
type lab struct {
	*awstest.Lab
	t   *testing.T
	key jose.JSONWebKey
}

// labKey is the key of every lab's cluster. No lab knows another's, and an RSA key takes long
// to make.
var (
	labKeyOnce sync.Once
	labKey     jose.JSONWebKey
)

func newLab(t *testing.T, change ...func(*awslocal.Options)) *lab {
	t.Helper()
	awstest.Isolate(t)
	options := awslocal.Options{Accounts: []string{ours, theirs}, Region: region}
	for _, one := range change {
		one(&options)
	}
	labKeyOnce.Do(func() { labKey = newKey(t) })
	l := &lab{Lab: awstest.Start(t, options), t: t, key: labKey}
	l.register(awslocal.Cluster{Account: ours, Name: cluster, Issuer: issuer, JWKS: keySet(t, l.key)})
	return l
}

func newKey(t *testing.T) jose.JSONWebKey { return awstest.RSAKey(t, "one") }

func keySet(t *testing.T, key jose.JSONWebKey) json.RawMessage {
	t.Helper()
	text := must.Get(json.Marshal(awstest.KeySet(key)))(t)
	return text
}

func (l *lab) register(c awslocal.Cluster) {
	l.t.Helper()
	l.Must(nil, l.Admin().AddCluster(c))
}

func (l *lab) eks(keys ...aws.Credentials) *eks.Client {
	if len(keys) == 0 {
		keys = []aws.Credentials{l.Administrator(ours)}
	}
	return eks.NewFromConfig(l.As(keys[0]))
}

func (l *lab) deleteRole(account, name string) {
	l.t.Helper()
	gone := awstest.Refusal(l.IAM(account).DeleteRolePolicy(l.t.Context(), &iam.DeleteRolePolicyInput{
		RoleName: &name, PolicyName: aws.String("inline"),
	}))
	if gone != "" && !strings.HasPrefix(gone, "NoSuchEntity") {
		l.t.Fatal(gone)
	}
	l.Must(l.IAM(account).DeleteRole(l.t.Context(), &iam.DeleteRoleInput{RoleName: &name}))
}

// user makes a user with a policy and returns its key.
func (l *lab) user(name, policy string) aws.Credentials {
	l.t.Helper()
	l.User(ours, name, policy)
	return l.Key(ours, name)
}

// associate gives the pods of team-a/app a role.
func (l *lab) associate(role string, change ...func(*eks.CreatePodIdentityAssociationInput)) string {
	l.t.Helper()
	in := &eks.CreatePodIdentityAssociationInput{
		ClusterName: aws.String(cluster), Namespace: aws.String("team-a"), ServiceAccount: aws.String("app"), RoleArn: &role,
	}
	for _, one := range change {
		one(in)
	}
	made := must.Get(l.eks().CreatePodIdentityAssociation(l.t.Context(), in))(l.t)
	return *made.Association.AssociationId
}

// caller is who a key belongs to, or why it opens nothing.
func (l *lab) caller(key aws.Credentials) string {
	l.t.Helper()
	out, err := sts.NewFromConfig(l.As(key)).GetCallerIdentity(l.t.Context(), nil)
	if err != nil {
		return awstest.Refusal(nil, err)
	}
	return *out.Arn
}

func seconds(at float64) time.Time { return time.Unix(int64(at), 0) }
