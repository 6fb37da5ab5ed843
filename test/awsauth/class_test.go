package awsauth

import (
	"strings"
	"testing"

	"github.com/tabard-dev/tabard/awsauth/fault"
	"github.com/tabard-dev/tabard/awslocal"
)

func TestFaultsOfAWSHaveTheirClass(t *testing.T) {
	l := newLab(t)
	l.asWeb()
	cases := map[string]struct {
		fault awslocal.Fault
		want  fault.Class
		hint  string
	}{
		"the trust refuses":        {awslocal.Fault{Operation: "AssumeRoleWithWebIdentity", Code: "AccessDenied"}, fault.CredentialsRejected, "trust policy"},
		"the token is refused":     {awslocal.Fault{Operation: "AssumeRoleWithWebIdentity", Code: "InvalidIdentityToken"}, fault.CredentialsRejected, "OIDC provider"},
		"the issuer is away":       {awslocal.Fault{Operation: "AssumeRoleWithWebIdentity", Code: "IDPCommunicationError"}, fault.CredentialsUnavailable, "discovery"},
		"the region is off":        {awslocal.Fault{Operation: "AssumeRoleWithWebIdentity", Code: "RegionDisabledException"}, fault.CredentialsUnavailable, "region"},
		"STS throttles":            {awslocal.Fault{Operation: "AssumeRoleWithWebIdentity", Code: "Throttling"}, fault.Throttled, "fewer calls"},
		"STS fails":                {awslocal.Fault{Operation: "AssumeRoleWithWebIdentity", Code: "InternalFailure"}, fault.Transient, ""},
		"the call is not allowed":  {awslocal.Fault{Operation: "GetCallerIdentity", Code: "AccessDenied"}, fault.Unauthorized, "policy"},
		"the key is not known":     {awslocal.Fault{Operation: "GetCallerIdentity", Code: "InvalidClientTokenId"}, fault.CredentialsRejected, "access key"},
		"the request is too old":   {awslocal.Fault{Operation: "GetCallerIdentity", Code: "RequestExpired"}, fault.ClockSkew, "clock"},
		"the parameters are wrong": {awslocal.Fault{Operation: "GetCallerIdentity", Code: "InvalidParameterValue", Status: 400}, fault.Request, ""},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			l.start()
			c.fault.Message = "text (Request ID: 0123456789-abcdef)"
			l.aws.Admin().Inject(c.fault)
			defer l.aws.Admin().ClearFaults()
			_, err := l.who(web)
			got := fault.Of("EC2", "DescribeInstanceTypes", err)
			if got == nil || got.Class != c.want || !strings.Contains(got.Hint, c.hint) {
				t.Fatalf("want %s with %q, got %+v", c.want, c.hint, got)
			}
			line := got.FirstLine()
			if strings.Contains(got.Error(), "0123456789") || strings.Contains(line, "text") || strings.Contains(line, "\n") {
				t.Errorf("the first line is %q of %q", line, got)
			}
			if !strings.Contains(line, c.fault.Code) || got.Method != "irsa" || !strings.Contains(line, "authMethod=irsa") {
				t.Errorf("the first line says not enough: %q", line)
			}
		})
	}
}
