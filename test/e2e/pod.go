package e2e

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/tabard-dev/tabard/internal/testkit/onlab"
)

const (
	team     = "team-a"
	account  = "app"
	podName  = "app"
	audience = "sts.amazonaws.com"
	// RoleName is the workload's role.
	RoleName = "team-a-app"
)

// createRole makes the workload's role and bucket as an administrator would.
func (s *Story) createRole(ctx context.Context) error {
	s.dataBucket = "team-a-data-" + s.Env["TABARD_ISSUER_BUCKET"][len("tabard-lab-"):][:8]
	var err error
	s.role, err = s.CreateRole(ctx, RoleName, s.Trust(s.AccountID, team, account), map[string]any{
		"Effect": "Allow", "Action": []string{"s3:GetObject", "s3:PutObject"},
		"Resource": "arn:aws:s3:::" + s.dataBucket + "/reports/*",
	})
	if err != nil {
		return err
	}
	s.say("%s trusts system:serviceaccount:%s:%s for s3://%s/reports/*", s.role, team, account, s.dataBucket)
	return s.CreateBucket(ctx, s.dataBucket)
}

// createPod starts the webhook, binds the ServiceAccount, and creates a pod.
func (s *Story) createPod(ctx context.Context) error {
	if err := s.startWebhook(ctx); err != nil {
		return err
	}
	if err := s.serviceAccount(ctx, team, account); err != nil {
		return err
	}
	pod, err := s.injectedPod(ctx, team, podName, account)
	if err != nil {
		return err
	}
	s.say("the pod as stored:")
	for _, env := range pod.Spec.Containers[0].Env {
		s.say("  env    %s=%s", env.Name, env.Value)
	}
	for _, volume := range pod.Spec.Volumes {
		if volume.Projected == nil {
			continue
		}
		for _, source := range volume.Projected.Sources {
			if t := source.ServiceAccountToken; t != nil {
				s.say("  volume %s: token for audience %q, %d s", volume.Name, t.Audience, *t.ExpirationSeconds)
			}
		}
	}
	for _, mount := range pod.Spec.Containers[0].VolumeMounts {
		s.say("  mount  %s at %s", mount.Name, mount.MountPath)
	}
	return s.wantInjected(pod)
}

func (s *Story) startWebhook(ctx context.Context) error {
	err := s.detachIn(ctx, "tabard-certificate", "tabard-certificate", "deployment/tabard-certificate",
		"operator", "--controllers=certificate", "--namespace=tabard-certificate", "--metrics-bind-address=0", "--health-probe-bind-address=0")
	if err != nil {
		return err
	}
	return s.detachWebhook(ctx)
}

func (s *Story) detachWebhook(ctx context.Context) error {
	return s.detach(ctx, "tabard-webhook", "deployment/tabard-webhook", "webhook",
		"--bind-address=127.0.0.1", "--port="+s.Env["TABARD_WEBHOOK_PORT"], "--metrics-port=-1",
		"--namespace="+system, "--tls-secret-namespace=tabard-certificate", "--aws-default-region="+s.Env["AWS_REGION"])
}

// serviceAccount makes a namespace and a ServiceAccount bound to the role.
func (s *Story) serviceAccount(ctx context.Context, namespace, name string) error {
	ns := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: namespace}}
	if _, err := s.kube.CoreV1().Namespaces().Create(ctx, ns, metav1.CreateOptions{}); err != nil && !exists(err) {
		return err
	}
	_, err := s.kube.CoreV1().ServiceAccounts(namespace).Create(ctx, &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{
		Name: name, Annotations: map[string]string{"eks.amazonaws.com/role-arn": s.role},
	}}, metav1.CreateOptions{})
	return err
}

// injectedPod creates a pod, again and again until the webhook has seen it: a
// hook with failurePolicy Ignore lets pods pass while it is starting.
func (s *Story) injectedPod(ctx context.Context, namespace, name, account string) (*corev1.Pod, error) {
	var pod *corev1.Pod
	err := onlab.Eventually(ctx, onlab.Patience, func(ctx context.Context) error {
		var err error
		pods := s.kube.CoreV1().Pods(namespace)
		if err = pods.Delete(ctx, name, metav1.DeleteOptions{GracePeriodSeconds: new(int64)}); err != nil && !missing(err) {
			return err
		}
		pod, err = pods.Create(ctx, &corev1.Pod{
			ObjectMeta: metav1.ObjectMeta{Name: name},
			Spec: corev1.PodSpec{
				ServiceAccountName: account,
				Containers:         []corev1.Container{{Name: "app", Image: "example.com/keyless-pod:1", Command: []string{"keyless-pod"}}},
			},
		}, metav1.CreateOptions{})
		if err != nil {
			return err
		}
		return s.wantInjected(pod)
	})
	return pod, err
}

func (s *Story) wantInjected(pod *corev1.Pod) error {
	env := map[string]string{}
	for _, e := range pod.Spec.Containers[0].Env {
		env[e.Name] = e.Value
	}
	if env["AWS_ROLE_ARN"] != s.role || env["AWS_WEB_IDENTITY_TOKEN_FILE"] == "" || env["AWS_REGION"] == "" {
		return fmt.Errorf("pod %s/%s was stored without its identity: its environment is %v", pod.Namespace, pod.Name, env)
	}
	for _, mount := range pod.Spec.Containers[0].VolumeMounts {
		if strings.HasPrefix(env["AWS_WEB_IDENTITY_TOKEN_FILE"], mount.MountPath+"/") {
			return nil
		}
	}
	return fmt.Errorf("pod %s/%s has no mount that holds %s", pod.Namespace, pod.Name, env["AWS_WEB_IDENTITY_TOKEN_FILE"])
}

// runPod runs the pod's program as its kubelet would and reads what AWS said.
func (s *Story) runPod(ctx context.Context) error {
	caller, err := s.program(ctx, podName, "whoami")
	if err != nil {
		return err
	}
	s.say("the caller is %s", caller["arn"])
	if want := "arn:aws:sts::" + s.AccountID + ":assumed-role/" + RoleName + "/"; !strings.HasPrefix(caller["arn"], want) {
		return fmt.Errorf("the caller is %s, expected %s…", caller["arn"], want)
	}
	url := "s3://" + s.dataBucket + "/reports/first.txt"
	if _, err := s.program(ctx, podName, "put", url, "no key was stored for this"); err != nil {
		return err
	}
	read, err := s.program(ctx, podName, "get", url)
	if err != nil {
		return err
	}
	s.say("it wrote and read back %s: %q", url, read["text"])
	if read["text"] != "no key was stored for this" {
		return errors.New("what was read is not what was written")
	}
	return nil
}

// program runs keyless-pod in a pod of the team and decodes its answer.
func (s *Story) program(ctx context.Context, pod string, args ...string) (map[string]string, error) {
	return s.programIn(ctx, team, pod, args...)
}

// programIn does so in a namespace.
func (s *Story) programIn(ctx context.Context, namespace, pod string, args ...string) (map[string]string, error) {
	out, err := s.InPod(ctx, namespace, pod, append([]string{s.KeylessPod}, args...)...)
	if err != nil {
		return nil, err
	}
	answer := map[string]string{}
	return answer, json.Unmarshal([]byte(out), &answer)
}
