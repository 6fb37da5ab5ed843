package ocm

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/tabard-dev/tabard/internal/lab/sandbox"
	"github.com/tabard-dev/tabard/internal/lab/workload"
	"github.com/tabard-dev/tabard/internal/testkit"
	"github.com/tabard-dev/tabard/internal/testkit/must"
)

// pod is a pod that the node runs.
type pod struct {
	node   *Node
	object *corev1.Pod
	port   int
	output *os.File
	starts atomic.Int32
	// process runs the container now, or ran it last; nil before the first.
	process atomic.Pointer[os.Process]

	cancel context.CancelFunc
	ended  chan struct{}
}

// start starts a pod.
func (n *Node) start(ctx context.Context, object *corev1.Pod) *pod {
	ctx, cancel := context.WithCancel(ctx)
	p := &pod{
		node: n, object: withToken(object), port: testkit.FreePort(n.t), cancel: cancel, ended: make(chan struct{}),
		output: must.Get(os.CreateTemp(n.t.ArtifactDir(), object.Name+"-*.log"))(n.t),
	}
	go func() { defer close(p.ended); p.run(ctx) }()
	return p
}

// stop ends the pod's process, and waits for that.
func (p *pod) stop() {
	p.cancel()
	<-p.ended
}

func (p *pod) log() string {
	text, err := os.ReadFile(p.output.Name())
	if err != nil {
		p.node.t.Error(err)
	}
	return string(text)
}

// show shows the end of what a pod has said whose test has failed.
func (p *pod) show() {
	if p.node.t.Failed() {
		text := p.log()
		p.node.t.Logf("the end of what the pod %s said:\n%s", p.object.Name, text[max(0, len(text)-8000):])
	}
	_ = p.output.Close()
}

// run starts the containers, again and again as a kubelet does, until it is stopped. The
// system ties the process to the thread that starts it.
func (p *pod) run(ctx context.Context) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	for ctx.Err() == nil {
		if err := p.once(ctx); err != nil && ctx.Err() == nil {
			fmt.Fprintf(p.output, "the node: %v\n", err)
		}
		select {
		case <-ctx.Done():
		case <-time.After(time.Second):
		}
	}
}

// once runs the init containers and then the container, until it ends.
func (p *pod) once(ctx context.Context) error {
	for _, container := range p.object.Spec.InitContainers {
		if p.node.program(&container) == "" {
			continue
		}
		if err := p.contain(ctx, container.Name, nil); err != nil {
			return fmt.Errorf("the init container %s: %w", container.Name, err)
		}
	}
	p.starts.Add(1)
	return p.contain(ctx, p.object.Spec.Containers[0].Name, p.ready)
}

// contain runs a container until it has ended; started is called when it runs.
func (p *pod) contain(ctx context.Context, name string, started func(context.Context) error) error {
	cluster := p.node.cluster
	prepared, err := workload.Prepare(ctx, cluster.Kube, cluster.Config.Host, filepath.Join(p.node.dir, string(p.object.UID)), p.object, name)
	if err != nil {
		return err
	}
	command, send, err := sandbox.Command(testkit.Tabard(p.node.t), []string{"lab", "run-init"}, p.spec(prepared))
	if err != nil {
		return err
	}
	command.Stdout, command.Stderr = p.output, p.output
	if err := command.Start(); err != nil {
		_ = send()
		return err
	}
	p.process.Store(command.Process)
	ended := make(chan struct{})
	var result error
	go func() { defer close(ended); result = command.Wait() }()
	defer func() {
		_ = command.Process.Kill() // it may have ended by now
		<-ended
	}()
	if err := send(); err != nil {
		return err
	}
	if started != nil {
		if err := started(ctx); err != nil {
			return err
		}
	}
	if err := p.follow(ctx, prepared, ended); err != nil {
		return err
	}
	return result
}

// follow renews the volumes until the process has ended, or is to end.
func (p *pod) follow(ctx context.Context, prepared *workload.Prepared, ended <-chan struct{}) error {
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-ended:
			return nil
		case <-time.After(interval):
		}
		if err := prepared.Refresh(ctx); err != nil && ctx.Err() == nil {
			fmt.Fprintf(p.output, "the node: the volumes are not renewed: %v\n", err)
		}
	}
}

// programDir is where a container sees the node's programs: at their own paths the
// machine may have something else.
const programDir = "/run/programs"

// spec is the container as a program in a file system of its own. Open Cluster
// Management's programs get a port for each pod, because all share the network of this
// machine, and elect no leader, because a new process would wait for the old one's lease.
func (p *pod) spec(prepared *workload.Prepared) sandbox.Spec {
	program := prepared.Command[0]
	spec := sandbox.Spec{Root: prepared.Root, Dir: "/", Mounts: slices.Clone(prepared.Mounts), Command: slices.Clone(prepared.Command)}
	spec.Command[0] = filepath.Join(programDir, program)
	spec.Mounts = append(spec.Mounts, sandbox.Mount{Source: p.node.options.Programs[program], Target: spec.Command[0], ReadOnly: true})
	if isOwn(program) {
		spec.Command = append(spec.Command, fmt.Sprintf("--listen=127.0.0.1:%d", p.port), "--disable-leader-election")
	}
	for _, variable := range append([]string{"HOME=/", "HOSTNAME=" + p.object.Name, "PATH=/usr/bin:/bin"}, p.node.options.Environment...) {
		if name, value, _ := strings.Cut(variable, "="); prepared.Environment[name] == "" {
			prepared.Environment[name] = value
		}
	}
	spec.Env = prepared.Environment.List()
	return spec
}

// isOwn says whether a path is of a program of Open Cluster Management.
func isOwn(program string) bool {
	return slices.Contains(components, strings.TrimPrefix(program, "/"))
}

// ready writes into the pod's status that it runs.
func (p *pod) ready(ctx context.Context) error {
	pods := p.node.cluster.Kube.CoreV1().Pods(p.object.Namespace)
	object, err := pods.Get(ctx, p.object.Name, metav1.GetOptions{})
	if err != nil {
		return err
	}
	object.Status.Phase, object.Status.PodIP = corev1.PodRunning, "127.0.0.1"
	object.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue, LastTransitionTime: metav1.Now()}}
	_, err = pods.UpdateStatus(ctx, object, metav1.UpdateOptions{})
	return err
}

// withToken adds the volume with the token for the API server, as the API server's own
// admission does, which these clusters run without.
func withToken(object *corev1.Pod) *corev1.Pod {
	const name = "kube-api-access"
	volume := corev1.Volume{Name: name}
	volume.Projected = &corev1.ProjectedVolumeSource{Sources: []corev1.VolumeProjection{
		{ServiceAccountToken: &corev1.ServiceAccountTokenProjection{Path: "token", ExpirationSeconds: new(int64(3607))}},
		{ConfigMap: &corev1.ConfigMapProjection{LocalObjectReference: corev1.LocalObjectReference{Name: "kube-root-ca.crt"}}},
		{DownwardAPI: &corev1.DownwardAPIProjection{Items: []corev1.DownwardAPIVolumeFile{
			{Path: "namespace", FieldRef: &corev1.ObjectFieldSelector{FieldPath: "metadata.namespace"}},
		}}},
	}}
	object.Spec.Volumes = append(object.Spec.Volumes, volume)
	for _, containers := range [][]corev1.Container{object.Spec.InitContainers, object.Spec.Containers} {
		for number := range containers {
			own := &containers[number]
			own.VolumeMounts = append(own.VolumeMounts, corev1.VolumeMount{Name: name, MountPath: "/var/run/secrets/kubernetes.io/serviceaccount", ReadOnly: true})
			if len(own.Command) == 0 { // the images have no entry point
				own.Command, own.Args = own.Args, nil
			}
		}
	}
	return object
}
