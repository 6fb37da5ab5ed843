package policy

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/tabard-dev/tabard/awsauth/identity"
	"github.com/tabard-dev/tabard/iampolicy"
)

// scenario is one case to decide: a request, and the policies that bear on it.
type scenario struct {
	ID        string `json:"id"`
	Principal string `json:"principal"`
	// RoleARN is the role's ARN with its path, where the principal is a session
	// of a role that has one: the session's ARN does not tell.
	RoleARN         string `json:"roleArn"`
	Action          string `json:"action"`
	Resource        string `json:"resource"`
	ResourceAccount string `json:"resourceAccount"`
	Context         object `json:"context"`

	IdentityPolicies      []json.RawMessage `json:"identityPolicies"`
	ResourcePolicy        json.RawMessage   `json:"resourcePolicy"`
	Boundary              json.RawMessage   `json:"boundary"`
	SessionPolicy         json.RawMessage   `json:"sessionPolicy"`
	RestrictPublicBuckets bool              `json:"restrictPublicBuckets"`

	// What tables of cases hold besides; it does not bear on the decision.
	Title     json.RawMessage `json:"title"`
	Expect    json.RawMessage `json:"expect"`
	Recommend json.RawMessage `json:"recommend"`
	Issuer    json.RawMessage `json:"issuer"`
	Open      json.RawMessage `json:"open"`
}

// object is a JSON object whose members are all different, without regard to
// case: encoding/json takes the last of two in silence, and so could count a
// boundary as none.
type object []struct {
	name  string
	value json.RawMessage
}

// UnmarshalJSON implements json.Unmarshaler.
func (o *object) UnmarshalJSON(raw []byte) error {
	if string(raw) == "null" {
		return nil
	}
	decoder := json.NewDecoder(bytes.NewReader(raw))
	if token, err := decoder.Token(); err != nil || token != json.Delim('{') {
		return errors.New("it is no JSON object")
	}
	*o = make(object, 0, 8)
	seen := map[string]bool{}
	for decoder.More() {
		token, err := decoder.Token()
		if err != nil {
			return err
		}
		name, _ := token.(string) // before a colon JSON has nothing else
		if seen[strings.ToLower(name)] {
			return fmt.Errorf("%q is given twice; names compare without regard to case", name)
		}
		seen[strings.ToLower(name)] = true
		var value json.RawMessage
		if err := decoder.Decode(&value); err != nil {
			return err
		}
		*o = append(*o, struct {
			name  string
			value json.RawMessage
		}{name, value})
	}
	return nil
}

// readScenario decodes a case. A member that is not known is a mistake: a
// boundary whose name has a slip must not count as none.
func readScenario(raw []byte) (*scenario, error) {
	s := &scenario{}
	var whole object
	if err := json.Unmarshal(raw, &whole); err != nil {
		return s, fmt.Errorf("it cannot be read: %w", err)
	}
	decoder := json.NewDecoder(bytes.NewReader(raw))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(s); err != nil {
		return s, fmt.Errorf("it cannot be read: %w", err)
	}
	return s, nil
}

// build makes the request and the policies. mistakes are those of documents that
// can be evaluated all the same, their bad statements left out.
func (s *scenario) build() (request *iampolicy.Request, policies *iampolicy.Policies, mistakes []string, err error) {
	if request, err = s.request(); err != nil {
		return nil, nil, nil, err
	}
	policies = &iampolicy.Policies{RestrictPublicBuckets: s.RestrictPublicBuckets}
	parse := func(name string, document json.RawMessage) *iampolicy.Policy {
		if err != nil || len(document) == 0 || string(document) == "null" {
			return nil
		}
		policy, parseErr := iampolicy.Parse(document)
		switch {
		case policy == nil:
			err = fmt.Errorf("%s is no policy: %w", name, parseErr)
		case parseErr != nil:
			mistakes = append(mistakes, name+": "+parseErr.Error())
		}
		return policy
	}
	for i, document := range s.IdentityPolicies {
		policies.Identity = append(policies.Identity, parse(fmt.Sprintf("identityPolicies[%d]", i), document))
	}
	policies.Resource = parse("resourcePolicy", s.ResourcePolicy)
	policies.Boundary = parse("boundary", s.Boundary)
	if session := parse("sessionPolicy", s.SessionPolicy); session != nil {
		policies.Session = []*iampolicy.Policy{session}
	}
	return request, policies, mistakes, err
}

// request makes the request.
func (s *scenario) request() (*iampolicy.Request, error) {
	if service, name, ok := strings.Cut(s.Action, ":"); !ok || service == "" || name == "" {
		return nil, fmt.Errorf("action is %q; it must be like \"s3:GetObject\"", s.Action)
	}
	if s.Resource == "" {
		return nil, errors.New(`resource is missing; give an ARN, or "*" for actions without resource types`)
	}
	if s.ResourceAccount == "" {
		return nil, errors.New("resourceAccount is missing; give the account that owns the resource")
	}
	principal, err := readPrincipal(s.Principal, s.RoleARN)
	if err != nil {
		return nil, err
	}
	context, err := readContext(s.Context)
	if err != nil {
		return nil, err
	}
	return &iampolicy.Request{
		Principal: principal, Action: s.Action, Resource: s.Resource,
		ResourceAccountID: s.ResourceAccount, Context: context,
	}, nil
}

// readPrincipal tells a caller's kind from how it is written: "anonymous", a
// service's name, or an ARN.
func readPrincipal(name, roleARN string) (iampolicy.Principal, error) {
	refused := fmt.Errorf("principal is %q; it must be \"anonymous\", a service like \"pods.eks.amazonaws.com\", "+
		"or the ARN of a user, a role's session, an account's root or an identity provider", name)
	if name == "anonymous" {
		return iampolicy.Principal{}, nil
	}
	if strings.Contains(name, ".") && !strings.Contains(name, ":") {
		return iampolicy.Principal{Kind: iampolicy.Service, ARN: name}, nil
	}
	arn, ok := identity.ParseARN(name)
	if !ok || arn.Account == "" {
		return iampolicy.Principal{}, refused
	}
	p := iampolicy.Principal{ARN: name, AccountID: arn.Account}
	sort, rest, _ := strings.Cut(arn.Resource, "/")
	switch arn.Service + ":" + sort {
	case "iam:user":
		p.Kind = iampolicy.User
	case "iam:root":
		p.Kind = iampolicy.Root
	case "iam:oidc-provider", "iam:saml-provider":
		p.Kind = iampolicy.Federated
	case "sts:assumed-role":
		p.Kind, p.RoleARN = iampolicy.RoleSession, roleARN
		if role, session, ok := strings.Cut(rest, "/"); !ok || role == "" || session == "" {
			return iampolicy.Principal{}, refused
		} else if roleARN == "" {
			p.RoleARN = identity.ARN{Partition: arn.Partition, Service: "iam", Account: arn.Account, Resource: "role/" + role}.String()
		}
	default:
		return iampolicy.Principal{}, refused
	}
	if rest == "" && p.Kind != iampolicy.Root {
		return iampolicy.Principal{}, refused
	}
	return p, nil
}

// readContext reads the condition keys; a value is a text, a number, a boolean
// or a list of such.
func readContext(raw object) (iampolicy.Context, error) {
	context := iampolicy.NewContext()
	for _, member := range raw {
		key, items := member.name, []json.RawMessage{member.value}
		if strings.HasPrefix(string(member.value), "[") {
			items = nil
			if err := json.Unmarshal(member.value, &items); err != nil {
				return nil, fmt.Errorf("context key %q: %w", key, err)
			}
		}
		values := make([]string, 0, len(items))
		for _, item := range items {
			one, err := readValue(item)
			if err != nil {
				return nil, fmt.Errorf("context key %q: %w", key, err)
			}
			values = append(values, one)
		}
		context.Set(key, values...)
	}
	return context, nil
}

// readValue reads one value of a condition key as a text.
func readValue(raw json.RawMessage) (string, error) {
	switch raw[0] {
	case '"':
		var value string
		err := json.Unmarshal(raw, &value)
		return value, err
	case '{', '[', 'n':
		return "", fmt.Errorf("the value is %s; it must be a string, a number, a boolean or a list of these", raw)
	default:
		return string(raw), nil
	}
}
