package workload

import (
	"bytes"
	"maps"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"

	"github.com/tabard-dev/tabard/internal/lab"
	"github.com/tabard-dev/tabard/internal/lab/sandbox"
	"github.com/tabard-dev/tabard/internal/testkit/must"
)

func fieldRef(path string) *corev1.EnvVarSource {
	return &corev1.EnvVarSource{FieldRef: &corev1.ObjectFieldSelector{FieldPath: path}}
}

func configKey(name, key string, optional bool) *corev1.EnvVarSource {
	return &corev1.EnvVarSource{ConfigMapKeyRef: &corev1.ConfigMapKeySelector{
		LocalObjectReference: corev1.LocalObjectReference{Name: name}, Key: key, Optional: &optional}}
}

func secretKey(name, key string, optional bool) *corev1.EnvVarSource {
	return &corev1.EnvVarSource{SecretKeyRef: &corev1.SecretKeySelector{
		LocalObjectReference: corev1.LocalObjectReference{Name: name}, Key: key, Optional: &optional}}
}

func fromConfigMap(name, prefix string, optional bool) corev1.EnvFromSource {
	return corev1.EnvFromSource{Prefix: prefix, ConfigMapRef: &corev1.ConfigMapEnvSource{
		LocalObjectReference: corev1.LocalObjectReference{Name: name}, Optional: &optional}}
}

func fromSecret(name string, optional bool) corev1.EnvFromSource {
	return corev1.EnvFromSource{SecretRef: &corev1.SecretEnvSource{
		LocalObjectReference: corev1.LocalObjectReference{Name: name}, Optional: &optional}}
}

func TestEnvironment(t *testing.T) {
	type env = []corev1.EnvVar
	tests := map[string]struct {
		from    []corev1.EnvFromSource
		env     env
		want    Environment
		refused string
	}{
		"plain values":                             {env: env{{Name: "A", Value: "1"}, {Name: "E"}}, want: Environment{"A": "1", "E": ""}},
		"a later value may use an earlier one":     {env: env{{Name: "A", Value: "1"}, {Name: "B", Value: "$(A)$(A)"}}, want: Environment{"A": "1", "B": "11"}},
		"an earlier value cannot use a later one":  {env: env{{Name: "B", Value: "$(A)"}, {Name: "A", Value: "1"}}, want: Environment{"A": "1", "B": "$(A)"}},
		"the last of two with one name counts":     {env: env{{Name: "A", Value: "1"}, {Name: "A", Value: "$(A)2"}}, want: Environment{"A": "12"}},
		"whole objects, with and without a prefix": {from: []corev1.EnvFromSource{fromConfigMap("cm", "P_", false), fromSecret("s", false)}, want: Environment{"P_k": "v", "p": "hush"}},
		"a variable comes before a whole object":   {from: []corev1.EnvFromSource{fromConfigMap("cm", "", false)}, env: env{{Name: "k", Value: "own $(k)"}}, want: Environment{"k": "own v"}},
		"optional objects may be absent":           {from: []corev1.EnvFromSource{fromConfigMap("x", "", true), fromSecret("x", true)}, want: Environment{}},
		"optional keys may be absent": {
			env:  env{{Name: "A", ValueFrom: configKey("cm", "x", true)}, {Name: "B", ValueFrom: secretKey("x", "x", true)}, {Name: "C", ValueFrom: configKey("x", "x", true)}},
			want: Environment{},
		},
		"keys of objects": {
			env:  env{{Name: "A", ValueFrom: configKey("cm", "k", false)}, {Name: "B", ValueFrom: secretKey("s", "p", false)}},
			want: Environment{"A": "v", "B": "hush"},
		},
		"fields of the pod": {
			env: env{{Name: "N", ValueFrom: fieldRef("metadata.name")}, {Name: "NS", ValueFrom: fieldRef("metadata.namespace")},
				{Name: "U", ValueFrom: fieldRef("metadata.uid")}, {Name: "L", ValueFrom: fieldRef("metadata.labels['a']")},
				{Name: "T", ValueFrom: fieldRef("metadata.annotations['note']")}, {Name: "S", ValueFrom: fieldRef("spec.serviceAccountName")},
				{Name: "NODE", ValueFrom: fieldRef("spec.nodeName")}, {Name: "IP", ValueFrom: fieldRef("status.podIP")}, {Name: "HOST", ValueFrom: fieldRef("status.hostIP")}},
			want: Environment{"N": "web", "NS": "shop", "U": "u-1", "L": "1", "T": "say \"hi\"\n", "S": "seller", "NODE": "", "IP": "127.0.0.1", "HOST": "127.0.0.1"},
		},
		"a service's variable can be used and replaced": {
			env:  env{{Name: "URL", Value: "https://$(KUBERNETES_SERVICE_HOST)"}, {Name: "KUBERNETES_SERVICE_HOST", Value: "mine"}},
			want: Environment{"URL": "https://127.0.0.1", "KUBERNETES_SERVICE_HOST": "mine"},
		},
		"an absent object is told":        {env: env{{Name: "A", ValueFrom: configKey("x", "k", false)}}, refused: "A: configmaps \"x\" not found"},
		"an absent whole object is told":  {from: []corev1.EnvFromSource{fromSecret("x", false)}, refused: "Secret x"},
		"an absent key is told":           {env: env{{Name: "A", ValueFrom: secretKey("s", "x", false)}}, refused: `Secret s has no key "x"`},
		"a field that nobody can be told": {env: env{{Name: "A", ValueFrom: fieldRef("spec.containers")}}, refused: "spec.containers"},
		"a limit is not known here": {
			env: env{{Name: "A", ValueFrom: &corev1.EnvVarSource{ResourceFieldRef: &corev1.ResourceFieldSelector{Resource: "limits.cpu"}}}}, refused: "not supported",
		},
		"a source that is empty is told": {env: env{{Name: "A", ValueFrom: &corev1.EnvVarSource{}}}, refused: "not supported"},
	}
	services := must.Get(serviceVariables("https://127.0.0.1:20001"))(t)
	objects := &objectsForTest{configMaps: map[string]map[string]string{"cm": {"k": "v"}}, secrets: map[string]map[string][]byte{"s": {"p": []byte("hush")}}}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			container := &corev1.Container{EnvFrom: test.from, Env: test.env}
			got, err := environmentOf(t.Context(), examplePod(), container, objects, services)
			if test.refused != "" {
				if err == nil || !strings.Contains(err.Error(), test.refused) {
					t.Fatalf("got %v, want %q", err, test.refused)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			want := maps.Clone(services)
			maps.Copy(want, test.want)
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestRewrite(t *testing.T) {
	mounts := []sandbox.Mount{{Source: "/v/aws", Target: "/var/run/aws"}, {Source: "/v/sub", Target: "/var/run/aws/sub"}, {Source: "/v/t", Target: "/tmp"}}
	environment := Environment{
		"FILE": "/var/run/aws/token", "DIR": "/var/run/aws", "DEEP": "/var/run/aws/sub/x", "LIKE": "/var/run/aws-other/token",
		"TEXT": "see /var/run/aws/token", "OTHER": "/etc/hosts", "TMPDIR": "/tmp/",
	}
	want := Environment{
		"FILE": "/v/aws/token", "DIR": "/v/aws", "DEEP": "/v/sub/x", "LIKE": "/var/run/aws-other/token",
		"TEXT": "see /var/run/aws/token", "OTHER": "/etc/hosts", "TMPDIR": "/v/t/",
	}
	done := rewrite(environment, mounts)
	if diff := cmp.Diff(want, environment); diff != "" {
		t.Errorf("variables (-want +got):\n%s", diff)
	}
	if len(done) != 4 || done[0] != (Rewrite{Name: "DEEP", From: "/var/run/aws/sub/x", To: "/v/sub/x"}) {
		t.Errorf("told %v, want the four that changed", done)
	}
}

func TestCommandOf(t *testing.T) {
	container := &corev1.Container{Name: "main", Command: []string{"/app", "$(A)"}, Args: []string{"--b=$(B)", "$$(A)"}}
	got, err := commandOf(nil, container, known)
	if diff := cmp.Diff([]string{"/app", "1", "--b=$(A)", "$(A)"}, got); diff != "" || err != nil {
		t.Errorf("the container's own: %v (-want +got):\n%s", err, diff)
	}
	got, err = commandOf([]string{"sh", "$(A)"}, container, known)
	if diff := cmp.Diff([]string{"sh", "$(A)"}, got); diff != "" || err != nil {
		t.Errorf("one that is given stays as it is: %v (-want +got):\n%s", err, diff)
	}
	if _, err := commandOf(nil, &corev1.Container{Name: "main"}, known); err == nil || !strings.Contains(err.Error(), "after --") {
		t.Errorf("none at all: %v", err)
	}
}

// What is added to a pod's environment is told, and nothing of the pod's own is
// changed: not even where it sets what would be added.
func TestEverythingAddedIsTold(t *testing.T) {
	var told bytes.Buffer
	job := &job{
		lab: lab.Lab{Ports: lab.Ports{AWS: 20005}}, options: Options{Err: &told, Verbose: true}, pod: examplePod(),
		environment: Environment{"HOME": "/root", "A": "1"},
	}
	job.add("AWS_ENDPOINT_URL", "https://127.0.0.1:20005")
	job.add("HOME", "/elsewhere")
	want := Environment{"HOME": "/root", "A": "1", "AWS_ENDPOINT_URL": "https://127.0.0.1:20005"}
	if diff := cmp.Diff(want, job.environment); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if wantTold := "lab run: added AWS_ENDPOINT_URL=https://127.0.0.1:20005\nlab run: kept HOME as the pod sets it\n"; told.String() != wantTold {
		t.Errorf("told %q, want %q", told.String(), wantTold)
	}
}

func TestNobodyIsToldWhatIsAddedWithoutAsking(t *testing.T) {
	for want, options := range map[string]Options{
		"lab run: a warning\nlab run: an error\n": {},
		"lab run: an error\n":                     {Quiet: true},
		"lab run: added A=1\nlab run: kept HOME as the pod sets it\nlab run: a warning\nlab run: an error\n": {Verbose: true},
	} {
		var told bytes.Buffer
		options.Err = &told
		job := &job{options: options, pod: examplePod(), environment: Environment{"HOME": "/root"}}
		job.add("A", "1")
		job.add("HOME", "/elsewhere")
		job.warn("a warning")
		job.say("an error")
		if told.String() != want || job.environment["A"] != "1" {
			t.Errorf("told %q, want %q; the environment is %v", told.String(), want, job.environment)
		}
	}
}
