package iampolicy

import (
	"encoding/json"
	"os"
	"strings"
	"testing"
)

// testCase is one row of testdata/iam-cases.json.
type testCase struct {
	ID, Title         string
	Principal         string
	Action, Resource  string
	ResourceAccount   string
	Context           map[string]any
	IdentityPolicies  []json.RawMessage
	ResourcePolicy    json.RawMessage
	Boundary          json.RawMessage
	SessionPolicy     json.RawMessage
	RestrictPublic    bool `json:"restrictPublicBuckets"`
	Expect, Recommend Effect
	Issuer            string
	Open              bool
}

// readCases reads the table of cases.
func readCases(t testing.TB) []testCase {
	t.Helper()
	raw, err := os.ReadFile("testdata/iam-cases.json")
	if err != nil {
		t.Fatal(err)
	}
	decoder := json.NewDecoder(strings.NewReader(string(raw)))
	decoder.DisallowUnknownFields()
	var cases []testCase
	if err := decoder.Decode(&cases); err != nil {
		t.Fatal(err)
	}
	return cases
}

// principalOf tells a caller's kind from how the table writes it.
func principalOf(name string) Principal {
	parts := strings.Split(name, ":")
	switch {
	case name == "anonymous":
		return Principal{}
	case len(parts) == 1:
		return Principal{Kind: Service, ARN: name}
	}
	p := Principal{ARN: name, AccountID: parts[4]}
	path := strings.Split(parts[5], "/")
	switch path[0] {
	case "user":
		p.Kind = User
	case "root":
		p.Kind = Root
	case "oidc-provider":
		p.Kind = Federated
	case "assumed-role":
		p.Kind = RoleSession
		p.RoleARN = "arn:" + parts[1] + ":iam::" + parts[4] + ":role/" + path[1]
	}
	return p
}

// mustParse parses a document that has no mistake.
func mustParse(t testing.TB, document string) *Policy {
	t.Helper()
	policy, err := Parse([]byte(document))
	if err != nil {
		t.Fatalf("Parse(%s): %v", document, err)
	}
	return policy
}

// build makes the row's request and policies.
func (c testCase) build(t testing.TB) (*Request, *Policies) {
	t.Helper()
	context := NewContext()
	for key, value := range c.Context {
		switch value := value.(type) {
		case string:
			context.Set(key, value)
		case []any:
			values := make([]string, 0, len(value))
			for _, one := range value {
				values = append(values, one.(string))
			}
			context.Set(key, values...)
		default:
			t.Fatalf("%s: context key %s has type %T", c.ID, key, value)
		}
	}
	policies := &Policies{RestrictPublicBuckets: c.RestrictPublic}
	for _, document := range c.IdentityPolicies {
		policies.Identity = append(policies.Identity, mustParse(t, string(document)))
	}
	if c.ResourcePolicy != nil {
		policies.Resource = mustParse(t, string(c.ResourcePolicy))
	}
	if c.Boundary != nil {
		policies.Boundary = mustParse(t, string(c.Boundary))
	}
	if c.SessionPolicy != nil {
		policies.Session = []*Policy{mustParse(t, string(c.SessionPolicy))}
	}
	return &Request{
		Principal: principalOf(c.Principal), Action: c.Action, Resource: c.Resource,
		ResourceAccountID: c.ResourceAccount, Context: context,
	}, policies
}

func TestEvaluateDecidesTheCaseTable(t *testing.T) {
	cases := readCases(t)
	if len(cases) < 100 {
		t.Fatalf("the table has %d rows, want over 100", len(cases))
	}
	for _, c := range cases {
		t.Run(c.ID+" "+c.Title, func(t *testing.T) {
			request, policies := c.build(t)
			if got := Evaluate(request, policies); got.Effect != c.Expect {
				t.Errorf("Evaluate() = %+v, want %s", got, c.Expect)
			}
		})
	}
}
