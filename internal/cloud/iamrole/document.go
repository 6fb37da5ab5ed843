package iamrole

import (
	"encoding/json"
	"net/url"
	"reflect"
	"strings"
)

// plain undoes the URL encoding of policy documents in IAM's answers (IAM API:
// GetRole, ListRoles, GetRolePolicy). What does not decode stays as it is.
func plain(document string) string {
	if decoded, err := url.PathUnescape(document); err == nil {
		return decoded
	}
	return document
}

// sameDocument says whether IAM's document is the wanted one, whatever its
// spaces and the order of its keys.
func sameDocument(got, want string) bool {
	var a, b any
	if json.Unmarshal([]byte(plain(got)), &a) != nil || json.Unmarshal([]byte(want), &b) != nil {
		return false
	}
	return reflect.DeepEqual(a, b)
}

// mentions says whether a trust policy names a provider, anywhere in it. It
// leans towards yes: a provider that a role still mentions must not be
// released, since its name could be taken by somebody else.
func mentions(document, providerARN string) bool {
	document = plain(document)
	var parsed any
	if json.Unmarshal([]byte(document), &parsed) != nil {
		return strings.Contains(document, providerARN)
	}
	return holds(parsed, providerARN)
}

func holds(value any, text string) bool {
	switch v := value.(type) {
	case string:
		return v == text
	case []any:
		for _, element := range v {
			if holds(element, text) {
				return true
			}
		}
	case map[string]any:
		for _, element := range v {
			if holds(element, text) {
				return true
			}
		}
	}
	return false
}
