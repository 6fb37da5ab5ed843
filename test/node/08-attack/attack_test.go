// Package attack attacks the webhook on a node, two replicas behind their Service, from
// pods that have no credential, while pods are created: none of them may lose its
// identity.
package attack

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/tabard-dev/tabard/internal/testkit"
	"github.com/tabard-dev/tabard/internal/testkit/must"
	"github.com/tabard-dev/tabard/test/node/bed"
)

// Where things are.
const (
	system = "tabard-system"
	team   = "team-app"
	crowd  = "crowd"
)

// flood is the program that attacks.
var flood string

func TestMain(m *testing.M) {
	os.Exit(testkit.RunWithProgram(m, filepath.Join(testkit.Root(), "hack", "webhookflood"), &flood))
}

// attacks are what pods do to the webhook, each until so many connections or questions
// were begun, while pods of a size are created. Where they arrive at a rate, 100 to 300 connections
// come a second in all: more would take the node's processors, which attackers, webhook and
// API server share here, and not the webhook's places.
var attacks = []struct {
	name        string
	flags       []string
	attackers   int
	begun       int64
	pods, bytes int
	fresh       bool
}{
	{"connections that send one byte", []string{"-kind=slow", "-arriving", "-rate=150", "-connections=2500"}, 2, 3000, 200, 0, false},
	{"connections that stay", []string{"-kind=idle", "-connections=2000"}, 1, 2000, 50, 0, false},
	{"connections of many addresses that say nothing", []string{"-kind=silent", "-arriving", "-rate=15", "-connections=200"}, 20, 100, 50, 0, false},
	{"connections of many addresses that ask once", []string{"-kind=idle", "-arriving", "-rate=5", "-connections=100"}, 20, 50, 50, 0, false},
	{"large reviews that do not arrive", []string{"-kind=slow", "-connections=8", "-announce=3000000"}, 1, 8, 12, 100_000, false},
	{"large reviews that arrive in part", []string{"-kind=slow", "-connections=40", "-announce=16000000", "-send=70000"}, 1, 40, 12, 600_000, false},
	{"names of a namespace", []string{"-kind=names", "-namespace=" + crowd, "-rate=1000", "-connections=200"}, 1, 1000, 30, 0, true},
	{"names of nowhere", []string{"-kind=names", "-rate=1000", "-connections=200"}, 1, 1000, 30, 0, true},
}

func TestNodeAttacksOnTheWebhook(t *testing.T) {
	b := bed.Open(t)
	b.LoadProgram(flood)
	role := b.Team(team, nil)
	if _, err := b.Kube.CoreV1().Namespaces().Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: crowd}}, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	service := must.Get(b.Kube.CoreV1().Services(system).Get(t.Context(), "tabard-webhook", metav1.GetOptions{}))(t)
	for i, each := range attacks {
		t.Run(each.name, func(t *testing.T) {
			b := b.For(t)
			args := append([]string{"-address=" + service.Spec.ClusterIP + ":443", "-for=2m"}, each.flags...)
			name := fmt.Sprintf("attack-%d", i)
			begin(t, b, name, each.attackers, args)
			b.Eventually("the attack has begun", func(ctx context.Context) error { return hasBegun(ctx, b, name, each.attackers, each.begun) })
			create(t, b, role, podsOf{prefix: name, pods: each.pods, fill: strings.Repeat("<", each.bytes), fresh: each.fresh})
			end(t, b, name, each.attackers)
		})
	}
	t.Run("ServiceAccounts with long annotations", func(t *testing.T) {
		b := b.For(t)
		fatten(t, b)
		create(t, b, role, podsOf{prefix: "fat", pods: 30, fresh: true})
	})
	t.Run("authors of pods", func(t *testing.T) { outwit(t, b.For(t)) })
	live(t, b)
}

// begin starts the pods that attack. Nobody asks the webhook about them.
func begin(t *testing.T, b *bed.Bed, name string, attackers int, args []string) {
	t.Helper()
	for i := range attackers {
		_, err := b.Kube.CoreV1().Pods(crowd).Create(t.Context(), &corev1.Pod{
			ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("%s-%d", name, i), Labels: map[string]string{"eks.amazonaws.com/skip-pod-identity-webhook": "true"}},
			Spec: corev1.PodSpec{
				RestartPolicy: corev1.RestartPolicyNever, TerminationGracePeriodSeconds: new(int64(1)), AutomountServiceAccountToken: new(false),
				Containers: []corev1.Container{{Name: "flood", Image: "localhost/webhookflood:1", Args: args}},
			},
		}, metav1.CreateOptions{})
		if err != nil {
			t.Fatal(err)
		}
	}
}

// hasBegun says what is missing until all attackers have begun so much.
func hasBegun(ctx context.Context, b *bed.Bed, name string, attackers int, begun int64) error {
	for i := range attackers {
		lines, err := b.Said(ctx, crowd, fmt.Sprintf("%s-%d", name, i), "flood")
		if err != nil {
			return err
		}
		var said struct{ Opened int64 }
		last := lines[len(lines)-1]
		if err := json.Unmarshal([]byte(last), &said); err != nil {
			return fmt.Errorf("attacker %d says %q: %w", i, last, err)
		}
		if said.Opened < begun {
			return fmt.Errorf("attacker %d says %s", i, last)
		}
	}
	return nil
}

// end logs what the attackers have done, and ends them.
func end(t *testing.T, b *bed.Bed, name string, attackers int) {
	t.Helper()
	for i := range attackers {
		pod := fmt.Sprintf("%s-%d", name, i)
		lines := must.Get(b.Said(t.Context(), crowd, pod, "flood"))(t)
		t.Logf("attacker %d: %s", i, lines[len(lines)-1])
		must.Do(t, b.Kube.CoreV1().Pods(crowd).Delete(t.Context(), pod, metav1.DeleteOptions{}))
	}
}

// podsOf are pods to create: with a variable of that text, and each with a
// ServiceAccount that was made in the moment before, or all with one.
type podsOf struct {
	prefix, fill string
	pods         int
	fresh        bool
}

// create creates pods, which no node is to run, and counts those without identity.
func create(t *testing.T, b *bed.Bed, role bed.Role, of podsOf) {
	t.Helper()
	lost, slowest := make([]string, of.pods), make([]time.Duration, of.pods)
	group, ctx := errgroup.WithContext(t.Context())
	group.SetLimit(4)
	for i := range of.pods {
		group.Go(func() error {
			name, account := fmt.Sprintf("%s-%d", of.prefix, i), "app"
			if of.fresh {
				account = name
				made := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Name: name, Annotations: map[string]string{"eks.amazonaws.com/role-arn": role.ARN}}}
				if _, err := b.Kube.CoreV1().ServiceAccounts(team).Create(ctx, made, metav1.CreateOptions{}); err != nil {
					return err
				}
			}
			began := time.Now()
			pod, err := b.Kube.CoreV1().Pods(team).Create(ctx, &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: corev1.PodSpec{
				ServiceAccountName: account, SchedulerName: "nobody",
				Containers: []corev1.Container{{Name: "app", Image: "app:1", Env: []corev1.EnvVar{{Name: "FILL", Value: of.fill}}}},
			}}, metav1.CreateOptions{})
			if err != nil {
				return err
			}
			if slowest[i] = time.Since(began); !hasIdentity(pod, role) {
				lost[i] = " " + name
			}
			return nil
		})
	}
	must.Do(t, group.Wait())
	longest := slowest[0]
	for _, each := range slowest {
		longest = max(longest, each)
	}
	t.Logf("%d pods created, the slowest within %v", of.pods, longest)
	if without := strings.Join(lost, ""); without != "" {
		t.Errorf("pods without identity:%s", without)
	}
}

func hasIdentity(pod *corev1.Pod, role bed.Role) bool {
	for _, variable := range pod.Spec.Containers[0].Env {
		if variable.Name == "AWS_ROLE_ARN" && variable.Value == role.ARN {
			return true
		}
	}
	return false
}

// fat is how many ServiceAccounts have long annotations.
const fat = 300

// fatten makes ServiceAccounts with as long annotations as there may be.
func fatten(t *testing.T, b *bed.Bed) {
	t.Helper()
	group, ctx := errgroup.WithContext(t.Context())
	group.SetLimit(8)
	for i := range fat {
		group.Go(func() error {
			_, err := b.Kube.CoreV1().ServiceAccounts(crowd).Create(ctx, &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{
				Name: fmt.Sprintf("fat-%d", i), Annotations: map[string]string{"eks.amazonaws.com/x": strings.Repeat("x", 250<<10)},
			}}, metav1.CreateOptions{})
			return err
		})
	}
	must.Do(t, group.Wait())
}

// live checks that there are two replicas, and none was started anew.
func live(t *testing.T, b *bed.Bed) {
	t.Helper()
	pods := must.Get(b.Kube.CoreV1().Pods(system).List(t.Context(), metav1.ListOptions{LabelSelector: "app.kubernetes.io/component=webhook"}))(t)
	for _, pod := range pods.Items {
		for _, status := range pod.Status.ContainerStatuses {
			if status.RestartCount > 0 || !status.Ready {
				t.Errorf("%s was started anew %d times, is ready: %t; its last end: %+v", pod.Name, status.RestartCount, status.Ready, status.LastTerminationState.Terminated)
			}
		}
	}
	if len(pods.Items) != 2 {
		t.Errorf("there are %d replicas, want 2", len(pods.Items))
	}
}
