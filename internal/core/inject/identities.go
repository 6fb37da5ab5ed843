package inject

import (
	"bytes"
	"encoding/json"
	"fmt"
)

// Identities are the ServiceAccounts whose pods get container credentials. They
// do not change; a nil one is empty.
type Identities struct{ listed map[accountKey]struct{} }

// accountKey names a ServiceAccount.
type accountKey struct{ namespace, name string }

// ParseIdentities reads the file of container credentials:
//
//	{"identities":[{"namespace":"shop","serviceAccount":"app"}]}
//
// An empty file lists none. Each problem is one sentence; an entry with a
// problem is left out, and the rest stands. If the file as a whole cannot be
// read, the answer is nil and the one problem: what was known before should
// stay.
func ParseIdentities(text []byte) (*Identities, []string) {
	var file struct {
		Identities []json.RawMessage `json:"identities"`
	}
	found := &Identities{listed: map[accountKey]struct{}{}}
	if len(bytes.TrimSpace(text)) == 0 {
		return found, nil
	}
	if err := json.Unmarshal(text, &file); err != nil {
		return nil, []string{fmt.Sprintf("no JSON object with a list identities: %v", explain(err))}
	}
	var problems []string
	for i, item := range file.Identities {
		var identity struct {
			Namespace      string `json:"namespace"`
			ServiceAccount string `json:"serviceAccount"`
		}
		if err := json.Unmarshal(item, &identity); err != nil {
			problems = append(problems, fmt.Sprintf("identities[%d]: %v", i, explain(err)))
			continue
		}
		if err := checkAccount(identity.Namespace, identity.ServiceAccount); err != nil {
			problems = append(problems, fmt.Sprintf("identities[%d]: %v", i, err))
			continue
		}
		found.listed[accountKey{identity.Namespace, identity.ServiceAccount}] = struct{}{}
	}
	return found, problems
}

// Len is the number of ServiceAccounts.
func (i *Identities) Len() int {
	if i == nil {
		return 0
	}
	return len(i.listed)
}

// has says whether a ServiceAccount is listed.
func (i *Identities) has(namespace, name string) bool {
	if i == nil {
		return false
	}
	_, ok := i.listed[accountKey{namespace, name}]
	return ok
}
