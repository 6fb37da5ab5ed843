package webhook

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/go-logr/logr/funcr"

	"github.com/tabard-dev/tabard/internal/core/inject"
)

// TestEachPodIsToldOnce: at the verbosities of EKS's webhook there is one line a pod
// with what was decided and why, whatever its author has written into it.
func TestEachPodIsToldOnce(t *testing.T) {
	t.Parallel()
	const hides = `{"metadata":{"generateName":"app-"},"spec":{"serviceAccountName":"app","volumes":[{"name":"own","emptyDir":{}}],"containers":[{"name":"app",` +
		`"env":[{"name":"SECRET","value":"hidden"}],"volumeMounts":[{"name":"own","mountPath":"/var/run/secrets/eks.amazonaws.com/serviceaccount"}]}]}}`
	tests := map[string]struct {
		path, pod string
		found     *inject.ServiceAccount
		verbosity int
		want      string // members, with blanks between them
	}{
		"injected": {"/mutate", pod, annotated(role), 3,
			`"namespace":"shop" "name":"app" "serviceAccount":"app" "outcome":"injected" "reason":"Injected" "method":"sts_web_identity" "identity":"` + role + `" "source":"annotation_eks.amazonaws.com/role-arn"`},
		"unchanged":                {"/mutate", pod, &inject.ServiceAccount{}, 4, `"outcome":"unchanged" "reason":"NotOptedIn" "identity":""`},
		"without a ServiceAccount": {"/mutate", pod, nil, 4, `"outcome":"unchanged" "reason":"UnknownServiceAccount"`},
		"refused":                  {"/mutate/required", pod, nil, 3, `"outcome":"refused" "required":true "reason":"UnknownServiceAccount" does_not_exist`},
		"a token that is hidden":   {"/mutate", hides, annotated(role), 3, `"generateName":"app-" "reason":"TokenNotMounted" where_the_AWS_identity_belongs`},
		"a name that is none":      {"/mutate", strings.Replace(pod, `"name":"app"}`, `"name":"x\n`+strings.Repeat("x", 5000)+`"}`, 1), annotated(role), 3, `"outcome":"injected"`},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for verbosity := range 6 {
				var lines []string
				s := testServer(t, fixedAccounts{found: test.found}, nil)
				log := funcr.NewJSON(func(text string) { lines = append(lines, text) }, funcr.Options{Verbosity: verbosity})
				for _, m := range s.mutators {
					m.log = log
				}
				reply(t, s, test.path, test.pod)
				want := 0
				if verbosity >= test.verbosity {
					want = 1
				}
				if len(lines) != want {
					t.Fatalf("-v=%d logs %q, want %d lines", verbosity, lines, want)
				}
				for _, line := range lines {
					checkLogged(t, line, strings.Fields(test.want))
				}
			}
		})
	}
}

func checkLogged(t *testing.T, line string, members []string) {
	t.Helper()
	if !json.Valid([]byte(line)) || strings.Contains(line, "\n") || len(line) > 2048 || strings.Contains(line, "hidden") {
		t.Errorf("a line of %d bytes: %s", len(line), line)
	}
	for _, member := range members {
		if want := strings.ReplaceAll(member, "_", " "); !strings.Contains(strings.ReplaceAll(line, "_", " "), want) {
			t.Errorf("the line is %s, want %s in it", line, want)
		}
	}
}
