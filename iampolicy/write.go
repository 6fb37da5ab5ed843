package iampolicy

import (
	"bytes"
	"encoding/json"
	"strings"
)

// Document is a policy to be written: what Parse reads, for programs that make one. It
// has the elements that allow and refuse what is named; nothing is checked here.
type Document []Statement

// Statement is one statement of a Document.
type Statement struct {
	Sid string
	// Deny makes it one that denies.
	Deny bool
	// Principals are who is meant, by type; nil in the policy of an identity. TypeAny
	// needs no value.
	Principals map[PrincipalType][]string
	// Actions and Resources are as AWS writes them. A trust policy has no resources.
	Actions, Resources []string
	// Conditions are the values by operator and key.
	Conditions map[string]map[string][]string
}

// WebIdentity is the statement of a trust policy that lets tokens of an OIDC provider
// in which were made for an audience and for one of the subjects, such as
// system:serviceaccount:NAMESPACE:NAME.
func WebIdentity(providerARN, audience string, subjects ...string) Statement {
	_, issuer, _ := strings.Cut(providerARN, ":oidc-provider/")
	return Statement{
		Principals: map[PrincipalType][]string{TypeFederated: {providerARN}},
		Actions:    []string{"sts:AssumeRoleWithWebIdentity"},
		Conditions: map[string]map[string][]string{"StringEquals": {issuer + ":aud": {audience}, issuer + ":sub": subjects}},
	}
}

// String is the document in JSON, indented, with its elements in a fixed order.
func (d Document) String() string { return string(encode(d, "  ")) }

// MarshalJSON is the document in the policy language's version 2012-10-17.
func (d Document) MarshalJSON() ([]byte, error) {
	return encode(struct{ Version, Statement any }{newVersion, append([]Statement{}, d...)}, ""), nil
}

// String is the statement in JSON, indented.
func (s Statement) String() string { return string(encode(s, "  ")) }

// MarshalJSON is the statement with one value of a principal or of a condition as a
// text, several as a list, and with actions and resources as lists.
func (s Statement) MarshalJSON() ([]byte, error) {
	effect := "Allow"
	if s.Deny {
		effect = "Deny"
	}
	conditions := map[string]map[string]any{}
	for operator, keys := range s.Conditions {
		conditions[operator] = each(keys)
	}
	var principals any
	if _, any := s.Principals[TypeAny]; any {
		principals = TypeAny
	} else if len(s.Principals) > 0 {
		principals = each(s.Principals)
	}
	return encode(struct {
		Sid       string `json:",omitempty"`
		Effect    string
		Principal any                       `json:",omitempty"`
		Action    []string                  `json:",omitempty"`
		Resource  []string                  `json:",omitempty"`
		Condition map[string]map[string]any `json:",omitempty"`
	}{s.Sid, effect, principals, s.Actions, s.Resources, conditions}, ""), nil
}

// each is the values by name, one by itself and not as a list.
func each[K ~string](values map[K][]string) map[K]any {
	out := make(map[K]any, len(values))
	for name, list := range values {
		if out[name] = append([]string{}, list...); len(list) == 1 {
			out[name] = list[0]
		}
	}
	return out
}

// encode leaves <, > and & as they are: policies are for people too.
func encode(value any, indent string) []byte {
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", indent)
	if err := encoder.Encode(value); err != nil {
		panic("iampolicy: texts and lists do not encode: " + err.Error())
	}
	return bytes.TrimSuffix(out.Bytes(), []byte("\n"))
}
