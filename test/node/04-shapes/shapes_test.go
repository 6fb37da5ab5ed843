// Package shapes proves that pods get their identity in every shape in which people
// run them, and that containers which are to have none have none.
package shapes

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/tabard-dev/tabard/internal/testkit/must"
	"github.com/tabard-dev/tabard/test/node/bed"
)

// shape is a manifest of this folder, which runs in a namespace of its own name.
type shape struct {
	*bed.Bed
	t    *testing.T
	name string
	role bed.Role
}

func TestNodeEachShapeOfPodHasItsIdentity(t *testing.T) {
	b := bed.Open(t)
	b.LoadWorkload()
	checks := map[string]func(shape){
		"users": (shape).users, "init": (shape).init, "sidecar": (shape).sidecar,
		"skip": (shape).skip, "job": (shape).job, "statefulset": (shape).statefulSet,
	}
	roles := map[string]bed.Role{}
	for name := range checks {
		roles[name] = b.Team(name, nil)
	}
	for name, role := range roles { // all of them run side by side
		b.Apply(name, name+".yaml", role)
	}
	for name, check := range checks {
		t.Run(name, func(t *testing.T) {
			check(shape{b.For(t), t, name, roles[name]})
		})
	}
}

func (s shape) users() {
	for _, pod := range []struct {
		name, container string
		want            confinement
	}{
		{"one-user", "app", confinement{"1000", true, "0600 of 1000:0"}},
		{"two-users", "app", confinement{"1000", true, "0644 of 0:0"}},
		{"two-users", "other", confinement{"2000", true, "0644 of 0:0"}},
		{"one-group", "app", confinement{"65532", true, "0640 of 0:3000"}},
	} {
		s.awaitCaller("deployment/"+pod.name, pod.container)
		if got := confinementOf(s.t, processOf(s.t, s.RunningPod(s.name, "app="+pod.name), pod.container)); got != pod.want {
			s.t.Errorf("%s %s: got %+v, want %+v", pod.name, pod.container, got, pod.want)
		}
	}
	s.wantSessions(4)
}

func (s shape) init() {
	s.AwaitLine(s.name, "deployment/app", "prepare", `"wrote":"s3://`+s.role.Bucket+`/own/prepared.txt"`)
	line := s.AwaitLine(s.name, "deployment/app", "app", `"read"`)
	if got, want := s.Answer(line)["text"], "this was made before the app"; got != want {
		s.t.Errorf("the app read %q, want %q", got, want)
	}
	pod := s.RunningPod(s.name, "app=app")
	prepare, app := pod.Status.InitContainerStatuses[0], pod.Status.ContainerStatuses[0]
	if prepare.RestartCount+app.RestartCount > 0 {
		s.t.Errorf("the init container was started again %d times, the app %d times", prepare.RestartCount, app.RestartCount)
	}
	if lines, err := s.Said(s.t.Context(), s.name, "deployment/app", "app"); err != nil || !strings.Contains(lines[0], `"read"`) {
		s.t.Errorf("the app's first call is no success: %q, %v", lines[0], err)
	}
	s.wantSessions(2)
}

func (s shape) sidecar() {
	s.awaitCaller("deployment/app", "app")
	s.awaitCaller("deployment/app", "sidecar")
	before := must.Get(s.Said(s.t.Context(), s.name, "deployment/app", "sidecar"))(s.t)
	s.Eventually("the sidecar calls on while the app runs", func(ctx context.Context) error {
		now, err := s.Said(ctx, s.name, "deployment/app", "sidecar")
		if err == nil && len(now) <= len(before) {
			err = fmt.Errorf("it printed %q", now)
		}
		return err
	})
	pod := s.RunningPod(s.name, "app=app")
	sidecar, app := pod.Status.InitContainerStatuses[0].State.Running, pod.Status.ContainerStatuses[0].State.Running
	if sidecar == nil || app == nil || app.StartedAt.Before(&sidecar.StartedAt) {
		s.t.Errorf("sidecar %+v, app %+v: want both to run, the sidecar first", sidecar, app)
	}
	s.wantSessions(2)
}

func (s shape) skip() {
	s.awaitCaller("deployment/app", "app")
	for _, container := range []string{"proxy", "metrics"} {
		s.AwaitLine(s.name, "deployment/app", container, "failed to refresh cached credentials")
		lines := must.Get(s.Said(s.t.Context(), s.name, "deployment/app", container))(s.t)
		if at := slices.IndexFunc(lines, func(line string) bool { return strings.HasPrefix(line, "{") }); at >= 0 {
			s.t.Errorf("%s made a call: %s", container, lines[at])
		}
	}
	for _, container := range s.RunningPod(s.name, "app=app").Spec.Containers {
		given := slices.ContainsFunc(container.VolumeMounts, func(mount corev1.VolumeMount) bool {
			return strings.HasPrefix(mount.MountPath, "/var/run/secrets/eks.amazonaws.com")
		})
		if given != (container.Name == "app") {
			s.t.Errorf("%s has the token: %t", container.Name, given)
		}
	}
	for _, call := range s.Calls(s.role) {
		if call.Operation == "PutObject" {
			s.t.Errorf("a container without identity made the call %+v", call)
		}
	}
	s.wantSessions(1)
}

func (s shape) job() {
	s.Kubectl("wait", "-n", s.name, "job/app", "--for=condition=Complete", "--timeout=180s")
	pods := s.pods("app=app")
	if len(pods) != 2 {
		s.t.Errorf("the job has %d pods, want 2", len(pods))
	}
	for _, pod := range pods {
		s.AwaitLine(s.name, pod.Name, "app", `"wrote":"s3://`+s.role.Bucket+`/own/result.txt"`)
	}
	wrote := 0
	for _, call := range s.Calls(s.role) {
		if call.Operation == "PutObject" && call.Status == 200 {
			wrote++
		}
	}
	if wrote != 2 {
		s.t.Errorf("the local AWS took %d objects of the role, want one of each pod", wrote)
	}
}

func (s shape) statefulSet() {
	s.awaitCaller("pod/app-0", "app")
	s.awaitCaller("pod/app-1", "app")
	before := s.awaitCaller("pod/app-0", "app")
	first := s.named("app-0")
	s.Kubectl("delete", "pod", "-n", s.name, "app-0", "--wait=false")
	s.Eventually("app-0 is there again", func(ctx context.Context) error {
		pod, err := s.Kube.CoreV1().Pods(s.name).Get(ctx, "app-0", metav1.GetOptions{})
		if err == nil && pod.UID == first.UID {
			err = fmt.Errorf("it is still the one with the UID %s", pod.UID)
		}
		return err
	})
	if after := s.awaitCaller("pod/app-0", "app"); after == before {
		s.t.Errorf("the new pod goes on with the session %s of the old one", after)
	}
	s.wantSessions(3)
}

// awaitCaller waits until a container has made a call, which must be as its role.
func (s shape) awaitCaller(pod, container string) string {
	s.t.Helper()
	caller := s.Answer(s.AwaitLine(s.name, pod, container, `"arn"`))["arn"]
	if want := "arn:aws:sts::" + s.Account + ":assumed-role/" + s.role.Name + "/"; !strings.HasPrefix(caller, want) {
		s.t.Errorf("%s %s called as %s, want %s…", pod, container, caller, want)
	}
	return caller
}

// wantSessions looks into the journal: each container that has the identity has a
// session of its own, and nobody else has one of the role.
func (s shape) wantSessions(want int) {
	s.t.Helper()
	sessions := map[string]bool{}
	for _, call := range s.Calls(s.role) {
		sessions[call.Caller] = true
	}
	if len(sessions) != want {
		s.t.Errorf("the role has %d sessions, want %d: %v", len(sessions), want, sessions)
	}
}

func (s shape) pods(selector string) []corev1.Pod {
	s.t.Helper()
	found := must.Get(s.Kube.CoreV1().Pods(s.name).List(s.t.Context(), metav1.ListOptions{LabelSelector: selector}))(s.t)
	return found.Items
}

func (s shape) named(name string) *corev1.Pod {
	s.t.Helper()
	pod := must.Get(s.Kube.CoreV1().Pods(s.name).Get(s.t.Context(), name, metav1.GetOptions{}))(s.t)
	return pod
}
