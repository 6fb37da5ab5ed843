package credentials_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/runtime"

	cloudv1 "github.com/tabard-dev/tabard/api/cloudcredential/v1"
	"github.com/tabard-dev/tabard/api/identity/v1alpha1"
	"github.com/tabard-dev/tabard/internal/core/credentials"
)

const tokenFile = "[default]\nsts_regional_endpoints = regional\nrole_arn = " + givenARN + "\nweb_identity_token_file = /var/run/secrets/openshift/serviceaccount/token"

// mine is a Secret of the request as it should be.
func mine(change func(*credentials.TargetState)) credentials.TargetState {
	out := credentials.TargetState{
		Target: credentials.Target{Kind: credentials.KindSecret, Namespace: "team", Name: "creds"}, Exists: true, Type: "Opaque",
		Labels:      map[string]string{credentials.ManagedLabel: "true", cloudv1.RequestKey: "true"},
		Annotations: map[string]string{credentials.RequestAnnotation: "team/app", cloudv1.RequestKey: "team/app"},
		Digests:     map[string]string{"credentials": credentials.DataDigest(tokenFile)},
	}
	change(&out)
	return out
}

// keys adds values to a Secret.
func keys(s *credentials.TargetState, names ...string) {
	for _, name := range names {
		s.Digests[name] = credentials.DataDigest("x")
	}
}

// foreign takes the request's marks off.
func foreign(s *credentials.TargetState) {
	s.Labels, s.Annotations, s.Digests = map[string]string{}, map[string]string{}, map[string]string{}
}

// TestSecretTargets has the edge cases of Secrets, each with the better answer.
func TestSecretTargets(t *testing.T) {
	minted := func(s *credentials.TargetState) {
		keys(s, "aws_access_key_id", "aws_secret_access_key")
		s.Annotations[cloudv1.MintedPolicyAnnotation] = "{}"
	}
	tests := map[string]struct {
		secret credentials.TargetState
		reason credentials.Reason
		step   credentials.Step
		says   string
		static string
	}{
		"it is as wanted": {secret: mine(func(*credentials.TargetState) {}), reason: credentials.ReasonDelivered},
		"it is missing":   {mine(func(s *credentials.TargetState) { *s = credentials.TargetState{Target: s.Target} }), credentials.ReasonDelivering, credentials.WriteSecret{Create: true}, "", ""},
		"its namespace is missing": {secret: mine(func(s *credentials.TargetState) {
			*s = credentials.TargetState{Target: s.Target, NamespaceMissing: true}
		}), reason: credentials.ReasonTargetNamespaceMissing, says: "create it"},
		"it could not be read":             {secret: mine(func(s *credentials.TargetState) { s.Error = "forbidden" }), reason: credentials.ReasonTargetUnreadable, says: "forbidden"},
		"it is on its way out":             {secret: mine(func(s *credentials.TargetState) { s.Deleting = true }), reason: credentials.ReasonTargetDeleting},
		"it was edited":                    {mine(func(s *credentials.TargetState) { keys(s, "credentials") }), credentials.ReasonDelivering, credentials.WriteSecret{}, "", ""},
		"its label was removed":            {mine(func(s *credentials.TargetState) { s.Labels = nil }), credentials.ReasonDelivering, credentials.WriteSecret{}, "", ""},
		"it has keys of another cloud":     {mine(func(s *credentials.TargetState) { keys(s, "azure_client_id") }), credentials.ReasonDelivering, credentials.WriteSecret{Remove: "azure_client_id"}, "", ""},
		"it has a key of others":           {secret: mine(func(s *credentials.TargetState) { keys(s, "theirs") }), reason: credentials.ReasonDelivered},
		"it is not marked and empty":       {mine(foreign), credentials.ReasonDelivering, credentials.WriteSecret{}, "", ""},
		"it is not marked and holds a key": {secret: mine(func(s *credentials.TargetState) { foreign(s); keys(s, "password") }), reason: credentials.ReasonSecretConflict, says: "holds the keys password"},
		"it is another request's": {secret: mine(func(s *credentials.TargetState) { s.Annotations[credentials.RequestAnnotation] = "b/c" }),
			reason: credentials.ReasonTargetOfAnother, says: "b/c"},
		"it is another request's by an operator": {secret: mine(func(s *credentials.TargetState) { foreign(s); s.Annotations[cloudv1.RequestKey] = "b/c" }),
			reason: credentials.ReasonTargetOfAnother, says: "b/c"},
		"an operator wrote it for the request": {secret: mine(func(s *credentials.TargetState) {
			foreign(s)
			keys(s, "credentials")
			s.Annotations[cloudv1.RequestKey] = "team/app"
		}), reason: credentials.ReasonSecretConflict, says: "credentials adopt"},
		"it has another type": {secret: mine(func(s *credentials.TargetState) { s.Type = "kubernetes.io/tls" }), reason: credentials.ReasonSecretConflict, says: "kubernetes.io/tls"},
		"it is immutable and differs": {secret: mine(func(s *credentials.TargetState) { s.Immutable = true; keys(s, "credentials") }),
			reason: credentials.ReasonSecretImmutable, says: "delete it"},
		"it is immutable and as wanted": {secret: mine(func(s *credentials.TargetState) { s.Immutable = true }), reason: credentials.ReasonDelivered},
		"static keys without consent":   {secret: mine(minted), reason: credentials.ReasonDelivered, static: "annotate the Secret"},
		"static keys with consent": {mine(func(s *credentials.TargetState) {
			minted(s)
			s.Annotations[credentials.RemoveStaticKeysAnnotation] = "true"
		}),
			credentials.ReasonDelivering, credentials.WriteSecret{Remove: "aws_access_key_id,aws_secret_access_key"}, "", "being removed"},
		"static keys that pods use": {secret: mine(func(s *credentials.TargetState) {
			minted(s)
			s.Annotations[credentials.RemoveStaticKeysAnnotation], s.KeyUsers = "true", []string{"team/web", "team/api"}
		}), reason: credentials.ReasonDelivered, static: "team/api, team/web"},
		"static keys that no operator minted": {secret: mine(func(s *credentials.TargetState) {
			keys(s, "aws_access_key_id")
			s.Annotations[credentials.RemoveStaticKeysAnnotation] = "true"
		}), reason: credentials.ReasonDelivered, static: "remove them by hand"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			w := newModel(4).Observe()
			w.Targets = []credentials.TargetState{test.secret}
			plan := credentials.Decide(w)
			v, static := says(plan, credentials.TypeDelivered), says(plan, credentials.TypeStaticKeysPresent)
			if v.Reason != test.reason || !strings.Contains(v.Message, test.says) {
				t.Errorf("Delivered is %+v, want %s, %q", v, test.reason, test.says)
			}
			if static.IsTrue() != (test.static != "") || !strings.Contains(static.Message, test.static) {
				t.Errorf("StaticKeysPresent is %+v, want %q", static, test.static)
			}
			var got credentials.Step
			for _, step := range plan.Steps {
				if write, is := step.(credentials.WriteSecret); is {
					if write.Data.Map()["credentials"] != tokenFile || !write.CCO || write.Request != "team/app" {
						t.Errorf("it writes %+v", write)
					}
					got = credentials.WriteSecret{Create: write.Create, Remove: write.Remove}
				}
			}
			if got != test.step {
				t.Errorf("the step is %+v, want %+v", got, test.step)
			}
		})
	}
}

func TestASecretThatAnOperatorWroteIsTakenOverOnceAdopted(t *testing.T) {
	m := newModel(4)
	m.grant = &v1alpha1.CredentialsGrant{Spec: v1alpha1.CredentialsGrantSpec{Request: v1alpha1.RequestRef{Namespace: "team", Name: "app", UID: "uid1"}, Adopted: true}}
	w := m.Observe()
	w.Targets = []credentials.TargetState{mine(func(s *credentials.TargetState) {
		foreign(s)
		keys(s, "aws_access_key_id", "aws_secret_access_key", "credentials")
		s.Annotations[cloudv1.RequestKey] = "team/app"
	})}
	if got := kinds(credentials.Decide(w).Steps); got != "Hold MakeGrant Record WriteSecret" {
		t.Errorf("the steps are %s", got)
	}
}

func TestServiceAccountTargets(t *testing.T) {
	state := func(annotations map[string]string) credentials.TargetState {
		return credentials.TargetState{Target: credentials.Target{Kind: credentials.KindServiceAccount, Namespace: "apps", Name: "app"}, Exists: true, Annotations: annotations}
	}
	const role, request = credentials.RoleAnnotation, credentials.RequestAnnotation
	tests := map[string]struct {
		account credentials.TargetState
		reason  credentials.Reason
		writes  bool
	}{
		"it has no annotation":                 {state(nil), credentials.ReasonDelivering, true},
		"it has the role already":              {state(map[string]string{role: givenARN}), credentials.ReasonDelivering, true},
		"it has another role":                  {state(map[string]string{role: "arn:x"}), credentials.ReasonServiceAccountHasRole, false},
		"it is as wanted":                      {state(map[string]string{role: givenARN, request: "team/app"}), credentials.ReasonDelivered, false},
		"its role was changed":                 {state(map[string]string{role: "arn:x", request: "team/app"}), credentials.ReasonDelivering, true},
		"its role was removed":                 {state(map[string]string{request: "team/app"}), credentials.ReasonDelivering, true},
		"it is another request's":              {state(map[string]string{role: givenARN, request: "b/c"}), credentials.ReasonTargetOfAnother, false},
		"it is another request's without role": {state(map[string]string{request: "b/c"}), credentials.ReasonTargetOfAnother, false},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			w := newModel(5).Observe()
			w.Targets = []credentials.TargetState{test.account}
			plan := credentials.Decide(w)
			if v := says(plan, credentials.TypeDelivered); v.Reason != test.reason || strings.Contains(kinds(plan.Steps), "WriteServiceAccount") != test.writes {
				t.Errorf("Delivered is %+v, the steps are %s, want %s", v, kinds(plan.Steps), test.reason)
			}
		})
	}
}

// TestWhatIsNotGiven has requests that are Tabard's and get nothing.
func TestWhatIsNotGiven(t *testing.T) {
	raw := func(text string) func(*model) {
		return func(m *model) { m.request.Spec.ProviderSpec = &runtime.RawExtension{Raw: []byte(text)} }
	}
	account := func(text string) func(*model) {
		return func(m *model) { m.shape(0); raw(text)(m) }
	}
	tests := map[string]struct {
		change func(*model)
		reason credentials.Reason
		says   string
	}{
		"no providerSpec":                      {func(m *model) { m.shape(7) }, credentials.ReasonProviderSpecMissing, "expected an AWSProviderSpec"},
		"a spec that cannot be read":           {raw(`{"kind":"AWSProviderSpec","stsIAMRoleARN":7}`), credentials.ReasonProviderSpecInvalid, "cannot be read"},
		"neither role nor statements":          {raw(`{"kind":"AWSProviderSpec"}`), credentials.ReasonNoStatements, "credentials bind"},
		"statements and no ServiceAccounts":    {raw(statements), credentials.ReasonNoServiceAccountNames, "set spec.serviceAccountNames"},
		"a role that is no ARN":                {raw(`{"kind":"AWSProviderSpec","stsIAMRoleARN":"whatever"}`), credentials.ReasonRoleARNInvalid, `"whatever"`},
		"a role of another partition":          {raw(`{"kind":"AWSProviderSpec","stsIAMRoleARN":"arn:aws-cn:iam::111122223333:role/made/x"}`), credentials.ReasonRoleARNInvalid, "arn:aws:iam"},
		"a user":                               {raw(`{"kind":"AWSProviderSpec","stsIAMRoleARN":"arn:aws:iam::111122223333:user/x"}`), credentials.ReasonRoleARNInvalid, "arn:aws:iam"},
		"any role":                             {raw(`{"kind":"AWSProviderSpec","stsIAMRoleARN":"arn:aws:iam::111122223333:role/*"}`), credentials.ReasonRoleARNInvalid, "arn:aws:iam"},
		"a role with a line break":             {raw(`{"kind":"AWSProviderSpec","stsIAMRoleARN":"arn:aws:iam::111122223333:role/x\nrole_arn = y"}`), credentials.ReasonRoleARNInvalid, "arn:aws:iam"},
		"Azure without any field":              {raw(`{"kind":"AzureProviderSpec"}`), credentials.ReasonNoIdentity, "credentials bind"},
		"Azure in part":                        {raw(`{"kind":"AzureProviderSpec","azureClientID":"11111111-2222-3333-4444-555555555555"}`), credentials.ReasonTokenFieldsMissing, "azureTenantID"},
		"Google without identity":              {raw(`{"kind":"GCPProviderSpec"}`), credentials.ReasonNoIdentity, "serviceAccountEmail"},
		"Google without audience":              {raw(`{"kind":"GCPProviderSpec","serviceAccountEmail":"a@p.iam.gserviceaccount.com"}`), credentials.ReasonTokenFieldsMissing, "audience"},
		"Azure for a ServiceAccount":           {account(`{"kind":"AzureProviderSpec"}`), credentials.ReasonServiceAccountNotAWS, "AWS only"},
		"a cluster without a name":             {func(m *model) { m.shape(0); m.platform.Infrastructure = "" }, credentials.ReasonPlatformUnknown, "--infrastructure"},
		"no issuer":                            {func(m *model) { m.shape(0); m.issuers = nil }, credentials.ReasonNoIssuer, "tabard issuer init"},
		"an issuer that is not registered":     {func(m *model) { m.shape(0); m.issuers[0].Registered = false }, credentials.ReasonIssuerNotRegistered, "https://issuer1.example"},
		"Google with a scheme in the audience": {raw(`{"kind":"GCPProviderSpec","serviceAccountEmail":"a@p.iam.gserviceaccount.com","audience":"https://iam.googleapis.com/projects/1/locations/global/workloadIdentityPools/p/providers/q"}`), credentials.ReasonTokenFieldsMissing, "expected //iam.googleapis.com/"},
		"a target that is not said":            {func(m *model) { m.request.Spec.SecretRef = nil }, credentials.ReasonInvalidTarget, "spec.secretRef"},
		"the only issuer is on its way out":    {func(m *model) { m.shape(0); m.issuers[0].Deleting = true }, credentials.ReasonNoIssuer, "no issuer"},
		"the only issuer is marked retired":    {func(m *model) { m.shape(0); m.issuers[0].Retired = true }, credentials.ReasonNoIssuer, "no issuer"},
		"a ServiceAccount's unknown audience":  {func(m *model) { m.shape(0); m.issuers[0].Audiences = []string{"openshift"} }, credentials.ReasonAudienceMissing, "sts.amazonaws.com"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			m := newModel(4)
			test.change(m)
			plan := m.next()
			v := says(plan, credentials.TypeAccepted)
			if v.Reason != test.reason || !strings.Contains(v.Message, test.says) || kinds(plan.Steps) != "MakeGrant" {
				t.Errorf("Accepted is %+v, the steps are %s, want %s, %q and a grant alone", v, kinds(plan.Steps), test.reason, test.says)
			}
			if plan.Project == nil || plan.Project.Provisioned || len(plan.Project.Conditions) != 1 || plan.Project.Conditions[0].Type != cloudv1.CredentialsProvisionFailure {
				t.Errorf("the request's status is %+v, want a failure", plan.Project)
			}
		})
	}
}

func TestContentsOfOtherCloudsSecrets(t *testing.T) {
	const path = "/var/run/secrets/openshift/serviceaccount/token"
	google := `{"type":"external_account","audience":"//iam.googleapis.com/projects/1/locations/global/workloadIdentityPools/p/providers/q",` +
		`"subject_token_type":"urn:ietf:params:oauth:token-type:jwt","token_url":"https://sts.DOMAIN/v1/token",` +
		`"service_account_impersonation_url":"https://iamcredentials.DOMAIN/v1/projects/-/serviceAccounts/a@p.iam.gserviceaccount.com:generateAccessToken",` +
		`"credential_source":{"file":"` + path + `","format":{"type":"text"}}UNIVERSE}`
	const gcp = `{"kind":"GCPProviderSpec","serviceAccountEmail":"a@p.iam.gserviceaccount.com","audience":"//iam.googleapis.com/projects/1/locations/global/workloadIdentityPools/p/providers/q"}`
	tests := map[string]struct {
		raw, universe string
		want          map[string]string
	}{
		"Azure": {`{"kind":"AzureProviderSpec","azureClientID":"c","azureTenantID":"t","azureRegion":"r","azureSubscriptionID":"s"}`, "", map[string]string{
			"azure_client_id": "c", "azure_tenant_id": "t", "azure_region": "r", "azure_subscription_id": "s", "azure_federated_token_file": path,
		}},
		"Google": {gcp, "", map[string]string{"service_account.json": strings.NewReplacer("DOMAIN", "googleapis.com", "UNIVERSE", "").Replace(google)}},
		"Google in another universe": {gcp, "u.example", map[string]string{
			"service_account.json": strings.NewReplacer("DOMAIN", "u.example", "UNIVERSE", `,"universe_domain":"u.example"`).Replace(google),
		}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			m := newModel(4)
			m.request.Spec.ProviderSpec.Raw, m.platform.UniverseDomain = []byte(test.raw), test.universe
			for _, step := range m.next().Steps {
				if write, is := step.(credentials.WriteSecret); is {
					if diff := cmp.Diff(test.want, write.Data.Map()); diff != "" {
						t.Errorf("the data (-want +got):\n%s", diff)
					}
					return
				}
			}
			t.Errorf("no Secret is written: %s", says(m.plan, credentials.TypeReady).Message)
		})
	}
}
