package record

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"github.com/tabard-dev/tabard/internal/testkit/must"
)

func parsed(t *testing.T, text string) *unstructured.Unstructured {
	t.Helper()
	o := &unstructured.Unstructured{}
	must.Do(t, yaml.Unmarshal([]byte(text), &o.Object))
	return o
}

func TestTheRecordIsReadInEveryForm(t *testing.T) {
	since := metav1.NewTime(time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC))
	const shipped = "roleARN: arn:aws:iam::111122223333:role/a, selectorName: team-a, selectorResourceVersion: 7"
	fromText := Record{Selector: "team-a", RoleARN: "arn:aws:iam::111122223333:role/a", Since: &since}
	for name, test := range map[string]struct {
		status string
		want   Record
	}{
		"nothing": {"{}", Record{}},
		"the field": {`
  ackResourceMetadata: {ownerAccountID: "111122223333", region: eu-west-1, iamRoleSelector: {selectorName: team-a, resourceVersion: "7", generation: 3, uid: u, roleARN: r, decidedBy: Unique}}
  conditions: [{type: ACK.IAMRoleSelected, status: "True", lastTransitionTime: "2026-01-02T03:04:05Z", reason: Selected}]`,
			Record{Account: "111122223333", Region: "eu-west-1", Selector: "team-a", UID: "u", Generation: 3, RoleARN: "r", DecidedBy: "Unique", Since: &since}},
		"ACK's text as a reason": {`
  conditions: [{type: ACK.IAMRoleSelected, status: "True", lastTransitionTime: "2026-01-02T03:04:05Z", reason: "` + shipped + `", message: Selected}]`, fromText},
		"ACK's text under another type": {`
  conditions: [{type: ACK.ReferencesResolved, status: "True", lastTransitionTime: "2026-01-02T03:04:05Z", message: "` + shipped + `"}]`, fromText},
		"a condition that is false": {`
  conditions: [{type: ACK.IAMRoleSelected, status: "False", lastTransitionTime: "2026-01-02T03:04:05Z", message: "` + shipped + `"}]`, Record{}},
	} {
		t.Run(name, func(t *testing.T) {
			got := must.Get(Read(parsed(t, "status: "+test.status)))(t)
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestAStatusOfAnotherFormIsAnError(t *testing.T) {
	if _, err := Read(parsed(t, "status: {conditions: 7}")); err == nil {
		t.Error("read, want an error")
	}
}
