package workload

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/tabard-dev/tabard/internal/lab/private"
	"github.com/tabard-dev/tabard/internal/lab/sandbox"
	"github.com/tabard-dev/tabard/internal/lab/volume"
)

// volumes are the volumes of one container, as folders on this machine.
type volumes struct {
	// dir is the pod's folder in the lab.
	dir       string
	sources   []corev1.Volume
	collector collector
	now       func() time.Time
}

// volumesOf returns the volumes that a container mounts. Others of the pod are
// left alone: what they would need may not exist on this machine.
func volumesOf(pod *corev1.Pod, container *corev1.Container) []corev1.Volume {
	var out []corev1.Volume
	for _, source := range pod.Spec.Volumes {
		for _, mount := range container.VolumeMounts {
			if mount.Name == source.Name {
				out = append(out, source)
				break
			}
		}
	}
	return out
}

func (volumes *volumes) path(name string) string { return filepath.Join(volumes.dir, "volumes", name) }

// sync writes what has changed. All volumes are tried; the errors are joined.
// Commands of the same pod share its folders and take turns.
func (volumes *volumes) sync(ctx context.Context) error {
	unlock, err := lockFile(filepath.Join(volumes.dir, "lock"))
	if err != nil {
		return err
	}
	defer unlock()
	var failed []error
	for _, source := range volumes.sources {
		failed = append(failed, volumes.syncOne(ctx, source))
	}
	return errors.Join(failed...)
}

func (volumes *volumes) syncOne(ctx context.Context, source corev1.Volume) error {
	content, isFilled, err := volumes.collector.payload(ctx, source)
	if err != nil {
		return err
	}
	if !isFilled {
		if err := os.MkdirAll(volumes.path(source.Name), 0o777); err != nil {
			return fmt.Errorf("the volume %s: %w", source.Name, err)
		}
		return nil
	}
	if _, err := volume.Write(volumes.path(source.Name), content, volumes.now()); err != nil {
		return fmt.Errorf("the volume %s: %w", source.Name, err)
	}
	return nil
}

// resyncEvery is how often volumes follow their ConfigMaps and Secrets, as a
// kubelet's sync does.
const resyncEvery = time.Minute

// wait is how long to wait before the next sync: until the first token is due,
// at most a minute, and never so short that a failing API server is hammered.
func (volumes *volumes) wait() time.Duration {
	wait := resyncEvery
	if next := volumes.collector.tokens.next(); !next.IsZero() {
		wait = min(wait, next.Sub(volumes.now()))
	}
	return max(wait, time.Second)
}

// mounts returns where the volumes belong in the container's file system.
func (volumes *volumes) mounts(container *corev1.Container, lookup func(string) (string, bool)) ([]sandbox.Mount, error) {
	var out []sandbox.Mount
	for _, mount := range container.VolumeMounts {
		source := volumes.path(mount.Name)
		below := mount.SubPath
		if mount.SubPathExpr != "" {
			below = expand(mount.SubPathExpr, lookup)
		}
		if below != "" {
			if !filepath.IsLocal(below) {
				return nil, fmt.Errorf("the mount %s: the subPath %q leaves the volume", mount.MountPath, below)
			}
			if err := volumes.makeSubPath(mount.Name, below); err != nil {
				return nil, err
			}
			source = filepath.Join(source, below)
		}
		readOnly := mount.ReadOnly || !volumes.isEmptyDir(mount.Name)
		out = append(out, sandbox.Mount{Source: source, Target: filepath.Clean(mount.MountPath), ReadOnly: readOnly})
	}
	return out, nil
}

// makeSubPath makes a folder in an emptyDir, where a mount may name one that is
// not there yet.
func (volumes *volumes) makeSubPath(name, below string) error {
	path := filepath.Join(volumes.path(name), below)
	if _, err := os.Stat(path); err == nil {
		return nil
	}
	if !volumes.isEmptyDir(name) {
		return fmt.Errorf("the volume %s has no %q, which a subPath names", name, below)
	}
	if err := os.MkdirAll(path, 0o777); err != nil {
		return fmt.Errorf("make the subPath %q of the volume %s: %w", below, name, err)
	}
	return nil
}

func (volumes *volumes) isEmptyDir(name string) bool {
	for _, source := range volumes.sources {
		if source.Name == name {
			return source.EmptyDir != nil
		}
	}
	return false
}

// Rewrite is a variable whose value was changed to lead to a real folder.
type Rewrite struct{ Name, From, To string }

// rewrite changes the variables whose value is a path in a mount, for a command
// that sees this machine's file system. The longest mount path wins.
func rewrite(environment Environment, mounts []sandbox.Mount) []Rewrite {
	var done []Rewrite
	for _, name := range sorted(environment) {
		value := environment[name]
		var best sandbox.Mount
		for _, mount := range mounts {
			if isBelow(value, mount.Target) && len(mount.Target) > len(best.Target) {
				best = mount
			}
		}
		if best.Target == "" {
			continue
		}
		to := best.Source + strings.TrimPrefix(value, best.Target)
		environment[name] = to
		done = append(done, Rewrite{Name: name, From: value, To: to})
	}
	return done
}

// isBelow says whether a value is a folder's path or a path in it.
func isBelow(value, dir string) bool {
	return value == dir || strings.HasPrefix(value, strings.TrimSuffix(dir, "/")+"/")
}

// lockFile waits for its turn.
func lockFile(path string) (unlock func(), err error) {
	file, err := private.Open(path, os.O_RDWR)
	if err != nil {
		return nil, fmt.Errorf("lock the pod's folder: %w", err)
	}
	if err := syscall.Flock(int(file.Fd()), syscall.LOCK_EX); err != nil {
		_ = file.Close()
		return nil, fmt.Errorf("lock the pod's folder: %w", err)
	}
	return func() { _ = file.Close() }, nil
}
