package handoff

import (
	"fmt"
	"strings"

	"github.com/tabard-dev/tabard/internal/core/line"
)

// shell is a script of calls of the AWS command line, which may be run again. What is
// there already and lacks the owner's tag ends it.
func shell(w Work) (string, error) {
	s := &script{owner: w.Owner}
	s.WriteString("#!/bin/sh\n" + comment(w.About) + `set -eu

# owned ends the script for a thing that is there and belongs to somebody else.
owned() {
  test "$2" = ` + line.Quoted(w.Owner.Value) + ` && return
  printf '%s is there and is not tagged %s=%s: it stays as it is\n' "$1" ` + line.Quoted(w.Owner.Key) + " " + line.Quoted(w.Owner.Value) + ` >&2
  exit 1
}
`)
	for _, bucket := range w.Buckets {
		s.bucket(w, bucket)
	}
	for _, provider := range w.Providers {
		s.provider(w, provider)
	}
	for _, provider := range w.Needed {
		s.needs(provider)
	}
	for _, policy := range w.Policies {
		s.policy(w, policy)
	}
	for _, role := range w.Roles {
		s.role(w, role)
	}
	for _, entry := range w.Entries {
		s.entry(w, entry)
	}
	return s.String(), nil
}

type script struct {
	strings.Builder
	owner Tag
}

// in is the input of a call.
type in = map[string]any

// call writes one call. All of its input is JSON: an option's value that begins with
// file:// or http:// would be read from there.
func call(operation string, input in, options ...string) string {
	out := "aws " + operation + " --cli-input-json " + line.Quoted(encoded(input))
	for _, option := range options {
		out += " " + option
	}
	return out
}

// document is an option whose value is a policy; it begins with a brace.
func document(option string, policy Policy) string {
	return option + " " + line.Quoted(encoded(policy))
}

func region(name string) string { return "--region " + line.Quoted(name) }

// unless makes a thing that is not there; look is the call that finds it and says its
// owner. One that is there is changed if it is the owner's.
func (s *script) unless(what, look string, create, change []string) {
	fmt.Fprintf(s, "\n%sif found=$(%s --output text 2>/dev/null); then\n  owned %s \"$found\"\n", comment([]string{what}), look, line.Quoted(what))
	for _, line := range change {
		s.WriteString("  " + line + "\n")
	}
	s.WriteString("else\n")
	for _, line := range create {
		s.WriteString("  " + line + "\n")
	}
	s.WriteString("fi\n")
}

// query finds the owner's tag in a list of tags.
func (s *script) query(list string) string {
	return "--query " + line.Quoted(list+"[?Key=='"+s.owner.Key+"'].Value | [0]")
}

func (s *script) bucket(w Work, b Bucket) {
	name, at := in{"Bucket": b.Name}, region(b.Region)
	create := in{"Bucket": b.Name}
	if b.Region != "us-east-1" { // the one region that must not be named
		create["CreateBucketConfiguration"] = in{"LocationConstraint": b.Region}
	}
	fmt.Fprintf(s, "\n%sif %s >/dev/null 2>&1; then\n  owned %s \"$(%s --output text)\"\nelse\n  %s\n  %s\nfi\n",
		comment([]string{"the bucket " + b.Name}),
		call("s3api head-bucket", name, at), line.Quoted("the bucket "+b.Name),
		call("s3api get-bucket-tagging", name, at, s.query("TagSet")),
		call("s3api create-bucket", create, at),
		call("s3api put-bucket-tagging", in{"Bucket": b.Name, "Tagging": in{"TagSet": w.tags()}}, at))
	s.WriteString(call("s3api put-public-access-block", in{"Bucket": b.Name, "PublicAccessBlockConfiguration": access(b)}, at) + "\n")
	if b.Policy != "" { // statements of others stay
		s.WriteString(call("s3api get-bucket-policy", name, at) + " >/dev/null 2>&1 || " +
			call("s3api put-bucket-policy", name, at, document("--policy", b.Policy)) + "\n")
	}
}

// access are the four switches of a bucket's public access block.
func access(b Bucket) in {
	return in{
		"BlockPublicAcls": true, "IgnorePublicAcls": true,
		"BlockPublicPolicy": !b.AllowPublicPolicy, "RestrictPublicBuckets": !b.AllowPublicPolicy,
	}
}

func (s *script) provider(w Work, p Provider) {
	var change []string
	for _, audience := range p.Audiences {
		change = append(change, call("iam add-client-id-to-open-id-connect-provider", in{"OpenIDConnectProviderArn": p.ARN, "ClientID": audience}))
	}
	s.unless("the provider "+p.ARN, call("iam get-open-id-connect-provider", in{"OpenIDConnectProviderArn": p.ARN}, s.query("Tags")),
		[]string{call("iam create-open-id-connect-provider", in{"Url": p.URL, "ClientIDList": append([]string{}, p.Audiences...), "Tags": w.tags()})}, change)
}

// needs ends the script where a provider is not there, or does not know an audience.
func (s *script) needs(p Provider) {
	look := call("iam get-open-id-connect-provider", in{"OpenIDConnectProviderArn": p.ARN}, "--query ClientIDList --output text")
	fmt.Fprintf(s, "\n%sif ! audiences=$(%s); then\n  printf '%%s is not there, or cannot be read: nothing was made\\n' %s >&2\n  exit 1\nfi\n",
		comment([]string{"the provider " + p.ARN}), look, line.Quoted("the provider "+p.ARN))
	for _, audience := range p.Audiences {
		fmt.Fprintf(s, "if ! printf '%%s' \"$audiences\" | tr '\\t' '\\n' | grep -Fqx -e %s; then\n  printf '%%s does not know the audience %%s: add it by aws iam add-client-id-to-open-id-connect-provider\\n' %s %s >&2\n  exit 1\nfi\n",
			line.Quoted(audience), line.Quoted("the provider "+p.ARN), line.Quoted(audience))
	}
}

// policy makes a managed policy, or gives it a new default version; of five versions,
// which is all that one may have, the oldest that is not the default goes first.
func (s *script) policy(w Work, p ManagedPolicy) {
	itself := in{"PolicyArn": p.ARN}
	create := in{"PolicyName": p.Name, "Tags": w.tags()}
	for key, value := range map[string]string{"Path": p.Path, "Description": p.Description} {
		if value != "" {
			create[key] = value
		}
	}
	s.unless("the policy "+p.ARN, call("iam get-policy", itself, s.query("Policy.Tags")),
		[]string{call("iam create-policy", create, document("--policy-document", p.Document))},
		[]string{
			"old=$(" + call("iam list-policy-versions", itself, "--query", line.Quoted("Versions[?!IsDefaultVersion].VersionId | [3]"), "--output text") + ")",
			"case $old in v*) " + call("iam delete-policy-version", itself, `--version-id "$old"`) + ";; esac",
			call("iam create-policy-version", itself, "--set-as-default", document("--policy-document", p.Document)),
		})
}

func (s *script) role(w Work, r Role) {
	name := in{"RoleName": r.Name}
	create := in{"RoleName": r.Name, "Tags": w.tags(r.Tags...)}
	for key, value := range map[string]string{"Path": r.Path, "Description": r.Description, "PermissionsBoundary": r.Boundary} {
		if value != "" {
			create[key] = value
		}
	}
	change := []string{call("iam update-assume-role-policy", name, document("--policy-document", r.Trust))}
	if r.Boundary != "" {
		change = append(change, call("iam put-role-permissions-boundary", in{"RoleName": r.Name, "PermissionsBoundary": r.Boundary}))
	}
	if len(r.Tags) > 0 {
		change = append(change, call("iam tag-role", in{"RoleName": r.Name, "Tags": w.tags(r.Tags...)}))
	}
	s.unless("the role "+r.Name, call("iam get-role", name, s.query("Role.Tags")),
		[]string{call("iam create-role", create, document("--assume-role-policy-document", r.Trust))}, change)
	if r.Policy != "" {
		s.WriteString(call("iam put-role-policy", in{"RoleName": r.Name, "PolicyName": r.PolicyName}, document("--policy-document", r.Policy)) + "\n")
	}
	for _, arn := range r.Attached {
		s.WriteString(call("iam attach-role-policy", in{"RoleName": r.Name, "PolicyArn": arn}) + "\n")
	}
	s.WriteString(call("iam get-role", name, "--query Role.Arn --output text") + "\n")
}

func (s *script) entry(w Work, e AccessEntry) {
	which, at := in{"clusterName": e.Cluster, "principalArn": e.PrincipalARN}, region(e.Region)
	whole := in{"clusterName": e.Cluster, "principalArn": e.PrincipalARN, "kubernetesGroups": append([]string{}, e.Groups...)}
	if e.Username != "" {
		whole["username"] = e.Username
	}
	change := call("eks update-access-entry", whole, at)
	whole["tags"] = in{w.Owner.Key: w.Owner.Value}
	s.unless("the access entry of "+e.PrincipalARN+" in cluster "+e.Cluster,
		call("eks describe-access-entry", which, at, "--query "+line.Quoted(`accessEntry.tags."`+w.Owner.Key+`"`)),
		[]string{call("eks create-access-entry", whole, at)}, []string{change})
}
