package injection_test

import (
	"cmp"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	godiff "github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"

	"github.com/tabard-dev/tabard/internal/core/inject"
	"github.com/tabard-dev/tabard/internal/core/injection"
	"github.com/tabard-dev/tabard/internal/testkit/must"
)

const role = "eks.amazonaws.com/role-arn: arn:aws:iam::111122223333:role/app"

var noon = time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)

// podOf is a pod of the ServiceAccount shop/app, made at noon, with what a text adds.
func podOf(t *testing.T, text string) *corev1.Pod {
	t.Helper()
	var pod corev1.Pod
	if text == "" {
		text = "spec: {containers: [{name: main}]}"
	}
	must.Do(t, yaml.UnmarshalStrict([]byte(text), &pod))
	pod.Namespace, pod.Name, pod.UID = "shop", "app-1", "u1"
	pod.CreationTimestamp = metav1.NewTime(noon)
	if pod.Spec.ServiceAccountName == "" {
		pod.Spec.ServiceAccountName = "app"
	}
	return &pod
}

// accountOf is that ServiceAccount, with annotations that somebody wrote at a time.
func accountOf(t *testing.T, annotations string, at time.Time) *metav1.PartialObjectMetadata {
	t.Helper()
	account := &metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "app"}}
	must.Do(t, yaml.UnmarshalStrict([]byte(annotations), &account.Annotations))
	var fields []string
	for name := range account.Annotations {
		fields = append(fields, fmt.Sprintf(`"f:%s":{}`, name))
	}
	stamp, later := metav1.NewTime(at), metav1.NewTime(at.Add(time.Hour))
	account.ManagedFields = []metav1.ManagedFieldsEntry{
		{Manager: "controller", Time: &metav1.Time{}, FieldsV1: metav1.NewFieldsV1(`{"f:metadata":{"f:labels":{"f:x":{}}}}`)},
		{Manager: "late", Time: &later, FieldsV1: metav1.NewFieldsV1(`{"f:metadata":{"f:annotations":{` + strings.Join(fields, ",") + `}}}`)},
		{Manager: "kubectl", Time: &stamp, FieldsV1: metav1.NewFieldsV1(`{"f:metadata":{"f:annotations":{` + strings.Join(fields, ",") + `}}}`)},
	}
	return account
}

func TestExamine(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		pod, annotations string
		settings         injection.Settings
		noAccount        bool
		annotated        time.Duration // after the pod
		containers       string        // empty: nothing is missing
		cause            injection.Cause
	}{
		"a pod that was let through":                    {annotations: role, annotated: -time.Minute, containers: "main", cause: injection.LetThrough},
		"a pod of the same second":                      {annotations: role, containers: "main", cause: injection.LetThrough},
		"a pod before its ServiceAccount was annotated": {annotations: role, annotated: time.Second, containers: "main", cause: injection.TooEarly},
		"a ServiceAccount without a role":               {annotations: "a: b"},
		"there is no ServiceAccount":                    {noAccount: true},
		"an annotation that is no role":                 {annotations: "eks.amazonaws.com/role-arn: app"},
		"a name where the webhook composes ARNs":        {annotations: "eks.amazonaws.com/role-arn: app", settings: injection.Settings{AnyRole: true}, containers: "main", cause: injection.LetThrough},
		"an annotation of another prefix":               {annotations: "example.com/role-arn: arn:aws:iam::111122223333:role/app"},
		"an annotation of the prefix that is set": {annotations: "example.com/role-arn: arn:aws:iam::111122223333:role/app",
			settings: injection.Settings{AnnotationPrefix: "example.com"}, containers: "main", cause: injection.LetThrough},
		"a volume of its own under the name of ours": {annotations: role, annotated: -time.Minute,
			pod: `spec: {volumes: [{name: aws-iam-token, emptyDir: {}}], containers: [{name: main}]}`, containers: "main", cause: injection.LetThrough},
		"its own volume is in the place of the token": {annotations: role, annotated: -time.Minute,
			pod: `spec: {volumes: [{name: aws-iam-token, emptyDir: {}}], containers: [{name: main, env: [{name: AWS_ROLE_ARN, value: x}, {name: AWS_WEB_IDENTITY_TOKEN_FILE, value: /var/run/secrets/eks.amazonaws.com/serviceaccount/token}], volumeMounts: [{name: aws-iam-token, mountPath: /var/run/secrets/eks.amazonaws.com/serviceaccount}]}]}`, containers: "main", cause: injection.Hidden},
		"nothing is in the place of the token": {annotations: role, annotated: -time.Minute,
			pod: `spec: {containers: [{name: main, env: [{name: AWS_ROLE_ARN, value: x}, {name: AWS_WEB_IDENTITY_TOKEN_FILE, value: /var/run/secrets/eks.amazonaws.com/serviceaccount/token}]}]}`, containers: "main", cause: injection.Hidden},
		"one of two containers hides its token": {annotations: role, annotated: -time.Minute,
			pod: `spec: {volumes: [{name: aws-iam-token, projected: {sources: [{serviceAccountToken: {audience: sts.amazonaws.com, path: token}}]}}, {name: own, emptyDir: {}}], containers: [{name: a, env: [{name: AWS_ROLE_ARN, value: x}, {name: AWS_WEB_IDENTITY_TOKEN_FILE, value: /var/run/secrets/eks.amazonaws.com/serviceaccount/token}], volumeMounts: [{name: aws-iam-token, mountPath: /var/run/secrets/eks.amazonaws.com/serviceaccount}]}, {name: b, env: [{name: AWS_ROLE_ARN, value: x}, {name: AWS_WEB_IDENTITY_TOKEN_FILE, value: /var/run/secrets/eks.amazonaws.com/serviceaccount/token}], volumeMounts: [{name: own, mountPath: /var/run/secrets/eks.amazonaws.com/serviceaccount}]}]}`, containers: "b", cause: injection.Hidden},
		"a file is over the token": {annotations: role, annotated: -time.Minute,
			pod: `spec: {volumes: [{name: aws-iam-token, projected: {sources: [{serviceAccountToken: {audience: sts.amazonaws.com, path: token}}]}}, {name: own, emptyDir: {}}], containers: [{name: main, env: [{name: AWS_ROLE_ARN, value: x}, {name: AWS_WEB_IDENTITY_TOKEN_FILE, value: /var/run/secrets/eks.amazonaws.com/serviceaccount/token}], volumeMounts: [{name: aws-iam-token, mountPath: /var/run/secrets/eks.amazonaws.com/serviceaccount}, {name: own, subPath: x, mountPath: /var/run/secrets/eks.amazonaws.com/serviceaccount/token}]}]}`, containers: "main", cause: injection.Hidden},
		"the token is in a volume of another name": {annotations: role, annotated: -time.Minute,
			pod: `spec: {volumes: [{name: aws-iam-token-tabard, projected: {sources: [{serviceAccountToken: {audience: sts.amazonaws.com, path: token}}]}}, {name: aws-iam-token, emptyDir: {}}], containers: [{name: main, env: [{name: AWS_ROLE_ARN, value: x}, {name: AWS_WEB_IDENTITY_TOKEN_FILE, value: /var/run/secrets/eks.amazonaws.com/serviceaccount/token}], volumeMounts: [{name: aws-iam-token-tabard, mountPath: /var/run/secrets/eks.amazonaws.com/serviceaccount}]}, {name: proxy}]}`},
		"its own volume brings a token of any audience": {annotations: role, annotated: -time.Minute,
			pod: `spec: {volumes: [{name: own, projected: {sources: [{serviceAccountToken: {audience: other, path: token}}]}}], containers: [{name: main, env: [{name: AWS_ROLE_ARN, value: x}, {name: AWS_WEB_IDENTITY_TOKEN_FILE, value: /var/run/secrets/eks.amazonaws.com/serviceaccount/token}], volumeMounts: [{name: own, mountPath: /var/run/secrets/eks.amazonaws.com/serviceaccount}]}]}`},
		"its own volume brings a token for the API server": {annotations: role, annotated: -time.Minute,
			pod: `spec: {volumes: [{name: own, projected: {sources: [{serviceAccountToken: {path: token}}]}}], containers: [{name: main, env: [{name: AWS_ROLE_ARN, value: x}, {name: AWS_WEB_IDENTITY_TOKEN_FILE, value: /var/run/secrets/eks.amazonaws.com/serviceaccount/token}], volumeMounts: [{name: own, mountPath: /var/run/secrets/eks.amazonaws.com/serviceaccount}]}]}`, containers: "main", cause: injection.Hidden},
		"it looks for a token elsewhere": {annotations: role, annotated: -time.Minute,
			pod: `spec: {volumes: [{name: own, emptyDir: {}}], containers: [{name: main, env: [{name: AWS_ROLE_ARN, value: x}, {name: AWS_WEB_IDENTITY_TOKEN_FILE, value: /own/token}], volumeMounts: [{name: own, mountPath: /own}]}]}`},
		"the webhook mounts tokens elsewhere": {annotations: role, annotated: -time.Minute, settings: injection.Settings{TokenMountPath: "/tokens"},
			pod: `spec: {containers: [{name: main, env: [{name: AWS_ROLE_ARN, value: x}, {name: AWS_WEB_IDENTITY_TOKEN_FILE, value: /tokens/token}]}]}`, containers: "main", cause: injection.Hidden},
		"the token is hidden on Windows": {annotations: role, annotated: -time.Minute,
			pod: `spec: {nodeSelector: {kubernetes.io/os: windows}, containers: [{name: main, env: [{name: AWS_ROLE_ARN, value: x}, {name: AWS_WEB_IDENTITY_TOKEN_FILE, value: 'C:\var\run\secrets\eks.amazonaws.com\serviceaccount\token'}]}]}`, containers: "main", cause: injection.Hidden},
		"a container that is skipped hides the token": {annotations: role,
			pod: `{metadata: {annotations: {eks.amazonaws.com/skip-containers: main}}, spec: {containers: [{name: main, env: [{name: AWS_ROLE_ARN, value: x}, {name: AWS_WEB_IDENTITY_TOKEN_FILE, value: /var/run/secrets/eks.amazonaws.com/serviceaccount/token}]}]}}`},
		"it was injected": {annotations: role, pod: "spec: {volumes: [{name: aws-iam-token, projected: {sources: [{serviceAccountToken: {audience: sts.amazonaws.com, path: token}}]}}], containers: [{name: main, env: [{name: AWS_ROLE_ARN, value: x}]}]}"},
		"it was injected, and another webhook added a container": {annotations: role,
			pod: "spec: {volumes: [{name: aws-iam-token, projected: {sources: [{serviceAccountToken: {audience: sts.amazonaws.com, path: token}}]}}], containers: [{name: main, env: [{name: AWS_ROLE_ARN, value: x}]}, {name: proxy}]}"},
		"it was injected with container credentials": {annotations: role, pod: "spec: {volumes: [{name: eks-pod-identity-token, projected: {sources: [{serviceAccountToken: {audience: sts.amazonaws.com, path: eks-pod-identity-token}}]}}], containers: [{name: main}]}"},
		"one container has its own identity":         {annotations: role, pod: "spec: {containers: [{name: main, env: [{name: AWS_ACCESS_KEY_ID, value: x}]}, {name: second}]}", containers: "second", cause: injection.LetThrough},
		"all containers have their own identity": {annotations: role,
			pod: "spec: {containers: [{name: a, env: [{name: AWS_CONTAINER_CREDENTIALS_FULL_URI, value: x}]}, {name: b, env: [{name: AWS_WEB_IDENTITY_TOKEN_FILE, value: x}]}]}"},
		"a region is no identity": {annotations: role, pod: "spec: {containers: [{name: main, env: [{name: AWS_REGION, value: x}]}]}", containers: "main", cause: injection.LetThrough},
		"a container is skipped": {annotations: role, pod: `{metadata: {annotations: {eks.amazonaws.com/skip-containers: proxy}}, spec: {containers: [{name: main}, {name: proxy}]}}`,
			containers: "main", cause: injection.LetThrough},
		"all containers are skipped": {annotations: role, pod: `{metadata: {annotations: {eks.amazonaws.com/skip-containers: main}}, spec: {containers: [{name: main}]}}`},
		"init containers count":      {annotations: role, pod: "spec: {initContainers: [{name: prepare}], containers: [{name: main}]}", containers: "main prepare", cause: injection.LetThrough},
		"profiles of the pod's own, whatever its ServiceAccount": {noAccount: true,
			pod: `{metadata: {annotations: {eks.amazonaws.com/role-profiles: "a=arn:aws:iam::111122223333:role/a"}}, spec: {containers: [{name: main}]}}`, containers: "main", cause: injection.LetThrough},
		"it is over":       {annotations: role, pod: "{spec: {containers: [{name: main}]}, status: {phase: Succeeded}}"},
		"it has failed":    {annotations: role, pod: "{spec: {containers: [{name: main}]}, status: {phase: Failed}}"},
		"it is on its way": {annotations: role, pod: `{metadata: {deletionTimestamp: "2026-05-01T12:00:10Z"}, spec: {containers: [{name: main}]}}`},
		"it asks to be left out, and a hook asks about it": {annotations: role, annotated: time.Second,
			pod: "{metadata: {labels: {eks.amazonaws.com/skip-pod-identity-webhook: x}}, spec: {containers: [{name: main}]}}", containers: "main", cause: injection.Skipped},
		"it waits for room": {annotations: role, pod: "{spec: {containers: [{name: main}]}, status: {phase: Pending}}", containers: "main", cause: injection.LetThrough},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			settings := injection.Defaults()
			settings.AnyRole = tc.settings.AnyRole
			settings.TokenMountPath = cmp.Or(tc.settings.TokenMountPath, settings.TokenMountPath)
			if tc.settings.AnnotationPrefix != "" {
				settings.AnnotationPrefix = tc.settings.AnnotationPrefix
			}
			e := must.Get(injection.New(settings))(t)
			var account *metav1.PartialObjectMetadata
			if !tc.noAccount {
				account = e.TrimAccount(e.TrimAccount(accountOf(t, tc.annotations, noon.Add(tc.annotated))))
			}
			found := must.Get(e.Examine(trimmed(t, e, podOf(t, tc.pod)), account, time.Time{}))(t)
			got, cause := "", injection.Cause("")
			if found != nil {
				got, cause = strings.Join(found.Containers, " "), found.Cause
			}
			if got != tc.containers || cause != tc.cause {
				t.Errorf("missing in %q because of %q, want %q because of %q", got, cause, tc.containers, tc.cause)
			}
		})
	}
}

func TestAWrongPrefixIsRefused(t *testing.T) {
	t.Parallel()
	if _, err := injection.New(injection.Settings{AnnotationPrefix: "a/b"}); err == nil {
		t.Error("the prefix a/b was accepted")
	}
}

func trimmed(t *testing.T, e *injection.Examiner, pod *corev1.Pod) *injection.Pod {
	t.Helper()
	kept := must.Get(e.Trim(pod))(t)
	return kept
}

// TestTrimKeepsNoValues: what is kept of a pod holds no secret that stands in a
// variable, and of an injected pod hardly anything.
func TestTrimKeepsNoValues(t *testing.T) {
	t.Parallel()
	e := must.Get(injection.New(injection.Defaults()))(t)
	full := `{metadata: {labels: {app: a}, annotations: {other: hidden}},
 spec: {nodeName: n, volumes: [{name: data}], containers: [{name: main, image: i, env: [{name: AWS_REGION, value: hidden}, {name: PASSWORD, value: hidden}]}]}}`
	want := `{"metadata":{},"spec":{"serviceAccountName":"app","containers":[{"name":"main","env":[{"name":"AWS_REGION"}]}]}}`
	if got := trimmed(t, e, podOf(t, full)); string(got.Text) != want || len(got.Annotations) > 0 {
		t.Errorf("kept %s and %v, want %s and no annotations", got.Text, got.Annotations, want)
	}
	small := &injection.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "app-1", UID: "u1"}}
	injected := trimmed(t, e, podOf(t, strings.Replace(full, "name: data", "name: aws-iam-token, projected: {sources: [{serviceAccountToken: {audience: a, path: token}}]}", 1)))
	if diff := godiff.Diff(small, injected, godiff.AllowUnexported(injection.Pod{})); diff != "" {
		t.Errorf("kept of an injected pod (-want +got):\n%s", diff)
	}
}

// TestTrimKeepsLittleOfLongPods: whoever may create pods may make each of them as long as an
// API server takes.
func TestTrimKeepsLittleOfLongPods(t *testing.T) {
	t.Parallel()
	e := must.Get(injection.New(injection.Defaults()))(t)
	long := strings.Repeat("x", 20<<10)
	var many strings.Builder
	for i := range 1000 {
		fmt.Fprintf(&many, "label-%d: a long value, ", i)
	}
	for name, c := range map[string]struct {
		pod  string
		long bool
	}{
		"an ordinary one":       {`{metadata: {labels: {app: a}}, spec: {containers: [{name: main}]}}`, false},
		"values of variables":   {`{spec: {containers: [{name: main, env: [{name: AWS_REGION, value: ` + long + `}]}]}}`, false},
		"annotations of others": {`{metadata: {annotations: {other: ` + long + `}}, spec: {containers: [{name: main}]}}`, false},
		"annotations of ours":   {`{metadata: {annotations: {eks.amazonaws.com/x: ` + long + `}}, spec: {containers: [{name: main}]}}`, true},
		"names of variables":    {`{spec: {containers: [{name: main, env: [{name: AWS_` + long + `}]}]}}`, true},
		"labels":                {`{metadata: {labels: {` + many.String() + `}}, spec: {containers: [{name: main}]}}`, true},
		"paths of a token":      {`{spec: {volumes: [{name: a, projected: {sources: [{serviceAccountToken: {audience: b, path: ` + long + `}}]}}], containers: [{name: main}]}}`, true},
	} {
		kept, err := e.Trim(podOf(t, c.pod))
		if errors.Is(err, injection.ErrLong) != c.long || !c.long && (err != nil || len(kept.Text) == 0) {
			t.Errorf("%s: got %v and %d bytes, want it to be too long: %t", name, err, len(kept.Text), c.long)
		}
		if kept.Name == "" || c.long && len(kept.Text)+len(kept.Labels) > 0 {
			t.Errorf("%s: kept %+v", name, kept.ObjectMeta)
		}
	}
}

func TestNote(t *testing.T) {
	t.Parallel()
	const lacks = "The pod runs without the AWS identity that ServiceAccount app asks for by eks.amazonaws.com/role-arn: nothing was injected for container main. "
	const passed = lacks + "Probably the webhook did not answer when the pod was created, and its hook let the pod pass. When the webhook is ready " +
		"(kubectl -n tabard-system rollout status deployment/tabard-webhook), recreate the pod: "
	owned := func(kind, name, hash string) string {
		return fmt.Sprintf(`{metadata: {labels: {pod-template-hash: %q}, ownerReferences: [{apiVersion: v1, kind: %s, name: %s, uid: u, controller: true}]}, spec: {containers: [{name: main}]}}`, hash, kind, name)
	}
	cases := map[string]struct {
		pod   string
		after time.Duration
		want  string
	}{
		"of a Deployment":            {owned("ReplicaSet", "app-5d4", "5d4"), 0, passed + "kubectl -n shop rollout restart deployment/app"},
		"of a ReplicaSet of its own": {owned("ReplicaSet", "app", ""), 0, passed + "kubectl -n shop delete pod app-1 (replicaset/app makes another)"},
		"of a StatefulSet":           {owned("StatefulSet", "db", ""), 0, passed + "kubectl -n shop rollout restart statefulset/db"},
		"of a Job":                   {owned("Job", "once", ""), 0, passed + "kubectl -n shop delete pod app-1 (job/once makes another)"},
		"of nobody":                  {"", 0, passed + "kubectl -n shop delete pod app-1, and create it again (nothing else does)"},
		"older than the annotation":  {owned("DaemonSet", "agent", ""), time.Minute, lacks + "This is because the pod was created before the ServiceAccount was annotated, or its annotation was last changed. Recreate it: kubectl -n shop rollout restart daemonset/agent"},
		"that asks to be left out": {`{metadata: {labels: {eks.amazonaws.com/skip-pod-identity-webhook: "true"}}, spec: {containers: [{name: main}]}}`, 0, lacks +
			"Its label eks.amazonaws.com/skip-pod-identity-webhook left it out when it was created, and its namespace requires identities. Recreate it, or have an administrator allow that " +
			"(kubectl label namespace shop tabard.dev/injection-skip=allowed): kubectl -n shop delete pod app-1, and create it again (nothing else does)"},
		"that hides its token": {`spec: {containers: [{name: main, env: [{name: AWS_ROLE_ARN, value: x}, {name: AWS_WEB_IDENTITY_TOKEN_FILE, value: /var/run/secrets/eks.amazonaws.com/serviceaccount/token}]}]}`, 0,
			"The pod runs without the AWS identity that ServiceAccount app asks for by eks.amazonaws.com/role-arn: AWS_WEB_IDENTITY_TOKEN_FILE tells container main of a token that no volume brings there. " +
				"Mount nothing else in its place, and recreate the pod: kubectl -n shop delete pod app-1, and create it again (nothing else does)"},
		"of many containers":              {"spec: {containers: [{name: a}, {name: b}, {name: c}, {name: d}, {name: e}, {name: f}, {name: g}]}", 0, strings.Replace(passed, "container main", "containers a, b, c, d, e and 2 more", 1) + "kubectl -n shop delete pod app-1, and create it again (nothing else does)"},
		"that asks by its own annotation": {`{metadata: {annotations: {eks.amazonaws.com/role-profiles: "a=arn:aws:iam::111122223333:role/a"}}, spec: {serviceAccountName: other, containers: [{name: main}]}}`, 0, strings.Replace(passed, "ServiceAccount app asks for by eks.amazonaws.com/role-arn", "its annotation eks.amazonaws.com/role-profiles asks for", 1) + "kubectl -n shop delete pod app-1, and create it again (nothing else does)"},
	}
	e := must.Get(injection.New(injection.Defaults()))(t)
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			pod := podOf(t, tc.pod)
			account := e.TrimAccount(accountOf(t, role, noon.Add(tc.after)))
			if pod.Spec.ServiceAccountName != "app" {
				account = nil
			}
			found, err := e.Examine(trimmed(t, e, pod), account, time.Time{})
			if err != nil || found == nil {
				t.Fatalf("found %v, error %v", found, err)
			}
			if diff := godiff.Diff(tc.want, found.Note("tabard-system")); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// TestACauseIsNotGuessed: an API server notes nothing of ServiceAccounts as kubectl
// create makes them. Then it counts when the annotation was seen.
func TestACauseIsNotGuessed(t *testing.T) {
	t.Parallel()
	e := must.Get(injection.New(injection.Defaults()))(t)
	account := accountOf(t, role, noon)
	account.ManagedFields = nil
	cases := map[string]struct {
		seen time.Time
		want injection.Cause
		note string
	}{
		"never":              {time.Time{}, injection.Unclear, "let the pod pass; or the pod was created before the ServiceAccount was annotated, or its annotation was last changed. When"},
		"before the pod":     {noon.Add(-time.Second), injection.LetThrough, "let the pod pass. When"},
		"as the pod came":    {noon.Add(time.Second), injection.Unclear, "; or "},
		"long after the pod": {noon.Add(time.Minute), injection.TooEarly, "This is because the pod was created before"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			found, err := e.Examine(trimmed(t, e, podOf(t, "")), e.TrimAccount(account), tc.seen)
			if err != nil || found == nil {
				t.Fatalf("found %v, error %v", found, err)
			}
			if found.Cause != tc.want || !strings.Contains(found.Note("x"), tc.note) {
				t.Errorf("cause %s: %s\nwant %s: …%s…", found.Cause, found.Note("x"), tc.want, tc.note)
			}
		})
	}
}

func TestCountIsBounded(t *testing.T) {
	t.Parallel()
	var found []*injection.Finding
	for i := range injection.MaxNamespaces + 3 {
		for range 1 + i%2*2 { // 3 in the odd ones
			one := &injection.Finding{}
			one.Pod.Namespace = fmt.Sprintf("n%03d", i)
			found = append(found, one)
		}
	}
	got := injection.Count(found)
	if len(got) != injection.MaxNamespaces+1 || got[injection.OtherNamespaces] != 3 || got["n001"] != 3 || got["n102"] != 0 {
		t.Errorf("%d series, others %d, n001 %d, n102 %d; want %d, 3, 3, 0", len(got), got[injection.OtherNamespaces], got["n001"], got["n102"], injection.MaxNamespaces+1)
	}
	if diff := godiff.Diff(map[string]int{"n000": 1, "n001": 3}, injection.Count(found[:4])); diff != "" {
		t.Error(diff)
	}
}

// TestTrimKeepsLittleOfAccounts: of annotations that are too long to count none is kept,
// and no pod is reported for them.
func TestTrimKeepsLittleOfAccounts(t *testing.T) {
	t.Parallel()
	examiner := must.Get(injection.New(injection.Settings{AnnotationPrefix: "eks.amazonaws.com"}))(t)
	for name, test := range map[string]struct {
		annotation string
		kept       bool
	}{
		"as much as counts":  {"eks.amazonaws.com/x", true},
		"of another's":       {"example.com/" + strings.Repeat("x", 10), true},
		"more of the prefix": {"eks.amazonaws.com/long", false},
	} {
		account := accountOf(t, role, noon)
		size := inject.MaxAnnotations / 2
		if !test.kept || strings.HasPrefix(test.annotation, "example") {
			size = 250 << 10
		}
		account.Annotations[test.annotation] = strings.Repeat("x", size)
		trimmed := examiner.TrimAccount(account)
		if kept := examiner.Annotated(trimmed); kept != test.kept || len(fmt.Sprint(trimmed.Annotations)) > inject.MaxAnnotations {
			t.Errorf("%s: the role is kept: %t, want %t", name, kept, test.kept)
		}
	}
}
