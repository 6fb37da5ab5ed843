package chain_test

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/tabard-dev/tabard/internal/core/chain"
)

const (
	roleAnnotation = "eks.amazonaws.com/role-arn"
	otherRole      = "arn:aws:iam::" + account + ":role/other"
)

// listed is what a list knows of a workload: neither the issuer, nor what a webhook says, nor AWS.
func listed(e chain.Evidence) chain.Evidence {
	out := chain.Evidence{Subject: e.Subject, Pod: e.Pod, Account: e.Account}
	if of := e.Account.Value; of != nil {
		out.Account.Value = chain.PruneAccount(of)
	}
	return out
}

// bareOf takes what a webhook has brought out of the pod.
func bareOf(e *chain.Evidence) {
	app(e).Env, app(e).VolumeMounts, e.Pod.Value.Spec.Volumes = nil, nil, nil
}

// annotate writes the annotation at noon.
func annotate(e *chain.Evidence, role string) { e.Account.Value.Annotations[roleAnnotation] = role }

// unnamed takes the annotation away.
func unnamed(e *chain.Evidence) {
	e.Account.Value.Annotations, e.Account.Value.ManagedFields = nil, nil
}

// alone asks about the ServiceAccount.
func alone(e *chain.Evidence) {
	e.Subject, e.Pod = chain.Subject{Namespace: "shop", Account: "checkout"}, chain.Seen[corev1.Pod]{}
}

// unread is a ServiceAccount that may not be listed.
func unread(e *chain.Evidence) {
	e.Account = chain.Seen[metav1.PartialObjectMetadata]{Unread: "forbidden", Needs: "list serviceaccounts"}
}

// deleted is a ServiceAccount that is not there.
func deleted(e *chain.Evidence) { e.Account = chain.Seen[metav1.PartialObjectMetadata]{} }

// variableless takes a variable out of the container.
func variableless(name string) func(*chain.Evidence) {
	return func(e *chain.Evidence) {
		app(e).Env = slices.DeleteFunc(app(e).Env, func(v corev1.EnvVar) bool { return v.Name == name })
	}
}

// phased sets the phase of the pod.
func phased(phase corev1.PodPhase) func(*chain.Evidence) {
	return func(e *chain.Evidence) {
		if e.Pod.Value != nil {
			e.Pod.Value.Status.Phase = phase
		}
	}
}

func TestIdentify(t *testing.T) {
	given := chain.Identity{Standing: chain.Given, Role: roleARN, Has: roleARN, Container: "app", By: "helm", Link: chain.Injection, Text: "the pod has the role and the token"}
	without := func(link chain.Link, code chain.Code, text string) chain.Identity {
		return chain.Identity{Standing: chain.Without, Role: roleARN, By: "helm", Link: link, Code: code, Text: text}
	}
	for name, test := range map[string]struct {
		change []func(*chain.Evidence)
		want   chain.Identity
	}{
		"annotated and injected": {nil, given},
		"annotated after the pod was created": {[]func(*chain.Evidence){bareOf, func(e *chain.Evidence) {
			e.Pod.Value.CreationTimestamp = metav1.NewTime(noon.Add(-1))
		}}, without(chain.Injection, chain.CodeTooEarly, "was created before")},
		"the webhook was silent": {[]func(*chain.Evidence){bareOf}, without(chain.Injection, chain.CodeNotInjected, "without the role")},
		"another role by now": {[]func(*chain.Evidence){func(e *chain.Evidence) { annotate(e, otherRole) }},
			chain.Identity{Standing: chain.Without, Role: otherRole, Has: roleARN, Container: "app", By: "helm", Link: chain.Injection, Code: chain.CodeStaleRole, Text: "another role"}},
		"no ARN": {[]func(*chain.Evidence){alone, func(e *chain.Evidence) { annotate(e, "checkout") }},
			chain.Identity{Standing: chain.Without, Role: "checkout", By: "helm", Link: chain.Binding, Code: chain.CodeRoleARN, Text: "names no IAM role"}},
		"a misspelt annotation": {[]func(*chain.Evidence){alone, unnamed, func(e *chain.Evidence) {
			e.Account.Value.Annotations = map[string]string{"eks.amazonaws.com/rolearn": roleARN}
		}}, chain.Identity{Standing: chain.Without, Link: chain.Binding, Code: chain.CodeAnnotationSlip, Text: "eks.amazonaws.com/rolearn"}},
		"nothing names a role": {[]func(*chain.Evidence){unnamed, bareOf},
			chain.Identity{Standing: chain.Nobody, Link: chain.Binding, Code: chain.CodeNoRole, Text: "nothing names a role"}},
		"the ServiceAccount may not be read": {[]func(*chain.Evidence){unread},
			chain.Identity{Standing: chain.Unknown, Role: roleARN, Has: roleARN, Container: "app", Link: chain.Binding, Text: "forbidden"}},
		"the ServiceAccount of a pod without a role may not be read": {[]func(*chain.Evidence){unread, bareOf},
			chain.Identity{Standing: chain.Unknown, Link: chain.Binding, Text: "forbidden"}},
		"the ServiceAccount is gone": {[]func(*chain.Evidence){deleted},
			chain.Identity{Standing: chain.Without, Has: roleARN, Container: "app", Link: chain.Binding, Code: chain.CodeNoAccount, Text: "there is no ServiceAccount"}},
		"the ServiceAccount of a pod without a role is gone": {[]func(*chain.Evidence){deleted, bareOf},
			chain.Identity{Standing: chain.Nobody, Link: chain.Binding, Code: chain.CodeNoAccount, Text: "there is no ServiceAccount"}},
		"by hand": {[]func(*chain.Evidence){unnamed},
			chain.Identity{Standing: chain.Given, Role: roleARN, Has: roleARN, Container: "app", By: "the pod itself", Link: chain.Injection, Text: "by hand"}},
		"a ServiceAccount": {[]func(*chain.Evidence){alone},
			chain.Identity{Standing: chain.Given, Role: roleARN, By: "helm", Link: chain.Binding, Text: "written by helm"}},
		"a ServiceAccount without a role": {[]func(*chain.Evidence){alone, unnamed},
			chain.Identity{Standing: chain.Nobody, Link: chain.Binding, Code: chain.CodeNoRole, Text: "nothing names a role"}},
		"over, with its role": {[]func(*chain.Evidence){phased(corev1.PodSucceeded)},
			chain.Identity{Standing: chain.Given, Role: roleARN, Has: roleARN, Container: "app", By: "helm", Link: chain.Injection, Text: "the pod is over"}},
		"over, without a role": {[]func(*chain.Evidence){phased(corev1.PodFailed), bareOf},
			chain.Identity{Standing: chain.Nobody, Role: roleARN, By: "helm", Link: chain.Injection, Text: "the pod is over"}},
		"over, with another role": {[]func(*chain.Evidence){phased(corev1.PodSucceeded), func(e *chain.Evidence) { annotate(e, otherRole) }},
			chain.Identity{Standing: chain.Nobody, Role: otherRole, Has: roleARN, Container: "app", By: "helm", Link: chain.Injection, Text: "the pod is over"}},
		"over, and its ServiceAccount is gone": {[]func(*chain.Evidence){phased(corev1.PodSucceeded), deleted},
			chain.Identity{Standing: chain.Nobody, Has: roleARN, Container: "app", Link: chain.Injection, Text: "the pod is over"}},
		"a webhook with an audience of its own": {[]func(*chain.Evidence){func(e *chain.Evidence) { named(e.Pod.Value, "example.com") }},
			chain.Identity{Standing: chain.Unknown, Role: roleARN, Has: roleARN, Container: "app", By: "helm", Link: chain.Injection, Code: chain.CodeStaleAudience, Text: "another audience"}},
		"a pod that ends, without a role": {[]func(*chain.Evidence){bareOf, func(e *chain.Evidence) { e.Pod.Value.DeletionTimestamp = &noon }},
			chain.Identity{Standing: chain.Nobody, Role: roleARN, By: "helm", Link: chain.Injection, Text: "asks for no identity"}},
		"a role and no token": {[]func(*chain.Evidence){variableless("AWS_WEB_IDENTITY_TOKEN_FILE")},
			chain.Identity{Standing: chain.Without, Role: roleARN, Has: roleARN, Container: "app", By: "helm", Link: chain.Token, Code: chain.CodeNoToken, Text: "is told of no token"}},
		"a token that no volume brings": {[]func(*chain.Evidence){unnamed, func(e *chain.Evidence) { app(e).VolumeMounts = nil }},
			chain.Identity{Standing: chain.Unknown, Role: roleARN, Has: roleARN, Container: "app", By: "the pod itself", Link: chain.Token, Text: "the token at"}},
		"left out by a label": {[]func(*chain.Evidence){bareOf, func(e *chain.Evidence) { e.Pod.Value.Labels["eks.amazonaws.com/skip-pod-identity-webhook"] = "" }},
			chain.Identity{Standing: chain.Nobody, Role: roleARN, By: "helm", Link: chain.Injection, Code: chain.CodeSkipped, Text: "asks the webhook to leave it out"}},
		"variables from elsewhere": {[]func(*chain.Evidence){bareOf, func(e *chain.Evidence) { app(e).EnvFrom = []corev1.EnvFromSource{{Prefix: "AWS_"}} }},
			chain.Identity{Standing: chain.Unknown, Role: roleARN, By: "helm", Link: chain.Injection, Code: chain.CodeNotInjected, Text: "runs without the role"}},
		"more annotations than the webhook reads": {[]func(*chain.Evidence){alone, func(e *chain.Evidence) {
			metav1.SetMetaDataAnnotation(&e.Account.Value.ObjectMeta, "eks.amazonaws.com/note", strings.Repeat("x", 1<<16))
		}},
			chain.Identity{Standing: chain.Without, Link: chain.Binding, Code: chain.CodeAnnotationSlip, Text: "more than 4096 bytes"}},
		"text of a stranger": {[]func(*chain.Evidence){alone, func(e *chain.Evidence) { annotate(e, "a\x1b[31m\u202e\nb"+strings.Repeat("x", 3000)) }},
			chain.Identity{Standing: chain.Without, Role: "a [31m b" + strings.Repeat("x", 592) + "…", By: "helm", Link: chain.Binding, Code: chain.CodeRoleARN, Text: "names no IAM role"}},
	} {
		e := copyOf(t, world())
		for _, change := range test.change {
			change(&e)
		}
		got := chain.Identify(listed(e))
		if !strings.Contains(got.Text, test.want.Text) {
			t.Errorf("%s: the text is %q, want %q in it", name, got.Text, test.want.Text)
		}
		got.Text = test.want.Text
		if diff := cmp.Diff(test.want, got); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}

// changes are what may be otherwise about a workload.
func changes() []func(*chain.Evidence) {
	ofPod := func(change func(*chain.Evidence)) func(*chain.Evidence) {
		return func(e *chain.Evidence) {
			if e.Pod.Value != nil {
				change(e)
			}
		}
	}
	ofAccount := func(change func(*chain.Evidence)) func(*chain.Evidence) {
		return func(e *chain.Evidence) {
			if e.Account.Value != nil {
				change(e)
			}
		}
	}
	variable := func(all ...corev1.EnvVar) func(*chain.Evidence) {
		return ofPod(func(e *chain.Evidence) { app(e).Env = append(app(e).Env, all...) })
	}
	annotation := func(name, value string) func(*chain.Evidence) {
		return ofAccount(func(e *chain.Evidence) { metav1.SetMetaDataAnnotation(&e.Account.Value.ObjectMeta, name, value) })
	}
	return []func(*chain.Evidence){
		ofPod(bareOf), ofAccount(unnamed), alone, unread, deleted, phased(corev1.PodSucceeded), phased(corev1.PodFailed), phased(corev1.PodPending),
		annotation(roleAnnotation, otherRole), annotation(roleAnnotation, "checkout"), annotation(roleAnnotation, roleARN+"\u200b"), annotation("eks.amazonaws.com/role_arn", roleARN),
		annotation("eks.amazonaws.com/audience", "example.com"), annotation("eks.amazonaws.com/token-expiration", "x"), annotation("eks.amazonaws.com/note", strings.Repeat("x", 1<<16)),
		ofPod(func(e *chain.Evidence) { e.Pod.Value.CreationTimestamp = metav1.NewTime(noon.Add(-1)) }),
		ofPod(func(e *chain.Evidence) { e.Pod.Value.DeletionTimestamp = &noon }),
		ofPod(func(e *chain.Evidence) { e.Pod.Value.Labels["eks.amazonaws.com/skip-pod-identity-webhook"] = "" }),
		ofPod(func(e *chain.Evidence) {
			metav1.SetMetaDataAnnotation(&e.Pod.Value.ObjectMeta, "eks.amazonaws.com/skip-containers", "app")
		}),
		ofPod(func(e *chain.Evidence) {
			metav1.SetMetaDataAnnotation(&e.Pod.Value.ObjectMeta, "eks.amazonaws.com/role-profiles", "prod="+roleARN)
		}),
		ofPod(func(e *chain.Evidence) {
			e.Pod.Value.Spec.Containers = append(e.Pod.Value.Spec.Containers, corev1.Container{Name: "sidecar"})
		}),
		ofPod(func(e *chain.Evidence) { app(e).EnvFrom = []corev1.EnvFromSource{{Prefix: "AWS_"}} }),
		ofPod(func(e *chain.Evidence) { app(e).VolumeMounts = nil }),
		ofPod(func(e *chain.Evidence) {
			for i := range e.Pod.Value.Spec.Volumes {
				e.Pod.Value.Spec.Volumes[i].VolumeSource = corev1.VolumeSource{Secret: &corev1.SecretVolumeSource{SecretName: "token"}}
			}
		}),
		ofPod(func(e *chain.Evidence) {
			if len(e.Pod.Value.Spec.Volumes) > 0 && e.Pod.Value.Spec.Volumes[0].Projected != nil {
				named(e.Pod.Value, "example.org")
			}
		}),
		variable(corev1.EnvVar{Name: "AWS_ROLE_ARN", Value: otherRole}), variable(corev1.EnvVar{Name: "AWS_ROLE_ARN", Value: "$(ROLE)"}), variable(corev1.EnvVar{Name: "AWS_ROLE_ARN", ValueFrom: &corev1.EnvVarSource{}}),
		variable(corev1.EnvVar{Name: "AWS_WEB_IDENTITY_TOKEN_FILE", Value: tokenFile}), variable(corev1.EnvVar{Name: "AWS_CONTAINER_CREDENTIALS_FULL_URI", Value: "http://169.254.170.23"}),
		variable(corev1.EnvVar{Name: "AWS_PROFILE", Value: "x"}),
	}
}

// A list never says that a workload has its identity where the explanation of the same evidence has a finding
// about it, and never says that one lacks it where the explanation has none. Nothing that is left out of a list
// changes that.
func TestAListAndAnExplanationAgree(t *testing.T) {
	random := rand.New(rand.NewPCG(7, 7))
	counts := map[chain.Standing]int{}
	all := changes()
	for range 2000 {
		e := copyOf(t, world())
		var made []int
		for range random.IntN(5) {
			at := random.IntN(len(all))
			made = append(made, at)
			all[at](&e)
		}
		if e.Pod.Value != nil {
			e.Pod.Value = chain.Prune(e.Pod.Value)
		}
		few := listed(e)
		got := chain.Identify(few)
		agrees(t, made, few, got)
		agrees(t, made, e, chain.Identify(e))
		whole := few
		whole.Account = e.Account
		if diff := cmp.Diff(chain.Identify(whole), got); diff != "" {
			t.Fatalf("with the changes %v what is pruned of the ServiceAccount counts: %s", made, diff)
		}
		counts[got.Standing]++
	}
	for _, standing := range chain.Standings() {
		if counts[standing] < 50 {
			t.Errorf("%d of the workloads are %s: the test proves little", counts[standing], standing)
		}
	}
}

// agrees compares an identity with the explanation of the same evidence.
func agrees(t *testing.T, made []int, e chain.Evidence, got chain.Identity) {
	t.Helper()
	r := chain.Explain(e)
	isOver := e.Subject.Pod != "" && (e.Pod.Value.Status.Phase == corev1.PodSucceeded || e.Pod.Value.Status.Phase == corev1.PodFailed)
	var found []chain.Finding
	for _, step := range r.Links {
		if step.Link == chain.Binding || step.Link == chain.Injection || step.Link == chain.Token && !isOver {
			found = append(found, step.Findings...)
		}
	}
	switch {
	case got.Standing == chain.Given && len(found) > 0:
		t.Fatalf("with the changes %v it is given, and the findings are %+v", made, found)
	case got.Standing == chain.Given && e.Subject.Pod != "" && (got.Has != got.Role || got.Role == ""):
		t.Fatalf("with the changes %v it is given: %+v", made, got)
	case got.Standing == chain.Without && (len(found) == 0 || found[0].Code != got.Code || found[0].Link != got.Link):
		t.Fatalf("with the changes %v it lacks %+v, and the findings are %+v", made, got, found)
	case len(found) > 0 && got.Standing == chain.Nobody && !isOver && !slices.Contains([]chain.Code{chain.CodeNoRole, chain.CodeNoAccount, chain.CodeSkipped}, found[0].Code):
		t.Fatalf("with the changes %v nobody names a role, and the findings are %+v", made, found)
	case len(found) > 0 && got.Standing == chain.Unknown && got.Code != "" && found[0].Certainty != chain.Likely:
		t.Fatalf("with the changes %v it is not known: %+v, and the findings are %+v", made, got, found)
	case got.Text == "" || got.Link == "":
		t.Fatalf("with the changes %v nothing is said: %+v", made, got)
	}
}
