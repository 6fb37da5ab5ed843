package handoff

import (
	"fmt"
	"slices"
	"strings"
	"unicode"
)

// terraform is a module of the AWS provider, with the ARNs of the roles as outputs.
func terraform(w Work) (string, error) {
	t := &module{}
	t.WriteString(comment(w.About))
	for i, b := range w.Buckets {
		name := numbered("bucket", "_", i)
		t.block("aws_s3_bucket", name, "bucket", literal(b.Name), "tags", tagMap(w.tags()), "", kept)
		itself := "aws_s3_bucket." + name + ".id"
		open := fmt.Sprint(!b.AllowPublicPolicy)
		t.block("aws_s3_bucket_public_access_block", name, "bucket", itself, "block_public_acls", "true", "ignore_public_acls", "true",
			"block_public_policy", open, "restrict_public_buckets", open)
		if b.Policy != "" {
			t.block("aws_s3_bucket_policy", name, "bucket", "aws_s3_bucket_public_access_block."+name+".bucket", "policy", heredoc(b.Policy))
		}
	}
	for i, p := range w.Providers {
		t.block("aws_iam_openid_connect_provider", numbered("provider", "_", i), "url", literal(p.URL), "client_id_list", list(p.Audiences), "tags", tagMap(w.tags()))
	}
	for i, p := range w.Policies {
		name := numbered("policy", "_", i)
		t.block("aws_iam_policy", name, "name", literal(p.Name), "path", optional(p.Path), "description", optional(p.Description),
			"policy", heredoc(p.Document), "tags", tagMap(w.tags()))
		fmt.Fprintf(t, "\noutput \"%s_arn\" {\n  value = aws_iam_policy.%s.arn\n}\n", name, name)
	}
	for i, r := range w.Roles {
		name := numbered("role", "_", i)
		t.block("aws_iam_role", name, "name", literal(r.Name), "path", optional(r.Path), "description", optional(r.Description),
			"permissions_boundary", optional(r.Boundary), "assume_role_policy", heredoc(r.Trust), "tags", tagMap(w.tags(r.Tags...)))
		if r.Policy != "" {
			t.block("aws_iam_role_policy", name, "name", literal(r.PolicyName), "role", "aws_iam_role."+name+".name", "policy", heredoc(r.Policy))
		}
		for k, arn := range r.Attached {
			of := literal(arn)
			if n := slices.IndexFunc(w.Policies, func(p ManagedPolicy) bool { return p.ARN == arn }); n >= 0 {
				of = "aws_iam_policy." + numbered("policy", "_", n) + ".arn"
			}
			t.block("aws_iam_role_policy_attachment", fmt.Sprintf("%s_%d", name, k+1), "role", "aws_iam_role."+name+".name", "policy_arn", of)
		}
		fmt.Fprintf(t, "\noutput \"%s_arn\" {\n  value = aws_iam_role.%s.arn\n}\n", name, name)
	}
	for i, e := range w.Entries {
		t.block("aws_eks_access_entry", numbered("entry", "_", i), "cluster_name", literal(e.Cluster), "principal_arn", literal(e.PrincipalARN),
			"user_name", optional(e.Username), "kubernetes_groups", list(e.Groups), "tags", tagMap(w.tags()))
	}
	return t.String(), nil
}

type module struct{ strings.Builder }

// kept is a block by which a bucket outlives the module: others could take its name.
const kept = "lifecycle {\n    prevent_destroy = true\n  }"

// block writes a resource; an attribute without a value is left out, and a value without
// a name is a block.
func (m *module) block(kind, name string, attributes ...string) {
	fmt.Fprintf(m, "\nresource %q %q {\n", kind, name)
	for i := 0; i < len(attributes); i += 2 {
		switch name, value := attributes[i], attributes[i+1]; {
		case value == "":
		case name == "":
			m.WriteString("  " + value + "\n")
		default:
			m.WriteString("  " + name + " = " + value + "\n")
		}
	}
	m.WriteString("}\n")
}

func optional(text string) string {
	if text == "" {
		return ""
	}
	return literal(text)
}

func list(texts []string) string {
	var out []string
	for _, text := range texts {
		out = append(out, literal(text))
	}
	return "[" + strings.Join(out, ", ") + "]"
}

func tagMap(tags []Tag) string {
	var out strings.Builder
	for _, tag := range tags {
		out.WriteString("    " + literal(tag.Key) + " = " + literal(tag.Value) + "\n")
	}
	return "{\n" + out.String() + "  }"
}

// heredoc is a policy as it is read by people. There are no escapes in it but those of
// templates, and no line of a document in JSON is its end.
func heredoc(policy Policy) string {
	return "<<-JSON\n    " + strings.ReplaceAll(templates.Replace(encoded(policy)), "\n", "\n    ") + "\n  JSON"
}

// templates writes what would begin an interpolation or a directive as itself
// (Terraform language: "Strings and Templates").
var templates = strings.NewReplacer("${", "$${", "%{", "%%{")

// literal is a text between quotation marks.
func literal(text string) string {
	var out strings.Builder
	for _, char := range templates.Replace(text) {
		switch {
		case char == '"' || char == '\\':
			out.WriteString(`\` + string(char))
		case unicode.IsPrint(char):
			out.WriteRune(char)
		case char > 0xffff:
			fmt.Fprintf(&out, `\U%08x`, char)
		default:
			fmt.Fprintf(&out, `\u%04x`, char)
		}
	}
	return `"` + out.String() + `"`
}
