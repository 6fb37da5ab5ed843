package sdk_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"cloud.google.com/go/auth/credentials"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	"github.com/Azure/azure-sdk-for-go/sdk/azidentity"
	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/service/sts"
	"golang.org/x/oauth2"
	"golang.org/x/oauth2/google"

	"github.com/tabard-dev/tabard/internal/testkit/awstest"
)

const cloudPlatform = "https://www.googleapis.com/auth/cloud-platform"

// becomes is what an SDK does with a mounted Secret in a pod that is told where it is and no
// more: whom the cloud takes the pod for then.
type becomes func(t *testing.T, w *world, folder string) (string, error)

// sdks are those of the three clouds. AWS's has two Secrets to read, Google has two SDKs:
// older programs have oauth2.
var sdks = map[string]becomes{"aws": becomeAWS, "minted": becomeAWS, "azure": becomeAzure, "google": becomeGoogle, "oauth2": becomeOAuth2}

// secrets are what they read: "given" names a role that was there, "minted" one that the
// controller has made.
var secrets = map[string]string{"aws": "given", "minted": "minted", "azure": "azure", "google": "google", "oauth2": "google"}

func becomeAWS(t *testing.T, w *world, folder string) (string, error) {
	t.Helper()
	awstest.Isolate(t)
	t.Setenv("AWS_SHARED_CREDENTIALS_FILE", filepath.Join(folder, "credentials"))
	t.Setenv("AWS_REGION", awstest.Region)
	loaded, err := config.LoadDefaultConfig(t.Context(), config.WithHTTPClient(w.aws.Client()))
	if err != nil {
		return "", err
	}
	who, err := sts.NewFromConfig(loaded).GetCallerIdentity(t.Context(), nil)
	if err != nil {
		return "", err
	}
	return (*who.Arn)[:strings.LastIndex(*who.Arn, "/")], nil
}

// azureVariables are how a pod's spec hands the keys of the Secret to the SDK.
var azureVariables = map[string]string{
	"AZURE_CLIENT_ID": "azure_client_id", "AZURE_TENANT_ID": "azure_tenant_id", "AZURE_FEDERATED_TOKEN_FILE": "azure_federated_token_file",
}

func becomeAzure(t *testing.T, w *world, folder string) (string, error) {
	t.Helper()
	return becomeForResource(t, w, folder, resource)
}

func becomeForResource(t *testing.T, w *world, folder, resource string) (string, error) {
	t.Helper()
	t.Setenv("AZURE_AUTHORITY_HOST", "")
	for variable, key := range azureVariables {
		text, err := os.ReadFile(filepath.Join(folder, key))
		if err != nil {
			return "", err
		}
		t.Setenv(variable, string(text))
	}
	credential, err := azidentity.NewWorkloadIdentityCredential(&azidentity.WorkloadIdentityCredentialOptions{
		ClientOptions: azcore.ClientOptions{Transport: w.clouds.Client(), Retry: policy.RetryOptions{MaxRetries: -1}},
	})
	if err != nil {
		return "", err
	}
	token, err := credential.GetToken(t.Context(), policy.TokenRequestOptions{Scopes: []string{resource + "/.default"}})
	return w.clouds.Holder(token.Token), err
}

func becomeGoogle(t *testing.T, w *world, folder string) (string, error) {
	t.Helper()
	t.Setenv("GOOGLE_APPLICATION_CREDENTIALS", filepath.Join(folder, "service_account.json"))
	found, err := credentials.DetectDefault(&credentials.DetectOptions{Scopes: []string{cloudPlatform}, Client: w.clouds.Client()})
	if err != nil {
		return "", err
	}
	token, err := found.Token(t.Context())
	if err != nil {
		return "", err
	}
	return w.clouds.Holder(token.Value), nil
}

func becomeOAuth2(t *testing.T, w *world, folder string) (string, error) {
	t.Helper()
	t.Setenv("GOOGLE_APPLICATION_CREDENTIALS", filepath.Join(folder, "service_account.json"))
	ctx := context.WithValue(t.Context(), oauth2.HTTPClient, w.clouds.Client())
	found, err := google.FindDefaultCredentials(ctx, cloudPlatform)
	if err != nil {
		return "", err
	}
	token, err := found.TokenSource.Token()
	if err != nil {
		return "", err
	}
	return w.clouds.Holder(token.AccessToken), nil
}
