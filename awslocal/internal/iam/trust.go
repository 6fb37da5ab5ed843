package iam

import (
	"encoding/json"
	"errors"
	"strings"

	"github.com/tabard-dev/tabard/awslocal/internal/call"
	"github.com/tabard-dev/tabard/awslocal/internal/pattern"
	"github.com/tabard-dev/tabard/iampolicy"
)

const (
	maxTrust    = 2048
	maxDocument = 131072
)

// document is a policy as it was written and as it is evaluated.
type document struct {
	text   string
	policy *iampolicy.Policy
}

func parse(text string, kind iampolicy.Kind) (document, *call.Fault) {
	policy, err := iampolicy.Parse([]byte(text))
	if err == nil {
		err = policy.Validate(kind)
	}
	if err != nil {
		return document{}, malformed(message(err, kind))
	}
	return document{text: text, policy: policy}, nil
}

// message is AWS's text for the first mistake: AWS tells of one at a time.
func message(err error, kind iampolicy.Kind) string {
	var all iampolicy.Errors
	if errors.As(err, &all) {
		return all.Text(kind)
	}
	return err.Error()
}

func parseIdentity(text string) (document, *call.Fault) { return parse(text, iampolicy.IdentityPolicy) }

// size counts characters as IAM's quotas do, which leave out white space.
func size(text string) int { return iampolicy.Size([]byte(text)) }

// trust is a role's trust policy. IAM ties the users and roles that it names to
// their unique IDs when it is written: whoever is made later under the same name
// is not trusted, and reading the policy shows the old ID.
type trust struct {
	document
	// bound has the unique ID of each user and role named.
	bound map[string]string
}

func (s *Service) parseTrust(text string) (trust, *call.Fault) {
	if size(text) > maxTrust {
		return trust{}, trustTooLong()
	}
	parsed, fault := parse(text, iampolicy.TrustPolicy)
	if fault != nil {
		return trust{}, fault
	}
	t := trust{document: parsed, bound: map[string]string{}}
	eachPrincipal(text, func(kind, name string) string {
		id, ok := s.resolve(kind, name)
		if !ok && fault == nil {
			fault = badPrincipal(kind, name)
		}
		if id != "" {
			t.bound[name] = id
		}
		return name
	})
	return t, fault
}

// effective is the policy as it holds now: names whose owner has another one by
// now are replaced by that one, and those whose owner has gone by the ID of the
// owner that was meant.
func (t *trust) effective(uniqueID, newARN func(string) string) document {
	broken := false
	for arn, id := range t.bound {
		broken = broken || uniqueID(arn) != id
	}
	if !broken {
		return t.document
	}
	text := eachPrincipal(t.text, func(_, name string) string {
		id, bound := t.bound[name]
		if !bound || uniqueID(name) == id {
			return name
		}
		if arn := newARN(id); arn != "" {
			return arn
		}
		return id
	})
	policy, err := iampolicy.Parse([]byte(text))
	if err != nil {
		return document{text: text}
	}
	return document{text: text, policy: policy}
}

// newARN finds the user that has a unique ID, else it is empty. Only users can
// change their names.
func (s *Service) newARN(id string) string {
	for _, account := range s.accounts {
		for _, found := range account.users {
			if found.id == id {
				return found.arn()
			}
		}
	}
	return ""
}

var (
	plainAccount   = pattern.New(`^\d{12}$`)
	accountPattern = pattern.New(`^arn:aws[a-z-]*:iam::\d{12}:root$`)
	sessionPattern = pattern.New(`^arn:aws[a-z-]*:sts::\d{12}:assumed-role/[^/]+/[^/]+$`)
)

// resolve says whether a principal may be named in a policy, and which unique ID
// it is tied to, empty where AWS ties none. Accounts are not looked up: a trust
// of an account that is elsewhere is common, and harmless.
func (s *Service) resolve(kind, name string) (id string, ok bool) {
	switch kind {
	case "AWS":
		if name == "*" || plainAccount.MatchString(name) {
			return "", true
		}
		if s.options.Partition.Has(name) && (accountPattern.MatchString(name) || sessionPattern.MatchString(name)) {
			return "", true
		}
		id = s.seenID(name)
		return id, id != ""
	case "Federated":
		return "", s.options.Partition.Has(name) || strings.Contains(name, ".")
	case "Service":
		return "", strings.Contains(name, ".amazonaws.com")
	}
	return "", name == "*"
}

// entity is what the ARN of a user, role or group says; its name is folded.
type entity struct{ account, kind, name string }

// entityOf reads the ARN of a user, role or group.
func entityOf(arn string) (entity, bool) {
	parts := strings.SplitN(arn, ":", 6)
	if len(parts) < 6 || parts[0] != "arn" || parts[2] != "iam" || parts[3] != "" || !plainAccount.MatchString(parts[4]) {
		return entity{}, false
	}
	kind, rest, _ := strings.Cut(parts[5], "/")
	name := rest[strings.LastIndex(rest, "/")+1:]
	known := kind == userKind || kind == roleKind || kind == groupKind
	return entity{parts[4], kind, fold(name)}, known && name != ""
}

// uniqueID finds the ID of the user or role that has an ARN now, else empty. The
// ID itself is no ARN: a broken trust cannot be written back as it reads, which
// is AWS's way too.
func (s *Service) uniqueID(arn string) string {
	return s.idOf(arn,
		func(of *account, name string) *role { return of.roles[name] },
		func(of *account, name string) *user { return of.users[name] })
}

// seenID is uniqueID as authorisation sees users and roles.
func (s *Service) seenID(arn string) string { return s.idOf(arn, s.seenRole, s.seenUser) }

func (s *Service) idOf(arn string, roleOf func(*account, string) *role, userOf func(*account, string) *user) string {
	named, ok := entityOf(arn)
	account := s.accounts[named.account]
	if !ok || account == nil {
		return ""
	}
	if r := roleOf(account, named.name); named.kind == roleKind && r != nil && r.arn() == arn {
		return r.id
	}
	if u := userOf(account, named.name); named.kind == userKind && u != nil && u.arn() == arn {
		return u.id
	}
	return ""
}

// eachPrincipal shows every principal of a policy to a function and returns the
// policy with what the function gave back. Its text is only rewritten, with
// sorted keys, where something changed.
func eachPrincipal(text string, show func(kind, name string) string) string {
	var policy map[string]any
	if json.Unmarshal([]byte(text), &policy) != nil {
		return text
	}
	changed := false
	swap := func(kind, name string) string {
		other := show(kind, name)
		changed = changed || other != name
		return other
	}
	for _, statement := range asList(policy["Statement"]) {
		fields, ok := statement.(map[string]any)
		if !ok {
			continue
		}
		switch principal := fields["Principal"].(type) {
		case string:
			fields["Principal"] = swap("*", principal)
		case map[string]any:
			for kind, names := range principal {
				principal[kind] = swapAll(kind, names, swap)
			}
		}
	}
	if !changed {
		return text
	}
	rewritten, err := json.Marshal(policy)
	if err != nil {
		return text
	}
	return string(rewritten)
}

func swapAll(kind string, names any, swap func(kind, name string) string) any {
	if name, ok := names.(string); ok {
		return swap(kind, name)
	}
	list := asList(names)
	for i, item := range list {
		if name, ok := item.(string); ok {
			list[i] = swap(kind, name)
		}
	}
	return list
}

func asList(value any) []any {
	if list, ok := value.([]any); ok {
		return list
	}
	return []any{value}
}
