package workload

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"

	"github.com/tabard-dev/tabard/internal/lab/sandbox"
	"github.com/tabard-dev/tabard/internal/testkit/must"
)

// tokenVolume is what the webhook of EKS and Tabard's own put into a pod.
func tokenVolume() corev1.Volume {
	return corev1.Volume{Name: "aws", VolumeSource: corev1.VolumeSource{Projected: &corev1.ProjectedVolumeSource{
		Sources: []corev1.VolumeProjection{{ServiceAccountToken: &corev1.ServiceAccountTokenProjection{
			Audience: "sts", ExpirationSeconds: new(int64(3600)), Path: "token"}}},
	}}}
}

func TestPayload(t *testing.T) {
	configMap := func(items []corev1.KeyToPath, mode *int32, optional bool) corev1.VolumeSource {
		return corev1.VolumeSource{ConfigMap: &corev1.ConfigMapVolumeSource{
			LocalObjectReference: corev1.LocalObjectReference{Name: "cm"}, Items: items, DefaultMode: mode, Optional: &optional}}
	}
	downward := func(path string) corev1.VolumeSource {
		return corev1.VolumeSource{DownwardAPI: &corev1.DownwardAPIVolumeSource{Items: []corev1.DownwardAPIVolumeFile{
			{Path: "f", FieldRef: &corev1.ObjectFieldSelector{FieldPath: path}}}}}
	}
	tests := map[string]struct {
		source   corev1.VolumeSource
		security *corev1.PodSecurityContext
		want     map[string]string
		isEmpty  bool
		refused  string
	}{
		"a token is readable to all, since nobody knows the user": {source: tokenVolume().VolumeSource, want: map[string]string{"token": "-rw-r--r-- token 1 for sts"}},
		"a token of a known user is the user's": {
			source: tokenVolume().VolumeSource, security: &corev1.PodSecurityContext{RunAsUser: new(int64(7))}, want: map[string]string{"token": "-rw------- token 1 for sts"},
		},
		"a token of a known group is the group's": {
			source: tokenVolume().VolumeSource, security: &corev1.PodSecurityContext{FSGroup: new(int64(7))}, want: map[string]string{"token": "-rw-r----- token 1 for sts"},
		},
		"a ConfigMap's keys are files":       {source: configMap(nil, nil, false), want: map[string]string{"k": "-rw-r--r-- v", "l": "-rw-r--r-- w"}},
		"a default mode is obeyed":           {source: configMap(nil, new(int32(0o400)), false), want: map[string]string{"k": "-r-------- v", "l": "-r-------- w"}},
		"a key can have a path and a mode":   {source: configMap([]corev1.KeyToPath{{Key: "k", Path: "deep/k", Mode: new(int32(0o600))}}, nil, false), want: map[string]string{"deep/k": "-rw------- v"}},
		"a key that is not there is told":    {source: configMap([]corev1.KeyToPath{{Key: "x", Path: "x"}}, nil, false), refused: `ConfigMap cm has no key "x"`},
		"an optional key may be absent":      {source: configMap([]corev1.KeyToPath{{Key: "x", Path: "x"}}, nil, true), want: map[string]string{}},
		"a Secret's keys are files":          {source: corev1.VolumeSource{Secret: &corev1.SecretVolumeSource{SecretName: "s"}}, want: map[string]string{"p": "-rw-r--r-- hush"}},
		"a Secret that is not there is told": {source: corev1.VolumeSource{Secret: &corev1.SecretVolumeSource{SecretName: "x"}}, refused: "Secret x"},
		"an optional Secret may be absent":   {source: corev1.VolumeSource{Secret: &corev1.SecretVolumeSource{SecretName: "x", Optional: new(true)}}, want: map[string]string{}},
		"all labels, in order":               {source: downward("metadata.labels"), want: map[string]string{"f": "-rw-r--r-- a=\"1\"\nb=\"2\""}},
		"all annotations, quoted":            {source: downward("metadata.annotations"), want: map[string]string{"f": `-rw-r--r-- note="say \"hi\"\n"`}},
		"an empty folder is the container's": {source: corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{}}, isEmpty: true},
		"a kind that needs a node is told":   {source: corev1.VolumeSource{HostPath: &corev1.HostPathVolumeSource{}}, refused: "the volume one: its kind is not supported"},
		"a projection of an unknown kind is told": {
			source: corev1.VolumeSource{Projected: &corev1.ProjectedVolumeSource{Sources: []corev1.VolumeProjection{{}}}}, refused: "projections is of a kind",
		},
		"what pods get by default": {
			source: corev1.VolumeSource{Projected: &corev1.ProjectedVolumeSource{DefaultMode: new(int32(0o644)), Sources: []corev1.VolumeProjection{
				{ServiceAccountToken: &corev1.ServiceAccountTokenProjection{ExpirationSeconds: new(int64(3607)), Path: "token"}},
				{ConfigMap: &corev1.ConfigMapProjection{LocalObjectReference: corev1.LocalObjectReference{Name: "cm"}, Items: []corev1.KeyToPath{{Key: "k", Path: "ca.crt"}}}},
				{DownwardAPI: &corev1.DownwardAPIProjection{Items: []corev1.DownwardAPIVolumeFile{{Path: "namespace", FieldRef: &corev1.ObjectFieldSelector{FieldPath: "metadata.namespace"}}}}},
				{Secret: &corev1.SecretProjection{LocalObjectReference: corev1.LocalObjectReference{Name: "s"}}},
			}}},
			want: map[string]string{"token": "-rw-r--r-- token 1 for ", "ca.crt": "-rw-r--r-- v", "namespace": "-rw-r--r-- shop", "p": "-rw-r--r-- hush"},
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			pod := examplePod()
			pod.Spec.SecurityContext = test.security
			objects := &objectsForTest{now: start, configMaps: map[string]map[string]string{"cm": {"k": "v", "l": "w"}}, secrets: map[string]map[string][]byte{"s": {"p": []byte("hush")}}}
			collector := collector{pod: pod, objects: objects, tokens: &tokens{objects: objects, now: func() time.Time { return start }}}
			content, isFilled, err := collector.payload(t.Context(), corev1.Volume{Name: "one", VolumeSource: test.source})
			if test.refused != "" {
				if err == nil || !strings.Contains(err.Error(), test.refused) {
					t.Fatalf("got %v, want %q", err, test.refused)
				}
				return
			}
			if err != nil || isFilled == test.isEmpty {
				t.Fatalf("filled %v, %v", isFilled, err)
			}
			var got map[string]string
			if isFilled {
				got = map[string]string{}
			}
			for path, file := range content {
				got[path] = file.Mode.String() + " " + string(file.Data)
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestHasOneUser(t *testing.T) {
	with := func(users ...*int64) *corev1.Pod {
		pod := &corev1.Pod{}
		for _, user := range users {
			container := corev1.Container{}
			if user != nil {
				container.SecurityContext = &corev1.SecurityContext{RunAsUser: user}
			}
			pod.Spec.Containers = append(pod.Spec.Containers, container)
		}
		return pod
	}
	tests := map[string]struct {
		pod  *corev1.Pod
		want bool
	}{
		"nobody is named":             {with(nil), false},
		"the same for all":            {with(new(int64(1)), new(int64(1))), true},
		"two users":                   {with(new(int64(1)), new(int64(2))), false},
		"one is named and one is not": {with(new(int64(1)), nil), false},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			if got := HasOneUser(test.pod); got != test.want {
				t.Errorf("got %v", got)
			}
		})
	}
}

// A kubelet's promise: the file that a program opens again and again is
// replaced in time, and never missing.
func TestVolumesAreKeptFresh(t *testing.T) {
	objects := &objectsForTest{now: start}
	now := func() time.Time { return objects.now }
	pod := examplePod()
	volumes := &volumes{
		dir: t.TempDir(), sources: []corev1.Volume{tokenVolume(), {Name: "tmp", VolumeSource: corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{}}}}, now: now,
		collector: collector{pod: pod, objects: objects, tokens: &tokens{objects: objects, now: now}},
	}
	read := func() string {
		data := must.Get(os.ReadFile(filepath.Join(volumes.path("aws"), "token")))(t)
		return string(data)
	}
	for _, step := range []struct {
		after   time.Duration
		failing error
		want    string
		wait    time.Duration
	}{
		{0, nil, "token 1 for sts", time.Minute},
		{47*time.Minute + 30*time.Second, nil, "token 1 for sts", 30 * time.Second},
		{48 * time.Minute, errors.New("down"), "token 1 for sts", time.Second},
		{50 * time.Minute, nil, "token 2 for sts", time.Minute},
	} {
		objects.now, objects.failing = start.Add(step.after), step.failing
		if err := volumes.sync(t.Context()); !errors.Is(err, step.failing) {
			t.Fatalf("after %v: %v, want %v", step.after, err, step.failing)
		}
		if got := read(); got != step.want || volumes.wait() != step.wait {
			t.Errorf("after %v: %q, next in %v; want %q, %v", step.after, got, volumes.wait(), step.want, step.wait)
		}
	}
	if info, err := os.Stat(volumes.path("tmp")); err != nil || !info.IsDir() {
		t.Errorf("the empty folder: %v", err)
	}
}

func TestMounts(t *testing.T) {
	volumes := &volumes{dir: t.TempDir(), sources: []corev1.Volume{tokenVolume(), {Name: "tmp", VolumeSource: corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{}}}}}
	must.Do(t, os.MkdirAll(filepath.Join(volumes.path("aws"), "there"), 0o700))
	tests := map[string]struct {
		mount   corev1.VolumeMount
		want    sandbox.Mount
		refused string
	}{
		"a projected volume is read-only":       {mount: corev1.VolumeMount{Name: "aws", MountPath: "/a/"}, want: sandbox.Mount{Source: volumes.path("aws"), Target: "/a", ReadOnly: true}},
		"an empty folder is not":                {mount: corev1.VolumeMount{Name: "tmp", MountPath: "/t"}, want: sandbox.Mount{Source: volumes.path("tmp"), Target: "/t"}},
		"unless the mount says so":              {mount: corev1.VolumeMount{Name: "tmp", MountPath: "/t", ReadOnly: true}, want: sandbox.Mount{Source: volumes.path("tmp"), Target: "/t", ReadOnly: true}},
		"a part of a volume":                    {mount: corev1.VolumeMount{Name: "aws", MountPath: "/a", SubPath: "there"}, want: sandbox.Mount{Source: volumes.path("aws") + "/there", Target: "/a", ReadOnly: true}},
		"a part named by a variable is made":    {mount: corev1.VolumeMount{Name: "tmp", MountPath: "/t", SubPathExpr: "of-$(A)"}, want: sandbox.Mount{Source: volumes.path("tmp") + "/of-1", Target: "/t"}},
		"a part that is not there is told":      {mount: corev1.VolumeMount{Name: "aws", MountPath: "/a", SubPath: "x"}, refused: `has no "x"`},
		"a part that leaves the volume is told": {mount: corev1.VolumeMount{Name: "tmp", MountPath: "/t", SubPath: "../x"}, refused: "leaves the volume"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			got, err := volumes.mounts(&corev1.Container{VolumeMounts: []corev1.VolumeMount{test.mount}}, known)
			if test.refused != "" {
				if err == nil || !strings.Contains(err.Error(), test.refused) {
					t.Fatalf("got %v, want %q", err, test.refused)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff([]sandbox.Mount{test.want}, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}
