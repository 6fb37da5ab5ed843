package e2e

import (
	"path"
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
	reader := newReader(t)
	said := reader.follow(quickstart + "\n```sh\n" + listing + "```\n" + story + story + "\n```sh\n" + listing + "```\n")
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
	wantUndone(t, reader, said)
}

// wantUndone types what "credentials bootstrap" has said of its undo. The boundary policy has an older
// version, as it gets by a bootstrap with other flags.
func wantUndone(t *testing.T, reader *reader, said string) {
	t.Helper()
	_, undo, found := strings.Cut(said, "to undo it, first delete all CredentialsRequests that have roles, then:\n")
	undo, _, told := strings.Cut(undo, "next: ")
	_, boundary, named := strings.Cut(undo, "delete-policy --policy-arn ")
	boundary, _, _ = strings.Cut(boundary, "\n")
	if !found || !told || !named {
		t.Fatalf("credentials bootstrap says no undo:\n%s", said)
	}
	after := reader.follow("```sh\neval \"$(bin/tabard lab env --dir \"$LAB\")\"\n" +
		"aws iam create-policy-version --policy-arn " + boundary + ` --set-as-default --policy-document '{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Action":"s3:*","Resource":"*"}]}'` + "\n" +
		undo + listing + "kubectl get credentialsboundaries -o name\nkubectl -n tabard-system get configmaps -o name\n```\n")
	_, role, _ := strings.Cut(undo, "delete-role --role-name ")
	role, _, _ = strings.Cut(role, "\n")
	_, left, _ := strings.Cut(after, "--- what there is\n")
	for line := range strings.Lines(left) {
		switch line := strings.TrimSpace(line); line {
		case role, path.Base(boundary), "configmap/tabard-credentials", "credentialsboundary.identity.tabard.dev/default":
			t.Errorf("after the undo there is still %s", line)
		}
	}
}
