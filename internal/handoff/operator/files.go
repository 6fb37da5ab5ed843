// Package operator writes what is handed to whoever owns the cloud account, so that an operator of
// a catalogue gets its role: a page for people, the request as a document, and the role as a
// script, as Terraform and as a template. It is plain data in and files out, the same bytes each
// time. Nothing in them is secret.
package operator

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/tabard-dev/tabard/iampolicy"
	"github.com/tabard-dev/tabard/internal/core/permission"
	"github.com/tabard-dev/tabard/internal/core/rolerequest"
	"github.com/tabard-dev/tabard/internal/handoff"
)

// File is one file of a hand-off.
type File struct {
	Name string
	Text string
}

// The names of files that programs look for.
const (
	RequestFile = "request.json"
	ReadmeFile  = "README.md"
)

// OwnerTag is on a role that was handed over. Its value is CLUSTER/NAMESPACE/PACKAGE. The script
// changes no role of that name without it.
const OwnerTag = "tabard.dev/operator"

// accountPlaceholder stands in a trust policy whose account is not known. The file is a template.
const accountPlaceholder = "<ACCOUNT_ID>"

// Where is where identities of clouds beside AWS are made; nil is not known.
type Where struct {
	Azure  *handoff.AzurePlace
	Google *handoff.GooglePlace
}

// Files are those of a hand-off, README.md first.
func Files(r rolerequest.Request, where Where) ([]File, error) {
	request, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return nil, err
	}
	out := []File{{RequestFile, string(request) + "\n"}}
	if r.Cloud() != permission.AWS {
		more, err := otherCloud(r, where)
		if err != nil {
			return nil, err
		}
		out = append(out, more...)
		return append([]File{{ReadmeFile, readme(r, out)}}, out...), nil
	}
	trust := File{"trust-policy.json", Trust(r)}
	if r.Account == "" {
		trust.Name += ".template"
	}
	out = append(out, trust)
	documents := r.Permissions.Policy().Documents
	for i, document := range documents {
		name := "permission-policy.json"
		if len(documents) > 1 {
			name = fmt.Sprintf("permission-policy-%d.json", i+1)
		}
		out = append(out, File{name, strings.TrimRight(document, "\n") + "\n"})
	}
	if r.Account != "" {
		work := workOf(r)
		for _, form := range []struct {
			form handoff.Form
			name string
		}{{handoff.AWS, "aws.sh"}, {handoff.Terraform, "main.tf"}, {handoff.CloudFormation, "cloudformation.yaml"}} {
			text, err := work.Text(form.form)
			if err != nil {
				return nil, fmt.Errorf("%s cannot be written: %w", form.name, err)
			}
			out = append(out, File{form.name, text})
		}
	}
	return append([]File{{ReadmeFile, readme(r, out)}}, out...), nil
}

// Trust is the trust policy of the role: for each audience a statement with all subjects. Without
// an account it has a placeholder in its place.
func Trust(r rolerequest.Request) string {
	provider := r.ProviderARN()
	if provider == "" {
		r.Account = accountPlaceholder
		provider = r.ProviderARN()
	}
	var document iampolicy.Document
	for _, audience := range r.Audiences() {
		document = append(document, iampolicy.WebIdentity(provider, audience, r.Subjects()...))
	}
	// Whoever reads the file sees < and >, not their escapes.
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	var plain any
	if json.Unmarshal([]byte(document.String()), &plain) != nil || encoder.Encode(plain) != nil {
		return document.String()
	}
	return out.String()
}

// workOf is the role for the forms of handoff.
func workOf(r rolerequest.Request) handoff.Work {
	p := r.Permissions
	role := handoff.Role{
		Name: r.Role.Name, Path: r.RolePath(), Boundary: r.Role.Boundary, Tags: handoff.TagsOf(r.Role.Tags), Trust: handoff.Policy(Trust(r)),
		Description: fmt.Sprintf("For the operator %s in %s of %s", p.Package, r.Namespace, r.Cluster),
	}
	work := handoff.Work{
		About: []string{
			fmt.Sprintf("The role of the operator %s in namespace %s of cluster %s, in account %s. README.md tells who asks for what.", p.Package, r.Namespace, r.Cluster, r.Account),
			"It may be run again: what is there is changed only where it has this owner's tag.",
		},
		Owner:  handoff.Tag{Key: OwnerTag, Value: owner(r)},
		Needed: []handoff.Provider{{ARN: r.ProviderARN(), URL: r.Issuer, Audiences: r.Audiences()}},
	}
	switch documents := p.Policy().Documents; {
	case len(documents) == 1:
		role.PolicyName, role.Policy = "operator", handoff.Policy(documents[0])
	default:
		for i, document := range documents {
			name := fmt.Sprintf("%s-%d", r.Role.Name, i+1)
			policy := handoff.ManagedPolicy{ARN: r.ARN("policy" + r.RolePath() + name), Name: name, Path: r.RolePath(), Description: role.Description, Document: handoff.Policy(document)}
			work.Policies, role.Attached = append(work.Policies, policy), append(role.Attached, policy.ARN)
		}
	}
	work.Roles = []handoff.Role{role}
	return work
}

// owner is the value of OwnerTag.
func owner(r rolerequest.Request) string {
	const most = 256 // https://docs.aws.amazon.com/IAM/latest/UserGuide/id_tags.html
	value := r.Cluster + "/" + r.Namespace + "/" + r.Permissions.Package
	return value[:min(len(value), most)]
}
