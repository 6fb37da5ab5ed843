package operator

import (
	"fmt"
	"slices"
	"strings"
	"unicode"

	"github.com/tabard-dev/tabard/internal/core/permission"
	"github.com/tabard-dev/tabard/internal/core/rolerequest"
)

// readme is the page for whoever owns the account. What the operator's author wrote stands in code
// spans of one line, where Markdown means nothing.
func readme(r rolerequest.Request, files []File) string {
	var out strings.Builder
	say := func(format string, args ...any) { fmt.Fprintf(&out, format+"\n", args...) }
	p := r.Permissions
	what := "role"
	if r.Cloud() != permission.AWS {
		what = "cloud identity"
	}
	say("# A %s for the operator %s\n", what, code(p.Package))
	say("The cluster %s shall run the operator %s%s in namespace %s.", code(r.Cluster), code(p.Package), version(p.Version), code(r.Namespace))
	say("It calls the cloud by a %s, which its pods become by short-lived tokens of the cluster. No key is", what)
	say("stored anywhere. You own the cloud account: please make it, or say what should be different.\n")
	say("## What it asks for\n")
	for _, s := range p.Sentences() {
		if s.Text == "" {
			continue
		}
		mark := ""
		if len(s.Marks) > 0 {
			mark = "**Sensitive**: "
		}
		say("- %s%s", mark, code(s.Text))
		for _, why := range s.Marks {
			say("  - %s", code(why))
		}
	}
	say("\nThis is what its author declares (%s of %s).\n", code(string(p.Source.Kind)), code(p.Source.Ref))
	say("## Who becomes it\n")
	for _, subject := range r.Subjects() {
		say("- %s", code(subject))
	}
	say("\nTheir tokens are for %s and come from %s.", codes(r.Audiences()), code(r.Issuer))
	if r.Role.Boundary != "" {
		say("The role gets the permissions boundary %s.", code(r.Role.Boundary))
	}
	if r.Cloud() == permission.AWS {
		steps(say, r, files)
	} else {
		otherSteps(say, r, files)
	}
	return out.String()
}

func version(text string) string {
	if text == "" {
		return ""
	}
	return " " + code(text)
}

// steps are what to do, and what to send back.
func steps(say func(string, ...any), r rolerequest.Request, files []File) {
	say("\n## What to do\n")
	if r.Account == "" {
		say("The account is not known to whoever asks, so there is no script. Either tell them its number, and get")
		say("this hand-off anew with a script, Terraform and a CloudFormation template. Or make the role by hand:\n")
		say("1. Check that the account has an IAM OIDC provider for %s, which knows the audience %s.", code(r.Issuer), codes(r.Audiences()))
		say("2. Write your account in place of %s in %s: that is the role's trust policy.", code(accountPlaceholder), code("trust-policy.json.template"))
		say("3. Make the role %s at the path %s with it, and with the policies in %s.", code(r.Role.Name), code(r.RolePath()), policyFiles(files))
	} else {
		say("Read what is asked for above. Then use **one** of these, in account %s:\n", code(r.Account))
		say("- %s: the AWS command line. It may be run again, and changes no role that it did not make.", code("sh aws.sh"))
		say("- %s: a Terraform module. Its output %s is the role.", code("main.tf"), code("role_arn"))
		say("- %s: a CloudFormation template. Its output %s is the role.\n", code("cloudformation.yaml"), code("RoleArn"))
		say("%s and %s are the same documents for any other tool. The account", code("trust-policy.json"), policyFiles(files))
		say("needs the OIDC provider %s,", code(r.ProviderARN()))
		say("which knows the audience %s. `aws.sh` checks that before it makes anything.", codes(r.Audiences()))
	}
	say("\n## What to send back\n")
	say("The ARN of the role. It is no secret. Whoever asked types, with this directory:\n")
	arn := "arn:aws:iam::ACCOUNT:role/NAME"
	if r.Account != "" {
		arn = r.ARN("role" + r.RolePath() + r.Role.Name)
	}
	say("```sh\ntabard operators check --request . --role-arn %s\n```", arn)
}

// otherSteps are those in Azure and Google Cloud.
func otherSteps(say func(string, ...any), r rolerequest.Request, files []File) {
	script, back, clouds := azureScript, "the client id, the tenant id and the subscription id, which the script prints", "Azure"
	if r.Cloud() == permission.GCP {
		script, back, clouds = googleScript, "the e-mail of the service account and the audience, which the script prints", "Google Cloud"
	}
	say("\n## What to do\n")
	if slices.ContainsFunc(files, func(f File) bool { return f.Name == script }) {
		say("Read what is asked for above. Then use **one** of these:\n")
		say("- %s: the command line of %s. It may be run again, and changes nothing that it did not make.", code("sh "+script), clouds)
		say("- %s: a Terraform module.\n", code(module))
		say("Tabard does not simulate %s: neither was tried against it.", clouds)
	} else {
		say("It is not known to whoever asks where in %s the identity is to be made, so there is no script. Tell them,", clouds)
		say("and get this hand-off anew with a script and Terraform, or make the identity by hand from the above.")
	}
	say("\n## What to send back\n")
	say("%s%s. None of that is secret.", strings.ToUpper(back[:1]), back[1:])
}

// policyFiles names the files of the permission policies.
func policyFiles(files []File) string {
	var out []string
	for _, f := range files {
		if strings.HasPrefix(f.Name, "permission-policy") {
			out = append(out, f.Name)
		}
	}
	return codes(out)
}

func codes(all []string) string {
	var out []string
	for _, one := range all {
		out = append(out, code(one))
	}
	return strings.Join(out, " and ")
}

// code is a text as a code span of Markdown (CommonMark 0.31, 6.1): the fence is longer than any
// run of backticks in it, and what controls a line or a terminal is escaped.
func code(text string) string {
	text = strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return unicode.ReplacementChar
		}
		return r
	}, text)
	run, longest := 0, 0
	for _, r := range text {
		if run++; r != '`' {
			run = 0
		}
		longest = max(longest, run)
	}
	fence := strings.Repeat("`", longest+1)
	pad := ""
	if longest > 0 || strings.TrimSpace(text) != text || text == "" {
		pad = " "
	}
	return fence + pad + text + pad + fence
}
