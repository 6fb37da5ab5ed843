package injection

import (
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func TestALabelOfANamespaceThatDoesNotCountIsTold(t *testing.T) {
	for name, c := range map[string]struct {
		labels map[string]string
		want   string // none is no slip
		types  string
	}{
		"none":                               {nil, "", ""},
		"required":                           {map[string]string{modeLabel: "required"}, "", ""},
		"required, and skipping allowed":     {map[string]string{modeLabel: "required", skippingLabel: "allowed"}, "", ""},
		"a label of others":                  {map[string]string{"example.com/injection": "requird", "tabard.dev/team": "a"}, "", ""},
		"another value":                      {map[string]string{modeLabel: "requird"}, `label tabard.dev/injection is "requird", and counts only if it is "required"`, "tabard.dev/injection=required;"},
		"in another case":                    {map[string]string{modeLabel: "Required"}, `is "Required", and counts only if`, "tabard.dev/injection=required;"},
		"nothing":                            {map[string]string{modeLabel: ""}, `is "", and counts only if`, "tabard.dev/injection=required;"},
		"another name":                       {map[string]string{"tabard.dev/injecton": "required"}, "label tabard.dev/injecton does not count: did you mean tabard.dev/injection=required?", "tabard.dev/injecton- tabard.dev/injection=required;"},
		"skipping by another value":          {map[string]string{modeLabel: "required", skippingLabel: "true"}, `label tabard.dev/injection-skip is "true", and counts only if it is "allowed"`, "tabard.dev/injection-skip=allowed;"},
		"skipping where nothing is required": {map[string]string{skippingLabel: "allowed"}, "label tabard.dev/injection-skip counts only beside tabard.dev/injection=required", "tabard.dev/injection=required;"},
		"both":                               {map[string]string{modeLabel: "yes", skippingLabel: "allowed"}, "; label tabard.dev/injection-skip counts only beside", "--overwrite tabard.dev/injection=required;"},
	} {
		t.Run(name, func(t *testing.T) {
			slip := NamespaceSlip(&metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{Name: "shop", UID: "7", Labels: c.labels}})
			switch {
			case c.want == "" && slip != nil:
				t.Errorf("it is told that %s, want nothing", slip.Note)
			case c.want == "":
			case slip == nil || !strings.Contains(slip.Note, c.want) || !strings.Contains(slip.Note, "kubectl label namespace shop --overwrite ") || !strings.Contains(slip.Note, c.types):
				t.Errorf("it is told %+v, want %q, and to type %q", slip, c.want, c.types)
			}
		})
	}
}

func TestTheLabelToSkipSkipsWhateverItsValue(t *testing.T) {
	for value, want := range map[string]bool{"false": true, "False": true, "no": true, "0": true, "": false, "true": false, "1": false, "because": false} {
		if got := skipSlip(map[string]string{SkipLabel: value}); (got != "") != want {
			t.Errorf("of %q it is told %q, want something: %t", value, got, want)
		}
	}
	if got := skipSlip(nil); got != "" {
		t.Errorf("without the label it is told %q", got)
	}
}
