package awslocal

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
)

// TestSignaturesAreForTheEndpointsRegion signs for a region and sends to a host.
func TestSignaturesAreForTheEndpointsRegion(t *testing.T) {
	server := newServer(t, Options{Region: "eu-central-1"})
	key := server.Administrator(DefaultAccount)
	bucket := func(name, region string) {
		r := signedFor(region, key, "", "s3", "PUT", "/"+name, `<CreateBucketConfiguration><LocationConstraint>`+region+`</LocationConstraint></CreateBucketConfiguration>`)
		do(t, server, r)
	}
	bucket("docs", "eu-west-1")
	const (
		badRegion = "Credential should be scoped to a valid region. "
		unknown   = "The security token included in the request is invalid."
	)
	wrong := func(was, expected string) string {
		return "<Code>AuthorizationHeaderMalformed</Code><Message>The authorization header is malformed; the region &#39;" + was + "&#39; is wrong; expecting &#39;" + expected + "&#39;</Message><Region>" + expected + "</Region>"
	}
	identity, roles, instances := queryBody(stsVersion, "GetCallerIdentity"), queryBody(iamVersion, "ListRoles"), queryBody("2016-11-15", "DescribeRegions")
	cases := map[string]struct {
		service, host, region string
		status                int
		want                  string
	}{
		"an address stands for every region":     {"sts", "127.0.0.1:4566", "ap-south-1", 200, ""},
		"so does any other name":                 {"sts", "aws.example", "us-east-1", 200, ""},
		"and IAM at an address":                  {"iam", "localhost:4566", "eu-west-1", 200, ""},
		"but of one that there is":               {"sts", "127.0.0.1:4566", "mars-1", 403, "<Code>SignatureDoesNotMatch</Code><Message>" + badRegion},
		"IAM has none of that name either":       {"iam", "127.0.0.1", "mars-1", 403, "<Code>SignatureDoesNotMatch</Code><Message>" + badRegion},
		"nor has EC2":                            {"ec2", "127.0.0.1", "eu-west-9", 401, "<Code>AuthFailure</Code><Message>" + badRegion},
		"nor has EKS":                            {"eks", "127.0.0.1", "mars-1", 403, badRegion},
		"nor has S3":                             {"s3", "127.0.0.1", "mars-1", 400, wrong("mars-1", "eu-west-1")},
		"nor has S3's host":                      {"s3", "docs.s3.mars-1.amazonaws.com", "mars-1", 400, wrong("mars-1", "eu-west-1")},
		"another partition's keys are unknown":   {"sts", "127.0.0.1", "cn-north-1", 403, unknown},
		"STS in the region":                      {"sts", "sts.eu-west-1.amazonaws.com", "eu-west-1", 200, ""},
		"STS in the region, by another port":     {"sts", "STS.eu-west-1.amazonaws.com:4566", "eu-west-1", 200, ""},
		"STS in another region":                  {"sts", "sts.us-east-1.amazonaws.com", "eu-west-1", 403, "<Code>SignatureDoesNotMatch</Code><Message>" + badRegion},
		"STS of all regions is in us-east-1":     {"sts", "sts.amazonaws.com", "us-east-1", 200, ""},
		"STS of all regions is nowhere else":     {"sts", "sts.amazonaws.com", "eu-central-1", 403, badRegion},
		"IAM is in us-east-1":                    {"iam", "iam.amazonaws.com", "us-east-1", 200, ""},
		"IAM is nowhere else":                    {"iam", "iam.amazonaws.com", "eu-central-1", 403, badRegion},
		"EC2 in the region":                      {"ec2", "ec2.eu-west-1.amazonaws.com", "eu-west-1", 200, ""},
		"EC2 in another region":                  {"ec2", "ec2.us-west-2.amazonaws.com", "eu-west-1", 401, "AuthFailure"},
		"EKS in another region":                  {"eks", "eks.us-west-2.amazonaws.com", "eu-west-1", 403, badRegion},
		"EKS by the newer name":                  {"eks", "eks.us-west-2.api.aws", "eu-west-1", 403, badRegion},
		"S3 in the region":                       {"s3", "docs.s3.eu-west-1.amazonaws.com", "eu-west-1", 200, ""},
		"S3 in another region":                   {"s3", "docs.s3.eu-west-1.amazonaws.com", "us-east-1", 400, wrong("us-east-1", "eu-west-1")},
		"S3 in the region, and the bucket not":   {"s3", "docs.s3.us-east-1.amazonaws.com", "us-east-1", 301, "PermanentRedirect"},
		"S3 by the old name of another region":   {"s3", "docs.s3-us-west-2.amazonaws.com", "eu-west-1", 400, wrong("eu-west-1", "us-west-2")},
		"S3 of all regions, where the bucket is": {"s3", "docs.s3.amazonaws.com", "eu-west-1", 200, ""},
		"S3 of all regions, where it is not":     {"s3", "docs.s3.amazonaws.com", "us-east-1", 400, wrong("us-east-1", "eu-west-1")},
		"S3 of all regions, no bucket":           {"s3", "other.s3.amazonaws.com", "eu-west-1", 400, wrong("eu-west-1", "us-east-1")},
		"S3 by an address, the bucket elsewhere": {"s3", "docs.localhost", "us-east-1", 301, "PermanentRedirect"},
		"S3 Control in another region":           {"s3", "123456789012.s3-control.us-west-2.amazonaws.com", "eu-west-1", 400, wrong("eu-west-1", "us-west-2")},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			method, path, body := http.MethodPost, "/", map[string]string{"sts": identity, "iam": roles, "ec2": instances}[c.service]
			if body == "" {
				method = http.MethodGet
			}
			switch {
			case c.service == "eks":
				path = "/clusters"
			case c.service == "s3" && c.host == "127.0.0.1":
				path = "/docs"
			}
			w := httptest.NewRecorder()
			server.Handler().ServeHTTP(w, signedAt(c.host, c.region, key, "", c.service, method, path, body))
			if w.Code != c.status || !strings.Contains(w.Body.String(), c.want) {
				t.Errorf("answer %d %s\nwant %d %s", w.Code, w.Body, c.status, c.want)
			}
			if region := w.Header().Get("X-Amz-Bucket-Region"); strings.Contains(c.want, "<Region>") && !strings.Contains(c.want, "<Region>"+region+"</Region>") {
				t.Errorf("the header says the region %q", region)
			}
		})
	}
}

// TestRolesAreFoundByTheirARNsToTheLetter: names are unique without regard to case,
// and yet a role is assumed by the ARN that it has.
func TestRolesAreFoundByTheirARNsToTheLetter(t *testing.T) {
	w := newWorld(t)
	for role, want := range map[string]int{"app": http.StatusOK, "App": http.StatusForbidden, "APP": http.StatusForbidden} {
		r := httptest.NewRecorder()
		w.server.Handler().ServeHTTP(r, signed(w.key, "", "sts", "POST", "/", queryBody(stsVersion, "AssumeRole", "RoleArn", arn(role), "RoleSessionName", "ann")))
		if r.Code != want {
			t.Errorf("by the ARN %s: %d %s", arn(role), r.Code, r.Body)
		}
	}
	for role, want := range map[string]int{"pod": http.StatusOK, "Pod": http.StatusForbidden} {
		r, request := httptest.NewRecorder(), httptest.NewRequest(http.MethodPost, "http://127.0.0.1/", strings.NewReader(
			queryBody(stsVersion, "AssumeRoleWithWebIdentity", "RoleArn", arn(role), "RoleSessionName", "pod", "WebIdentityToken", w.token)))
		form(request)
		w.server.Handler().ServeHTTP(r, request)
		if r.Code != want {
			t.Errorf("by the ARN %s and a token: %d %s", arn(role), r.Code, r.Body)
		}
	}
}

// TestPresignedURLsAreForTheEndpointsRegion: the region is looked at before the
// signature is.
func TestPresignedURLsAreForTheEndpointsRegion(t *testing.T) {
	server := newServer(t, Options{})
	now := time.Now().UTC()
	url := "http://docs.s3.eu-west-1.amazonaws.com/a?X-Amz-Algorithm=AWS4-HMAC-SHA256&X-Amz-Credential=" +
		server.Administrator(DefaultAccount).AccessKeyID + "/" + now.Format("20060102") + "/us-east-1/s3/aws4_request&X-Amz-Date=" +
		now.Format("20060102T150405Z") + "&X-Amz-Expires=60&X-Amz-SignedHeaders=host&X-Amz-Signature=" + strings.Repeat("0", 64)
	w := httptest.NewRecorder()
	server.Handler().ServeHTTP(w, httptest.NewRequest(http.MethodGet, url, http.NoBody))
	const want = "<Code>AuthorizationQueryParametersError</Code><Message>Error parsing the X-Amz-Credential parameter; the region &#39;us-east-1&#39; is wrong; expecting &#39;eu-west-1&#39;</Message><Region>eu-west-1</Region>"
	if w.Code != http.StatusBadRequest || !strings.Contains(w.Body.String(), want) {
		t.Errorf("answer %d %s", w.Code, w.Body)
	}
}
