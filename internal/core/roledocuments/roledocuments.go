// Package roledocuments reads the policies of a role from what the AWS command line printed about
// it, for people who may not read the account themselves. It does no I/O.
package roledocuments

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"path"
	"slices"
	"strings"

	"github.com/tabard-dev/tabard/internal/core/sufficiency"
)

// File is one output of the AWS command line, in JSON.
type File struct {
	Name string
	Text []byte
}

// output is all that is looked at of any of the outputs.
type output struct {
	// Role is of "aws iam get-role".
	Role *role
	// PolicyName and PolicyDocument are of "get-role-policy", RoleName is of it, too.
	RoleName, PolicyName string
	PolicyDocument       json.RawMessage
	// PolicyNames is of "list-role-policies".
	PolicyNames *[]string
	// AttachedPolicies is of "list-attached-role-policies".
	AttachedPolicies *[]attached
	// PolicyVersion is of "get-policy-version", which does not say of which policy: the file's name
	// does.
	PolicyVersion *version
	// RoleDetailList and Policies are of "get-account-authorization-details".
	RoleDetailList *[]role
	Policies       []struct {
		Arn               string
		PolicyVersionList []version
	}
	// IsTruncated says that a list goes on in another output.
	IsTruncated bool
}

type role struct {
	Arn, RoleName            string
	AssumeRolePolicyDocument json.RawMessage
	PermissionsBoundary      *struct{ PermissionsBoundaryArn string }
	RolePolicyList           *[]struct {
		PolicyName     string
		PolicyDocument json.RawMessage
	}
	AttachedManagedPolicies *[]attached
}

type attached struct{ PolicyName, PolicyArn string }

type version struct {
	Document         json.RawMessage
	IsDefaultVersion bool
}

// reading collects what the outputs say of one role.
type reading struct {
	arn, name string
	seen      *role
	// inline and attached are nil where no output lists them.
	inline   *[]string
	attached *[]attached
	// texts are of inline policies by name, and managed of others by ARN; byName are managed ones by
	// the name of their file.
	texts, managed, byName map[string]string
	cut                    bool
	notes                  []string
}

// Read is what the outputs say of the role with an ARN. Outputs about other things are left out, and
// named by notes.
func Read(arn string, files []File) (documents sufficiency.Documents, notes []string, err error) {
	r := &reading{arn: arn, name: path.Base(arn), texts: map[string]string{}, managed: map[string]string{}, byName: map[string]string{}}
	for _, f := range files {
		if err := r.file(f); err != nil {
			return sufficiency.Documents{}, nil, fmt.Errorf("%q: %w", f.Name, err)
		}
	}
	if r.seen == nil {
		return sufficiency.Documents{}, r.notes, fmt.Errorf("none of the files is the output of aws iam get-role, or of get-account-authorization-details, for %s", arn)
	}
	return r.documents(), r.notes, nil
}

func (r *reading) file(f File) error {
	var out output
	if err := json.Unmarshal(f.Text, &out); err != nil {
		return errors.New("it is no output of aws iam in JSON")
	}
	r.cut = r.cut || out.IsTruncated
	used := false
	if out.Role != nil && out.Role.Arn == r.arn {
		r.seen, used = merged(r.seen, out.Role), true
	}
	if out.RoleDetailList != nil {
		for _, one := range *out.RoleDetailList {
			if one.Arn == r.arn {
				r.seen, used = merged(r.seen, &one), true
			}
		}
		for _, p := range out.Policies {
			for _, v := range p.PolicyVersionList {
				if v.IsDefaultVersion {
					r.managed[p.Arn] = text(v.Document)
				}
			}
		}
	}
	if known, ok := r.texts[out.PolicyName]; ok && out.RoleName == r.name && known != text(out.PolicyDocument) {
		return fmt.Errorf("it has another policy %q than a file before it", out.PolicyName)
	}
	if out.RoleName == r.name && out.PolicyName != "" {
		r.texts[out.PolicyName], used = text(out.PolicyDocument), true
	}
	if out.PolicyNames != nil {
		r.inline, used = joined(r.inline, *out.PolicyNames), true
	}
	if out.AttachedPolicies != nil {
		r.attached, used = joined(r.attached, *out.AttachedPolicies), true
	}
	if out.PolicyVersion != nil && !out.PolicyVersion.IsDefaultVersion {
		return errors.New("it is a version of a policy that is not the default one, which is not in force")
	}
	if out.PolicyVersion != nil {
		r.byName[strings.TrimSuffix(path.Base(f.Name), path.Ext(f.Name))], used = text(out.PolicyVersion.Document), true
	}
	if !used {
		r.notes = append(r.notes, fmt.Sprintf("%q says nothing of the role, and is left out", f.Name))
	}
	return nil
}

// merged prefers what says more: the details of an account have the policies.
func merged(a, b *role) *role {
	if a == nil || a.RolePolicyList == nil && b.RolePolicyList != nil {
		return b
	}
	return a
}

func joined[T any](a *[]T, b []T) *[]T {
	if a == nil {
		return &b
	}
	both := slices.Concat(*a, b)
	return &both
}

// text is a policy, which is an object, a text in JSON, or a text that is URL-encoded (IAM API
// Reference, GetRole).
func text(document json.RawMessage) string {
	var encoded string
	if json.Unmarshal(document, &encoded) != nil {
		return string(document)
	}
	if strings.HasPrefix(encoded, "%7B") || strings.HasPrefix(encoded, "%7b") {
		if decoded, err := url.PathUnescape(encoded); err == nil {
			return decoded
		}
	}
	return encoded
}

const notThere = "no file has it"

func (r *reading) documents() sufficiency.Documents {
	out := sufficiency.Documents{ARN: r.arn, Trust: sufficiency.Document{Name: "the trust policy", Text: text(r.seen.AssumeRolePolicyDocument)}}
	if len(r.seen.AssumeRolePolicyDocument) == 0 {
		out.Trust.Unread = notThere
	}
	if r.seen.RolePolicyList != nil {
		names := []string{}
		for _, p := range *r.seen.RolePolicyList {
			names = append(names, p.PolicyName)
			r.texts[p.PolicyName] = text(p.PolicyDocument)
		}
		r.inline = &names
	}
	if r.seen.AttachedManagedPolicies != nil {
		r.attached = r.seen.AttachedManagedPolicies
	}
	out.Policies = slices.Concat(r.inlines(), r.attachments())
	var unlisted []string
	if r.inline == nil {
		unlisted = append(unlisted, "no file lists the inline policies of the role (aws iam list-role-policies)")
	}
	if r.attached == nil {
		unlisted = append(unlisted, "no file lists the managed policies of the role (aws iam list-attached-role-policies)")
	}
	if r.cut {
		unlisted = append(unlisted, "an output is cut, and says IsTruncated")
	}
	out.Unlisted = strings.Join(unlisted, "; ")
	if b := r.seen.PermissionsBoundary; b != nil && b.PermissionsBoundaryArn != "" {
		boundary := r.policy(b.PermissionsBoundaryArn)
		boundary.Name = "the permissions boundary " + path.Base(b.PermissionsBoundaryArn)
		out.Boundary = &boundary
	}
	return out
}

// inlines are the inline policies: those that are listed, and those of which a file is there.
func (r *reading) inlines() []sufficiency.Document {
	var names []string
	for name := range r.texts {
		names = append(names, name)
	}
	if r.inline != nil {
		names = append(names, *r.inline...)
	}
	slices.Sort(names)
	var out []sufficiency.Document
	for _, name := range slices.Compact(names) {
		d := sufficiency.Document{Name: "the inline policy " + name}
		if known, ok := r.texts[name]; ok {
			d.Text = known
		} else {
			d.Unread = notThere + " (aws iam get-role-policy)"
		}
		out = append(out, d)
	}
	return out
}

func (r *reading) attachments() []sufficiency.Document {
	var out []sufficiency.Document
	if r.attached == nil {
		return nil
	}
	for _, a := range *r.attached {
		out = append(out, r.policy(a.PolicyArn))
	}
	return out
}

// policy is a managed policy.
func (r *reading) policy(arn string) sufficiency.Document {
	name := path.Base(arn)
	d := sufficiency.Document{Name: "the managed policy " + name}
	if known, ok := r.managed[arn]; ok {
		d.Text = known
	} else if known, ok := r.byName[name]; ok {
		d.Text = known
	} else {
		d.Unread = fmt.Sprintf("%s (aws iam get-policy-version --policy-arn %s --version-id VERSION > %s.json)", notThere, arn, name)
	}
	return d
}
