package issuer

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/tabard-dev/tabard/api/identity/v1alpha1"
	"github.com/tabard-dev/tabard/iampolicy"
)

// sidPrefix begins the ID of our statement in bucket policies.
const sidPrefix = "TabardPublicRead"

// statementID is the ID of one issuer's statement: several issuers may share a
// bucket under different prefixes.
func statementID(url string) string {
	sum := sha256.Sum256([]byte(url))
	return sidPrefix + hex.EncodeToString(sum[:5])
}

// PublicReadStatement is the one statement that lets anybody read exactly the
// two documents, as indented JSON for a person to add to a bucket's policy.
func PublicReadStatement(spec v1alpha1.OIDCIssuerSpec) string {
	return publicRead(spec).String()
}

// PublicReadPolicy is the policy of a bucket that holds nothing else.
func PublicReadPolicy(spec v1alpha1.OIDCIssuerSpec) string {
	return iampolicy.Document{publicRead(spec)}.String()
}

func publicRead(spec v1alpha1.OIDCIssuerSpec) iampolicy.Statement {
	return iampolicy.Statement{
		Sid:        statementID(spec.URL),
		Principals: map[iampolicy.PrincipalType][]string{iampolicy.TypeAny: nil},
		Actions:    []string{"s3:GetObject"},
		Resources:  documentARNs(spec.Publication.S3),
	}
}

// MergePolicy returns a bucket policy that holds our statement once. All else
// keeps its bytes and its order. It returns the very same bytes if the
// statement is there already.
func MergePolicy(policy []byte, spec v1alpha1.OIDCIssuerSpec) (string, error) {
	return editPolicy(policy, spec, true)
}

// UnmergePolicy returns a bucket policy without our statement; empty if nothing
// else was in it.
func UnmergePolicy(policy []byte, spec v1alpha1.OIDCIssuerSpec) (string, error) {
	return editPolicy(policy, spec, false)
}

func editPolicy(policy []byte, spec v1alpha1.OIDCIssuerSpec, keep bool) (string, error) {
	members, err := policyMembers(policy)
	if err != nil {
		return "", err
	}
	statements, err := statementList(members)
	if err != nil {
		return "", err
	}
	ours := publicRead(spec)
	out, seen, changed := make([]json.RawMessage, 0, len(statements)+1), false, false
	for _, raw := range statements {
		if sidOf(raw) != ours.Sid {
			out = append(out, raw)
			continue
		}
		right := keep && !seen && sameStatement(raw, ours)
		switch {
		case right:
			out = append(out, raw)
		case keep && !seen:
			out, changed = append(out, compact(ours)), true
		default:
			changed = true
		}
		seen = true
	}
	if keep && !seen {
		out, changed = append(out, compact(ours)), true
	}
	switch {
	case !changed:
		return string(policy), nil
	case len(out) == 0:
		return "", nil
	}
	return assemble(members, out), nil
}

// member is one top-level member of a policy, in its place.
type member struct {
	name string
	raw  json.RawMessage
}

// policyMembers splits a policy into its members; no policy is an empty one.
func policyMembers(policy []byte) ([]member, error) {
	if len(bytes.TrimSpace(policy)) == 0 {
		policy = compact(iampolicy.Document{})
	}
	var probe map[string]json.RawMessage
	if err := json.Unmarshal(policy, &probe); err != nil || probe == nil {
		return nil, errors.New("the bucket policy is no JSON object")
	}
	decoder := json.NewDecoder(bytes.NewReader(policy))
	if _, err := decoder.Token(); err != nil {
		return nil, fmt.Errorf("read the bucket policy: %w", err)
	}
	var out []member
	for decoder.More() {
		token, err := decoder.Token()
		if err != nil {
			return nil, fmt.Errorf("read the bucket policy: %w", err)
		}
		name, _ := token.(string)
		var raw json.RawMessage
		if err := decoder.Decode(&raw); err != nil {
			return nil, fmt.Errorf("read %q of the bucket policy: %w", name, err)
		}
		if slices.ContainsFunc(out, func(m member) bool { return m.name == name }) {
			return nil, fmt.Errorf("the bucket policy holds %q twice", name)
		}
		out = append(out, member{name, raw})
	}
	return out, nil
}

// statementList is the policy's statements: one object or a list of them.
func statementList(members []member) ([]json.RawMessage, error) {
	for _, m := range members {
		if m.name != "Statement" {
			continue
		}
		if raw := bytes.TrimSpace(m.raw); len(raw) > 0 && raw[0] == '{' {
			return []json.RawMessage{raw}, nil
		}
		var list []json.RawMessage
		if err := json.Unmarshal(m.raw, &list); err != nil || list == nil {
			return nil, errors.New("the bucket policy's Statement is neither an object nor a list")
		}
		for _, raw := range list {
			var object map[string]json.RawMessage
			if json.Unmarshal(raw, &object) != nil || object == nil {
				return nil, errors.New("the bucket policy's Statement holds something that is no object")
			}
		}
		return list, nil
	}
	return nil, errors.New("the bucket policy has no Statement")
}

// assemble writes the policy anew. Raw members are copied, since encoding them
// again would change their bytes.
func assemble(members []member, statements []json.RawMessage) string {
	var out bytes.Buffer
	for i, m := range members {
		out.WriteByte("{,"[min(i, 1)])
		out.Write(compact(m.name))
		out.WriteByte(':')
		if m.name != "Statement" {
			out.Write(m.raw)
			continue
		}
		out.WriteByte('[')
		out.Write(bytes.Join(rawBytes(statements), []byte(",")))
		out.WriteByte(']')
	}
	out.WriteByte('}')
	return out.String()
}

func rawBytes(list []json.RawMessage) [][]byte {
	out := make([][]byte, len(list))
	for i, raw := range list {
		out[i] = raw
	}
	return out
}

func sidOf(raw json.RawMessage) string {
	var fields map[string]json.RawMessage
	if json.Unmarshal(raw, &fields) != nil {
		return ""
	}
	return text(fields["Sid"])
}

// sameStatement compares by meaning: AWS may return a list of one as a string,
// "*" as {"AWS":"*"}, and the elements of a list in another order.
func sameStatement(raw json.RawMessage, want iampolicy.Statement) bool {
	var fields map[string]json.RawMessage
	if json.Unmarshal(raw, &fields) != nil || len(fields) != 5 {
		return false
	}
	return text(fields["Effect"]) == "Allow" && isAnybody(fields["Principal"]) &&
		slices.Equal(stringSet(fields["Action"]), stringSet(compact(want.Actions))) &&
		slices.Equal(stringSet(fields["Resource"]), stringSet(compact(want.Resources)))
}

func isAnybody(raw json.RawMessage) bool {
	if text(raw) == "*" {
		return true
	}
	var principal map[string]json.RawMessage
	if json.Unmarshal(raw, &principal) != nil || len(principal) != 1 {
		return false
	}
	return slices.Equal(stringSet(principal["AWS"]), []string{"*"})
}

// stringSet is a string or a list of strings, sorted; nil for anything else.
func stringSet(raw json.RawMessage) []string {
	if one := text(raw); one != "" {
		return []string{one}
	}
	var list []string
	if json.Unmarshal(raw, &list) != nil {
		return nil
	}
	slices.Sort(list)
	return slices.Compact(list)
}

// compact leaves <, > and & as they are: policies are for people too.
func compact(value any) json.RawMessage {
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(value); err != nil {
		panic("a plain value does not encode: " + err.Error())
	}
	return bytes.TrimSuffix(out.Bytes(), []byte("\n"))
}
