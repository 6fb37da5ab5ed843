package lab

import (
	"context"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/tabard-dev/tabard/awslocal"
)

// Variable is one entry of an environment.
type Variable struct{ Name, Value string }

// Environment is what a shell, or a program, needs to use a lab or a local AWS.
type Environment struct {
	Set []Variable
	// Unset are names of variables that would take precedence over those in Set, or
	// make an SDK refuse them.
	Unset []string
	// Bin is a folder of programs for the PATH; empty for none.
	Bin string
}

// outranking are the variables that SDKs or the AWS CLI put before an access key or
// an endpoint of the environment, combine with them, or need a file of another account
// for: an AWS_PROFILE that has no [profile] section stops the AWS CLI.
var outranking = []string{
	"AWS_PROFILE", "AWS_DEFAULT_PROFILE",
	// AWS_SECURITY_TOKEN is the old name, which botocore reads first. With
	// AWS_CREDENTIAL_EXPIRATION botocore takes the key for one that ends then.
	"AWS_SESSION_TOKEN", "AWS_SECURITY_TOKEN", "AWS_CREDENTIAL_EXPIRATION",
	"AWS_WEB_IDENTITY_TOKEN_FILE", "AWS_ROLE_ARN", "AWS_ROLE_SESSION_NAME",
	"AWS_CONTAINER_CREDENTIALS_RELATIVE_URI", "AWS_CONTAINER_CREDENTIALS_FULL_URI",
	"AWS_CONTAINER_AUTHORIZATION_TOKEN", "AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE",
	// The first makes SDKs ignore AWS_ENDPOINT_URL. The others do not go with it.
	"AWS_IGNORE_CONFIGURED_ENDPOINT_URLS", "AWS_USE_FIPS_ENDPOINT", "AWS_USE_DUALSTACK_ENDPOINT",
}

// serviceEndpoint is a variable that SDKs prefer to AWS_ENDPOINT_URL for one service.
// Names that a shell would not take for a name are left alone.
var serviceEndpoint = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^AWS_ENDPOINT_URL_[A-Z0-9_]+$`) })

// Outranking are the variables that a shell with this environment must unset so that
// an access key and AWS_ENDPOINT_URL count: always the same ones, and each endpoint
// of a single service that is set. environ has the form of os.Environ.
func Outranking(environ []string) []string {
	names := slices.Clone(outranking)
	for _, variable := range environ {
		if name, _, _ := strings.Cut(variable, "="); serviceEndpoint().MatchString(name) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// Env is what a person's shell needs to use the lab: as the cluster's
// administrator and as the administrator of an account of the local AWS.
func (lab Lab) Env(account string) (Environment, error) {
	if known := append([]string{AccountID}, lab.Accounts...); !slices.Contains(known, account) {
		return Environment{}, &AccountError{account, known}
	}
	folder := lab.awsFolder()
	key, err := folder.Administrator(account)
	if err != nil {
		return Environment{}, lab.unread(err)
	}
	adminToken, err := folder.AdminToken()
	if err != nil {
		return Environment{}, lab.unread(err)
	}
	set := []Variable{
		{"KUBECONFIG", lab.Kubeconfig()},
		{"AWS_ENDPOINT_URL", lab.AWSURL()},
		{"AWS_CA_BUNDLE", lab.AWSCA()},
		{"AWS_REGION", Region},
		// The name that boto3 and the AWS CLI read.
		{"AWS_DEFAULT_REGION", Region},
		{"AWS_ACCESS_KEY_ID", key.AccessKeyID},
		{"AWS_SECRET_ACCESS_KEY", key.SecretAccessKey},
		{"AWSLOCAL_ADMIN_TOKEN", adminToken},
		{"TABARD_LAB_DIR", lab.Dir},
		{envLabCA, lab.AWSCA()},
		{"TABARD_ISSUER_URL", lab.IssuerURL()},
		{"TABARD_ISSUER_BUCKET", lab.Bucket},
		{"TABARD_WEBHOOK_PORT", strconv.Itoa(lab.Ports.Webhook)},
	}
	return Environment{Set: set, Unset: Outranking(os.Environ()), Bin: lab.Path("bin")}, nil
}

// awsFolder is what the local AWS has written down for its clients.
func (lab Lab) awsFolder() awslocal.Folder {
	return awslocal.Folder{Dir: lab.Path("aws"), URL: lab.AWSURL(), AdminTokenFile: lab.Path("aws", "admin-token")}
}

// unread says how to get a file of the local AWS back.
func (lab Lab) unread(err error) error {
	return fmt.Errorf("%w; is the lab up? \"tabard lab up --dir %s\" repairs it", err, lab.Dir)
}

// Journal is the journal of the lab's local AWS.
func (lab Lab) Journal(ctx context.Context) ([]awslocal.Entry, error) {
	entries, err := lab.awsFolder().Journal(ctx)
	if err != nil {
		return nil, lab.unread(err)
	}
	return entries, nil
}
