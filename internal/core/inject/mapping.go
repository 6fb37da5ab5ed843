package inject

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation"
)

// everyNamespace stands for all namespaces in a key of the mapping.
const everyNamespace = "*"

// bindingsKey is the key of the mapping that holds the bindings by labels. No
// namespace can have that name, so that EKS's webhook reads the same document
// and takes it for an entry that never applies.
const bindingsKey = "tabard.dev/bindings"

// Mapping says which roles ServiceAccounts get that have no annotation. It does
// not change; a nil one is empty.
type Mapping struct {
	entries map[accountKey]entry
	bindings
}

// entry is what the mapping says of a ServiceAccount. What it does not say is
// the default's.
type entry struct {
	RoleARN         string
	Audience        string
	UseRegionalSTS  *bool
	TokenExpiration int64
	// broken says that it could not be read. It is kept, so that a pod that it is
	// about does not get what another, wider entry says.
	broken bool
}

// ParseMapping reads the key "config" of the webhook's config map:
//
//	{
//	  "shop/app": {"RoleARN": "arn:aws:iam::111122223333:role/app",
//	    "Audience": "sts.amazonaws.com", "UseRegionalSTS": true, "TokenExpiration": 3600},
//	  "*/backup": {"RoleARN": "arn:aws:iam::111122223333:role/backup"},
//	  "tabard.dev/bindings": {"items": [{
//	    "namespaceSelector": {"matchLabels": {"team": "shop"}},
//	    "serviceAccountSelector": {"matchLabels": {"tier": "web"}},
//	    "RoleARN": "arn:aws:iam::111122223333:role/web"}]}
//	}
//
// Case does not count in the names of fields. Of several entries for a
// ServiceAccount its own counts, then the one for its name in every namespace,
// then the first of the bindings whose labels it has. An entry without RoleARN
// says that there is no role.
//
// Each problem is one sentence; an entry with a problem gives no identity, and
// the rest stands. If the document as a whole cannot be read, the answer is nil
// and the one problem: what was known before should stay.
func ParseMapping(text []byte) (*Mapping, []string) {
	var document map[string]json.RawMessage
	if err := json.Unmarshal(text, &document); err != nil {
		return nil, []string{fmt.Sprintf("no JSON object: %v", explain(err))}
	}
	if document == nil {
		return nil, []string{"no JSON object: it is null"}
	}
	found := &Mapping{entries: make(map[accountKey]entry, len(document))}
	var problems []string
	for key, value := range document {
		if key == bindingsKey {
			var more []string
			found.bindings, more = parseBindings(value)
			problems = append(problems, more...)
			continue
		}
		account, err := parseKey(key)
		if err != nil {
			problems = append(problems, fmt.Sprintf("%.200q: %v", key, err))
			continue
		}
		parsed, err := parseEntry(value)
		if err != nil {
			problems = append(problems, fmt.Sprintf("%.200q: %v", key, err))
			parsed = entry{broken: true}
		}
		found.entries[account] = parsed
	}
	slices.Sort(problems) // a map has no order
	return found, problems
}

// Len is the number of entries and bindings.
func (m *Mapping) Len() int {
	if m == nil {
		return 0
	}
	return len(m.entries) + len(m.items)
}

// find is what the mapping says of a ServiceAccount.
func (m *Mapping) find(s Subject, name string) (entry, bool) {
	if m == nil {
		return entry{}, false
	}
	if found, ok := m.byName(s.Namespace, name); ok {
		return found, true
	}
	return m.match(s)
}

// byName is the entry of this ServiceAccount, else the one for its name in every
// namespace.
func (m *Mapping) byName(namespace, name string) (entry, bool) {
	found, ok := m.entries[accountKey{namespace, name}]
	if !ok {
		found, ok = m.entries[accountKey{everyNamespace, name}]
	}
	return found, ok
}

// named is the entry of exactly this ServiceAccount.
func (m *Mapping) named(namespace, name string) (entry, bool) {
	if m == nil {
		return entry{}, false
	}
	found, ok := m.entries[accountKey{namespace, name}]
	return found, ok && !found.broken
}

// parseKey reads NAMESPACE/NAME.
func parseKey(key string) (accountKey, error) {
	namespace, name, ok := strings.Cut(key, "/")
	if !ok {
		return accountKey{}, errors.New("expected NAMESPACE/SERVICEACCOUNT")
	}
	account := accountKey{namespace, name}
	if namespace == everyNamespace {
		return account, checkAccount("any", name)
	}
	err := checkAccount(namespace, name)
	if err != nil && strings.Contains(namespace, everyNamespace) {
		err = fmt.Errorf("%w; only * alone stands for all of them", err)
	}
	return account, err
}

// checkAccount says what is wrong with the name of a ServiceAccount: an entry
// under it could never apply.
func checkAccount(namespace, name string) error {
	switch {
	case len(validation.IsDNS1123Label(namespace)) > 0:
		return fmt.Errorf("%.80q is no name of a namespace", namespace)
	case len(validation.IsDNS1123Subdomain(name)) > 0:
		return fmt.Errorf("%.80q is no name of a ServiceAccount", name)
	}
	return nil
}

func parseEntry(value json.RawMessage) (entry, error) {
	var parsed *entry
	if err := json.Unmarshal(value, &parsed); err != nil {
		return entry{}, explain(err)
	}
	if parsed == nil {
		return entry{}, errors.New("it is null, expected an object with RoleARN")
	}
	return *parsed, nil
}
