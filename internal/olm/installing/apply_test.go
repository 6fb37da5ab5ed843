package installing

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	dynamicfake "k8s.io/client-go/dynamic/fake"
	kubetesting "k8s.io/client-go/testing"

	"github.com/tabard-dev/tabard/internal/core/operator"
	"github.com/tabard-dev/tabard/internal/olm"
)

// TestWhatIsWrittenOfAnInstall: rights are asked first, then the person.
func TestWhatIsWrittenOfAnInstall(t *testing.T) {
	all := []string{"namespaces", "operatorgroups", "subscriptions"}
	unsure := errors.New("no")
	for name, c := range map[string]struct {
		exists bool
		// lacks is the resource that the person may not write.
		lacks string
		going Going
		want  []string
		err   error
		// right is the one that is named.
		right string
		// note is how that of the Event ends.
		note string
	}{
		"all of it":          {going: Going{Verdict: operator.VerdictSatisfied}, want: all},
		"a risk is told of":  {going: Going{Verdict: operator.VerdictOverridden}, want: append(slices.Clone(all), "events"), note: "the verdict was Missing: the policy"},
		"and of its reason":  {going: Going{Verdict: operator.VerdictOverridden, Reason: "it's a test"}, want: append(slices.Clone(all), "events"), note: ": the policy. Reason: it's a test"},
		"a reason alone":     {going: Going{Verdict: operator.VerdictSatisfied, Reason: "a test"}, want: all},
		"nothing is missing": {exists: true, going: Going{Verdict: operator.VerdictOverridden, Sure: func() error { return unsure }}},
		"not permitted":      {lacks: "subscriptions", going: Going{Verdict: operator.VerdictSatisfied}, right: "create subscriptions.operators.coreos.com in the namespace suggested"},
		"no approval":        {lacks: "installplans", going: Going{Verdict: operator.VerdictSatisfied, Follows: true}, right: "patch installplans.operators.coreos.com in the namespace suggested"},
		"none is needed":     {lacks: "installplans", going: Going{Verdict: operator.VerdictSatisfied}, want: all},
		"the person says no": {going: Going{Verdict: operator.VerdictSatisfied, Sure: func() error { return unsure }}, err: unsure},
	} {
		t.Run(name, func(t *testing.T) {
			var wrote, notes []string
			client := dynamicfake.NewSimpleDynamicClient(runtime.NewScheme())
			client.PrependReactor("create", "*", func(action kubetesting.Action) (bool, runtime.Object, error) {
				create := action.(kubetesting.CreateAction).GetObject().(*unstructured.Unstructured)
				if action.GetResource().Resource != "selfsubjectaccessreviews" {
					wrote = append(wrote, action.GetResource().Resource)
					if note, is := create.Object["note"].(string); is {
						notes = append(notes, note)
					}
					return false, nil, nil
				}
				asked, _, _ := unstructured.NestedString(create.Object, "spec", "resourceAttributes", "resource")
				return true, &unstructured.Unstructured{Object: map[string]any{"status": map[string]any{"allowed": asked != c.lacks}}}, nil
			})
			install, _, err := choice(t).Install(onAWS)
			objects := &operator.Objects{}
			planned := Planned{Install: install, Judged: operator.Judgement{Verdict: operator.VerdictMissing, Why: "the policy"}}
			if !c.exists && err == nil {
				planned.Changes, err = install.Plan(objects)
				planned.Missing = olm.Manifests(install, objects, planned.Changes)
			}
			if err != nil {
				t.Fatal(err)
			}
			written, err := planned.Apply(t.Context(), olm.Client{Objects: client}, c.going)
			if denied, is := errors.AsType[*Unpermitted](err); is != (c.right != "") || is && (len(denied.Rights) != 1 || denied.Rights[0].String() != c.right) {
				t.Errorf("%v, want that the right %q is missing", err, c.right)
			} else if !is && !errors.Is(err, c.err) {
				t.Error(err)
			}
			if diff := cmp.Diff(c.want, wrote); diff != "" || written.Untold != nil {
				t.Error(diff, written.Untold)
			}
			if said := strings.Join(notes, "\n"); written.Overridden != (c.note != "") || !strings.HasSuffix(said, c.note) || said != "" && c.note == "" {
				t.Errorf("the note is %q, want that it ends with %q: %+v", said, c.note, written)
			}
		})
	}
}
