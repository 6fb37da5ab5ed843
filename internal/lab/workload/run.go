package workload

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/kubernetes"

	"github.com/tabard-dev/tabard/internal/lab"
	"github.com/tabard-dev/tabard/internal/lab/private"
	"github.com/tabard-dev/tabard/internal/lab/sandbox"
)

// Options say which command is run, as which container of which pod.
type Options struct {
	Namespace string
	// Target is pod/NAME or deployment/NAME.
	Target string
	// Container is a container's name; "" is the pod's default.
	Container string
	// Command is the program and its arguments; empty is the container's own.
	Command []string
	// Verbose prints everything that is added or changed.
	Verbose bool
	// Quiet prints nothing but errors.
	Quiet bool
	// NoNamespaces runs the command in this machine's own file system.
	NoNamespaces bool
	// Record is the name that the run is recorded under, for the lab to end it;
	// "" for a run that somebody waits for.
	Record string
	// Self is this program, and InitArguments make it call sandbox.Init.
	Self          string
	InitArguments []string
	In            io.Reader
	Out, Err      io.Writer
	// Getenv reads the environment of whoever runs the command, of which PATH
	// and TERM are passed on.
	Getenv func(string) string
}

// Check finds what a run would use, and says what is wrong before anything is
// started in the background.
func Check(ctx context.Context, in lab.Lab, options Options) error {
	client, err := in.Client()
	if err != nil {
		return err
	}
	pod, err := Find(ctx, client, options.Namespace, options.Target)
	if err != nil {
		return err
	}
	_, err = container(pod, options.Container)
	return err
}

// job is a run in the making.
type job struct {
	lab         lab.Lab
	options     Options
	pod         *corev1.Pod
	container   *corev1.Container
	volumes     *volumes
	environment Environment
	command     []string
	mounts      []sandbox.Mount
}

// Run runs a command as its pod would, until it ends, and returns its exit
// code. Signals are passed on to it. What is added to the pod's environment,
// or changed in it, is printed to Err, unless Options are quiet. ctx bounds the preparation only.
func Run(ctx context.Context, in lab.Lab, options Options) (int, error) {
	client, err := in.Client()
	if err != nil {
		return 0, err
	}
	pod, err := Find(ctx, client, options.Namespace, options.Target)
	if err != nil {
		return 0, err
	}
	job := &job{lab: in, options: options, pod: pod}
	if job.container, err = container(pod, options.Container); err != nil {
		return 0, err
	}
	if err := job.prepare(ctx, client, in.APIServerURL(), in.Path("pods", string(pod.UID))); err != nil {
		return 0, err
	}
	return job.run(ctx)
}

// prepare makes the volumes, below a folder, and the environment.
func (job *job) prepare(ctx context.Context, client kubernetes.Interface, apiServer, dir string) error {
	objects := cluster{client: client, pod: job.pod}
	job.volumes = &volumes{
		dir: dir, sources: volumesOf(job.pod, job.container), now: time.Now,
		collector: collector{pod: job.pod, objects: objects, tokens: &tokens{objects: objects, now: time.Now}},
	}
	for _, folder := range []string{"volumes", "root", filepath.Join("lab", "home")} {
		if err := os.MkdirAll(filepath.Join(job.volumes.dir, folder), 0o700); err != nil {
			return fmt.Errorf("make the pod's folder: %w", err)
		}
	}
	if err := job.volumes.sync(ctx); err != nil {
		return err
	}
	services, err := serviceVariables(apiServer)
	if err != nil {
		return err
	}
	if job.environment, err = environmentOf(ctx, job.pod, job.container, objects, services); err != nil {
		return err
	}
	lookup := func(name string) (string, bool) {
		value, ok := job.environment[name]
		return value, ok
	}
	if job.command, err = commandOf(job.options.Command, job.container, lookup); err != nil {
		return err
	}
	job.mounts, err = job.volumes.mounts(job.container, lookup)
	return err
}

// commandOf is the command to run: the one given, else the container's own.
func commandOf(given []string, container *corev1.Container, lookup func(string) (string, bool)) ([]string, error) {
	if len(given) > 0 {
		return given, nil
	}
	if len(container.Command) == 0 {
		return nil, fmt.Errorf("the container %s names no command, and its image is not looked into; name one after --", container.Name)
	}
	var out []string
	for _, list := range [][]string{container.Command, container.Args} {
		for _, word := range list {
			out = append(out, expand(word, lookup))
		}
	}
	return out, nil
}

// serviceVariables lead a client in the pod to the API server. In a cluster
// they name the service's address, which nothing serves here.
func serviceVariables(apiServer string) (Environment, error) {
	host, port, err := net.SplitHostPort(trimScheme(apiServer))
	if err != nil {
		return nil, fmt.Errorf("the API server's address %q: %w", apiServer, err)
	}
	return Environment{"KUBERNETES_SERVICE_HOST": host, "KUBERNETES_SERVICE_PORT": port, "KUBERNETES_SERVICE_PORT_HTTPS": port}, nil
}

func trimScheme(url string) string {
	const scheme = "https://"
	if len(url) > len(scheme) && url[:len(scheme)] == scheme {
		return url[len(scheme):]
	}
	return url
}

// labDir is where a sandboxed command sees the lab's own files. They need a
// place of their own: a volume may cover the lab's folder, for instance an
// emptyDir at /tmp.
const labDir = "/run/tabard-lab"

// sandboxed puts the volumes at the pod's own paths. An error that is
// sandbox.ErrUnsupported says that this cannot be done here.
func (job *job) sandboxed(ctx context.Context) (sandbox.Spec, error) {
	files := filepath.Join(job.volumes.dir, "lab")
	ca, err := os.ReadFile(job.lab.AWSCA())
	if err != nil {
		return sandbox.Spec{}, fmt.Errorf("the CA of the local AWS: %w; is the lab up?", err)
	}
	if err := private.Write(filepath.Join(files, "aws-ca.crt"), ca); err != nil {
		return sandbox.Spec{}, fmt.Errorf("write the CA of the local AWS: %w", err)
	}
	dir, err := os.Getwd()
	if err != nil {
		dir = "/"
	}
	spec := sandbox.Spec{
		Root: filepath.Join(job.volumes.dir, "root"), Dir: dir,
		Mounts: append([]sandbox.Mount{{Source: files, Target: labDir}}, job.mounts...),
	}
	return spec, sandbox.Try(ctx, job.options.Self, job.options.InitArguments, spec)
}

// run chooses the form, says what it adds, and runs the command.
func (job *job) run(ctx context.Context) (int, error) {
	ca, home := labDir+"/aws-ca.crt", labDir+"/home"
	spec, err := sandbox.Spec{}, sandbox.ErrUnsupported
	if !job.options.NoNamespaces {
		spec, err = job.sandboxed(ctx)
	}
	isSandboxed := err == nil
	if err != nil && !errors.Is(err, sandbox.ErrUnsupported) {
		return 0, err
	}
	if !isSandboxed {
		if !job.options.NoNamespaces {
			job.warn("the volumes cannot be mounted at the pod's paths, so variables lead to them (-v prints each): %v", err)
		}
		ca, home = job.lab.AWSCA(), filepath.Join(job.volumes.dir, "lab", "home")
		if err := job.leadToFolders(); err != nil {
			return 0, err
		}
	}
	for _, variable := range slices.Concat(job.lab.AWSVariables(ca), lab.MetadataVariables()) {
		job.add(variable.Name, variable.Value)
	}
	// A container has these from its image and its runtime. The home folder is
	// an empty one: an AWS profile in the caller's must not help the command.
	job.add("HOME", home)
	job.add("HOSTNAME", job.pod.Name)
	job.add("PATH", job.options.Getenv("PATH"))
	if term := job.options.Getenv("TERM"); term != "" {
		job.add("TERM", term)
	}
	spec.Command, spec.Env = job.command, job.environment.List()
	code, err := job.supervise(ctx, spec, isSandboxed)
	if err != nil {
		return 0, err
	}
	return code, job.forget(code)
}

// leadToFolders changes the variables that point into a mount, and gives
// Kubernetes clients, whose token path is fixed, a configuration instead.
func (job *job) leadToFolders() error {
	for _, one := range rewrite(job.environment, job.mounts) {
		job.tell("rewritten %s=%s (was %s)", one.Name, one.To, one.From)
	}
	const conventional = "/var/run/secrets/kubernetes.io/serviceaccount"
	for _, mount := range job.mounts {
		if mount.Target != conventional {
			continue
		}
		path := filepath.Join(job.volumes.dir, "lab", "kubeconfig")
		if err := writeKubeconfig(path, job.lab.APIServerURL(), mount.Source, job.pod.Namespace); err != nil {
			return err
		}
		job.add("KUBECONFIG", path)
	}
	return nil
}

// add adds a variable that the pod does not set, and says so.
func (job *job) add(name, value string) {
	if own, isSet := job.environment[name]; isSet {
		if own != value {
			job.tell("kept %s as the pod sets it", name)
		}
		return
	}
	job.environment[name] = value
	job.tell("added %s=%s", name, value)
}

// tell says what is added or changed, to who has asked for it.
func (job *job) tell(format string, arguments ...any) {
	if job.options.Verbose {
		job.warn(format, arguments...)
	}
}

// warn says what nobody asked for and may matter.
func (job *job) warn(format string, arguments ...any) {
	if !job.options.Quiet {
		job.say(format, arguments...)
	}
}

func (job *job) say(format string, arguments ...any) {
	// Standard error has gone: there is nobody to tell, and the command runs on.
	_, _ = fmt.Fprintf(job.options.Err, "lab run: "+format+"\n", arguments...)
}

// runName is the name of a run that somebody waits for.
func runName(pid int) string { return "run-" + strconv.Itoa(pid) }
