package bed

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/tabard-dev/tabard/internal/image"
	"github.com/tabard-dev/tabard/internal/testkit/must"
	"github.com/tabard-dev/tabard/internal/testkit/onlab"
)

// WorkloadImage is the image of examples/keyless-pod.
const WorkloadImage = "localhost/keyless-pod:1"

// LoadWorkload puts the workload's image on the node.
func (b *Bed) LoadWorkload() {
	b.t.Helper()
	b.LoadProgram(filepath.Join(b.Root, "bin", "keyless-pod"))
}

// LoadProgram puts an image of a program on the node, localhost/NAME:1.
func (b *Bed) LoadProgram(program string) {
	b.t.Helper()
	b.LoadProgramAs(program, "localhost/"+filepath.Base(program)+":1")
}

// LoadProgramAs puts an image of a program on the node, under a name with a tag.
func (b *Bed) LoadProgramAs(program, reference string) {
	b.t.Helper()
	name := filepath.Base(program)
	built := must.Get(image.Build(image.Spec{Program: program, Name: name, Architecture: runtime.GOARCH, Version: "1", Plain: true}))(b.t)
	archive, err := os.Create(filepath.Join(b.t.TempDir(), name+".tar"))
	if err != nil {
		b.t.Fatal(err)
	}
	_, err = image.Archive(archive, reference, built)
	must.Do(b.t, errors.Join(err, archive.Close()))
	b.Run("lab", "load", "--dir", b.Dir, archive.Name())
}

// Role is what a workload may do in AWS.
type Role struct {
	ARN, Name string
	// Bucket is the bucket below whose prefix "own/" it may read and write.
	Bucket string
}

// Team makes a namespace whose ServiceAccount "app" has a role of its own, with what
// its pods need to find the local AWS. Labels are the namespace's.
func (b *Bed) Team(namespace string, labels map[string]string) Role {
	b.t.Helper()
	ctx := b.t.Context()
	role := Role{Name: namespace + "-app", Bucket: namespace + strings.TrimPrefix(b.Env["TABARD_ISSUER_BUCKET"], "tabard-lab")}
	must.Do(b.t, b.CreateBucket(ctx, role.Bucket))
	var err error
	role.ARN, err = b.CreateRole(ctx, role.Name, b.Trust(b.Account, namespace, "app"), map[string]any{
		"Effect": "Allow", "Action": []string{"s3:GetObject", "s3:PutObject"}, "Resource": "arn:aws:s3:::" + role.Bucket + "/own/*",
	})
	if err != nil {
		b.t.Fatal(err)
	}
	ns := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: namespace, Labels: labels}}
	must.Get(b.Kube.CoreV1().Namespaces().Create(ctx, ns, metav1.CreateOptions{}))(b.t)
	b.Kubectl("apply", "-n", namespace, "-f", filepath.Join(b.Dir, "manifests", "aws.yaml"))
	account := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Name: "app", Annotations: map[string]string{"eks.amazonaws.com/role-arn": role.ARN}}}
	must.Get(b.Kube.CoreV1().ServiceAccounts(namespace).Create(ctx, account, metav1.CreateOptions{}))(b.t)
	return role
}

// Apply applies a manifest of the scenario's folder to a namespace, with BUCKET in it
// replaced by the name of the role's bucket.
func (b *Bed) Apply(namespace, file string, role Role) {
	b.t.Helper()
	text := must.Get(os.ReadFile(file))(b.t)
	path := filepath.Join(b.t.TempDir(), filepath.Base(file))
	must.Do(b.t, os.WriteFile(path, []byte(strings.ReplaceAll(string(text), "BUCKET", role.Bucket)), 0o600))
	b.Kubectl("apply", "-n", namespace, "-f", path)
}

// Said returns the lines that a container has printed.
func (b *Bed) Said(ctx context.Context, namespace, pod, container string) ([]string, error) {
	text, err := b.Lab.Kubectl(ctx, "logs", "-n", namespace, pod, "-c", container)
	return strings.Split(strings.TrimSpace(text), "\n"), err
}

// AwaitLine waits until a container has printed a line with a text, and returns it.
func (b *Bed) AwaitLine(namespace, pod, container, text string) string {
	b.t.Helper()
	var found string
	b.Eventually(fmt.Sprintf("%s/%s %s prints %q", namespace, pod, container, text), func(ctx context.Context) error {
		lines, err := b.Said(ctx, namespace, pod, container)
		if err != nil {
			return err
		}
		if at := slices.IndexFunc(lines, func(line string) bool { return strings.Contains(line, text) }); at >= 0 {
			found = lines[at]
			return nil
		}
		return fmt.Errorf("it printed %q", lines)
	})
	return found
}

// RunningPod waits until there is one pod with a label and the kubelet has reported
// that all of its containers run: it does so some time after they have begun.
func (b *Bed) RunningPod(namespace, label string) corev1.Pod {
	b.t.Helper()
	var pod corev1.Pod
	b.Eventually("the pod of "+namespace+" with the label "+label+" runs", func(ctx context.Context) error {
		pods, err := b.Kube.CoreV1().Pods(namespace).List(ctx, metav1.ListOptions{LabelSelector: label})
		if err != nil {
			return err
		}
		if len(pods.Items) != 1 {
			return fmt.Errorf("there are %d pods", len(pods.Items))
		}
		pod = pods.Items[0]
		if len(pod.Status.ContainerStatuses) != len(pod.Spec.Containers) {
			return fmt.Errorf("its status is %+v", pod.Status)
		}
		for _, container := range pod.Status.ContainerStatuses {
			if container.State.Running == nil {
				return fmt.Errorf("its container %s is %+v", container.Name, container.State)
			}
		}
		return nil
	})
	return pod
}

// Calls are the journal's calls by sessions of a role.
func (b *Bed) Calls(role Role) []onlab.Call {
	b.t.Helper()
	all := must.Get(b.Journal(b.t.Context()))(b.t)
	prefix := "arn:aws:sts::" + b.Account + ":assumed-role/" + role.Name + "/"
	return slices.DeleteFunc(all, func(call onlab.Call) bool { return !strings.HasPrefix(call.Caller, prefix) })
}

// Clock moves clocks of the local AWS, as docs/lab.md tells of them.
func (b *Bed) Clock(change map[string]string) {
	b.t.Helper()
	must.Do(b.t, b.Control(b.t.Context(), "POST", "clock", change, nil))
}

// Answer decodes a line of the workload.
func (b *Bed) Answer(line string) map[string]string {
	b.t.Helper()
	answer := map[string]string{}
	if err := json.Unmarshal([]byte(line), &answer); err != nil {
		b.t.Fatalf("%q: %v", line, err)
	}
	return answer
}

// Since logs how long something took.
func (b *Bed) Since(began time.Time, what string) {
	b.t.Logf("%s: %.1f s", what, time.Since(began).Seconds())
}
