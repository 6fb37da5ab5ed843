package workload

import (
	"context"
	"path/filepath"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/kubernetes"

	"github.com/tabard-dev/tabard/internal/lab/sandbox"
)

// Prepared is a pod's container whose volumes are folders of this machine and whose
// command is not started. One goroutine at a time may use it.
type Prepared struct {
	// Command is the container's own, with its arguments.
	Command     []string
	Environment Environment
	// Mounts are where the volumes belong in the container's file system.
	Mounts []sandbox.Mount
	// Root is an empty folder for sandbox.Spec.
	Root string

	volumes *volumes
}

// Prepare prepares a container of a pod, for one who starts it without a lab. The volumes
// are below dir; containers of one pod that have the same dir share them. apiServer is
// the URL at which clients in the pod reach the API server.
func Prepare(ctx context.Context, client kubernetes.Interface, apiServer, dir string, pod *corev1.Pod, name string) (*Prepared, error) {
	job := &job{pod: pod}
	var err error
	if job.container, err = container(pod, name); err != nil {
		return nil, err
	}
	if err := job.prepare(ctx, client, apiServer, dir); err != nil {
		return nil, err
	}
	return &Prepared{
		Command: job.command, Environment: job.environment, Mounts: job.mounts, Root: filepath.Join(dir, "root"), volumes: job.volumes,
	}, nil
}

// Refresh makes the volumes hold what their ConfigMaps, Secrets and tokens are now.
func (prepared *Prepared) Refresh(ctx context.Context) error { return prepared.volumes.sync(ctx) }
