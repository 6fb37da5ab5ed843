package shapes

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/tabard-dev/tabard/internal/testkit/must"
)

// tokenFile is where the webhook puts a container's token.
const tokenFile = "/var/run/secrets/eks.amazonaws.com/serviceaccount/token"

// processOf finds the process of a pod's container on this machine, by its control
// group. It returns its folder below /proc.
func processOf(t *testing.T, pod corev1.Pod, container string) string {
	t.Helper()
	at := slices.IndexFunc(pod.Status.ContainerStatuses, func(status corev1.ContainerStatus) bool { return status.Name == container })
	if at < 0 {
		t.Fatalf("%s has no container %s", pod.Name, container)
	}
	_, id, _ := strings.Cut(pod.Status.ContainerStatuses[at].ContainerID, "://")
	groups, err := filepath.Glob("/proc/[0-9]*/cgroup")
	if err != nil || id == "" {
		t.Fatalf("%s %s has the ID %q: %v", pod.Name, container, id, err)
	}
	for _, path := range groups {
		text, err := os.ReadFile(path)
		if err == nil && strings.Contains(string(text), "/"+id) {
			return filepath.Dir(path)
		}
	}
	t.Fatalf("no process is in the control group of %s %s", pod.Name, container)
	return ""
}

// confinement is what the kernel says of a container, in place of what its pod
// asked for.
type confinement struct {
	user     string
	readOnly bool
	// token is the mode, the user and the group of the token's file.
	token string
}

func confinementOf(t *testing.T, process string) confinement {
	t.Helper()
	status := must.Get(os.ReadFile(filepath.Join(process, "status")))(t)
	mounts := must.Get(os.ReadFile(filepath.Join(process, "mountinfo")))(t)
	found := confinement{token: ownership(t, filepath.Join(process, "root"), tokenFile)}
	for line := range strings.Lines(string(status)) {
		if fields := strings.Fields(line); fields[0] == "Uid:" {
			found.user = fields[1] // the effective user follows; nothing here changes it
		}
	}
	for line := range strings.Lines(string(mounts)) {
		const point, options = 4, 5 // proc(5), mountinfo
		if fields := strings.Fields(line); fields[point] == "/" {
			found.readOnly = slices.Contains(strings.Split(fields[options], ","), "ro")
		}
	}
	return found
}

// ownership says who may read a file, which is below a root that its links do not
// leave.
func ownership(t *testing.T, dir, name string) string {
	t.Helper()
	root := must.Get(os.OpenRoot(dir))(t)
	defer func() { _ = root.Close() }()
	info := must.Get(root.Stat(strings.TrimPrefix(name, "/")))(t)
	owner, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		t.Fatalf("this system does not say whose %s is", name)
	}
	return fmt.Sprintf("%04o of %d:%d", info.Mode().Perm(), owner.Uid, owner.Gid)
}
