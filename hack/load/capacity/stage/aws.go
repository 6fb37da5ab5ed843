package stage

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/iam"
	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/tabard-dev/tabard/awslocal"
	"github.com/tabard-dev/tabard/internal/lab"
)

const audience = "sts.amazonaws.com"

// describe is what the controller may do in AWS.
const describe = `{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Action":["ec2:DescribeInstanceTypes","ec2:DescribeRegions"],"Resource":"*"}]}`

// IAM is a client of the account's administrator.
func (s *Stage) IAM() *iam.Client {
	return iam.New(iam.Options{
		Region: lab.Region, BaseEndpoint: aws.String(s.lab.AWSURL()), HTTPClient: s.toAWS,
		Credentials: credentials.NewStaticCredentialsProvider(s.env["AWS_ACCESS_KEY_ID"], s.env["AWS_SECRET_ACCESS_KEY"], ""),
	})
}

// CreateRole makes a role that the controller's ServiceAccount may become, and
// returns its ARN.
func (s *Stage) CreateRole(ctx context.Context, name string) (string, error) {
	issuer := strings.TrimPrefix(s.lab.IssuerURL(), "https://")
	trust := fmt.Sprintf(`{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Action":"sts:AssumeRoleWithWebIdentity",
		"Principal":{"Federated":"arn:aws:iam::%s:oidc-provider/%s"},
		"Condition":{"StringEquals":{"%[2]s:sub":%[3]q,"%[2]s:aud":%[4]q}}}]}`, lab.AccountID, issuer, user, audience)
	role, err := s.IAM().CreateRole(ctx, &iam.CreateRoleInput{RoleName: &name, AssumeRolePolicyDocument: &trust})
	if err != nil {
		return "", err
	}
	_, err = s.IAM().PutRolePolicy(ctx, &iam.PutRolePolicyInput{RoleName: &name, PolicyName: aws.String("types"), PolicyDocument: aws.String(describe)})
	return aws.ToString(role.Role.Arn), err
}

// CreateUser makes a user with the controller's permissions and a key.
func (s *Stage) CreateUser(ctx context.Context, name string) (aws.Credentials, error) {
	if _, err := s.IAM().CreateUser(ctx, &iam.CreateUserInput{UserName: &name}); err != nil {
		return aws.Credentials{}, err
	}
	if _, err := s.IAM().PutUserPolicy(ctx, &iam.PutUserPolicyInput{UserName: &name, PolicyName: aws.String("types"), PolicyDocument: aws.String(describe)}); err != nil {
		return aws.Credentials{}, err
	}
	made, err := s.IAM().CreateAccessKey(ctx, &iam.CreateAccessKeyInput{UserName: &name})
	if err != nil {
		return aws.Credentials{}, err
	}
	return aws.Credentials{AccessKeyID: *made.AccessKey.AccessKeyId, SecretAccessKey: *made.AccessKey.SecretAccessKey}, nil
}

// WriteToken puts a new token of the controller's ServiceAccount into its file.
func (s *Stage) WriteToken(ctx context.Context) error {
	request := &authenticationv1.TokenRequest{Spec: authenticationv1.TokenRequestSpec{Audiences: []string{audience}, ExpirationSeconds: new(int64(24 * 60 * 60))}}
	owner := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: system, Name: account}}
	if err := s.Cluster.SubResource("token").Create(ctx, owner, request); err != nil {
		return err
	}
	return os.WriteFile(s.TokenFile, []byte(request.Status.Token), 0o600)
}

// Journal returns the calls of AWS since it was cleared, at most the last 10,000.
func (s *Stage) Journal(ctx context.Context) (out []awslocal.Entry, err error) {
	return out, s.admin(ctx, http.MethodGet, "journal", nil, &out)
}

// ClearJournal forgets the calls so far.
func (s *Stage) ClearJournal(ctx context.Context) error {
	return s.admin(ctx, http.MethodDelete, "journal", nil, nil)
}

// Advance lets credentials age, in AWS and in this process. Signatures and tokens
// stay good: the SDK and the API server keep to the real time.
func (s *Stage) Advance(ctx context.Context, d time.Duration) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	back := (-s.passed - d).String()
	change := map[string]string{"advance": d.String(), "signatureOffset": back, "tokenOffset": back}
	if err := s.admin(ctx, http.MethodPost, "clock", change, nil); err != nil {
		return err
	}
	s.passed += d
	return nil
}

// Now is the clock of the controller in this process.
func (s *Stage) Now() time.Time {
	s.mu.Lock()
	defer s.mu.Unlock()
	return time.Now().Add(s.passed)
}

// admin asks the admin API of the local AWS.
func (s *Stage) admin(ctx context.Context, method, path string, body, into any) error {
	var text []byte
	if body != nil {
		var err error
		if text, err = json.Marshal(body); err != nil {
			return err
		}
	}
	request, err := http.NewRequestWithContext(ctx, method, s.lab.AWSURL()+"/_awslocal/"+path, bytes.NewReader(text))
	if err != nil {
		return err
	}
	request.Header.Set("Authorization", "Bearer "+s.env["AWSLOCAL_ADMIN_TOKEN"])
	response, err := s.toAWS.Do(request)
	if err != nil {
		return err
	}
	defer func() { _ = response.Body.Close() }() // it is only read
	if response.StatusCode >= http.StatusBadRequest {
		return fmt.Errorf("%s %s: %s", method, path, response.Status)
	}
	if into == nil {
		return nil
	}
	return json.NewDecoder(response.Body).Decode(into)
}
