package credentials_test

import (
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	cloudv1 "github.com/tabard-dev/tabard/api/cloudcredential/v1"
	"github.com/tabard-dev/tabard/api/identity/v1alpha1"
	core "github.com/tabard-dev/tabard/internal/core/credentials"
	"github.com/tabard-dev/tabard/internal/core/platform"
	"github.com/tabard-dev/tabard/internal/testkit/must"
)

const tokenPath = "/var/run/secrets/openshift/serviceaccount/token"

// forSecret is a request for a Secret of the fixture's namespace. The fields are those of
// the provider's spec.
func (f *fixture) forSecret(name, secret, kind, fields string) *cloudv1.CredentialsRequest {
	return &cloudv1.CredentialsRequest{
		ObjectMeta: metav1.ObjectMeta{Namespace: f.namespace, Name: name},
		Spec: cloudv1.CredentialsRequestSpec{
			SecretRef: &cloudv1.ObjectReference{Namespace: f.namespace, Name: secret},
			ProviderSpec: &runtime.RawExtension{Raw: fmt.Appendf(nil,
				`{"apiVersion":"cloudcredential.openshift.io/v1","kind":%q,%s}`, kind, fields)},
		},
	}
}

const readTeam = `"statementEntries":[{"effect":"Allow","action":["s3:GetObject"],"resource":"arn:aws:s3:::team/a/*"}]`

// secret is what is stored; nil for none.
func (f *fixture) secret(name string) *corev1.Secret {
	f.Helper()
	var secret corev1.Secret
	err := f.Get(f.Context(), client.ObjectKey{Namespace: f.namespace, Name: name}, &secret)
	if apierrors.IsNotFound(err) {
		return nil
	}
	must.Do(f, err)
	return &secret
}

// calls are the operations that AWS was asked for since the journal was cleared.
func (f *fixture) calls() (out []string) {
	for _, e := range f.aws.Admin().Journal() {
		out = append(out, e.Operation)
	}
	return out
}

// TestASecretLeadsToAnIdentityThatSomebodyElseMade has the contents of token Secrets, and
// nothing of it is made in AWS.
func TestASecretLeadsToAnIdentityThatSomebodyElseMade(t *testing.T) {
	f := newFixture(t)
	const pool = "//iam.googleapis.com/projects/1/locations/global/workloadIdentityPools/p/providers/q"
	for name, tt := range map[string]struct {
		kind, fields string
		platform     platform.Facts
		want         map[string]string
	}{
		"a role in AWS": {
			kind: "AWSProviderSpec", fields: `"stsIAMRoleARN":"` + givenRole + `",` + readTeam,
			want: map[string]string{"credentials": "[default]\nsts_regional_endpoints = regional\nrole_arn = " + givenRole + "\nweb_identity_token_file = /tmp/token"},
		},
		"an identity in Azure": {
			kind: "AzureProviderSpec", fields: `"azureClientID":"c","azureTenantID":"t","azureRegion":"r","azureSubscriptionID":"s"`,
			want: map[string]string{
				"azure_client_id": "c", "azure_tenant_id": "t", "azure_region": "r", "azure_subscription_id": "s",
				"azure_federated_token_file": "/tmp/token",
			},
		},
		"a service account in Google Cloud": {
			kind: "GCPProviderSpec", fields: `"serviceAccountEmail":"app@p.iam.gserviceaccount.com","audience":"` + pool + `"`,
			platform: platform.Facts{UniverseDomain: "apis.example"},
			want: map[string]string{"service_account.json": `{"type":"external_account","audience":"` + pool + `","subject_token_type":"urn:ietf:params:oauth:token-type:jwt",` +
				`"token_url":"https://sts.apis.example/v1/token","service_account_impersonation_url":"https://iamcredentials.apis.example/v1/projects/-/serviceAccounts/app@p.iam.gserviceaccount.com:generateAccessToken",` +
				`"credential_source":{"file":"/tmp/token","format":{"type":"text"}},"universe_domain":"apis.example"}`},
		},
	} {
		t.Run(name, func(t *testing.T) {
			f.aws.Admin().ClearJournal()
			f.platform.set(func(facts *platform.Facts) { facts.UniverseDomain = tt.platform.UniverseDomain })
			request := f.forSecret(strings.ToLower(tt.kind), strings.ToLower(tt.kind), tt.kind, tt.fields)
			request.Spec.CloudTokenPath = "/tmp/token"
			f.Make(request)
			f.until(request, isReady)
			have := map[string]string{}
			secret := f.secret(request.Name)
			for key, value := range secret.Data {
				have[key] = string(value)
			}
			if diff := cmp.Diff(tt.want, have); diff != "" {
				t.Errorf("the Secret is not as wanted:\n%s", diff)
			}
			if secret.Labels[core.ManagedLabel] != "true" || secret.Annotations[core.RequestAnnotation] != f.namespace+"/"+request.Name {
				t.Errorf("the Secret has the labels %v and the annotations %v", secret.Labels, secret.Annotations)
			}
			for _, call := range f.calls() {
				if strings.Contains(call, "Role") || strings.HasPrefix(call, "Create") {
					t.Errorf("AWS was asked for %s", call)
				}
			}
			f.Remove(request)
			f.until(request, isGone)
			if f.secret(request.Name) != nil {
				t.Error("the Secret is there after the deletion")
			}
		})
	}
}

// TestASecretWithServiceAccountNamesGetsARole that these accounts become, with a token for
// either audience.
func TestASecretWithServiceAccountNamesGetsARole(t *testing.T) {
	f := newFixture(t)
	request := f.forSecret("minted", "creds", "AWSProviderSpec", readTeam)
	f.Make(request)
	f.until(request, has(core.TypeAccepted, metav1.ConditionFalse, string(core.ReasonNoServiceAccountNames)))
	f.Merge(request, `{"spec":{"serviceAccountNames":["web","api"]}}`)
	grant := f.until(request, isReady)
	trust, _ := url.PathUnescape(*f.role(grant.Status.Role.Name).Role.AssumeRolePolicyDocument)
	for _, want := range []string{
		`["system:serviceaccount:` + f.namespace + `:api","system:serviceaccount:` + f.namespace + `:web"]`, `["openshift","sts.amazonaws.com"]`,
	} {
		if !strings.Contains(strings.ReplaceAll(trust, " ", ""), want) {
			t.Errorf("the trust policy lacks %s: %s", want, trust)
		}
	}
	if text := string(f.secret("creds").Data["credentials"]); !strings.Contains(text, "role_arn = "+grant.Status.Role.ARN+"\n") || !strings.HasSuffix(text, "= "+tokenPath) {
		t.Errorf("the Secret has %q, want the role and the usual path", text)
	}
}

// TestSecretsAreReadWhereAnAdministratorLetsIt has the controller's own rights: elsewhere
// the condition says what to type.
func TestSecretsAreReadWhereAnAdministratorLetsIt(t *testing.T) {
	f := newFixture(t)
	f.isItself()
	request := f.forSecret("token", "creds", "AWSProviderSpec", `"stsIAMRoleARN":"`+givenRole+`"`)
	f.Make(request)
	told := f.until(request, has(core.TypeDelivered, metav1.ConditionUnknown, string(core.ReasonTargetUnreadable)))
	message := messageOf(told, core.TypeDelivered)
	command := "kubectl -n " + f.namespace + " create rolebinding tabard-credentials-secrets --clusterrole=tabard-credentials-secrets --serviceaccount=tabard-system:tabard-credentials"
	if !strings.Contains(message, command) {
		t.Errorf("the condition says %q, want %q", message, command)
	}
	f.Shell(command)
	f.until(request, isReady)
	if f.secret("creds") == nil {
		t.Error("there is no Secret")
	}
}

func messageOf(grant *v1alpha1.CredentialsGrant, kind string) string {
	at := slices.IndexFunc(grant.Status.Conditions, func(c metav1.Condition) bool { return c.Type == kind })
	if at < 0 {
		return ""
	}
	return grant.Status.Conditions[at].Message
}

// TestStaticKeysGoByTheWordOfTheirOwner, and not while a pod names one.
func TestStaticKeysGoByTheWordOfTheirOwner(t *testing.T) {
	f := newFixture(t)
	request := f.forSecret("was-minted", "creds", "AWSProviderSpec", `"stsIAMRoleARN":"`+givenRole+`"`)
	f.Make(&corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Namespace: f.namespace, Name: "creds", Annotations: map[string]string{
			core.RequestAnnotation: f.namespace + "/was-minted", cloudv1.MintedPolicyAnnotation: "{}",
		}},
		Type: corev1.SecretTypeOpaque, Data: map[string][]byte{"aws_access_key_id": []byte("AKIA"), "aws_secret_access_key": []byte("s3cr3t"), "other": []byte("stays")},
	}, request)
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: f.namespace, Name: "old"},
		Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "app", Image: "app", Env: []corev1.EnvVar{{
			Name: "KEY", ValueFrom: &corev1.EnvVarSource{SecretKeyRef: &corev1.SecretKeySelector{
				LocalObjectReference: corev1.LocalObjectReference{Name: "creds"}, Key: "aws_secret_access_key",
			}},
		}}}}},
	}
	f.Make(&corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: f.namespace, Name: "default"}}, pod)
	holds := func(words string) func(*v1alpha1.CredentialsGrant) error {
		return func(g *v1alpha1.CredentialsGrant) error {
			if message := messageOf(g, core.TypeStaticKeysPresent); !strings.Contains(message, words) || strings.Contains(message, "s3cr3t") {
				return fmt.Errorf("the condition says %q, want %q", message, words)
			}
			return errors.Join(isReady(g), has(core.TypeStaticKeysPresent, metav1.ConditionTrue, string(core.ReasonStaticKeys))(g))
		}
	}
	f.until(request, holds("annotate the Secret "+core.RemoveStaticKeysAnnotation+"=true"))
	f.Merge(f.secret("creds"), `{"metadata":{"annotations":{"`+core.RemoveStaticKeysAnnotation+`":"true"}}}`)
	f.until(request, holds("old"))
	if len(f.secret("creds").Data) != 4 {
		t.Errorf("the Secret has the keys %v while a pod names one", f.secret("creds").Data)
	}
	f.Remove(pod, client.GracePeriodSeconds(0))
	f.until(request, func(g *v1alpha1.CredentialsGrant) error {
		if message := messageOf(g, core.TypeStaticKeysPresent); message != "" {
			return errors.New(message)
		}
		return isReady(g)
	})
	if data := f.secret("creds").Data; len(data) != 2 || string(data["other"]) != "stays" || len(data["credentials"]) == 0 {
		t.Errorf("the Secret has the keys %v, want the token's and what is not Tabard's", data)
	}
}
