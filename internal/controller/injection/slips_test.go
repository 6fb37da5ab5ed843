package injection_test

import (
	"fmt"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/tabard-dev/tabard/internal/testkit"
	"github.com/tabard-dev/tabard/internal/testkit/must"
)

// ignored are the events of slips, by what they regard.
func (f *fixture) ignored(t *testing.T) map[string][]string {
	t.Helper()
	var list eventsv1.EventList
	must.Do(t, f.List(t.Context(), &list, client.InNamespace(f.shop)))
	found := map[string][]string{}
	for _, each := range list.Items {
		if each.Reason == "AnnotationIgnored" && each.Type == corev1.EventTypeWarning {
			of := strings.ToLower(each.Regarding.Kind) + "/" + each.Regarding.Name
			found[of] = append(found[of], each.Note)
		}
	}
	return found
}

// awaitIgnored waits until there are so many events of slips of one object, one of which
// says a text.
func (f *fixture) awaitIgnored(t *testing.T, of string, count int, saying string) {
	t.Helper()
	testkit.Await(t, func() error {
		notes := f.ignored(t)[of]
		if len(notes) != count || !strings.Contains(strings.Join(notes, "\n"), saying) {
			return fmt.Errorf("the events of %s are %q, want %d, and one to say %q", of, notes, count, saying)
		}
		return nil
	})
}

// TestSlipsAreToldOnceWhereAPersonLooks: a Deployment's pods are made by its controller,
// which is who the webhook warns.
func TestSlipsAreToldOnceWhereAPersonLooks(t *testing.T) {
	t.Parallel()
	f := serve(t)
	const key = "eks.amazonaws.com/token-expiration"
	slipped := f.account("slipped", true)
	slipped.Annotations[key] = "1h"
	f.Make(slipped)
	for i := range 5 {
		pod := f.podOf("app", fmt.Sprint("web-5d4-", i), "aws-iam-token")
		pod.Annotations, pod.Labels = map[string]string{key: "2h"}, map[string]string{"pod-template-hash": "5d4"}
		pod.OwnerReferences = []metav1.OwnerReference{{APIVersion: "apps/v1", Kind: "ReplicaSet", Name: "web-5d4", UID: types.UID("6b7f1c0a-web"), Controller: new(true)}}
		f.Make(pod)
	}
	stop := f.run(t, false)
	f.awaitIgnored(t, "serviceaccount/slipped", 1, key+` is "1h", expected whole seconds, 600 or more: write "3600"`)
	f.awaitIgnored(t, "replicaset/web-5d4", 1, "Pods of deployment/web: annotation "+key+` is "2h"`)

	// Another slip of the same shows that passes have been made since, also by another process.
	f.Merge(slipped, `{"metadata":{"annotations":{"`+key+`":"1w"}}}`)
	f.awaitIgnored(t, "serviceaccount/slipped", 2, `is "1w"`)
	stop()
	f.run(t, false)
	f.Merge(slipped, `{"metadata":{"annotations":{"`+key+`":"900","eks.amazonaws.com/sts-regional-endpoints":"yes"}}}`)
	f.awaitIgnored(t, "serviceaccount/slipped", 3, `is "yes", expected true or false`)
	if found := f.ignored(t); len(found) != 2 || len(found["replicaset/web-5d4"]) != 1 {
		t.Errorf("the events are %q, want those of the ServiceAccount and one of the ReplicaSet", found)
	}
}

// TestALabelThatDoesNotCountIsToldInItsNamespace: an administrator who misspells a label believes
// that identities are required; and a pod with the label to skip is skipped, whatever its value.
func TestALabelThatDoesNotCountIsToldInItsNamespace(t *testing.T) {
	t.Parallel()
	f := serve(t)
	skipped := f.podOf("app", "skipped", "aws-iam-token")
	skipped.Labels = map[string]string{"eks.amazonaws.com/skip-pod-identity-webhook": "false"}
	f.Make(skipped)
	f.Merge(&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: f.shop}}, `{"metadata":{"labels":{"tabard.dev/injection":"requird"}}}`)
	f.run(t, false)
	f.awaitIgnored(t, "namespace/"+f.shop, 1, "--overwrite tabard.dev/injection=required; or remove the label.")
	f.awaitIgnored(t, "pod/skipped", 1, "skips the pod all the same")
}

// TestSlipsOfManyAreBounded: whoever may write ServiceAccounts does not make the operator
// write as many events. No other test's controller runs meanwhile.
func TestSlipsOfManyAreBounded(t *testing.T) {
	f := serve(t)
	for i := range 60 {
		account := f.account(fmt.Sprint("slipped-", i), true)
		account.Annotations["eks.amazonaws.com/token-expiration"] = "1h"
		f.Make(account)
	}
	f.run(t, false)
	testkit.Await(t, func() error {
		if count := len(f.ignored(t)); count < 20 {
			return fmt.Errorf("%d are told", count)
		}
		return nil
	})
	for _, name := range []string{"missed", "second"} {
		missed := f.podOf("app", name)
		f.Make(missed)
		f.awaitEvent(t, missed, "") // a pass has been made since
	}
	if count := len(f.ignored(t)); count != 20 {
		t.Errorf("%d are told, want 20", count)
	}
}
