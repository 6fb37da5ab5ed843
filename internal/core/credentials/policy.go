package credentials

import (
	"bytes"
	"encoding/json"
	"slices"

	cloudv1 "github.com/tabard-dev/tabard/api/cloudcredential/v1"
	"github.com/tabard-dev/tabard/iampolicy"
)

// PermissionPolicy is the inline policy of a role: one statement for each entry, in
// order, and nothing else.
func PermissionPolicy(entries []cloudv1.StatementEntry) string {
	type statement struct {
		Effect    string
		Action    []string
		Resource  string
		Condition cloudv1.IAMPolicyCondition `json:",omitempty"`
	}
	statements := []statement{}
	for _, e := range entries {
		statements = append(statements, statement{e.Effect, append([]string{}, e.Action...), e.Resource, e.PolicyCondition})
	}
	return Encoded(struct {
		Version   string
		Statement []statement
	}{"2012-10-17", statements})
}

// trustPolicy has one statement for each issuer: tokens of the subjects, for any of the
// audiences.
func trustPolicy(issuers []trusted, subjects []string) string {
	var document iampolicy.Document
	for _, i := range issuers {
		statement := iampolicy.WebIdentity(i.ProviderARN, i.audiences[0], subjects...)
		for key := range statement.Conditions["StringEquals"] {
			if len(i.audiences) > 1 && key[len(key)-4:] == ":aud" {
				statement.Conditions["StringEquals"][key] = i.audiences
			}
		}
		document = append(document, statement)
	}
	return Encoded(document)
}

// closedTrust is the trust policy of a role that waits for its deletion: a ServiceAccount
// of the same name that somebody makes meanwhile does not become the role.
const closedTrust = `{"Version":"2012-10-17","Statement":[{"Effect":"Deny","Principal":{"AWS":"*"},"Action":"sts:AssumeRole"}]}`

func isClosed(role Role) bool { return canonical(role.Trust) == canonical(closedTrust) }

// Encoded is JSON in one line, with <, > and & as they are.
func Encoded(value any) string {
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(value); err != nil {
		panic("credentials: what was decoded from JSON does not encode: " + err.Error())
	}
	return string(bytes.TrimSpace(out.Bytes()))
}

// canonical is a policy document in a form in which documents of the same meaning are
// equal: without spaces, keys in order, and a list of one as the one. What is no JSON is
// itself.
func canonical(document string) string {
	var value any
	if err := json.Unmarshal([]byte(document), &value); err != nil {
		return document
	}
	return Encoded(plain(value))
}

// plain takes lists of one apart. The order of longer lists stays: that of statements
// and values has no meaning in AWS, but Tabard wrote them in one order.
func plain(value any) any {
	switch v := value.(type) {
	case []any:
		v = slices.Clone(v)
		for i := range v {
			v[i] = plain(v[i])
		}
		if len(v) == 1 {
			return v[0]
		}
		return v
	case map[string]any:
		for key := range v {
			v[key] = plain(v[key])
		}
	}
	return value
}
