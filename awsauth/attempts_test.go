package awsauth_test

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/sts"

	"github.com/tabard-dev/tabard/awsauth"
	"github.com/tabard-dev/tabard/awsauth/fault"
	"github.com/tabard-dev/tabard/awsauth/identity"
)

// refuser is an STS in this process that refuses one call of a chain with a code, and
// counts how often it does. The calls of a chain are known by their session's name.
type refuser struct {
	at, code string
	status   int

	mu      sync.Mutex
	refused int
	other   map[string]int
}

func (r *refuser) Do(request *http.Request) (*http.Response, error) {
	if err := request.ParseForm(); err != nil {
		return nil, err
	}
	action := request.Form.Get("Action")
	name := strings.TrimSpace(action + " " + request.Form.Get("RoleSessionName"))
	r.mu.Lock()
	defer r.mu.Unlock()
	status, text := http.StatusOK, strings.ReplaceAll(`<XResponse><XResult><Credentials><AccessKeyId>ASIA</AccessKeyId>
<SecretAccessKey>secret</SecretAccessKey><SessionToken>session</SessionToken><Expiration>2026-01-01T13:00:00Z</Expiration></Credentials></XResult></XResponse>`, "X", action)
	if strings.HasPrefix(name, r.at) {
		r.refused++
		if r.code == "" {
			return nil, io.ErrUnexpectedEOF
		}
		status, text = r.status, `<ErrorResponse><Error><Code>`+r.code+`</Code><Message>no</Message></Error></ErrorResponse>`
	} else {
		r.other[name]++
	}
	return &http.Response{StatusCode: status, Body: io.NopCloser(strings.NewReader(text)), Header: http.Header{}, Request: request}, nil
}

// refusals are codes of every class, as STS sends them; no code is a connection that breaks.
var refusals = map[string]int{
	"": 0, "AccessDenied": 403, "ExpiredToken": 403, "ExpiredTokenException": 400, "IDPCommunicationError": 400, "IDPRejectedClaim": 403,
	"InternalError": 500, "InternalFailure": 500, "InvalidAccessKeyId": 403, "InvalidClientTokenId": 403, "InvalidIdentityToken": 400,
	"MalformedPolicyDocument": 400, "PackedPolicyTooLarge": 400, "PriorRequestNotComplete": 400, "RegionDisabledException": 403,
	"RequestExpired": 400, "RequestTimeTooSkewed": 403, "RequestTimeout": 400, "ServiceUnavailable": 503, "SignatureDoesNotMatch": 403,
	"SlowDown": 503, "Throttling": 400, "ThrottlingException": 400, "TooManyRequestsException": 429, "UnrecognizedClientException": 403,
	"ValidationError": 400, "Unheard": 418, "UnheardOf": 502,
}

// TestNoCallIsMadeMoreThanThreeTimes, whichever call of a chain of one to four STS clients is
// refused and with whatever code: nothing above it may begin it again. The clients of STS
// repeat some codes by a rule of their own, outside the configuration's.
func TestNoCallIsMadeMoreThanThreeTimes(t *testing.T) {
	var rows sync.WaitGroup
	for roles := range 4 { // and the exchange of the token
		chain := web
		places := []string{"AssumeRoleWithWebIdentity"}
		for n := range roles {
			name := fmt.Sprintf("role-%d", n)
			chain = chain.Via(identity.Role{ARN: otherRole, SessionName: name})
			places = append(places, "AssumeRole "+name)
		}
		for _, place := range append(places, "GetCallerIdentity") {
			for code, status := range refusals {
				rows.Go(func() {
					checkAttempts(t, &refuser{at: place, code: code, status: status, other: map[string]int{}}, chain)
				})
			}
		}
	}
	rows.Wait()
}

func checkAttempts(t *testing.T, service *refuser, id identity.Identity) {
	row := fmt.Sprintf("%d roles, %q at %s", len(id.Roles.Roles()), service.code, service.at)
	options := webWorld().options()
	options.HTTPClient = service
	auth, err := awsauth.New(options)
	if err != nil {
		t.Errorf("%s: %v", row, err)
		return
	}
	config, err := auth.Config(t.Context(), id)
	if err != nil {
		t.Errorf("%s: %v", row, err)
		return
	}
	began := time.Now()
	_, err = sts.NewFromConfig(config).GetCallerIdentity(t.Context(), nil)
	if service.refused < 1 || service.refused > 3 {
		t.Errorf("%s: it was called %d times in %s, want 1 to 3", row, service.refused, time.Since(began).Round(time.Second))
	}
	for call, n := range service.other {
		if n > 2 { // once, and once more if a session may have ended
			t.Errorf("%s: %s was called %d times", row, call, n)
		}
	}
	operation, _, _ := strings.Cut(service.at, " ")
	if known := fault.Of("", "", err); known == nil || known.Code != service.code || known.Operation != operation {
		t.Errorf("%s: the error is %v", row, err)
	}
}

// TestAPersonsProfilesDoNotMultiplyAttempts: their clients are the SDK's own.
func TestAPersonsProfilesDoNotMultiplyAttempts(t *testing.T) {
	config := writeFile(t, "config", "[profile leaf]\nregion = eu-west-1\nrole_arn = "+otherRole+"\nsource_profile = hub\n"+
		"[profile hub]\nrole_arn = "+testRole+"\nweb_identity_token_file = "+writeFile(t, "token", "token")+"\n")
	for key, value := range map[string]string{
		"AWS_PROFILE": "leaf", "AWS_CA_BUNDLE": "", "AWS_CONFIG_FILE": config, "AWS_SHARED_CREDENTIALS_FILE": writeFile(t, "credentials", ""),
		"AWS_ACCESS_KEY_ID": "", "AWS_SECRET_ACCESS_KEY": "", "AWS_ROLE_ARN": "", "AWS_WEB_IDENTITY_TOKEN_FILE": "", "AWS_REGION": "", "AWS_DEFAULT_REGION": "",
	} {
		t.Setenv(key, value)
	}
	for _, code := range []string{"IDPCommunicationError", "InternalFailure", "InvalidIdentityToken"} {
		checkAttempts(t, &refuser{at: "AssumeRoleWithWebIdentity", code: code, status: http.StatusBadRequest, other: map[string]int{}},
			identity.Identity{Base: identity.Session, Region: "eu-west-1"}.Assuming("arn:aws:iam::210987654321:role/third"))
	}
}
