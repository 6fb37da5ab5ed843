package decode_test

import (
	"encoding/base64"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/tabard-dev/tabard/internal/core/chain"
	"github.com/tabard-dev/tabard/internal/core/decode"
	"github.com/tabard-dev/tabard/internal/testkit/must"
)

var noon = time.Date(2026, 11, 1, 12, 0, 0, 0, time.UTC)

// TestWhatPeoplePaste has each text as its program writes it.
func TestWhatPeoplePaste(t *testing.T) {
	for text, want := range map[string]chain.Link{
		"operation error STS: AssumeRoleWithWebIdentity, https response error StatusCode: 403, RequestID: 1, api error AccessDenied: Not authorized to perform sts:AssumeRoleWithWebIdentity":                 chain.Trust,
		"An error occurred (InvalidIdentityToken) when calling the AssumeRoleWithWebIdentity operation: No OpenIDConnect provider found in your account for https://oidc.eks.eu-central-1.amazonaws.com/id/A": chain.Provider,
		"InvalidIdentityToken: Couldn't retrieve verification key from your identity provider,  please reference AssumeRoleWithWebIdentity documentation for requirements":                                    chain.Publication,
		"botocore.errorfactory.InvalidIdentityTokenException: Incorrect token audience":                                                                                                                       chain.Token,
		"InvalidIdentityToken: Missing a required claim: aud":                                                                   chain.Token,
		"InvalidIdentityToken: OpenIDConnect provider's HTTPS certificate doesn't match configured thumbprint":                  chain.Provider,
		"ExpiredTokenException: Token expired: current date/time 1700000000 must be before the expiration date/time 1699999000": chain.Token,
		"open /var/run/secrets/eks.amazonaws.com/serviceaccount/token: permission denied":                                       chain.Token,
		"Unable to locate credentials. You can configure credentials by running \"aws configure\".":                             chain.Injection,
		"NoCredentialProviders: no valid providers in chain. Deprecated.":                                                       chain.Injection,
		"User: arn:aws:sts::111122223333:assumed-role/nodes/i-0abc1234 is not authorized to perform: s3:GetObject on resource: \"arn:aws:s3:::data/x\" because no identity-based policy allows the s3:GetObject action": chain.SDK,
		"User: arn:aws:sts::111122223333:assumed-role/checkout/app is not authorized to perform: s3:GetObject on resource: \"arn:aws:s3:::data/x\" because no identity-based policy allows the s3:GetObject action":     chain.Permission,
		"User: arn:aws:sts::111122223333:assumed-role/checkout/app is not authorized to perform: s3:GetObject on resource: \"arn:aws:s3:::data/x\" with an explicit deny in a service control policy":                   chain.Permission,
		"Post \"https://sts.eu-central-1.amazonaws.com/\": dial tcp 10.0.0.1:443: i/o timeout":                                                                                                                          chain.Network,
		"Throttling: Rate exceeded": chain.Session,
		"ValidationError: The requested DurationSeconds exceeds the 1 hour session limit for roles assumed by role chaining.":    chain.Session,
		"PackedPolicyTooLarge: Packed policy consumes 157% of allotted space, please use smaller policy.":                        chain.Session,
		"LimitExceeded: Cannot exceed quota for ACLSizePerRole: 2048":                                                            chain.Trust,
		"error: You must be logged in to the server (Unauthorized)":                                                              chain.Target,
		"failed calling webhook, failing open pod-identity-webhook.amazonaws.com: x509: certificate signed by unknown authority": chain.Webhook,
		"AADSTS70021: No matching federated identity record found for presented assertion.":                                      chain.Trust,
		"Cannot determine which IAMRoleSelector to use. Conflicting resources: a, b":                                             chain.Binding,
	} {
		for _, text := range []string{text, strings.ToUpper(text), "2026-11-01 12:00 E first line\n" + text + "\nlast line"} {
			r := decode.Decode(text, noon)
			if r.Kind != decode.Error || r.Link != want || r.Links[0] != want || r.Means == "" || len(r.Causes) == 0 || len(r.Next) == 0 || strings.Contains(r.Seen, "last line") {
				t.Errorf("%s is %+v, want %s", text, r, want)
			}
		}
	}
	if r := decode.Decode("panic: runtime error: index out of range [3] with length 3", noon); r.Kind != decode.Unknown {
		t.Errorf("a panic is %+v", r)
	}
}

// TestFactsAreTakenOutOfTheText for whoever types the next command.
func TestFactsAreTakenOutOfTheText(t *testing.T) {
	r := decode.Decode(`User: arn:aws:sts::111122223333:assumed-role/checkout/app is not authorized to perform: s3:GetObject on resource: "arn:aws:s3:::data/x" because no identity-based policy allows the s3:GetObject action`, noon)
	got := map[string]string{}
	for _, fact := range r.Facts {
		got[fact.Name] = fact.Value
	}
	if got["caller"] != "arn:aws:sts::111122223333:assumed-role/checkout/app" || got["action"] != "s3:GetObject" || got["resource"] != "arn:aws:s3:::data/x" {
		t.Errorf("the facts are %v", got)
	}
}

// jwt is a token with a signature that must never be seen again.
func jwt(t *testing.T, claims string) string {
	t.Helper()
	part := func(text string) string { return base64.RawURLEncoding.EncodeToString([]byte(text)) }
	return part(`{"alg":"RS256","kid":"key1"}`) + "." + part(claims) + ".c2VjcmV0LXNpZ25hdHVyZQ"
}

const ofCheckout = `{"iss":"https://issuer.example.com","sub":"system:serviceaccount:shop:checkout","aud":["sts.amazonaws.com"],"iat":1793530800,"exp":1793534400,"kubernetes.io":{"namespace":"shop","pod":{"name":"checkout-1"}}}`

// TestATokenIsShownDecodedAndNeverRaw, alone and in an error.
func TestATokenIsShownDecodedAndNeverRaw(t *testing.T) {
	raw := jwt(t, ofCheckout)
	r := decode.Decode(" "+raw+"\n", time.Unix(1793534400, 0))
	shown := string(must.Get(json.Marshal(r))(t))
	for _, want := range []string{`"token"`, "https://issuer.example.com", "system:serviceaccount:shop:checkout", "sts.amazonaws.com", "key1", "it has expired", "tabard explain serviceaccount checkout -n shop"} {
		if !strings.Contains(shown, want) {
			t.Errorf("it does not show %s: %s", want, shown)
		}
	}
	mixed := decode.Decode("POST with "+raw+": InvalidIdentityToken: Incorrect token audience", noon)
	if mixed.Kind != decode.Error || mixed.Link != chain.Token {
		t.Errorf("an error with a token in it is %+v", mixed)
	}
	for _, text := range []string{shown, string(must.Get(json.Marshal(mixed))(t))} {
		for part := range strings.SplitSeq(raw, ".") {
			if strings.Contains(text, part) {
				t.Errorf("a part of the token is shown: %s", text)
			}
		}
	}
}

// TestAnEventOfCloudTrail has who came with which token, and why it was refused.
func TestAnEventOfCloudTrail(t *testing.T) {
	text := `{"eventName":"AssumeRoleWithWebIdentity","eventTime":"2026-11-01T12:00:00Z","errorCode":"AccessDenied","errorMessage":"An unknown error occurred",
		"userIdentity":{"type":"WebIdentityUser","userName":"system:serviceaccount:shop:checkout","identityProvider":"arn:aws:iam::111122223333:oidc-provider/issuer.example.com"},"requestParameters":{"roleArn":"arn:aws:iam::111122223333:role/checkout"}}`
	looked := string(must.Get(json.Marshal(map[string]string{"EventId": "1", "CloudTrailEvent": text}))(t))
	for _, text := range []string{text, looked} {
		r := decode.Decode(text, noon)
		if r.Kind != decode.Event || r.Link != chain.Trust || len(r.Facts) != 4 || r.Next[0] != "tabard explain serviceaccount checkout -n shop" {
			t.Errorf("it is %+v", r)
		}
	}
	if r := decode.Decode(`{"eventName":"AssumeRoleWithWebIdentity","userIdentity":{"userName":"system:serviceaccount:a:b"}}`, noon); r.Kind != decode.Event || r.Means != "the call was allowed" || len(r.Next) > 0 {
		t.Errorf("a call that was allowed is %+v", r)
	}
}

// FuzzDecode takes any text: nothing of a token comes back, and no line is more than one.
func FuzzDecode(f *testing.F) {
	f.Add("Not authorized to perform sts:AssumeRoleWithWebIdentity")
	f.Add(`{"eventName":"x","CloudTrailEvent":"{}"}`)
	f.Add("eyJhbGciOiJSUzI1NiJ9.eyJzdWIiOiJ4In0.c2ln")
	f.Add("rate exceeded \x1b[31m eyJhbGciOiJSUzI1NiJ9.eyJzdWIiOiJ4In0x.c2lnbmF0dXJl")
	f.Fuzz(func(t *testing.T, text string) {
		r := decode.Decode(text, noon)
		lines := append([]string{r.Seen}, r.Next...)
		for _, fact := range r.Facts {
			lines = append(lines, fact.Value)
		}
		for _, one := range lines {
			if strings.ContainsAny(one, "\n\r\x1b") {
				t.Errorf("%q has more than a line", one)
			}
		}
		if (r.Kind == decode.Unknown) != (r.Means == "") {
			t.Errorf("%+v", r)
		}
	})
}
