package roleselector_test

import (
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/tabard-dev/tabard/api/services/v1alpha1"
	"github.com/tabard-dev/tabard/roleselector"
)

// teamA is a selector for the buckets of the namespaces of team a.
func teamA() *v1alpha1.IAMRoleSelector {
	return &v1alpha1.IAMRoleSelector{
		ObjectMeta: metav1.ObjectMeta{Name: "team-a", UID: "5f0e", Generation: 1},
		Spec: &v1alpha1.IAMRoleSelectorSpec{
			ARN: "arn:aws:iam::111122223333:role/team-a",
			NamespaceSelector: &v1alpha1.NamespaceSelector{
				LabelSelector: &v1alpha1.LabelSelector{MatchLabels: map[string]string{"team": "a"}},
			},
			ResourceTypeSelector: []v1alpha1.ResourceType{{APIVersion: "s3.services.k8s.aws/v1alpha1", Kind: "Bucket"}},
		},
	}
}

func logs() roleselector.Object {
	return roleselector.Object{Group: "s3.services.k8s.aws", Version: "v1alpha1", Kind: "Bucket", Namespace: "prod", Name: "logs"}
}

// A controller decides on every reconcile, and calls AWS only if it may.
func ExampleIndex_Decide() {
	index := roleselector.NewIndex(roleselector.Options{NoSelector: roleselector.PolicyDeny})
	query := roleselector.Query{
		Namespace: "prod", NamespaceLabels: map[string]string{"team": "a"}, NamespaceKnown: true,
		Group: "s3.services.k8s.aws", Version: "v1alpha1", Kind: "Bucket",
	}
	index.Set(roleselector.Compile(teamA()))
	fmt.Println(index.Decide(query).Outcome)

	index.MarkSynced(roleselector.Everything)
	decision := index.Decide(query)
	fmt.Println(decision.MayCallAWS(), decision.Message())

	second := teamA()
	second.Name = "also-team-a"
	index.Set(roleselector.Compile(second))
	decision = index.Decide(query)
	fmt.Println(decision.MayCallAWS(), decision.Message())

	// Output:
	// NotYetKnown
	// true The role arn:aws:iam::111122223333:role/team-a of the IAMRoleSelector team-a is used.
	// false Cannot determine which IAMRoleSelector to use. Conflicting IAMRoleSelectors: [also-team-a, team-a]
}

// What a change concerns is reconciled again, and nothing else.
func ExampleObjects() {
	index := roleselector.NewIndex(roleselector.Options{})
	index.MarkSynced(roleselector.Everything)
	objects := roleselector.NewObjects(index)
	objects.PutNamespace("prod", map[string]string{"team": "a"})
	objects.Put(logs(), nil, "")

	enqueue := func(change roleselector.Change) {
		for _, r := range objects.Reconsider(objects.Affected(change)) {
			fmt.Println(r.Object.Namespace, r.Object.Name, r.Old.Outcome, "->", r.New.Outcome)
		}
	}
	enqueue(index.Set(roleselector.Compile(teamA())))
	enqueue(objects.PutNamespace("prod", map[string]string{"team": "a", "cost": "7"}))
	enqueue(objects.PutNamespace("prod", map[string]string{"team": "b"}))

	// Output:
	// prod logs NoSelector -> Use
	// prod logs Use -> NoSelector
}

// For a person: why a selector does not select.
func ExampleIndex_Explain() {
	index := roleselector.NewIndex(roleselector.Options{})
	index.MarkSynced(roleselector.Everything)
	index.Set(roleselector.Compile(teamA()))
	explanation := index.Explain(roleselector.Query{
		Namespace: "prod", NamespaceLabels: map[string]string{"team": "b"}, NamespaceKnown: true,
		Group: "s3.services.k8s.aws", Version: "v1alpha1", Kind: "Bucket",
	})
	for _, selector := range explanation.Selectors {
		failed := selector.Failed()
		fmt.Printf("%s: %s wants %s and sees %s\n", selector.Selector.Name, failed.Name, failed.Wanted, failed.Seen)
	}
	// Output:
	// team-a: NamespaceLabels wants team=a and sees team=b
}

// The whole input of AssumeRole, as a value for awsauth.
func ExampleSelector_AssumeRole() {
	object := teamA()
	object.Spec.AssumeRole = &v1alpha1.AssumeRole{ExternalID: &v1alpha1.Text{Template: "ack/%CLUSTER_ID%/%K8S_NAMESPACE%"}}
	input, problems := roleselector.Compile(object).AssumeRole(
		roleselector.Subject{ClusterID: "c7", Service: "s3", Kind: "Bucket", Namespace: "prod", Name: "logs"}, roleselector.Settings{})
	fmt.Println(input.Role.ExternalID, input.Role.SessionName, input.Role.Duration, input.Scope, problems)
	// Output:
	// ack/c7/prod ack-s3-96c2886c-f28d5b0d 15m0s Namespace []
}

// A bucket in one account does not move to another unasked.
func ExampleProceed() {
	course := roleselector.Proceed(roleselector.Situation{
		Decision: roleselector.Decision{
			Outcome: roleselector.Use, Reason: roleselector.ReasonSelected,
			Selector: roleselector.Reference{Name: "team-b", Account: "222233334444"},
		},
		Recorded: roleselector.Recorded{Account: "111122223333", Region: "eu-central-1", Selector: "team-a"},
		Region:   "eu-central-1",
	})
	fmt.Println(course.Step, course.Reason)
	fmt.Println(course.Message)
	// Output:
	// Blocked AccountMismatch
	// The resource is in the account 111122223333, and the role to use is in the account 222233334444.
}
