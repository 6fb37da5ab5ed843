package webhook

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// kind is a kind of pods that are created again and again.
type kind struct {
	namespace, account string
	// roles are those that such a pod may get; none: it must get no identity.
	roles []string
}

func (k kind) String() string { return k.namespace + "/" + k.account }

// pace is how fast pods of each kind are created: by so many at a time, with a pause
// after each.
type pace struct {
	atOnce int
	pause  time.Duration
}

var (
	withoutPause = pace{atOnce: 2}
	gently       = pace{atOnce: 1, pause: 100 * time.Millisecond}
)

// load creates pods of all kinds all the time, and keeps what came out.
type load struct {
	stop  context.CancelFunc
	group sync.WaitGroup

	mu      sync.Mutex
	created map[string]int
	roles   map[string]int
	wrong   []string
}

// startLoad creates pods until end is called.
func (c *cluster) startLoad(pace pace, kinds ...kind) *load {
	ctx, stop := context.WithCancel(c.t.Context())
	l := &load{stop: stop, created: map[string]int{}, roles: map[string]int{}}
	for _, k := range kinds {
		l.created[k.String()] = 0
		for range pace.atOnce {
			l.group.Go(func() {
				for ctx.Err() == nil {
					l.note(k, c.createPod(ctx, k))
					<-time.After(pace.pause)
				}
			})
		}
	}
	return l
}

// outcome is what became of a pod.
type outcome struct {
	name, role string
	err        error
}

// createPod makes a pod; the API server completes its name.
func (c *cluster) createPod(ctx context.Context, k kind) outcome {
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: k.namespace, GenerateName: k.account + "-"},
		Spec:       corev1.PodSpec{ServiceAccountName: k.account, Containers: []corev1.Container{{Name: "app", Image: "app:1"}}},
	}
	// The context is not the load's: a pod that is on its way is one that counts.
	err := c.Create(context.WithoutCancel(ctx), pod)
	return outcome{name: pod.Name, role: roleOf(pod), err: err}
}

// roleOf is the role of a pod's container, if it has all that it takes to become
// it; what is left half done shows as such.
func roleOf(pod *corev1.Pod) string {
	container := pod.Spec.Containers[0]
	variables := map[string]string{}
	for _, one := range container.Env {
		variables[one.Name] = one.Value
	}
	mounted := slices.ContainsFunc(container.VolumeMounts, func(m corev1.VolumeMount) bool {
		return strings.HasPrefix(variables["AWS_WEB_IDENTITY_TOKEN_FILE"], m.MountPath+"/")
	})
	switch {
	case len(variables) == 0 && len(container.VolumeMounts) == 0 && len(pod.Spec.Volumes) == 0:
		return ""
	case !mounted || len(pod.Spec.Volumes) != 1:
		return fmt.Sprintf("half an identity: %v, mounts %v", variables, container.VolumeMounts)
	}
	return variables["AWS_ROLE_ARN"]
}

func (l *load) note(k kind, got outcome) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.created[k.String()]++
	l.roles[got.role]++
	good := got.err == nil && (slices.Contains(k.roles, got.role) || len(k.roles) == 0 && got.role == "")
	if !good {
		l.wrong = append(l.wrong, fmt.Sprintf("%s pod %s of %v: role %q, want one of %q, error %v",
			time.Now().Format("15:04:05.000"), got.name, k, got.role, k.roles, got.err))
	}
}

// roleCount is how many pods got a role.
func (l *load) roleCount(role string) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.roles[role]
}

// counts is how many pods there are of each kind.
func (l *load) counts() map[string]int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return maps.Clone(l.created)
}

// end stops the load and fails the test for every pod that is not as it should
// be. It answers how many pods got which role.
func (l *load) end(t *testing.T) map[string]int {
	t.Helper()
	l.stop()
	l.group.Wait()
	total := 0
	for k, n := range l.created {
		t.Logf("%d pods of %s", n, k)
		total += n
	}
	for _, wrong := range l.wrong[:min(len(l.wrong), 20)] {
		t.Error(wrong)
	}
	if len(l.wrong) > 0 {
		t.Errorf("%d of %d pods are wrong", len(l.wrong), total)
	}
	return maps.Clone(l.roles)
}
