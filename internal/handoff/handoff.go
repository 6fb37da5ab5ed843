// Package handoff writes what somebody with other rights is to make in AWS: buckets,
// OIDC providers, managed policies, roles with their policies, and access entries of EKS, as a script for
// the AWS command line, as Terraform, as a CloudFormation template, or as plain JSON; and
// in Azure and Google Cloud: identities, who may become them and what they may do, as a
// script or as Terraform. It is plain data in and text out. Every value comes back from each form as it went in,
// whatever is in it; what a form cannot say is refused.
package handoff

import (
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/tabard-dev/tabard/iampolicy"
)

// Form is a form in which work is handed over.
type Form string

// The forms.
const (
	AWS            Form = "aws"
	Terraform      Form = "terraform"
	CloudFormation Form = "cloudformation"
	JSON           Form = "json"
)

var writers = map[Form]func(Work) (string, error){
	AWS: shell, Terraform: terraform, CloudFormation: cloudFormation, JSON: plain,
}

// Forms are all forms, sorted.
func Forms() []string {
	var out []string
	for form := range writers {
		out = append(out, string(form))
	}
	slices.Sort(out)
	return out
}

// Work is what is to be made in one account, in this order.
type Work struct {
	// About says in sentences who asks for what, and what comes next.
	About []string `json:"about,omitempty"`
	// Owner is put on all that is made. The script changes nothing that is there
	// already without it.
	Owner     Tag        `json:"owner"`
	Buckets   []Bucket   `json:"buckets,omitempty"`
	Providers []Provider `json:"providers,omitempty"`
	// Needed are OIDC providers that have to be there already. The script ends where one is not.
	Needed   []Provider      `json:"neededProviders,omitempty"`
	Policies []ManagedPolicy `json:"policies,omitempty"`
	Roles    []Role          `json:"roles,omitempty"`
	Entries  []AccessEntry   `json:"accessEntries,omitempty"`
}

// Tag is one tag.
type Tag struct{ Key, Value string }

// TagsOf are tags by their keys, in the order of the keys.
func TagsOf(tags map[string]string) (out []Tag) {
	for _, key := range slices.Sorted(maps.Keys(tags)) {
		out = append(out, Tag{Key: key, Value: tags[key]})
	}
	return out
}

// Policy is a policy document in JSON.
type Policy string

// MarshalJSON is the document itself, and not a text of it.
func (p Policy) MarshalJSON() ([]byte, error) { return json.RawMessage(p).MarshalJSON() }

// Bucket is an S3 bucket.
type Bucket struct {
	Name   string `json:"name"`
	Region string `json:"region"`
	// AllowPublicPolicy lets its policy be public; public ACLs are blocked always.
	AllowPublicPolicy bool `json:"allowPublicPolicy"`
	// Policy is the bucket's policy, empty for none.
	Policy Policy `json:"policy,omitempty"`
}

// Provider is an IAM OIDC provider.
type Provider struct {
	// ARN is the one that it will have.
	ARN       string   `json:"arn"`
	URL       string   `json:"url"`
	Audiences []string `json:"audiences"`
}

// ManagedPolicy is a customer managed policy of IAM.
type ManagedPolicy struct {
	// ARN is the one that it will have.
	ARN  string `json:"arn"`
	Name string `json:"name"`
	// Path is empty for /.
	Path        string `json:"path,omitempty"`
	Description string `json:"description,omitempty"`
	Document    Policy `json:"document"`
}

// Role is an IAM role.
type Role struct {
	Name string `json:"name"`
	// Path is empty for /.
	Path        string `json:"path,omitempty"`
	Description string `json:"description,omitempty"`
	// Boundary is the ARN of its permissions boundary, empty for none.
	Boundary string `json:"permissionsBoundary,omitempty"`
	// Trust is who may become it.
	Trust Policy `json:"trust"`
	// PolicyName and Policy are its inline policy, both empty for none.
	PolicyName string `json:"policyName,omitempty"`
	Policy     Policy `json:"policy,omitempty"`
	// Attached are ARNs of managed policies, which may be some of Work.Policies.
	Attached []string `json:"attachedPolicies,omitempty"`
	// Tags are those beside the owner's.
	Tags []Tag `json:"tags,omitempty"`
}

// AccessEntry lets a role into an EKS cluster, as a user and as a member of groups.
type AccessEntry struct {
	Cluster      string   `json:"cluster"`
	Region       string   `json:"region"`
	PrincipalARN string   `json:"principalARN"`
	Username     string   `json:"username,omitempty"`
	Groups       []string `json:"groups,omitempty"`
}

// Text writes the work in a form. It is the same at every call.
func (w Work) Text(form Form) (string, error) {
	write, known := writers[form]
	if !known {
		return "", fmt.Errorf("there is no form %q, expected one of %s", form, strings.Join(Forms(), ", "))
	}
	if err := w.check(); err != nil {
		return "", err
	}
	return write(w)
}

// tagKey leaves out what has a meaning in a query of the AWS command line.
var tagKey = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[\w.:/=+@-]{1,128}$`) })

// check refuses what no form can say.
func (w Work) check() error {
	if !tagKey().MatchString(w.Owner.Key) || w.Owner.Value == "" {
		return fmt.Errorf("the owner's tag is %q=%q, expected a key of letters, digits and _.:/=+@- and a value", w.Owner.Key, w.Owner.Value)
	}
	policies := map[string]Policy{}
	for _, bucket := range w.Buckets {
		policies["the policy of bucket "+bucket.Name] = bucket.Policy
	}
	for _, policy := range w.Policies {
		policies["the policy "+policy.Name] = policy.Document
		if policy.Document == "" {
			return fmt.Errorf("the policy %q has no document", policy.Name)
		}
	}
	for _, role := range w.Roles {
		policies["the trust policy of role "+role.Name] = role.Trust
		policies["the policy of role "+role.Name] = role.Policy
		if role.Trust == "" || (role.PolicyName == "") != (role.Policy == "") {
			return fmt.Errorf("the role %q has no trust policy, or a policy without a name, or a name without a policy", role.Name)
		}
	}
	for what, policy := range policies {
		if policy == "" {
			continue
		}
		if _, err := iampolicy.Parse([]byte(policy)); err != nil {
			return fmt.Errorf("%s is none: %w", what, err)
		}
	}
	for _, text := range w.texts() {
		if !utf8.ValidString(text) || strings.Contains(text, "\x00") {
			return fmt.Errorf("%q is no text of UTF-8, or holds a zero byte: no form can say it", text)
		}
	}
	return nil
}

// texts are all values.
func (w Work) texts() []string {
	out := append([]string{w.Owner.Value}, w.About...)
	for _, b := range w.Buckets {
		out = append(out, b.Name, b.Region, string(b.Policy))
	}
	for _, p := range slices.Concat(w.Providers, w.Needed) {
		out = append(append(out, p.ARN, p.URL), p.Audiences...)
	}
	for _, p := range w.Policies {
		out = append(out, p.ARN, p.Name, p.Path, p.Description, string(p.Document))
	}
	for _, r := range w.Roles {
		out = append(append(out, r.Name, r.Path, r.Description, r.Boundary, string(r.Trust), r.PolicyName, string(r.Policy)), r.Attached...)
		for _, tag := range r.Tags {
			out = append(out, tag.Key, tag.Value)
		}
	}
	for _, e := range w.Entries {
		out = append(append(out, e.Cluster, e.Region, e.PrincipalARN, e.Username), e.Groups...)
	}
	return out
}

// tags are the owner's and others.
func (w Work) tags(others ...Tag) []Tag { return append([]Tag{w.Owner}, others...) }
