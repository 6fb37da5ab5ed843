package awslocal_test

import (
	"crypto/rand"
	"crypto/rsa"
	"maps"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/service/iam"
	"github.com/aws/aws-sdk-go-v2/service/sts"
	"github.com/go-jose/go-jose/v4"
	"github.com/google/go-cmp/cmp"

	"github.com/tabard-dev/tabard/awslocal"
	"github.com/tabard-dev/tabard/internal/testkit/awstest"
	"github.com/tabard-dev/tabard/internal/testkit/must"
)

func TestAdministratorIsWhoItIs(t *testing.T) {
	l := newLab(t)
	for name, url := range map[string]string{"over TLS": l.URL(), "over plain HTTP": l.PlainURL()} {
		t.Run(name, func(t *testing.T) {
			client := sts.NewFromConfig(at(url, l.As(l.Administrator(stranger))))
			got := must.Get(client.GetCallerIdentity(t.Context(), &sts.GetCallerIdentityInput{}))(t)
			if *got.Arn != "arn:aws:iam::"+stranger+":user/administrator" || *got.Account != stranger || !strings.HasPrefix(*got.UserId, "AIDA") {
				t.Errorf("the caller is %s in %s with ID %s", *got.Arn, *got.Account, *got.UserId)
			}
		})
	}
}

func TestDefaultChainTurnsATokenFileIntoASession(t *testing.T) {
	l := newLab(t)
	arn := l.role("app", l.trust(l.provider()))
	for name, url := range map[string]string{"over TLS": l.URL(), "over plain HTTP": l.PlainURL()} {
		for key, kind := range []string{"RS256", "ES256"} {
			t.Run(kind+" "+name, func(t *testing.T) {
				t.Setenv("AWS_ROLE_ARN", arn)
				t.Setenv("AWS_ROLE_SESSION_NAME", "pod")
				t.Setenv("AWS_WEB_IDENTITY_TOKEN_FILE", l.Write("token", l.sign(key, l.claims())))
				got, err := sts.NewFromConfig(l.Config(config.WithBaseEndpoint(url))).GetCallerIdentity(t.Context(), &sts.GetCallerIdentityInput{})
				if err != nil {
					t.Fatal(err)
				}
				if want := "arn:aws:sts::" + account + ":assumed-role/app/pod"; *got.Arn != want {
					t.Errorf("the caller is %s, want %s", *got.Arn, want)
				}
			})
		}
	}
	last := l.Admin().Journal()
	exchange, identity := last[len(last)-2], last[len(last)-1]
	if exchange.Operation != "AssumeRoleWithWebIdentity" || exchange.Caller != "anonymous" || exchange.AccessKeyID != "" {
		t.Errorf("the journal has %+v for the exchange of the token", exchange)
	}
	if identity.Caller != "arn:aws:sts::"+account+":assumed-role/app/pod" || !strings.HasPrefix(identity.AccessKeyID, "ASIA") {
		t.Errorf("the journal has %+v for the session", identity)
	}
}

const noKey = "InvalidIdentityToken: Couldn't retrieve verification key from your identity provider,  please reference AssumeRoleWithWebIdentity documentation for requirements"

// exchange asks for a session of the role "app".
func exchange(t *testing.T, l *lab, token string, change func(*sts.AssumeRoleWithWebIdentityInput)) (*sts.AssumeRoleWithWebIdentityOutput, error) {
	input := &sts.AssumeRoleWithWebIdentityInput{
		RoleArn: aws.String("arn:aws:iam::" + account + ":role/app"), RoleSessionName: aws.String("pod"), WebIdentityToken: aws.String(token),
	}
	if change != nil {
		change(input)
	}
	return l.anonymous().AssumeRoleWithWebIdentity(t.Context(), input)
}

func TestWebIdentityAnswersAllFields(t *testing.T) {
	l := newLab(t)
	provider := l.provider()
	l.role("app", l.trust(provider))
	got := must.Get(exchange(t, l, l.sign(0, l.claims()), nil))(t)
	have := []string{*got.SubjectFromWebIdentityToken, *got.Audience, *got.Provider, *got.AssumedRoleUser.Arn}
	want := []string{subject, audience, provider, "arn:aws:sts::" + account + ":assumed-role/app/pod"}
	if diff := cmp.Diff(want, have); diff != "" {
		t.Error(diff)
	}
	left := time.Until(*got.Credentials.Expiration)
	if left < 50*time.Minute || left > time.Hour {
		t.Errorf("the session lasts %v, want an hour", left)
	}
}

func TestWebIdentityRefusesTokens(t *testing.T) {
	l := newLab(t)
	l.role("app", l.trust(l.provider()))
	now := time.Now().Unix()
	with := func(extra map[string]any) map[string]any {
		claims := l.claims()
		maps.Copy(claims, extra)
		return claims
	}
	without := func(name string) map[string]any {
		claims := l.claims()
		delete(claims, name)
		return claims
	}
	good := l.sign(0, l.claims())
	last := good[len(good)-2:]
	tampered := strings.TrimSuffix(good, last) + map[bool]string{true: "BB", false: "AA"}[last == "AA"]
	unpublished := awstest.RSAKey(t, "three")
	impostor := awstest.RSAKey(t, "one")
	encrypts := awstest.RSAKey(t, "four")
	encrypts.Use = "enc"
	small := must.Get(rsa.GenerateKey(rand.Reader, 1024))(t)
	weak := jose.JSONWebKey{Key: small, KeyID: "five", Algorithm: "RS256"}
	l.issuer.Publish(encrypts, weak)
	symmetric := jose.JSONWebKey{Key: []byte(strings.Repeat("k", 32)), KeyID: "one", Algorithm: "HS256"}
	const invalid = "InvalidIdentityToken: The web identity token provided could not be validated"
	cases := map[string]struct{ token, want string }{
		"no JWT":                        {"abcd", "InvalidIdentityToken: The ID Token provided is not a valid JWT. (You may see this error if you sent an Access Token)"},
		"too short":                     {"abc", "ValidationError: 1 validation error detected: Value at 'webIdentityToken' failed to satisfy constraint: Member must have length greater than or equal to 4"},
		"no audience":                   {l.sign(0, without("aud")), "InvalidIdentityToken: Missing a required claim: aud"},
		"no issue date":                 {l.sign(0, without("iat")), "InvalidIdentityToken: Missing a required claim: iat"},
		"another issuer":                {l.sign(0, with(map[string]any{"iss": "https://elsewhere.example"})), "InvalidIdentityToken: No OpenIDConnect provider found in your account for https://elsewhere.example"},
		"the issuer with a slash":       {l.sign(0, with(map[string]any{"iss": l.issuer.Issuer() + "/"})), "InvalidIdentityToken: No OpenIDConnect provider found in your account for " + l.issuer.Issuer() + "/"},
		"a key that is not published":   {awstest.SignToken(t, unpublished, l.claims()), noKey},
		"another key under a known ID":  {awstest.SignToken(t, impostor, l.claims()), invalid},
		"a symmetric signature":         {awstest.SignToken(t, symmetric, l.claims()), invalid},
		"a tampered signature":          {tampered, invalid},
		"a wrong audience":              {l.sign(0, with(map[string]any{"aud": []string{"vault"}})), "InvalidIdentityToken: Incorrect token audience"},
		"two audiences":                 {l.sign(0, with(map[string]any{"aud": []string{audience, "vault"}})), "InvalidIdentityToken: Token audience contains more than one audience while authorized party is not present"},
		"issued two days ago":           {l.sign(0, with(map[string]any{"iat": now - 172800})), "ExpiredTokenException: Token too old: "},
		"issued in an hour":             {l.sign(0, with(map[string]any{"iat": now + 3600})), "InvalidIdentityToken: Token issued in the future"},
		"good from an hour on":          {l.sign(0, with(map[string]any{"nbf": now + 3600})), "InvalidIdentityToken: Token not yet valid: current date/time "},
		"good from four minutes on":     {l.sign(0, with(map[string]any{"nbf": now + 240})), ""},
		"good from a text on":           {l.sign(0, with(map[string]any{"nbf": "1"})), invalid},
		"a subject twice":               {awstest.SignText(t, l.issuer.Keys()[0], `{"iss":"`+l.issuer.Issuer()+`","sub":"`+subject+`","sub":"`+subject+`","aud":"`+audience+`","iat":1,"exp":2}`), "InvalidIdentityToken: The ID Token provided is not a valid JWT. (You may see this error if you sent an Access Token)"},
		"a key for encryption":          {awstest.SignToken(t, encrypts, l.claims()), noKey},
		"a key of 1024 bits":            {awstest.SignToken(t, weak, l.claims()), noKey},
		"expired an hour ago":           {l.sign(0, with(map[string]any{"exp": now - 3600})), "ExpiredTokenException: Token expired: current date/time "},
		"another subject":               {l.sign(0, with(map[string]any{"sub": "system:serviceaccount:team-b:app"})), "AccessDenied: Not authorized to perform sts:AssumeRoleWithWebIdentity"},
		"wrong audience before subject": {l.sign(0, with(map[string]any{"sub": "x", "aud": "vault"})), "InvalidIdentityToken: Incorrect token audience"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			_, err := exchange(t, l, c.token, nil)
			if got := awstest.Refusal(nil, err); !strings.HasPrefix(got, c.want) || c.want == "" && got != "" {
				t.Errorf("answer\n %s\nwant\n %s", got, c.want)
			}
		})
	}
}

func TestWebIdentityChecksTheRestAfterTheToken(t *testing.T) {
	l := newLab(t)
	provider := l.provider()
	l.role("app", l.trust(provider))
	token := l.sign(0, l.claims())
	cases := map[string]struct {
		change func(*sts.AssumeRoleWithWebIdentityInput)
		want   string
	}{
		"a role that does not exist": {func(in *sts.AssumeRoleWithWebIdentityInput) {
			in.RoleArn = aws.String("arn:aws:iam::" + account + ":role/none")
		}, "AccessDenied: Not authorized to perform sts:AssumeRoleWithWebIdentity"},
		"an account without the provider": {func(in *sts.AssumeRoleWithWebIdentityInput) {
			in.RoleArn = aws.String("arn:aws:iam::" + stranger + ":role/app")
		}, "InvalidIdentityToken: No OpenIDConnect provider found in your account for " + l.issuer.Issuer()},
		"longer than the role's limit": {func(in *sts.AssumeRoleWithWebIdentityInput) { in.DurationSeconds = aws.Int32(7200) },
			"ValidationError: The requested DurationSeconds exceeds the MaxSessionDuration set for this role."},
		"shorter than STS's limit": {func(in *sts.AssumeRoleWithWebIdentityInput) { in.DurationSeconds = aws.Int32(60) },
			"ValidationError: 1 validation error detected: Value '60' at 'durationSeconds' failed to satisfy constraint: Member must have value greater than or equal to 900"},
		"a session name with a space": {func(in *sts.AssumeRoleWithWebIdentityInput) { in.RoleSessionName = aws.String("a b") },
			`ValidationError: 1 validation error detected: Value 'a b' at 'roleSessionName' failed to satisfy constraint: Member must satisfy regular expression pattern: [\w+=,.@-]*`},
		"a session policy that is none": {func(in *sts.AssumeRoleWithWebIdentityInput) { in.Policy = aws.String("{") }, "MalformedPolicyDocument: "},
		"a good request":                {func(*sts.AssumeRoleWithWebIdentityInput) {}, ""},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			_, err := exchange(t, l, token, c.change)
			if got := awstest.Refusal(nil, err); !strings.HasPrefix(got, c.want) || (c.want == "") != (got == "") {
				t.Errorf("answer\n %s\nwant\n %s", got, c.want)
			}
		})
	}
}

func TestTokenClockExpiresTokensAndNothingElse(t *testing.T) {
	l := newLab(t)
	l.role("app", l.trust(l.provider()))
	token := l.sign(0, l.claims())
	admin := l.Admin()
	for _, step := range []struct {
		offset time.Duration
		want   string
	}{{0, ""}, {14 * time.Minute, ""}, {16 * time.Minute, "ExpiredTokenException: Token expired"}, {0, ""}} {
		admin.SetTokenClockOffset(step.offset)
		if got := awstest.Refusal(exchange(t, l, token, nil)); !strings.HasPrefix(got, step.want) || (step.want == "") != (got == "") {
			t.Errorf("with the tokens' clock %v ahead the answer is %q, want %q", step.offset, got, step.want)
		}
		if _, err := sts.NewFromConfig(l.administrator(account)).GetCallerIdentity(t.Context(), &sts.GetCallerIdentityInput{}); err != nil {
			t.Errorf("with the tokens' clock %v ahead a signature is refused: %v", step.offset, err)
		}
	}
}

func TestDeletedProviderRefusesItsTokens(t *testing.T) {
	l := newLab(t)
	provider := l.provider()
	l.role("app", l.trust(provider))
	token := l.sign(0, l.claims())
	l.Must(exchange(t, l, token, nil))
	l.Must(l.iam().DeleteOpenIDConnectProvider(t.Context(), &iam.DeleteOpenIDConnectProviderInput{OpenIDConnectProviderArn: &provider}))
	if got, want := awstest.Refusal(exchange(t, l, token, nil)), "InvalidIdentityToken: No OpenIDConnect provider found in your account for "+l.issuer.Issuer(); got != want {
		t.Errorf("answer %q, want %q", got, want)
	}
}

func TestNewKeyIsFoundByOneEarlyFetch(t *testing.T) {
	l := newLab(t)
	l.role("app", l.trust(l.provider()))
	l.Must(exchange(t, l, l.sign(0, l.claims()), nil))
	for _, id := range []string{"three", "four"} {
		l.issuer.Publish(awstest.RSAKey(t, id))
	}
	// Both were published before the first early fetch, and a fifth after it.
	for key := 2; key < 4; key++ {
		if _, err := exchange(t, l, l.sign(key, l.claims()), nil); err != nil {
			t.Errorf("key %d: %v", key, err)
		}
	}
	l.issuer.Publish(awstest.RSAKey(t, "five"))
	if _, err := exchange(t, l, l.sign(4, l.claims()), nil); awstest.Refusal(nil, err) != noKey {
		t.Errorf("a second early fetch within 30 seconds answers %q, want %q", awstest.Refusal(nil, err), noKey)
	}
	l.Admin().AdvanceClock(31 * time.Second)
	if _, err := exchange(t, l, l.sign(4, l.claims()), nil); err != nil {
		t.Errorf("31 seconds later: %v", err)
	}
}

func TestIssuerMustBeTrustedOrPinned(t *testing.T) {
	l := newLab(t, func(o *awslocal.Options) { o.TrustedCAs = nil })
	provider := l.provider()
	l.role("app", l.trust(provider))
	token := l.sign(0, l.claims())
	if got, want := awstest.Refusal(exchange(t, l, token, nil)), "InvalidIdentityToken: OpenIDConnect provider's HTTPS certificate doesn't match configured thumbprint"; got != want {
		t.Errorf("answer %q, want %q", got, want)
	}
	l.Must(l.iam().UpdateOpenIDConnectProviderThumbprint(t.Context(), &iam.UpdateOpenIDConnectProviderThumbprintInput{
		OpenIDConnectProviderArn: &provider, ThumbprintList: []string{thumbprint(l.issuer.Certificate())},
	}))
	if _, err := exchange(t, l, token, nil); err != nil {
		t.Errorf("with the certificate pinned: %v", err)
	}
	l.issuer.Close()
	l.Admin().AdvanceClock(6 * time.Minute)
	if got := awstest.Refusal(exchange(t, l, token, nil)); !strings.HasPrefix(got, "IDPCommunicationError: ") {
		t.Errorf("with the issuer gone the answer is %q", got)
	}
}

func TestSessionsEnd(t *testing.T) {
	l := newLab(t)
	l.role("app", l.trust(l.provider()))
	session := func() *sts.Client {
		got := must.Get(exchange(t, l, l.sign(0, l.claims()), nil))(t)
		c := got.Credentials
		return sts.NewFromConfig(l.as(c))
	}
	ask := func(client *sts.Client) string {
		_, err := client.GetCallerIdentity(t.Context(), &sts.GetCallerIdentityInput{})
		return awstest.Refusal(nil, err)
	}
	expiring := session()
	if got := ask(expiring); got != "" {
		t.Fatal(got)
	}
	// The client corrects its clock by the server's Date, so that its
	// signatures are good and only the session is over.
	l.Admin().AdvanceClock(61 * time.Minute)
	if got := askCorrected(t, expiring); got != "ExpiredToken: The security token included in the request is expired" {
		t.Errorf("after an hour the answer is %q", got)
	}
	l.Admin().AdvanceClock(-61 * time.Minute)
	orphan := session()
	l.Must(l.iam().DeleteRole(t.Context(), &iam.DeleteRoleInput{RoleName: aws.String("app")}))
	if got := ask(orphan); got != "InvalidClientTokenId: The security token included in the request is invalid." {
		t.Errorf("after the role is deleted the answer is %q", got)
	}
}

func TestSignaturesAreVerified(t *testing.T) {
	l := newLab(t)
	good := l.Administrator(account)
	cases := map[string]struct {
		key    aws.Credentials
		change func(*http.Request)
		want   string
	}{
		"an unknown key": {aws.Credentials{AccessKeyID: "AKIAAAAAAAAAAAAAAAAA", SecretAccessKey: "x"}, nil, "InvalidClientTokenId: The security token included in the request is invalid."},
		"a wrong secret": {aws.Credentials{AccessKeyID: good.AccessKeyID, SecretAccessKey: "x"}, nil, "SignatureDoesNotMatch: The request signature we calculated"},
		"a changed header": {good, func(r *http.Request) {
			r.Header.Set("X-Amz-Date", r.Header.Get("X-Amz-Date")[:9]+"000000Z")
		}, "SignatureDoesNotMatch: "},
		"another service's scope": {good, func(r *http.Request) {
			r.Header.Set("Authorization", strings.Replace(r.Header.Get("Authorization"), "/sts/", "/iam/", 1))
		}, "SignatureDoesNotMatch: Credential should be scoped to correct service: 'sts'."},
		"no signature":     {good, func(r *http.Request) { r.Header.Del("Authorization") }, "MissingAuthenticationToken: Request is missing Authentication Token"},
		"half a signature": {good, func(r *http.Request) { r.Header.Set("Authorization", "AWS4-HMAC-SHA256 Credential=x") }, "IncompleteSignature: Authorization header requires 'Signature' parameter."},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			cfg := l.As(c.key)
			cfg.HTTPClient = &changer{client: l.Client(), change: c.change}
			_, err := sts.NewFromConfig(cfg).GetCallerIdentity(t.Context(), &sts.GetCallerIdentityInput{})
			if got := awstest.Refusal(nil, err); !strings.HasPrefix(got, c.want) {
				t.Errorf("answer %q, want %q", got, c.want)
			}
		})
	}
}
