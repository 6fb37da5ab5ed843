package iamrole

import "testing"

const provider = "arn:aws:iam::123456789012:oidc-provider/issuer.example/a"

func TestSameDocument(t *testing.T) {
	cases := map[string]struct {
		got, want string
		same      bool
	}{
		"spaces and order of keys do not count": {`{"a":1,"b":[2]}`, "{ \"b\": [2],\n \"a\": 1 }", true},
		"IAM's URL encoding is undone":          {`%7B%22a%22%3A%22x%2By%22%7D`, `{"a":"x+y"}`, true},
		"a plus is a plus":                      {`{"a":"x+y"}`, `{"a":"x y"}`, false},
		"another value is another document":     {`{"a":1}`, `{"a":2}`, false},
		"the order of a list counts":            {`[1,2]`, `[2,1]`, false},
		"what is no JSON is never the same":     {`{`, `{`, false},
		"nothing is not the same as something":  {``, `{}`, false},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			if got := sameDocument(c.got, c.want); got != c.same {
				t.Errorf("same: %t, want %t", got, c.same)
			}
		})
	}
}

func TestMentions(t *testing.T) {
	cases := map[string]struct {
		document string
		want     bool
	}{
		"a federated principal":           {`{"Statement":[{"Principal":{"Federated":"` + provider + `"}}]}`, true},
		"one of several":                  {`{"Statement":{"Principal":{"Federated":["x","` + provider + `"]}}}`, true},
		"encoded as IAM answers":          {`%7B%22Principal%22%3A%7B%22Federated%22%3A%22arn%3Aaws%3Aiam%3A%3A123456789012%3Aoidc-provider%2Fissuer.example%2Fa%22%7D%7D`, true},
		"a longer URL is another one":     {`{"Principal":{"Federated":"` + provider + `b"}}`, false},
		"the same issuer elsewhere":       {`{"Principal":{"Federated":"arn:aws:iam::210987654321:oidc-provider/issuer.example/a"}}`, false},
		"a service's trust":               {`{"Principal":{"Service":"ec2.amazonaws.com"}}`, false},
		"broken JSON that names it":       {`{"Federated":"` + provider + `"`, true},
		"broken JSON that does not":       {`{"Federated":`, false},
		"nothing":                         {``, false},
		"a percent sign that encodes nil": {`{"a":"100%","Federated":"` + provider + `"}`, true},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			if got := mentions(c.document, provider); got != c.want {
				t.Errorf("mentions: %t, want %t", got, c.want)
			}
		})
	}
}

// FuzzMentions demands that a document that holds the ARN as a JSON string is
// seen to mention it, and that nothing panics.
func FuzzMentions(f *testing.F) {
	for _, seed := range []string{"", "{", `{"a":["b"]}`, "%7B%7D", "%"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, document string) {
		mentions(document, provider)
		if !mentions(`["`+provider+`"]`, provider) {
			t.Error("the ARN itself is not mentioned")
		}
		sameDocument(document, document)
	})
}
