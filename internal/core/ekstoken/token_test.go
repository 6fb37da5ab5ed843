package ekstoken_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/tabard-dev/tabard/internal/core/ekstoken"
)

var signed = time.Date(2025, 1, 1, 0, 0, 0, 0, time.UTC)

// said is the text of an error, empty for none.
func said(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

func TestHostsOfSTS(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		region  string
		variant ekstoken.Variant
		want    string
	}{
		"commercial":                     {"us-west-2", ekstoken.Variant{}, "sts.us-west-2.amazonaws.com"},
		"commercial, FIPS":               {"us-west-2", ekstoken.Variant{FIPS: true}, "sts-fips.us-west-2.amazonaws.com"},
		"commercial, IPv6":               {"us-west-2", ekstoken.Variant{DualStack: true}, "sts.us-west-2.api.aws"},
		"commercial, FIPS and IPv6":      {"us-west-2", ekstoken.Variant{FIPS: true, DualStack: true}, "sts-fips.us-west-2.api.aws"},
		"China":                          {"cn-north-1", ekstoken.Variant{}, "sts.cn-north-1.amazonaws.com.cn"},
		"GovCloud":                       {"us-gov-west-1", ekstoken.Variant{}, "sts.us-gov-west-1.amazonaws.com"},
		"GovCloud is FIPS by itself":     {"us-gov-west-1", ekstoken.Variant{FIPS: true}, "sts.us-gov-west-1.amazonaws.com"},
		"European Sovereign Cloud":       {"eusc-de-east-1", ekstoken.Variant{}, "sts.eusc-de-east-1.amazonaws.eu"},
		"clusters accept no IPv6 there":  {"us-iso-east-1", ekstoken.Variant{DualStack: true}, ""},
		"a region that is not known yet": {"xx-new-1", ekstoken.Variant{}, "sts.xx-new-1.amazonaws.com"},
	} {
		if got := ekstoken.Host(c.region, c.variant); got != c.want {
			t.Errorf("%s: got %q, want %q", name, got, c.want)
		}
	}
}

func TestRegions(t *testing.T) {
	t.Parallel()
	for _, region := range []string{
		"us-west-2", "ap-southeast-7", "cn-north-1", "us-gov-west-1", "us-iso-east-1", "us-isob-east-1", "eu-isoe-west-1", "eusc-de-east-1", "mx-central-1", "xx-new-10",
	} {
		if err := ekstoken.CheckRegion(region); err != nil {
			t.Errorf("%s: %v", region, err)
		}
	}
	const noHost, noLabel = "STS has no host for it; give the cluster's region", "which is no label of a host name"
	for region, want := range map[string]string{
		"aws-global": noHost, "aws-cn-global": noHost, "aws-us-gov-global": noHost, "aws-iso-global": noHost, "us-west-2a": noHost,
		"us-west-2-lax-1": noHost, "us-west": noHost, "west-2": noHost, "uswest2": noHost, "us--2": noHost, "us-west-two": noHost, "2-us-west": noHost,
		"": noLabel, "US-WEST-2": noLabel, "us west 2": noLabel, " us-west-2": noLabel, "us-west-2 ": noLabel, "us-west-2\n": noLabel,
		"us_west_2": noLabel, ".us-west-2": noLabel, "us-west-2.": noLabel, "-us-west-2": noLabel, "us-west-2-": noLabel,
		"https://sts.us-west-2.amazonaws.com": noLabel, "us-west-2.evil.example": noLabel, "evil.example/": noLabel, "us-west-2@evil": noLabel,
		"us-west-2:80": noLabel, "us-west-２": noLabel, "*": noLabel,
	} {
		if got := said(ekstoken.CheckRegion(region)); !strings.Contains(got, want) || !strings.Contains(got, "such as eu-west-1") {
			t.Errorf("%q: got %q, want %q", region, got, want)
		}
	}
}

func TestTheURLToSign(t *testing.T) {
	t.Parallel()
	const query = "/?Action=GetCallerIdentity&Version=2011-06-15&X-Amz-Expires=60"
	for origin, c := range map[string]struct{ want, err string }{
		"https://sts.us-west-2.amazonaws.com":  {want: "https://sts.us-west-2.amazonaws.com" + query},
		"https://sts.us-west-2.amazonaws.com/": {want: "https://sts.us-west-2.amazonaws.com" + query},
		"http://127.0.0.1:4566":                {want: "http://127.0.0.1:4566" + query},
		"sts.us-west-2.amazonaws.com":          {err: "must be scheme and host"},
		"https://one.example/prefix":           {err: "must be scheme and host"},
		"https://me:password@one.example":      {err: `"https://me:xxxxx@one.example"`},
		"ftp://one.example":                    {err: "must be scheme and host"},
		"https://one.example?a=b":              {err: "must be scheme and host"},
		"https://one example":                  {err: "is no URL"},
	} {
		got, err := ekstoken.Unsigned(origin)
		if got != c.want || !strings.Contains(said(err), c.err) || (err != nil) != (c.err != "") {
			t.Errorf("%s: got %q, %v; want %q, %q", origin, got, err, c.want, c.err)
		}
	}
}

func TestNamesOfClusters(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{
		"eks-hub":                "",
		"kops.example.com":       "",
		strings.Repeat("a", 100): "",
		"":                       "add --cluster-name",
		"arn:aws:eks:us-west-2:111111111111:cluster/eks-hub": "which is an ARN",
		"-hub":                   "1 to 100 letters",
		"hub\r\nx-other: 1":      "1 to 100 letters",
		strings.Repeat("a", 101): "1 to 100 letters",
	} {
		err := ekstoken.CheckCluster(name)
		if !strings.Contains(said(err), want) || (err != nil) != (want != "") {
			t.Errorf("%q: got %v, want %q", name, err, want)
		}
	}
}

func TestATokenThatClustersWouldRefuseIsNotGiven(t *testing.T) {
	t.Parallel()
	// 3 bytes of the URL are 4 of the token, so no token has exactly 4096.
	fits := strings.Repeat("u", (ekstoken.MaxLength-len(ekstoken.Prefix))*3/4)
	token, err := ekstoken.Token(fits)
	if err != nil || len(token) != ekstoken.MaxLength-1 || !strings.HasPrefix(token, ekstoken.Prefix) {
		t.Errorf("a URL of %d bytes: %d bytes, %v", len(fits), len(token), err)
	}
	if token, err := ekstoken.Token(fits + "u"); token != "" || !strings.Contains(said(err), "at most 4096") {
		t.Errorf("one byte more: %d bytes, %v", len(token), err)
	}
}

func TestExpiries(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ ending, want time.Time }{
		"credentials without an end":      {time.Time{}, signed.Add(14 * time.Minute)},
		"credentials that last":           {signed.Add(time.Hour), signed.Add(14 * time.Minute)},
		"credentials that end soon":       {signed.Add(5 * time.Minute), signed.Add(4 * time.Minute)},
		"credentials that end as it does": {signed.Add(15 * time.Minute), signed.Add(14 * time.Minute)},
	} {
		if got := ekstoken.Expiry(signed, c.ending); !got.Equal(c.want) {
			t.Errorf("%s: got %s, want %s", name, got, c.want)
		}
	}
}

func TestExecCredentials(t *testing.T) {
	t.Parallel()
	answer := func(version string) string {
		return `{"kind":"ExecCredential","apiVersion":"client.authentication.k8s.io/` + version +
			`","spec":{},"status":{"expirationTimestamp":"2025-01-01T00:00:00Z","token":"k8s-aws-v1.abc"}}`
	}
	for name, c := range map[string]struct{ info, want, err string }{
		"v1":                {`{"apiVersion":"client.authentication.k8s.io/v1","kind":"ExecCredential","spec":{"interactive":false}}`, answer("v1"), ""},
		"v1beta1":           {`{"apiVersion":"client.authentication.k8s.io/v1beta1"}`, answer("v1beta1"), ""},
		"nothing was asked": {"", answer("v1beta1"), ""},
		"v1alpha1 is gone":  {`{"apiVersion":"client.authentication.k8s.io/v1alpha1"}`, "", "set the exec stanza's apiVersion"},
		"no version":        {`{}`, "", `asks for an ExecCredential of ""`},
		"no JSON":           {`secret`, "", "KUBERNETES_EXEC_INFO is no JSON"},
	} {
		got, err := ekstoken.ExecCredential(c.info, "k8s-aws-v1.abc", signed)
		if !strings.Contains(said(err), c.err) || (err != nil) != (c.err != "") {
			t.Errorf("%s: got the error %v, want %q", name, err, c.err)
		}
		if diff := cmp.Diff(c.want, string(got)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}
