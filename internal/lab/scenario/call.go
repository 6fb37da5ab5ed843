package scenario

import (
	"bytes"
	"context"
	"errors"
	"os"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/tabard-dev/tabard/internal/lab/workload"
)

const roleVariable = "AWS_ROLE_ARN"

// CallCommand is the hidden command of "tabard lab" that runs as the workload.
const CallCommand = "scenario-call"

// Answer is what the workload sees.
type Answer struct {
	// Pod is the name of its pod.
	Pod string
	// Text is AWS's answer, or the SDK's error.
	Text string
	// Well says that the workload came as its own role, and that AWS answered.
	Well bool
}

// call runs the workload's program as its kubelet would.
func (s *shop) call(ctx context.Context) (Answer, error) {
	at, err := s.kube.CoreV1().Namespaces().Get(ctx, Namespace, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return Answer{}, errors.New("no scenario is there: tabard lab scenario shows their names")
	}
	if err != nil {
		return Answer{}, err
	}
	pod, err := workload.Find(ctx, s.kube, Namespace, "deployment/"+Workload)
	if err != nil {
		return Answer{}, err
	}
	metadata, err := s.metadata(ctx)
	if err != nil {
		return Answer{}, err
	}
	defer metadata.close()
	command := []string{s.Self, "lab", CallCommand, "--metadata", metadata.url()}
	if user := pod.Spec.Containers[0].SecurityContext; user != nil && user.RunAsUser != nil && !workload.HasOneUser(pod) {
		command = append(command, "--other-user")
	}
	if object := at.Annotations[callKey]; object != "" {
		command = append(command, "--get", object)
	}
	var out, errOut bytes.Buffer
	code, err := workload.Run(ctx, s.Lab, workload.Options{
		Namespace: Namespace, Target: "pod/" + pod.Name, Command: command, Quiet: true, Self: s.Self, InitArguments: []string{"lab", "run-init"},
		In: strings.NewReader(""), Out: &out, Err: &errOut, Getenv: os.Getenv,
	})
	answer := Answer{Pod: pod.Name, Text: strings.TrimSpace(out.String() + errOut.String())}
	answer.Well = code == 0 && strings.Contains(answer.Text, ":assumed-role/"+RoleName+"/")
	return answer, err
}
