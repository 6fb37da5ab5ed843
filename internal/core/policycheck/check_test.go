package policycheck_test

import (
	"net/url"
	"strings"
	"testing"

	"github.com/tabard-dev/tabard/iampolicy"
	"github.com/tabard-dev/tabard/internal/core/policycheck"
)

const (
	goodTrust = `{"Version":"2012-10-17","Statement":{"Effect":"Allow","Principal":{"Federated":"arn:aws:iam::123456789012:oidc-provider/i.example.com"},"Action":"sts:AssumeRoleWithWebIdentity","Condition":{"StringEquals":{"i.example.com:aud":"sts.amazonaws.com","i.example.com:sub":"system:serviceaccount:shop:checkout"}}}}`
	// starTrust has one mistake, at its star.
	starTrust = `{"Version":"2012-10-17","Statement":{"Effect":"Allow","Principal":{"Federated":"arn:aws:iam::123456789012:oidc-provider/i.example.com"},"Action":"sts:AssumeRoleWithWebIdentity",
"Condition":{"StringEquals":{"i.example.com:aud":"ü","i.example.com:sub":"system:serviceaccount:ü:*"}}}}`
)

func TestCheck(t *testing.T) {
	for name, test := range map[string]struct {
		text   string
		isJSON bool
		code   iampolicy.Code
	}{
		"a good policy":   {goodTrust, true, ""},
		"a star":          {starTrust, true, iampolicy.CodeLiteralWildcard},
		"beyond a quota":  {strings.Replace(goodTrust, "system:serviceaccount", strings.Repeat("a", 5000), 1), true, policycheck.CodeTooLarge},
		"no JSON":         {"Statement:\n- Effect: Allow\n", false, iampolicy.CodeInvalidJSON},
		"an empty text":   {"", false, iampolicy.CodeInvalidJSON},
		"one of a list":   {"[" + goodTrust + "," + starTrust + "]", true, iampolicy.CodeLiteralWildcard},
		"half of a list":  {"[" + goodTrust + ",", false, iampolicy.CodeInvalidJSON},
		"an encoded text": {strings.ReplaceAll(url.QueryEscape(starTrust), "+", "%20"), true, iampolicy.CodeLiteralWildcard},
	} {
		t.Run(name, func(t *testing.T) {
			got, isJSON := policycheck.Check(iampolicy.TrustPolicy, iampolicy.LintOptions{}, []byte(test.text))
			switch {
			case isJSON != test.isJSON:
				t.Errorf("it is JSON: %t, want %t; %+v", isJSON, test.isJSON, got)
			case test.code == "" && len(got.Findings) > 0, test.code != "" && (len(got.Findings) != 1 || got.Findings[0].Code != test.code):
				t.Errorf("found %+v, want %s", got.Findings, test.code)
			}
		})
	}
}

// A text may have more than anybody wants to be told.
func TestCheckWithinBounds(t *testing.T) {
	list := func(one string, times int) string {
		return "[" + strings.TrimSuffix(strings.Repeat(one+",", times), ",") + "]"
	}
	const statements = `{"Version":"2012-10-17","Statement":`
	few := policycheck.Bounds{Policies: 3, Findings: 20}
	for name, test := range map[string]struct {
		text  string
		found int
		more  bool
	}{
		"few":                     {list(goodTrust, 3), 0, false},
		"many policies":           {list(goodTrust, 4), 0, true},
		"many, one in each list":  {list("["+starTrust+"]", 2000), 3, true},
		"many in an answer":       {`{"Roles":` + list(`{"AssumeRolePolicyDocument":`+starTrust+`}`, 5) + `}`, 3, true},
		"in fields of an answer":  {`{` + strings.TrimSuffix(strings.Repeat(`"AssumeRolePolicyDocument":`+starTrust+`,`, 5), ",") + `}`, 3, true},
		"many mistakes in one":    {statements + list(`{"Effect":"allow"}`, 50) + `}`, 20, true},
		"as many as there may be": {list(starTrust, 3), 3, false},
	} {
		got, isJSON := policycheck.CheckWithin(few, iampolicy.TrustPolicy, iampolicy.LintOptions{}, []byte(test.text))
		if !isJSON || len(got.Findings) != test.found || got.More != test.more {
			t.Errorf("%s: %d findings, more: %t; want %d, %t", name, len(got.Findings), got.More, test.found, test.more)
		}
	}
	long := statements + list(`{"Effect":"allow"}`, 5000) + `}`
	got, isJSON := policycheck.CheckWithin(policycheck.Bounds{Bytes: 1000}, iampolicy.TrustPolicy, iampolicy.LintOptions{}, []byte(list(long, 2)))
	if !isJSON || !got.More || got.Room == nil || len(got.Findings) != 2 || got.Findings[0].Code != policycheck.CodeTooLarge || got.Findings[1].Column != len(long)+3 {
		t.Errorf("of policies far too long: %+v", got)
	}
	if got, _ := policycheck.Check(iampolicy.TrustPolicy, iampolicy.LintOptions{}, []byte(list(starTrust, 300))); len(got.Findings) != 300 || got.More {
		t.Errorf("without bounds: %d findings, more: %t", len(got.Findings), got.More)
	}
}

// FuzzCheckFindsWithinTheText: each finding is at a character of the text, or behind the last.
func FuzzCheckFindsWithinTheText(f *testing.F) {
	f.Add(starTrust)
	f.Add(url.PathEscape(starTrust))
	f.Add(`["` + url.QueryEscape(goodTrust) + `", {"Role": {"AssumeRolePolicyDocument": "{\ud83d\ude00 \u00fc}"}}]`)
	f.Add("%7b\xff%7D\n%C3")
	f.Add(`"\ud83d"`)
	f.Add("{\"Version\": \"2012-10-17\"\n")
	f.Fuzz(func(t *testing.T, text string) {
		lines := strings.Split(text, "\n")
		got, _ := policycheck.Check(iampolicy.TrustPolicy, iampolicy.LintOptions{}, []byte(text))
		for _, found := range got.Findings {
			if found.Line < 1 || found.Line > len(lines) || found.Column < 1 || found.Column > len([]rune(lines[found.Line-1]))+1 {
				t.Errorf("%+v is not in a text of %d lines", found, len(lines))
			}
		}
	})
}
