package bundle_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/tabard-dev/tabard/internal/core/bundle"
	"github.com/tabard-dev/tabard/internal/core/permission"
)

// TestLintOfMounts: the token has to be where the request says, for an audience that a cloud
// takes, of the ServiceAccount that becomes the role.
func TestLintOfMounts(t *testing.T) {
	const azure = `"kind":"AzureProviderSpec","roleBindings":[{"role":"Reader"}]`
	for name, c := range map[string]struct {
		// requests and pods are old and new texts, by which the fixtures are changed.
		requests, pods []string
		want           []string
		says           string
	}{
		"as it should be":            {nil, nil, []string{}, ""},
		"a path that is not clean":   {[]string{"/t/token", "/t//x/../token"}, nil, []string{}, ""},
		"no path":                    {[]string{`"cloudTokenPath":"/t/token",`, ""}, nil, []string{"warning TokenPathNotSet"}, "/var/run/secrets/openshift/serviceaccount/token"},
		"mounted elsewhere":          {nil, []string{`"mountPath":"/t"`, `"mountPath":"/u"`}, []string{"warning TokenNotMounted"}, `"/u/token"`},
		"another file":               {nil, []string{`"path":"token"`, `"path":"other"`}, []string{"warning TokenNotMounted"}, `"/t/other"`},
		"not mounted":                {nil, []string{`"name":"t","mountPath"`, `"name":"u","mountPath"`}, []string{"warning TokenNotMounted"}, "no container mounts a token"},
		"no volume":                  {nil, []string{`"volumes"`, `"other"`}, []string{"warning TokenNotMounted"}, "no container mounts a token"},
		"in an init container only":  {nil, []string{`"containers"`, `"initContainers"`}, []string{"warning TokenNotMounted"}, "no container"},
		"another ServiceAccount":     {nil, []string{`"serviceAccountName":"operator"`, `"serviceAccountName":"other"`}, []string{"warning RightMissing", "warning ServiceAccountNotUsed"}, "other"},
		"the API server's audience":  {nil, []string{`"audience":"openshift",`, ""}, []string{"warning TokenAudience"}, "has no audience"},
		"an audience of its own":     {nil, []string{`"openshift"`, `"vault"`}, []string{"warning TokenAudience"}, `"vault"`},
		"STS's audience":             {nil, []string{`"openshift"`, `"sts.amazonaws.com"`}, []string{}, ""},
		"by subPath":                 {nil, []string{`"mountPath":"/t"`, `"mountPath":"/t/token","subPath":"token"`}, []string{"warning TokenNotRenewed"}, "subPath"},
		"by subPath of a folder":     {nil, []string{`"mountPath":"/t"`, `"mountPath":"/t","subPath":"a/b"`, `"path":"token"`, `"path":"a/b/token"`}, []string{"warning TokenNotRenewed"}, "subPath"},
		"another file by subPath":    {nil, []string{`"mountPath":"/t"`, `"mountPath":"/t/token","subPath":"tok"`}, []string{"warning TokenNotMounted"}, ""},
		"by a subPath that is found": {nil, []string{`"mountPath":"/t"`, `"mountPath":"/t/token","subPathExpr":"$(X)"`}, []string{"warning TokenNotMounted"}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			requests, pods := strings.NewReplacer(c.requests...).Replace(request), strings.NewReplacer(c.pods...).Replace(pod)
			file := csvOf(t, map[string]string{permission.Annotation: "[" + requests + "]", "features.operators.openshift.io/token-auth-aws": "true"}, rule, pods)
			got := bundle.Lint(bundle.Bundle{Manifests: []bundle.File{file}})
			if !slices.Equal(codes(got), c.want) {
				t.Errorf("%v, want %v\n%+v", codes(got), c.want, got)
			}
			if len(got) > 0 && !strings.Contains(got[len(got)-1].Message, c.says) {
				t.Errorf("%q is not in %s", c.says, got[len(got)-1].Message)
			}
		})
	}
	// Other clouds are known for other audiences.
	file := csvOf(t, map[string]string{permission.Annotation: "[" + strings.ReplaceAll(request, `"kind":"AWSProviderSpec","statementEntries":[{"effect":"Allow","action":["s3:GetObject"],"resource":"*"}]`, azure) + "]",
		"features.operators.openshift.io/token-auth-azure": "true"}, rule, strings.ReplaceAll(pod, `"openshift"`, `"api://AzureADTokenExchange"`))
	if got := bundle.Lint(bundle.Bundle{Manifests: []bundle.File{file}}); len(got) > 0 {
		t.Errorf("%+v", got)
	}
}
