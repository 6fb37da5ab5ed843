package eks_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"

	"github.com/tabard-dev/tabard/awslocal"
	"github.com/tabard-dev/tabard/internal/testkit/awstest"
	"github.com/tabard-dev/tabard/internal/testkit/must"
)

// answer is what EKS Auth says.
type answer struct {
	status int
	// refused is the code and text of an error.
	refused string

	Subject     struct{ Namespace, ServiceAccount string }
	Audience    string
	Association struct{ AssociationArn, AssociationID string } `json:"podIdentityAssociation"`
	User        struct{ Arn, AssumeRoleID string }             `json:"assumedRoleUser"`
	Credentials struct {
		SessionToken, SecretAccessKey, AccessKeyID string
		Expiration                                 float64
	}
}

func (a *answer) key() aws.Credentials {
	return aws.Credentials{AccessKeyID: a.Credentials.AccessKeyID, SecretAccessKey: a.Credentials.SecretAccessKey, SessionToken: a.Credentials.SessionToken}
}

// assume asks EKS Auth as an agent does. The SDK's client of EKS Auth cannot be
// had here, so its one request is signed by the SDK's signer.
func (l *lab) assume(key aws.Credentials, name, body string) *answer {
	l.t.Helper()
	r := must.Get(http.NewRequestWithContext(l.t.Context(), http.MethodPost, l.URL()+"/clusters/"+name+"/assume-role-for-pod-identity", strings.NewReader(body)))(l.t)
	r.Header.Set("Content-Type", "application/json")
	if key.AccessKeyID != "" {
		l.Sign(r, body, key, "eks-auth", region, l.Admin().Now())
	}
	status, header, text := l.Send(l.Client(), r)
	out := &answer{status: status}
	if out.status == http.StatusOK {
		if err := json.Unmarshal([]byte(text), out); err != nil {
			l.t.Fatalf("the answer %s does not parse: %v", text, err)
		}
		return out
	}
	var fault struct{ Message string }
	if err := json.Unmarshal([]byte(text), &fault); err != nil {
		l.t.Fatalf("the answer %d %s does not parse: %v", out.status, text, err)
	}
	out.refused = header.Get("X-Amzn-Errortype") + ": " + fault.Message
	return out
}

// pod asks for the credentials of a pod with a token.
func (l *lab) pod(token string) *answer {
	l.t.Helper()
	return l.assume(l.Administrator(ours), cluster, `{"token":"`+token+`"}`)
}

const mayList = `{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Action":"s3:ListAllMyBuckets","Resource":"*"}]}`

// lists says whether a key may list buckets.
func (l *lab) lists(key aws.Credentials) string {
	l.t.Helper()
	_, err := s3.NewFromConfig(l.As(key), func(o *s3.Options) { o.UsePathStyle = true }).ListBuckets(l.t.Context(), nil)
	code, _, _ := strings.Cut(awstest.Refusal(nil, err), ":")
	return code
}

func TestPodsGetTheRoleOfTheirAssociation(t *testing.T) {
	l := newLab(t)
	id := l.associate(l.Role(ours, "app", podTrust, mayList))
	got := l.pod(l.token(nil))
	if got.refused != "" {
		t.Fatal(got.refused)
	}
	name := regexp.MustCompile(`^arn:aws:sts::` + ours + `:assumed-role/app/eks-lab-app-7d9f-[0-9a-f-]{36}$`)
	if !name.MatchString(got.User.Arn) || !regexp.MustCompile(`^AROA[A-Z2-7]{17}:eks-lab-app-7d9f-`).MatchString(got.User.AssumeRoleID) {
		t.Errorf("the session is %+v, want a name like %s", got.User, name)
	}
	if got.Subject.Namespace != "team-a" || got.Subject.ServiceAccount != "app" || got.Audience != "pods.eks.amazonaws.com" || got.Association.AssociationID != id {
		t.Errorf("the answer is %+v", got)
	}
	if left := seconds(got.Credentials.Expiration).Sub(l.Admin().Now()); left < 5*time.Hour+59*time.Minute || left > 6*time.Hour {
		t.Errorf("the credentials last %s, want 6h", left)
	}
	if who := l.caller(got.key()); who != got.User.Arn {
		t.Errorf("the credentials are %s's, want %s", who, got.User.Arn)
	}
	if refused := l.lists(got.key()); refused != "" {
		t.Errorf("the credentials may not do what the role may: %s", refused)
	}
	entries := l.Admin().Journal()
	for _, e := range entries {
		if e.Service == "eks-auth" && (e.Operation != "AssumeRoleForPodIdentity" || e.Resource != clusterARN || e.Caller != "arn:aws:iam::"+ours+":user/administrator") {
			t.Errorf("the journal says %+v", e)
		}
	}
}

func TestTokensOfPodsAreVerified(t *testing.T) {
	l := newLab(t)
	l.associate(l.Role(ours, "app", podTrust, ""))
	now := l.Admin().Now().Unix()
	pod := func(change func(map[string]any)) map[string]any {
		claims := l.claims()["kubernetes.io"].(map[string]any)
		change(claims)
		return map[string]any{"kubernetes.io": claims}
	}
	cases := map[string]struct{ token, want string }{
		"a good token":               {l.token(nil), ""},
		"several audiences":          {l.token(map[string]any{"aud": []string{"vault", "pods.eks.amazonaws.com"}}), ""},
		"another audience":           {l.token(map[string]any{"aud": []string{"sts.amazonaws.com"}}), "InvalidTokenException: The token's audience is not pods.eks.amazonaws.com."},
		"no audience":                {l.token(map[string]any{"aud": nil}), "InvalidTokenException: The token has no usable claim aud."},
		"expired":                    {l.token(map[string]any{"exp": now - 1}), "ExpiredTokenException: The token has expired"},
		"expires now, without grace": {l.token(map[string]any{"exp": now}), "ExpiredTokenException: The token has expired"},
		"not valid yet":              {l.token(map[string]any{"nbf": now + 60}), "InvalidTokenException: The token is not valid yet."},
		"another issuer":             {l.token(map[string]any{"iss": issuer + "/"}), "InvalidTokenException: The token's issuer is not that of the cluster."},
		"a foreign key":              {awstest.SignToken(t, newKey(t), l.claims()), "InvalidTokenException: The token is not signed by a key of the cluster's issuer."},
		"no claims of Kubernetes":    {l.token(map[string]any{"kubernetes.io": nil}), "InvalidTokenException: The token is not bound to a pod"},
		"no pod":                     {l.token(pod(func(c map[string]any) { delete(c, "pod") })), "InvalidTokenException: The token is not bound to a pod"},
		"a pod without UID":          {l.token(pod(func(c map[string]any) { c["pod"] = map[string]any{"name": "x"} })), "InvalidTokenException: The token is not bound to a pod"},
		"claims of other types":      {l.token(map[string]any{"kubernetes.io": "team-a"}), "InvalidTokenException: The token is not bound to a pod"},
		"another service account": {l.token(pod(func(c map[string]any) { c["serviceaccount"] = map[string]any{"name": "other", "uid": "1"} })),
			"ResourceNotFoundException: No pod identity association was found for service account other in namespace team-a of cluster lab."},
		"no token at all": {"", "InvalidParameterException: The parameter token is required."},
		"no JWT":          {"a.b", "InvalidParameterException: The token must be a JSON Web Token of three parts."},
		"a broken JWT":    {"a.b.c", "InvalidTokenException: The token must be a JSON Web Token of three parts."},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			got := l.pod(c.token)
			if !strings.HasPrefix(got.refused, c.want) || c.want == "" && got.refused != "" {
				t.Errorf("refused with %q, want %q", got.refused, c.want)
			}
			if strings.Contains(got.refused, "Exception") && got.status != http.StatusBadRequest && got.status != http.StatusNotFound {
				t.Errorf("status %d", got.status)
			}
		})
	}
}

func TestCallersOfEKSAuthAreAuthorised(t *testing.T) {
	l := newLab(t)
	l.associate(l.Role(ours, "app", podTrust, ""))
	token := `{"token":"` + l.token(nil) + `"}`
	node := l.user("node", `{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Action":"eks-auth:AssumeRoleForPodIdentity","Resource":"`+clusterARN+`"}]}`)
	nobody := l.user("nobody", "")
	wrong := node
	wrong.SecretAccessKey = "wrong"
	cases := map[string]struct {
		key        aws.Credentials
		name, body string
		status     int
		want       string
	}{
		"a node": {node, cluster, token, 200, ""},
		"one that may not": {nobody, cluster, token, 400, "AccessDeniedException: User: arn:aws:iam::" + ours +
			":user/nobody is not authorized to perform: eks-auth:AssumeRoleForPodIdentity on resource: " + clusterARN + " because no identity-based policy allows the eks-auth:AssumeRoleForPodIdentity action"},
		"a node of another cluster":   {node, "other", token, 400, "AccessDeniedException: "},
		"no such cluster":             {l.Administrator(ours), "other", token, 404, "ResourceNotFoundException: No cluster found for name: other."},
		"the cluster of an account":   {l.Administrator(theirs), cluster, token, 404, "ResourceNotFoundException: No cluster found for name: lab."},
		"a wrong signature":           {wrong, cluster, token, 403, "InvalidSignatureException: The request signature we calculated"},
		"no signature":                {aws.Credentials{}, cluster, token, 403, "MissingAuthenticationTokenException: "},
		"an unknown key":              {aws.Credentials{AccessKeyID: "AKIA2222222222222222", SecretAccessKey: "x"}, cluster, token, 403, "UnrecognizedClientException: The security token included in the request is invalid."},
		"a body that is no JSON":      {node, cluster, "token", 400, "SerializationException: "},
		"a member that is unknown":    {node, cluster, `{"token":"a.b.c","more":1}`, 501, "NotImplemented: "},
		"a name that no cluster has ": {node, "-x", token, 400, "InvalidParameterException: The name of a cluster"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			got := l.assume(c.key, c.name, c.body)
			if got.status != c.status || !strings.HasPrefix(got.refused, c.want) {
				t.Errorf("answer %d %q, want %d %q", got.status, got.refused, c.status, c.want)
			}
		})
	}
}

func TestSessionsOfPodsEndWithTheirRole(t *testing.T) {
	l := newLab(t)
	l.associate(l.Role(ours, "app", podTrust, ""))
	got := l.pod(l.token(nil))
	l.deleteRole(ours, "app")
	const gone = "InvalidClientTokenId: The security token included in the request is invalid."
	if who := l.caller(got.key()); who != gone {
		t.Errorf("after the role is deleted the caller is %s, want %s", who, gone)
	}
	l.Role(ours, "app", podTrust, "")
	if who := l.caller(got.key()); who != gone {
		t.Errorf("a role of the same name brings the session back: %s", who)
	}
	if again := l.pod(l.token(nil)); again.refused != "" || l.caller(again.key()) != again.User.Arn {
		t.Errorf("the association, which names its role by ARN, does not work with the new one: %q", again.refused)
	}
}

func TestCredentialsOfPodsExpire(t *testing.T) {
	l := newLab(t)
	l.associate(l.Role(ours, "app", podTrust, ""))
	got := l.pod(l.token(nil))
	l.Admin().AdvanceClock(6 * time.Hour)
	const want = "ExpiredTokenException: The security token included in the request is expired"
	if late := l.assume(got.key(), cluster, `{"token":"a.b.c"}`); late.refused != want {
		t.Errorf("after six hours a call is refused with %q, want %q", late.refused, want)
	}
}

func TestKeysAreFetchedFromTheIssuer(t *testing.T) {
	l := newLab(t, func(o *awslocal.Options) { o.AllowPlainHTTPIssuers = true })
	var url string
	mux := http.NewServeMux()
	mux.HandleFunc("GET /.well-known/openid-configuration", func(w http.ResponseWriter, _ *http.Request) {
		_ = json.NewEncoder(w).Encode(map[string]string{"issuer": url, "jwks_uri": url + "/keys"})
	})
	mux.HandleFunc("GET /keys", func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(keySet(t, l.key)) })
	documents := httptest.NewServer(mux)
	t.Cleanup(documents.Close)
	url = documents.URL
	l.register(awslocal.Cluster{Account: ours, Name: cluster, Issuer: url})
	l.associate(l.Role(ours, "app", podTrust, ""))
	if got := l.pod(l.token(map[string]any{"iss": url})); got.refused != "" {
		t.Errorf("refused with %s", got.refused)
	}
	if got := l.pod(awstest.SignToken(t, newKey(t), l.changed(map[string]any{"iss": url}))); !strings.HasPrefix(got.refused, "InvalidTokenException") {
		t.Errorf("a foreign key gives %q", got.refused)
	}
	if state := l.Admin().Clusters(); len(state) != 1 || state[0].Keys != "fetched" {
		t.Errorf("the clusters are %+v", state)
	}
}
