package api

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// testSchema: what ACK's schema takes and its controllers use is
// taken byte for byte, the documented form too, and what can only be a mistake is
// refused with a text that says what it is. Strict clients and others are told the
// same, and nothing is lost or added in silence.
func (u *user) testSchema() {
	t := u.t
	verdicts := map[string]row{}
	for name, each := range rows {
		verdicts[name] = each
	}
	for name, each := range extensions {
		verdicts[name] = row{text: each.text, ours: each.want}
	}
	for _, name := range sorted(verdicts) {
		for _, validation := range []string{metav1.FieldValidationIgnore, metav1.FieldValidationStrict} {
			t.Run(name+"/"+validation, func(t *testing.T) {
				stored, err := u.try(selectors, verdicts[name].text, validation)
				judge(t, err, verdicts[name].ours)
				if err != nil {
					return
				}
				written := object(t, selectors, "probe", verdicts[name].text)
				if diff := cmp.Diff(written.Object["spec"], stored.Object["spec"]); diff != "" {
					t.Errorf("it is stored otherwise than it was written (-written +stored):\n%s", diff)
				}
			})
		}
	}
	t.Run("swaps", func(t *testing.T) { u.in(t).testSwaps() })
	t.Run("columns", func(t *testing.T) { u.in(t).testColumns() })
	t.Run("report", func(t *testing.T) { u.in(t).testReport() })
	t.Run("a field that nobody knows", func(t *testing.T) {
		_, err := u.try(selectors, with("namespaceSelektor: {names: [prod]}"), metav1.FieldValidationStrict)
		judge(t, err, `unknown field "spec.namespaceSelektor"`)
	})
	for _, name := range sorted(choiceRows) {
		t.Run("choice/"+name, func(t *testing.T) {
			_, err := u.try(choices, choiceRows[name].text, metav1.FieldValidationStrict)
			judge(t, err, choiceRows[name].want)
		})
	}
}
