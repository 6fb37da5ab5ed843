package election_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/go-logr/logr"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/clientcmd"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"

	"github.com/tabard-dev/tabard/internal/app/election"
	"github.com/tabard-dev/tabard/internal/testkit"
	"github.com/tabard-dev/tabard/internal/testkit/must"
)

func TestMain(m *testing.M) { os.Exit(testkit.RunAsProgram(m, program)) }

// program is a process whose controllers lock a file each while they run, which the
// kernel unlocks when they are killed: one that runs twice ends both its process and
// the test. The arguments are KUBECONFIG FOLDER NAMESPACE SET-LEASE NAME…, a name such
// as b=one+two asks for two leases, and one such as b! takes a second to stop.
func program(args []string) error {
	ctrl.SetLogger(logr.FromSlogHandler(slog.NewTextHandler(os.Stderr, nil)))
	ctx, stop := context.WithCancel(context.Background()) //nolint:forbidigo // it is a program here
	defer stop()
	go func() { // the test ends it by its input, as signals are the parent's
		_, _ = os.Stdin.Read(make([]byte, 1))
		stop()
	}()
	config, err := clientcmd.BuildConfigFromFlags("", args[0])
	if err != nil {
		return err
	}
	mgr, err := ctrl.NewManager(config, ctrl.Options{Metrics: metricsserver.Options{BindAddress: "0"}, HealthProbeBindAddress: "0"})
	if err != nil {
		return err
	}
	options := election.Options{On: true, Namespace: args[2], Duration: 6 * time.Second}
	if args[3] != "" {
		options.First = []string{args[3]}
	}
	elected, err := election.New(mgr, options)
	if err != nil {
		return err
	}
	for _, arg := range args[4:] {
		name, leases, _ := strings.Cut(arg, "=")
		name, slow := strings.CutSuffix(name, "!")
		wanted := []string{"lease-" + name}
		if leases != "" {
			wanted = strings.Split(leases, "+")
		}
		mine, err := elected.Manager(wanted...)
		if err != nil {
			return err
		}
		if err := mine.Add(controller(filepath.Join(args[1], name), slow)); err != nil {
			return err
		}
	}
	return elected.Run(ctx)
}

func controller(file string, slow bool) manager.Runnable {
	return manager.RunnableFunc(func(ctx context.Context) error {
		held, err := os.OpenFile(file, os.O_CREATE|os.O_RDWR, 0o600)
		if err != nil {
			return err
		}
		defer held.Close() //nolint:errcheck // it unlocks
		if err := syscall.Flock(int(held.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
			_ = os.WriteFile(file+".twice", nil, 0o600)
			return fmt.Errorf("runs twice: %w", err)
		}
		_ = held.Truncate(0)
		if _, err := fmt.Fprint(held, os.Getpid()); err != nil {
			return err
		}
		<-ctx.Done()
		if slow {
			<-time.After(time.Second) // a slow one
		}
		_ = held.Truncate(0)
		return nil
	})
}

// lab is a namespace of an API server, and the folder of the locks.
type lab struct {
	*testing.T
	cluster                        client.Client
	program, kubeconfig, namespace string
	folder                         string
}

// on gives a test a namespace of its own.
func (l lab) on(t *testing.T, namespace string) *lab {
	t.Helper()
	testkit.Create(t, l.cluster, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: namespace}})
	l.T, l.namespace, l.folder = t, namespace, t.TempDir()
	t.Cleanup(func() {
		twice, err := filepath.Glob(filepath.Join(l.folder, "*.twice"))
		if err != nil || len(twice) > 0 {
			t.Errorf("ran in two processes: %v %v", twice, err)
		}
	})
	return &l
}

// TestElection runs its parts side by side: most of their time is waiting.
func TestElection(t *testing.T) {
	api := testkit.StartAPIServer(t, "https://issuer.example.com")
	cluster := must.Get(client.New(api.Config, client.Options{}))(t)
	l := lab{cluster: cluster, kubeconfig: filepath.Join(t.TempDir(), "kubeconfig"), program: filepath.Join(testkit.LinkSelf(t, "controllers"), "controllers")}
	testkit.WriteKubeconfig(t, l.kubeconfig, api.Config)
	for name, test := range map[string]func(*lab){
		"overlapping-sets-share-no-controller":     testOverlap,
		"a-lease-is-given-up-after-its-controller": testEnd,
		"who-loses-a-lease-ends":                   testLoss,
		"the-first-of-two-must-be-held":            allHeld("original", "", "a=original+lease-a"),
		"the-second-of-two-must-be-held":           allHeld("lease-a", "", "a=original+lease-a"),
		"that-of-an-older-version-must-be-held":    allHeld("set-a-b", "set-a-b", "a", "b"),
		"a-lease-without-rights-is-told":           testRefused,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(l.on(t, name))
		})
	}
}

// process is one that runs controllers.
type process struct {
	*testkit.Process
	pid   string
	close func()
}

// start starts a process with its arguments from the set's lease on.
func (l *lab) start(args ...string) *process {
	l.Helper()
	command := exec.CommandContext(context.WithoutCancel(l.Context()), l.program, append([]string{l.kubeconfig, l.folder, l.namespace}, args...)...)
	input := must.Get(command.StdinPipe())(l)
	running := testkit.StartProcess(l.T, command)
	return &process{Process: running, pid: fmt.Sprint(command.Process.Pid), close: func() { _ = input.Close() }}
}

// runner is the process that runs a controller, empty for none.
func (l *lab) runner(name string) string {
	text, err := os.ReadFile(filepath.Join(l.folder, name))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		l.Fatal(err)
	}
	return string(text)
}

func (l *lab) awaitRuns(name string, among ...*process) (by *process) {
	l.Helper()
	testkit.Await(l.T, func() error {
		pid := l.runner(name)
		for _, p := range among {
			if p.pid == pid {
				by = p
				return nil
			}
		}
		return fmt.Errorf("controller %s is run by %q", name, pid)
	})
	return by
}

// staysIdle demands that a controller runs nowhere, for two looks at the leases.
func (l *lab) staysIdle(name string) {
	l.Helper()
	for range 20 {
		<-time.After(100 * time.Millisecond) // nothing is to happen
		if pid := l.runner(name); pid != "" {
			l.Fatalf("controller %s is run by %s", name, pid)
		}
	}
}

// holds makes a lease that somebody else holds.
func (l *lab) holds(name string, duration int32) *coordinationv1.Lease {
	l.Helper()
	now, holder := metav1.NowMicro(), "an older version"
	lease := &coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{Namespace: l.namespace, Name: name},
		Spec: coordinationv1.LeaseSpec{HolderIdentity: &holder, LeaseDurationSeconds: &duration, AcquireTime: &now, RenewTime: &now}}
	testkit.Create(l.T, l.cluster, lease)
	return lease
}

// testOverlap: whichever sets processes are told to run, a
// controller runs in one of them; each controller of one that is killed goes on in
// another.
func testOverlap(l *lab) {
	first := l.start("set-a-b", "a", "b")
	l.awaitRuns("a", first)
	l.awaitRuns("b", first)
	second := l.start("set-b-c", "b", "c")
	third := l.start("", "a", "b", "c")
	l.awaitRuns("c", second, third) // it waits for b, and runs c
	first.Kill()
	l.awaitRuns("a", third)
	l.awaitRuns("b", second, third)
	c := l.awaitRuns("c", second, third)
	c.Kill()
	if c == third {
		l.awaitRuns("b", second)
		l.awaitRuns("c", second)
		return
	}
	for _, name := range []string{"a", "b", "c"} {
		l.awaitRuns(name, third)
	}
}

// testEnd: one that is ended waits for a slow
// controller, and then nobody has to wait for the lease to expire.
func testEnd(l *lab) {
	first := l.start("", "a!")
	l.awaitRuns("a", first)
	second := l.start("", "a")
	first.close()
	l.awaitRuns("a", second)
	for _, p := range []*process{first, second} {
		p.close()
	}
	testkit.Await(l.T, func() error {
		var lease coordinationv1.Lease
		if err := l.cluster.Get(l.Context(), client.ObjectKey{Namespace: l.namespace, Name: "lease-a"}, &lease); err != nil {
			return err
		}
		if holder := lease.Spec.HolderIdentity; holder != nil && *holder != "" {
			return fmt.Errorf("%s holds it", *holder)
		}
		return nil
	})
}

// testLoss: somebody else takes it, and none of the process's
// controllers runs on.
func testLoss(l *lab) {
	first := l.start("", "a", "b")
	l.awaitRuns("a", first)
	l.awaitRuns("b", first)
	testkit.Await(l.T, func() error {
		var lease coordinationv1.Lease
		if err := l.cluster.Get(l.Context(), client.ObjectKey{Namespace: l.namespace, Name: "lease-a"}, &lease); err != nil {
			return err
		}
		now, thief := metav1.NowMicro(), "thief"
		lease.Spec.HolderIdentity, lease.Spec.RenewTime = &thief, &now
		return l.cluster.Update(l.Context(), &lease)
	})
	testkit.Await(l.T, func() error {
		if !strings.Contains(first.Log(), "lost the lease "+l.namespace+"/lease-a") {
			return errors.New("it runs on")
		}
		return nil
	})
	// Killed or not, the kernel has unlocked what it ran.
	second := l.start("", "b")
	l.awaitRuns("b", second)
}

// allHeld: those of a program whose place is taken, those of an older version's set.
func allHeld(held string, args ...string) func(*lab) {
	return func(l *lab) {
		lease := l.holds(held, 3600)
		p := l.start(args...)
		testkit.Await(l.T, func() error {
			if !strings.Contains(p.Log(), l.namespace+"/"+held) {
				return errors.New("it does not wait for the lease")
			}
			return nil
		})
		l.staysIdle("a")
		must.Do(l, l.cluster.Delete(l.Context(), lease))
		l.awaitRuns("a", p)
	}
}

// testRefused: in the log, and it goes on when the
// right is there.
func testRefused(l *lab) {
	loaded := must.Get(clientcmd.LoadFromFile(l.kubeconfig))(l)
	for _, user := range loaded.AuthInfos {
		user.Impersonate = "somebody"
	}
	kubeconfig := filepath.Join(l.TempDir(), "kubeconfig")
	must.Do(l, clientcmd.WriteToFile(*loaded, kubeconfig))
	l.kubeconfig = kubeconfig
	p := l.start("", "a")
	testkit.Await(l.T, func() error {
		if !strings.Contains(p.Log(), "no right to the lease "+l.namespace+"/lease-a") {
			return errors.New("nothing is told")
		}
		return nil
	})
	l.staysIdle("a")
	testkit.Create(l.T, l.cluster,
		&rbacv1.ClusterRole{ObjectMeta: metav1.ObjectMeta{Name: "leases"}, Rules: []rbacv1.PolicyRule{{
			APIGroups: []string{"coordination.k8s.io"}, Resources: []string{"leases"}, Verbs: []string{"get", "create", "update"}}}},
		&rbacv1.ClusterRoleBinding{ObjectMeta: metav1.ObjectMeta{Name: "leases"},
			RoleRef:  rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: "leases"},
			Subjects: []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: "User", Name: "somebody"}}})
	l.awaitRuns("a", p)
}
