package sigv4_test

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"

	"github.com/tabard-dev/tabard/awslocal"
	"github.com/tabard-dev/tabard/internal/testkit/awstest"
)

// query sends a call of the query protocol as the administrator.
func query(t *testing.T, server *awslocal.Server, service string, form url.Values) string {
	t.Helper()
	body := form.Encode()
	r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, plain[service].target, strings.NewReader(body))
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	if err := awstest.Signer(service).SignHTTP(t.Context(), credentials(server), r, awstest.Hash(body), service, "us-east-1", noon); err != nil {
		t.Fatalf("sign: %v", err)
	}
	_, answer := ask(t, server, r)
	if answer.Code != http.StatusOK {
		t.Fatalf("%s: %s", form.Get("Action"), failure(answer))
	}
	return answer.Body.String()
}

// session are the keys of a role that may do everything.
func session(t *testing.T, server *awslocal.Server) aws.Credentials {
	t.Helper()
	query(t, server, "iam", url.Values{"Action": {"CreateRole"}, "Version": {"2010-05-08"}, "RoleName": {"app"}, "AssumeRolePolicyDocument": {
		`{"Version":"2012-10-17","Statement":{"Effect":"Allow","Principal":{"AWS":"` + account + `"},"Action":"sts:AssumeRole"}}`}})
	query(t, server, "iam", url.Values{"Action": {"PutRolePolicy"}, "Version": {"2010-05-08"}, "RoleName": {"app"}, "PolicyName": {"all"}, "PolicyDocument": {
		`{"Version":"2012-10-17","Statement":{"Effect":"Allow","Action":"*","Resource":"*"}}`}})
	out := query(t, server, "sts", url.Values{"Action": {"AssumeRole"}, "Version": {"2011-06-15"},
		"RoleArn": {"arn:aws:iam::" + account + ":role/app"}, "RoleSessionName": {"session"}})
	element := func(name string) string {
		m := regexp.MustCompile("<" + name + ">([^<]*)<").FindStringSubmatch(out)
		if m == nil {
			t.Fatalf("no %s in %s", name, out)
		}
		return m[1]
	}
	return aws.Credentials{AccessKeyID: element("AccessKeyId"), SecretAccessKey: element("SecretAccessKey"), SessionToken: element("SessionToken")}
}

func TestTemporaryKeysNeedTheirToken(t *testing.T) {
	now := noon
	server := serve(t, func() time.Time { return now })
	whole := session(t, server)
	without, tampered := whole, whole
	without.SessionToken = ""
	tampered.SessionToken = whole.SessionToken[:len(whole.SessionToken)-2] + "xx"
	later := noon.Add(time.Hour)
	for name, c := range map[string]struct {
		keys aws.Credentials
		at   time.Time
		want map[string]string
	}{
		"with its token":          {whole, noon, map[string]string{"sts": "200 : ", "iam": "200 : ", "ec2": "200 : ", "s3": "200 : "}},
		"without its token":       {without, noon, map[string]string{"sts": invalidToken, "iam": invalidToken, "ec2": authFailure, "s3": unknownKeyS3}},
		"with a tampered token":   {tampered, noon, map[string]string{"sts": invalidToken, "iam": invalidToken, "ec2": authFailure, "s3": "400 InvalidToken: The provided token is malformed or otherwise invalid."}},
		"after its session's end": {whole, later, map[string]string{"sts": tokenExpired, "iam": tokenExpired, "ec2": "400 RequestExpired: Request has expired.", "s3": "400 ExpiredToken: The provided token has expired."}},
	} {
		for service, want := range c.want {
			t.Run(name+" for "+service, func(t *testing.T) {
				now = c.at
				r := signed(t, server, service, terms{keys: c.keys, at: c.at})
				if _, answer := ask(t, server, r); failure(answer) != want {
					t.Errorf("answered\n %s\nwant\n %s", failure(answer), want)
				}
			})
		}
	}
}
