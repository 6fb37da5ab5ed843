package eks_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/eks"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/sts"

	"github.com/tabard-dev/tabard/awslocal"
	"github.com/tabard-dev/tabard/internal/testkit/awstest"
	"github.com/tabard-dev/tabard/internal/testkit/must"
)

// agent asks the Pod Identity agent by a host name, empty for the server's own,
// with the header Authorization as given.
func (l *lab) agent(url, host, authorization string) (int, string) {
	l.t.Helper()
	r := must.Get(http.NewRequestWithContext(l.t.Context(), http.MethodGet, url+"/v1/credentials", http.NoBody))(l.t)
	r.Host = host
	r.Header["Authorization"] = []string{authorization}
	status, _, body := l.Send(l.Client(), r)
	return status, strings.TrimSpace(body)
}

// keyOf asks the agent with a token that must be good.
func (l *lab) keyOf(token string) aws.Credentials {
	l.t.Helper()
	status, body := l.agent(l.PlainURL(), "", token)
	var found struct {
		AccessKeyID     string `json:"AccessKeyId"`
		SecretAccessKey string
		Token           string
		AccountID       string `json:"AccountId"`
		Expiration      time.Time
	}
	if err := json.Unmarshal([]byte(body), &found); err != nil || status != http.StatusOK {
		l.t.Fatalf("the agent answers %d %s", status, body)
	}
	return aws.Credentials{AccessKeyID: found.AccessKeyID, SecretAccessKey: found.SecretAccessKey, SessionToken: found.Token, AccountID: found.AccountID, Expires: found.Expiration}
}

func TestDefaultChainFindsTheAgent(t *testing.T) {
	l := newLab(t)
	l.associate(l.Role(ours, "app", podTrust, mayList))
	t.Setenv("AWS_CONTAINER_CREDENTIALS_FULL_URI", l.PlainURL()+"/v1/credentials")
	t.Setenv("AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE", l.Write("token", l.token(nil)))
	who := must.Get(sts.NewFromConfig(l.Config()).GetCallerIdentity(t.Context(), nil))(t)
	if want := "arn:aws:sts::" + ours + ":assumed-role/app/eks-lab-app-7d9f-"; !strings.HasPrefix(*who.Arn, want) {
		t.Errorf("the caller is %s, want %s…", *who.Arn, want)
	}
	found, err := l.Config().Credentials.Retrieve(t.Context())
	if err != nil || found.AccountID != ours || found.Expires.Sub(l.Admin().Now()) < 5*time.Hour {
		t.Errorf("the credentials are of account %s and end at %s: %v", found.AccountID, found.Expires, err)
	}
	if refused := l.lists(found); refused != "" {
		t.Errorf("the credentials are refused with %s", refused)
	}
}

func TestAgentRefusesAsAgentsDo(t *testing.T) {
	l := newLab(t)
	l.associate(l.Role(ours, "app", podTrust, ""))
	now := l.Admin().Now().Unix()
	nobody := l.claims()["kubernetes.io"].(map[string]any)
	nobody["serviceaccount"] = map[string]any{"name": "other", "uid": "1"}
	cases := map[string]struct {
		host, token string
		status      int
		want        string
	}{
		"a good token":        {"", l.token(nil), 200, `"AccountId":"` + ours + `"`},
		"by a name":           {"localhost", l.token(nil), 200, `"Token":"`},
		"by the agent's own":  {"169.254.170.23", l.token(nil), 200, `"Token":"`},
		"by IPv6":             {"[fd00:ec2::23]:80", l.token(nil), 200, `"Token":"`},
		"by a name of others": {"evil.example", l.token(nil), 403, "Access Denied. Called agent through invalid address"},
		"no token":            {"", "", 400, "Service account token cannot be empty"},
		"a bearer":            {"", "Bearer " + l.token(nil), 400, "Service account token cannot be parsed: "},
		"no JWT":              {"", "letmein", 400, "Service account token cannot be parsed: "},
		"expired":             {"", l.token(map[string]any{"exp": now - 1}), 400, "Service account token failed basic claim validations: token is expired"},
		"not valid yet":       {"", l.token(map[string]any{"nbf": now + 60}), 400, "Service account token failed basic claim validations: token is not valid yet"},
		"a foreign key":       {"", awstest.SignToken(t, newKey(t), l.claims()), 400, "(InvalidTokenException): The token is not signed by a key of the cluster's issuer., fault: client"},
		"another audience":    {"", l.token(map[string]any{"aud": "sts.amazonaws.com"}), 400, "(InvalidTokenException): The token's audience is not pods.eks.amazonaws.com., fault: client"},
		"another issuer":      {"", l.token(map[string]any{"iss": "https://elsewhere.test"}), 404, "(ResourceNotFoundException): No cluster is registered whose issuer is that of the token., fault: client"},
		"no association":      {"", l.token(map[string]any{"kubernetes.io": nobody}), 404, "(ResourceNotFoundException): No pod identity association was found for service account other"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			status, body := l.agent(l.PlainURL(), c.host, c.token)
			if status != c.status || !strings.Contains(body, c.want) {
				t.Errorf("answer %d %s, want %d with %s", status, body, c.status, c.want)
			}
		})
	}
}

func TestAgentKnowsTheClusterByItsIssuer(t *testing.T) {
	l := newLab(t)
	l.associate(l.Role(ours, "app", podTrust, ""))
	other := newKey(t)
	const elsewhere = "https://oidc.lab.test/other"
	l.register(awslocal.Cluster{Account: theirs, Region: "us-west-2", Name: "other", Issuer: elsewhere, JWKS: keySet(t, other)})
	role := l.Role(theirs, "app", podTrust, "")
	l.Must(eks.NewFromConfig(l.As(l.Administrator(theirs)), func(o *eks.Options) { o.Region = "us-west-2" }).CreatePodIdentityAssociation(t.Context(),
		&eks.CreatePodIdentityAssociationInput{
			ClusterName: aws.String("other"), Namespace: aws.String("team-a"), ServiceAccount: aws.String("app"), RoleArn: &role,
		}))
	if got := l.keyOf(l.token(nil)).AccountID; got != ours {
		t.Errorf("a pod of the first cluster gets account %s", got)
	}
	token := awstest.SignToken(t, other, l.changed(map[string]any{"iss": elsewhere}))
	if got := l.keyOf(token).AccountID; got != theirs {
		t.Errorf("a pod of the second cluster gets account %s", got)
	}
	l.register(awslocal.Cluster{Account: ours, Name: "twin", Issuer: elsewhere, JWKS: keySet(t, other)})
	again := awstest.SignToken(t, other, l.changed(map[string]any{"iss": elsewhere, "jti": "2"}))
	want := "(InvalidRequestException): Several clusters are registered with the token's issuer: us-west-2/" + theirs + "/other, " + region + "/" + ours + "/twin."
	if status, body := l.agent(l.PlainURL(), "", again); status != 400 || !strings.Contains(body, want) {
		t.Errorf("with two clusters of one issuer it answers %d %s, want %s", status, body, want)
	}
}

func TestAgentServesNoPodsInADisabledRegion(t *testing.T) {
	l := newLab(t)
	key := newKey(t)
	const elsewhere, optIn = "https://oidc.lab.test/other", "ca-west-1"
	l.register(awslocal.Cluster{Account: ours, Region: optIn, Name: "other", Issuer: elsewhere, JWKS: keySet(t, key)})
	role := l.Role(ours, "app", podTrust, `{"Version":"2012-10-17","Statement":{"Effect":"Allow","Action":["sts:AssumeRole","sts:TagSession"],"Resource":"*"}}`)
	target := l.Role(theirs, "target", `{"Version":"2012-10-17","Statement":{"Effect":"Allow","Principal":{"AWS":"arn:aws:iam::`+ours+`:role/app"},"Action":["sts:AssumeRole","sts:TagSession"]}}`, "")
	l.Must(eks.NewFromConfig(l.As(l.Administrator(ours)), func(o *eks.Options) { o.Region = optIn }).CreatePodIdentityAssociation(t.Context(),
		&eks.CreatePodIdentityAssociationInput{
			ClusterName: aws.String("other"), Namespace: aws.String("team-a"), ServiceAccount: aws.String("app"), RoleArn: &role, TargetRoleArn: &target,
		}))
	// Each token is another one, so that the agent has no credentials for it yet.
	token := func(id string) string {
		return awstest.SignToken(t, key, l.changed(map[string]any{"iss": elsewhere, "jti": id}))
	}
	l.keyOf(token("1"))
	for _, account := range []string{ours, theirs} {
		must.Do(t, l.Admin().DisableRegion(account, optIn))
		want := "(InvalidRequestException): STS is not activated in this region for account:" + account
		if status, body := l.agent(l.PlainURL(), "", token(account)); status != http.StatusBadRequest || !strings.Contains(body, want) {
			t.Errorf("disabled in %s: answered %d %s, want %s", account, status, body, want)
		}
		must.Do(t, l.Admin().EnableRegion(account, optIn))
	}
	l.keyOf(token("2"))
}

func TestAgentKeepsCredentialsForAWhile(t *testing.T) {
	l := newLab(t)
	admin := l.Admin()
	l.associate(l.Role(ours, "app", podTrust, ""))
	token := l.token(nil)
	first := l.keyOf(token)
	if again := l.keyOf(token); again.AccessKeyID != first.AccessKeyID {
		t.Error("the same token gets other credentials at once")
	}
	if other := l.keyOf(l.token(map[string]any{"jti": "2"})); other.AccessKeyID == first.AccessKeyID {
		t.Error("another token gets the same credentials")
	}
	admin.AdvanceClock(3 * time.Hour)
	second := l.keyOf(token)
	if second.AccessKeyID == first.AccessKeyID {
		t.Error("after three hours the credentials are not renewed")
	}
	l.register(awslocal.Cluster{Account: ours, Name: cluster, Issuer: "https://oidc.lab.test/moved", JWKS: keySet(t, l.key)})
	admin.AdvanceClock(4 * time.Hour)
	if third := l.keyOf(token); third.AccessKeyID != second.AccessKeyID {
		t.Error("when they cannot be renewed the old ones are not answered")
	}
	admin.AdvanceClock(2*time.Hour - 10*time.Second)
	if status, body := l.agent(l.PlainURL(), "", token); status != http.StatusNotFound || !strings.Contains(body, "ResourceNotFoundException") {
		t.Errorf("near the end of the old ones it answers %d %s", status, body)
	}
}

func TestAgentKeepsCredentialsOfARoleThatIsGone(t *testing.T) {
	l := newLab(t)
	l.associate(l.Role(ours, "app", podTrust, ""))
	token := l.token(nil)
	first := l.keyOf(token)
	l.deleteRole(ours, "app")
	if again := l.keyOf(token); again.AccessKeyID != first.AccessKeyID {
		t.Error("the agent knows that the role is gone")
	}
	if who := l.caller(first); !strings.HasPrefix(who, "InvalidClientTokenId") {
		t.Errorf("the credentials are still good for %s", who)
	}
	l.Admin().Reset()
	if status, body := l.agent(l.PlainURL(), "", token); status != http.StatusNotFound {
		t.Errorf("after a reset the agent answers %d %s", status, body)
	}
}

func TestRequestsThatCarryNoTokenGoToS3(t *testing.T) {
	l := newLab(t)
	client := s3.NewFromConfig(l.As(l.Administrator(ours)), func(o *s3.Options) { o.UsePathStyle = true })
	r := must.Get(http.NewRequestWithContext(t.Context(), http.MethodGet, l.URL()+"/v1/credentials", http.NoBody))(t)
	if status, header, body := l.Send(l.Client(), r); status == http.StatusOK || header.Get("X-Amz-Request-Id") == "" || !strings.Contains(body, "<Error>") {
		t.Errorf("a request that carries no Authorization is answered %d %s, not by S3", status, body)
	}
	got := awstest.Refusal(client.GetObject(t.Context(), &s3.GetObjectInput{Bucket: aws.String("v1"), Key: aws.String("credentials")}))
	if !strings.HasPrefix(got, "NoSuchBucket") {
		t.Errorf("a signed request is answered %q, not by S3", got)
	}
}

func TestJournalAndFaultsKnowTheAgent(t *testing.T) {
	l := newLab(t)
	l.associate(l.Role(ours, "app", podTrust, ""))
	admin := l.Admin()
	admin.ClearJournal()
	token := l.token(nil)
	l.keyOf(token)
	admin.Inject(awslocal.Fault{Service: "pod-identity-agent", Code: "ThrottlingException", Count: 1})
	if status, body := l.agent(l.URL(), "", token); status != 429 || body != "Too Many Requests" {
		t.Errorf("throttled, it answers %d %s", status, body)
	}
	admin.Inject(awslocal.Fault{Service: "pod-identity-agent", Operation: "GetCredentials", Code: "InternalServerException", Status: 500, Message: "Oh.", Count: 1})
	if status, body := l.agent(l.URL(), "", token); status != 500 || !strings.HasSuffix(body, "]: (InternalServerException): Oh., fault: server") {
		t.Errorf("in trouble, it answers %d %s", status, body)
	}
	entries := admin.Journal()
	if len(entries) != 3 || entries[0].Service != "pod-identity-agent" || entries[0].Operation != "GetCredentials" || entries[0].Region != region ||
		!strings.Contains(entries[0].Resource, ":podidentityassociation/lab/a-") || entries[0].Caller != "anonymous" || entries[1].Error != "ThrottlingException" {
		t.Errorf("the journal says %+v", entries)
	}
	for _, e := range entries {
		if text, err := json.Marshal(e); err != nil || strings.Contains(string(text), token) {
			t.Errorf("the journal holds a token: %v", err)
		}
	}
}
