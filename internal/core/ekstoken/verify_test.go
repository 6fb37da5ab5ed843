package ekstoken_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/tabard-dev/tabard/internal/core/ekstoken"
	"github.com/tabard-dev/tabard/internal/testkit/ekscase"
)

// verify is what a cluster in a region does with a token and the answer of STS.
func verify(c ekscase.Case, region string, now time.Time) (ekstoken.Caller, error) {
	if _, err := ekstoken.Check(c.Token, ekstoken.Cluster{Name: "eks-hub", Region: region}, now); err != nil {
		return ekstoken.Caller{}, err
	}
	return ekstoken.Read(c.Status, []byte(c.Body))
}

func TestGoodTokensAreTaken(t *testing.T) {
	t.Parallel()
	want := ekstoken.Caller{ARN: ekscase.ARN, Canonical: ekscase.Canonical, Account: ekscase.Account, ID: ekscase.ID, Session: ekscase.Session}
	for name, c := range ekscase.Good(signed) {
		got, err := verify(c, ekscase.Region, signed)
		if diff := cmp.Diff(want, got); err != nil || diff != "" {
			t.Errorf("%s: %v (-want +got):\n%s", name, err, diff)
		}
		asked, err := ekstoken.Check(c.Token, ekstoken.Cluster{Name: "eks-hub", Region: ekscase.Region}, signed)
		if err != nil || asked.AccessKeyID != ekscase.Key || ekscase.Token(asked.URL) != c.Token {
			t.Errorf("%s: STS is asked %+v, %v", name, asked, err)
		}
	}
}

func TestHostileTokensAreRefused(t *testing.T) {
	t.Parallel()
	all := ekscase.Hostile(signed)
	if len(all) < 50 {
		t.Errorf("there are %d hostile tokens, want 50", len(all))
	}
	for name, c := range all {
		if got, err := verify(c, ekscase.Region, signed); err == nil || got != (ekstoken.Caller{}) || strings.Contains(err.Error(), "evil") {
			t.Errorf("%s: got %+v, %v", name, got, err)
		}
	}
}

// TestTokensThatOthersTake: aws-iam-authenticator takes the first three, and STS ignores
// what is wrong with them.
func TestTokensThatOthersTake(t *testing.T) {
	t.Parallel()
	own := ekscase.URL("sts.us-west-2.amazonaws.com", signed, nil)
	for name, c := range map[string]struct{ url, want string }{
		"a user":             {strings.Replace(own, "https://", "https://user@", 1), "has a user"},
		"a fragment":         {own + "#fragment", "has a fragment"},
		"a host of GovCloud": {ekscase.URL("sts.us-gov-west-1.amazonaws.com", signed, nil), "no host of STS for clusters in us-west-2"},
	} {
		if _, err := verify(ekscase.Case{Token: ekscase.Token(c.url), Status: 200}, ekscase.Region, signed); !strings.Contains(said(err), c.want) {
			t.Errorf("%s: got %v, want %q", name, err, c.want)
		}
	}
}

func TestHostsOfOtherPartitionsAreForTheirClusters(t *testing.T) {
	t.Parallel()
	for host, region := range map[string]string{
		"sts.cn-north-1.amazonaws.com.cn": "cn-northwest-1", "sts.us-gov-west-1.amazonaws.com": "us-gov-east-1", "sts.eusc-de-east-1.amazonaws.eu": "eusc-de-east-1",
	} {
		token := ekscase.Token(ekscase.URL(host, signed, nil))
		if _, err := ekstoken.Check(token, ekstoken.Cluster{Region: region}, signed); err != nil {
			t.Errorf("%s for %s: %v", host, region, err)
		}
		global := ekscase.Token(ekscase.URL("sts.amazonaws.com", signed, nil))
		if _, err := ekstoken.Check(global, ekstoken.Cluster{Region: region}, signed); err == nil {
			t.Errorf("the global host is taken for %s", region)
		}
	}
}

func TestOneMoreOriginIsThatOneAlone(t *testing.T) {
	t.Parallel()
	at := func(origin string) string {
		return ekscase.Token(strings.Replace(ekscase.URL("host", signed, nil), "https://host", origin, 1))
	}
	of := ekstoken.Cluster{Region: ekscase.Region, Origin: "http://127.0.0.1:4566"}
	for origin, want := range map[string]bool{
		"http://127.0.0.1:4566": true, "https://sts.us-west-2.amazonaws.com": true,
		"https://127.0.0.1:4566": false, "http://127.0.0.1:4567": false, "http://127.0.0.1": false, "http://localhost:4566": false,
		"http://user@127.0.0.1:4566": false, "http://sts.us-west-2.amazonaws.com": false,
	} {
		if _, err := ekstoken.Check(at(origin), of, signed); (err == nil) != want {
			t.Errorf("%s: got %v", origin, err)
		}
	}
}

func TestCallersOfTheirKinds(t *testing.T) {
	t.Parallel()
	const account = ekscase.Account
	for name, c := range map[string]struct {
		arn, id string
		want    ekstoken.Caller
	}{
		"a user":           {"arn:aws:iam::111111111111:user/a/b", "AIDA", ekstoken.Caller{Canonical: "arn:aws:iam::111111111111:user/a/b", ID: "AIDA"}},
		"the root":         {"arn:aws:iam::111111111111:root", account, ekstoken.Caller{Canonical: "arn:aws:iam::111111111111:root", ID: account}},
		"a federated user": {"arn:aws:sts::111111111111:federated-user/bob", account + ":bob", ekstoken.Caller{Canonical: "arn:aws:sts::111111111111:federated-user/bob", ID: account + ":bob"}},
	} {
		c.want.ARN, c.want.Account = c.arn, account
		got, err := ekstoken.Read(200, []byte(ekscase.Answer(account, c.arn, c.id)))
		if diff := cmp.Diff(c.want, got); err != nil || diff != "" {
			t.Errorf("%s: %v (-want +got):\n%s", name, err, diff)
		}
	}
	if got, err := ekstoken.Read(200, []byte(ekscase.Answer("222222222222", ekscase.ARN, ekscase.ID+":"+ekscase.Session))); err == nil {
		t.Errorf("a caller of another account: got %+v", got)
	}
	if _, err := ekstoken.Read(400, []byte(`{"Error":{"Code":"Throttling"}}`)); !errors.Is(err, ekstoken.ErrThrottled) {
		t.Errorf("too many requests: got %v", err)
	}
}

// FuzzCheck: what is taken asks STS and nobody else.
func FuzzCheck(f *testing.F) {
	for _, c := range ekscase.Good(signed) {
		f.Add(strings.TrimPrefix(c.Token, ekstoken.Prefix))
	}
	f.Fuzz(func(t *testing.T, text string) {
		for _, token := range []string{ekstoken.Prefix + text, ekscase.Token(text)} {
			asked, err := ekstoken.Check(token, ekstoken.Cluster{Region: ekscase.Region}, signed)
			_, rest, ok := strings.Cut(asked.URL, "https://sts")
			host, _, _ := strings.Cut(rest, "/")
			if err == nil && (!ok || !strings.HasSuffix(host, ".amazonaws.com") && !strings.HasSuffix(host, ".api.aws")) {
				t.Errorf("%q is taken and asks %q", text, asked.URL)
			}
		}
	})
}
