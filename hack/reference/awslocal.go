package main

import (
	"cmp"
	"context"
	_ "embed"
	"fmt"
	"maps"
	"slices"
	"strings"
	"text/template"
	"unicode"

	"github.com/tabard-dev/tabard/awslocal"
)

// awsService is one service on the page of the local AWS.
type awsService struct {
	// name is that of signature scopes and of the SDK's package.
	name, title string
	// known are AWS's operations where the SDK's package is not among our
	// dependencies; nil: the SDK knows them.
	known []string
	// notes say what is worth knowing of an operation. One that the SDK does not
	// have by that name must have a note that says what it is.
	notes map[string]string
}

// awsServices are in the order of the page.
var awsServices = []awsService{
	{name: "sts", title: "AWS Security Token Service", notes: map[string]string{
		"AssumeRole":                "session policies, session tags, source identity, external ID; no MFA",
		"AssumeRoleWithWebIdentity": "unsigned; tokens are verified with the keys that their issuer publishes",
		"GetCallerIdentity":         "presigned too; no policy is asked, not even one that denies it",
	}},
	{name: "iam", title: "AWS Identity and Access Management", notes: map[string]string{
		"CreateAccessKey":               "the only one that shows a secret",
		"CreateOpenIDConnectProvider":   "takes URLs with a port, which AWS refuses",
		"CreateRole":                    "users and roles that the trust policy names must exist, and are kept by their unique IDs",
		"DeleteRolePermissionsBoundary": "succeeds where there is none",
		"DeleteUserPermissionsBoundary": "succeeds where there is none",
		"GetAccessKeyLastUsed":          "exact to the request; AWS is minutes behind",
		"ListAccountAliases":            "always empty",
		"ListInstanceProfilesForRole":   "always empty: there are no instance profiles",
		"ListOpenIDConnectProviders":    "not paged, as AWS's",
		"ListPolicies":                  "the account's own, and the three of AWS's that there are",
	}},
	{name: "s3", title: "Amazon S3", notes: map[string]string{
		"GetAccountPublicAccessBlock":    "S3 Control's GetPublicAccessBlock, of the caller's own account",
		"PutAccountPublicAccessBlock":    "S3 Control's PutPublicAccessBlock; it adds to what each bucket says",
		"DeleteAccountPublicAccessBlock": "S3 Control's DeletePublicAccessBlock",
		"CopyObject":                     "from any bucket of the server; up to 64 MiB",
		"CreateBucket":                   "all public access blocked, access control lists off",
		"DeleteObjects":                  "each object is judged by itself",
		"GetObject":                      "presigned too; ranges, conditions, checksums",
		"HeadObject":                     "presigned too",
		"PutBucketPolicy":                "refused where the policy is public and Block Public Access is on",
		"PutObject":                      "presigned too; conditions, checksums, chunked uploads; up to 64 MiB",
	}},
	{name: "ec2", title: "Amazon EC2", notes: map[string]string{
		"DescribeInstanceTypes": "a few facts of each type: vCPUs, memory, architectures, GPUs, Neuron devices; `DryRun` too",
		"DescribeRegions":       "those that the account has disabled are `not-opted-in`; all filters; `DryRun` too",
	}},
	{name: "eks", title: "Amazon EKS", notes: map[string]string{
		"AssociateAccessPolicy":        "changes the scope of a policy that is associated already",
		"CreateAccessEntry":            "the role or user must exist, and is kept by its unique ID",
		"CreateCluster":                "active at once; the role must trust EKS; there is nothing behind it",
		"CreatePodIdentityAssociation": "target roles and session policies too",
		"DeleteCluster":                "gone at once, with its access entries and associations",
		"ListAccessPolicies":           "AWS's own, by name",
		"TagResource":                  "clusters, access entries and pod identity associations",
		"UpdatePodIdentityAssociation": "an empty target role or policy takes it away",
	}},
	{name: "eks-auth", title: "Amazon EKS Auth", known: []string{"AssumeRoleForPodIdentity"}, notes: map[string]string{
		"AssumeRoleForPodIdentity": "asked by nodes, for their pods; tokens are verified with the keys of their cluster; six hours",
	}},
}

// manyMissing is how many operations may be missing before the page counts them
// instead of naming them.
const manyMissing = 300

// awsSection is a service as the page shows it.
type awsSection struct {
	Name, Title string
	Rows        []awsRow
	// Of is how many operations AWS has, Missing those that are not played.
	Of      int
	Missing []string
	// Groups counts the missing ones where they are too many to name.
	Groups string
}

type awsRow struct{ Operation, Note string }

//go:embed awslocal.tmpl
var awslocalTemplate string

// awslocalPage is the reference of the local AWS: what there is, what is not,
// and what is different on purpose.
func awslocalPage(ctx context.Context) (string, error) {
	played := awslocal.Operations()
	var sections []awsSection
	for _, service := range awsServices {
		known, err := service.operations(ctx)
		if err != nil {
			return "", err
		}
		section, err := service.section(played[service.name], known)
		if err != nil {
			return "", err
		}
		sections = append(sections, section)
		delete(played, service.name)
	}
	if len(played) > 0 {
		return "", fmt.Errorf("awslocal plays %v, which are no rows of awsServices", slices.Sorted(maps.Keys(played)))
	}
	page, err := template.New("awslocal").Parse(awslocalTemplate)
	if err != nil {
		return "", err
	}
	var b strings.Builder
	err = page.Execute(&b, sections)
	return b.String(), err
}

// operations are all that AWS has.
func (s awsService) operations(ctx context.Context) ([]string, error) {
	if s.known != nil {
		return s.known, nil
	}
	return sdkOperations(ctx, s.name)
}

// section compares the operations that are played with those that AWS has.
func (s awsService) section(played, known []string) (awsSection, error) {
	out := awsSection{Name: s.name, Title: s.title, Of: len(known)}
	for _, operation := range played {
		note, noted := s.notes[operation]
		if !noted && !slices.Contains(known, operation) {
			return out, fmt.Errorf("the SDK's %s has no operation %s: a note must say what it is", s.name, operation)
		}
		out.Rows = append(out.Rows, awsRow{operation, note})
	}
	for operation := range s.notes {
		if !slices.Contains(played, operation) {
			return out, fmt.Errorf("there is a note on %s of %s, which is not played", operation, s.name)
		}
	}
	out.Missing = slices.DeleteFunc(slices.Clone(known), func(operation string) bool { return slices.Contains(played, operation) })
	if len(out.Missing) > manyMissing {
		out.Groups = groups(out.Missing)
	}
	return out, nil
}

// groups counts operations by their first word, the most frequent first.
func groups(operations []string) string {
	const shown = 12
	count := map[string]int{}
	for _, operation := range operations {
		count[firstWord(operation)]++
	}
	words := slices.SortedFunc(maps.Keys(count), func(a, b string) int {
		return cmp.Or(cmp.Compare(count[b], count[a]), strings.Compare(a, b))
	})
	others := 0
	var parts []string
	for i, word := range words {
		if i >= shown {
			others += count[word]
			continue
		}
		parts = append(parts, fmt.Sprintf("%d %s…", count[word], word))
	}
	if others > 0 {
		parts = append(parts, fmt.Sprintf("%d others", others))
	}
	return strings.Join(parts, ", ")
}

// firstWord is the verb of an operation's name, which begins in upper case.
func firstWord(operation string) string {
	if end := strings.IndexFunc(operation[1:], unicode.IsUpper); end >= 0 {
		return operation[:end+1]
	}
	return operation
}
