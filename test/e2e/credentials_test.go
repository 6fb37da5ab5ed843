package e2e

import (
	"strings"
	"testing"
)

// listing tells what a request could leave behind.
const listing = `echo "--- what there is"
aws iam list-roles --query 'Roles[].[RoleName]' --output text
aws iam list-policies --scope Local --query 'Policies[].[PolicyName]' --output text
kubectl get credentialsgrants -o name
kubectl get serviceaccounts -A -o 'jsonpath={range .items[*]}{.metadata.namespace}/{.metadata.name} {.metadata.annotations}{"\n"}{end}' | grep -v reports/default
echo "--- end"
`

// TestCommandLineCredentialsPage types docs/credentials.md after the quickstart's first five
// steps, and sees that nothing is left of what it made but what it started from.
func TestCommandLineCredentialsPage(t *testing.T) {
	quickstart, _, _ := strings.Cut(readPage(t, "quickstart.md"), "\n## 6. ")
	page := readPage(t, "credentials.md")
	story, _, found := strings.Cut(page, "\n## Which boundary is a request's")
	if !found {
		t.Fatal("docs/credentials.md has no part on boundaries")
	}
	said := newReader(t).follow(quickstart + "\n```sh\n" + listing + "```\n" + story + story + "\n```sh\n" + listing + "```\n")
	for _, want := range []string{
		"assumed-role/lab-writer-", "is not authorized to perform: s3:PutObject", "inline policy everything was added", "BeyondCeiling",
	} {
		if !strings.Contains(said, want) {
			t.Errorf("the page's commands do not print %q", want)
		}
	}
	parts := strings.Split(said, "--- what there is\n")
	if len(parts) != 3 {
		t.Fatalf("there are %d listings, want 2", len(parts)-1)
	}
	before, _, _ := strings.Cut(parts[1], "--- end\n")
	after, _, _ := strings.Cut(parts[2], "--- end\n")
	for line := range strings.Lines(after) {
		if made := strings.Contains(line, "tabard-credentials") || strings.Contains(line, "tabard-boundary"); !made && !strings.Contains(before, line) {
			t.Errorf("left behind: %s", line)
		}
	}
	for line := range strings.Lines(before) {
		if !strings.Contains(after, line) {
			t.Errorf("gone: %s", line)
		}
	}
}
