package inject_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"

	"github.com/tabard-dev/tabard/internal/core/inject"
	"github.com/tabard-dev/tabard/internal/core/inject/azure"
	"github.com/tabard-dev/tabard/internal/core/inject/gcp"
	"github.com/tabard-dev/tabard/internal/core/inject/raw"
	"github.com/tabard-dev/tabard/internal/testkit/must"
)

// injector is what a server needs of each cloud.
type injector interface {
	AccountName(pod inject.Pod) string
	Inject(pod inject.Pod, subject inject.Subject) (inject.Result, error)
}

// cloud is one of them by its name.
type cloud struct {
	injector
	name string
}

// clouds are the injectors that the setup asks for; AWS's if it names none.
func (s setup) clouds(t testing.TB) []cloud {
	t.Helper()
	if len(s.Clouds) == 0 {
		return []cloud{{s.aws(t), "aws"}}
	}
	var found []cloud
	for _, name := range s.Clouds {
		var made injector
		var err error
		switch name {
		case "aws":
			made = s.aws(t)
		case "azure":
			made, err = azure.New(s.Azure)
		case "gcp":
			made, err = gcp.New(s.Google)
		default:
			err = fmt.Errorf("no cloud %q", name)
		}
		if err != nil {
			t.Fatal(err)
		}
		found = append(found, cloud{made, name})
	}
	return found
}

// decide asks one cloud about a pod, as a server does: the ServiceAccount is looked
// up by the name that the injector says.
func (c cloud) decide(given setup, pod []byte) (inject.Result, error) {
	subject, _ := given.parse()
	return decide(c, subject, pod)
}

func decide(by injector, subject inject.Subject, text []byte) (inject.Result, error) {
	object, err := raw.Parse(text)
	if err != nil {
		return inject.Result{}, err
	}
	pod, err := inject.Read(object)
	if err != nil {
		return inject.Result{}, err
	}
	if by.AccountName(pod) == "" {
		subject.Account = nil
	}
	return by.Inject(pod, subject)
}

// admitted takes a pod through the injectors of all clouds of the setup, one after
// another. The notes are what they did and said, as comments.
func admitted(t *testing.T, given setup, pod []byte) (after []byte, notes string) {
	t.Helper()
	given.subject(t) // checks the problems of its documents
	var text strings.Builder
	for _, each := range given.clouds(t) {
		if len(given.Clouds) > 1 {
			fmt.Fprintf(&text, "# cloud: %s\n", each.name)
		}
		result, err := each.decide(given, pod)
		if refusal, ok := errors.AsType[*inject.Refusal](err); ok {
			fmt.Fprintf(&text, "# reason: %s\n# refused: %s\n", refusal.Reason, refusal.Message)
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		note(t, &text, result)
		pod = apply(t, pod, result.Patch)
	}
	return pod, text.String()
}

// note writes a result without its pod.
func note(t *testing.T, text *strings.Builder, result inject.Result) {
	t.Helper()
	fmt.Fprintf(text, "# reason: %s\n", result.Reason)
	if result.Method != inject.NoMethod {
		fmt.Fprintf(text, "# method: %s\n", result.Method)
	}
	for _, warning := range result.Warnings {
		fmt.Fprintf(text, "# warning: %s\n", warning)
	}
	var operations []struct{ Op, From, Path string }
	if result.Patch != nil {
		if err := json.Unmarshal(result.Patch, &operations); err != nil {
			t.Fatalf("patch %s: %v", result.Patch, err)
		}
	}
	for _, operation := range operations {
		fmt.Fprintf(text, "# %s\n", strings.Join(strings.Fields(operation.Op+" "+operation.From+" "+operation.Path), " "))
	}
}

// TestTokensHaveNoModeUnlessAFlagSaysSo: a mode keeps the token from a user of the
// image's own who is not root.
func TestTokensHaveNoModeUnlessAFlagSaysSo(t *testing.T) {
	t.Parallel()
	given := newSetup()
	must.Do(t, yaml.UnmarshalStrict(readFile(t, "testdata/clouds/01-all-three.binding.yaml"), &given))
	pod := must.Get(yaml.YAMLToJSON(readFile(t, "testdata/clouds/01-all-three.pod.yaml")))(t)
	for _, each := range given.clouds(t) {
		result := must.Get(each.decide(given, pod))(t)
		if patch := string(result.Patch); !strings.Contains(patch, `"serviceAccountToken"`) || strings.Contains(patch, "defaultMode") {
			t.Errorf("%s: want a token and no mode, got %s", each.name, patch)
		}
	}
}
