package node

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tabard-dev/tabard/internal/testkit/must"
)

const (
	versionOne = "32 31 0:26 / /sys/fs/cgroup rw shared:9 - tmpfs tmpfs rw,mode=755\n" +
		"33 32 0:27 / /sys/fs/cgroup/cpu,cpuacct rw,nosuid - cgroup cgroup rw,cpu,cpuacct\n" +
		"34 32 0:28 / /sys/fs/cgroup/pids rw - cgroup cgroup rw,pids\n"
	both = versionOne + "35 32 0:29 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw,nsdelegate\n"
	two  = "29 23 0:25 / /sys/fs/cgroup rw,nosuid shared:4 - cgroup2 cgroup2 rw\n" +
		"77 23 0:25 / /mnt/again rw - cgroup2 cgroup2 rw\n78 23 0:25 /part /mnt/part rw - cgroup2 cgroup2 rw\n"
)

func TestHierarchies(t *testing.T) {
	for name, test := range map[string]struct {
		mountinfo, tracking string
		roots               []string
	}{
		"version 1":             {versionOne, "/sys/fs/cgroup/pids", []string{"/sys/fs/cgroup/cpu,cpuacct", "/sys/fs/cgroup/pids"}},
		"version 1 beside 2":    {both, "/sys/fs/cgroup/unified", []string{"/sys/fs/cgroup/cpu,cpuacct", "/sys/fs/cgroup/pids", "/sys/fs/cgroup/unified"}},
		"version 2, also twice": {two, "/sys/fs/cgroup", []string{"/sys/fs/cgroup"}},
		"none":                  {"1 2 0:1 / / rw - ext4 /dev/vda rw\nbroken\n", "", nil},
	} {
		t.Run(name, func(t *testing.T) {
			all := hierarchies(test.mountinfo)
			var roots []string
			for _, each := range all {
				roots = append(roots, each.root)
			}
			if diff := cmp.Diff(test.roots, roots); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			held, err := tracking(all)
			if held.root != test.tracking || (err != nil) != (test.tracking == "") {
				t.Errorf("tracked by %q (%v), want %q", held.root, err, test.tracking)
			}
		})
	}
}

// A folder of an ordinary file system stands for a control group that cannot be
// removed: it holds files.
func TestClearSaysWhatIsLeft(t *testing.T) {
	group := filepath.Join(t.TempDir(), "tabard-lab-1")
	if err := removeTree(group); err != nil {
		t.Errorf("nothing there: %v", err)
	}
	must.Do(t, os.MkdirAll(filepath.Join(group, "a", "b"), 0o755))
	if err := removeTree(group); err != nil {
		t.Errorf("empty groups: %v", err)
	}
	if _, err := os.Stat(group); !os.IsNotExist(err) {
		t.Errorf("the group is still there: %v", err)
	}
	must.Do(t, os.MkdirAll(filepath.Join(group, "a"), 0o755))
	must.Do(t, os.WriteFile(filepath.Join(group, "a", "held"), nil, 0o600))
	if err := removeTree(group); err == nil || !strings.Contains(err.Error(), filepath.Join(group, "a")) {
		t.Errorf("a group that stays: got %v", err)
	}
}

// A process of this test stands for what is in a group; the group is a folder.
func TestKillBelowSparesTheHolder(t *testing.T) {
	start := func() *exec.Cmd {
		command := exec.Command("sleep", "600")
		must.Do(t, command.Start())
		t.Cleanup(func() { _ = command.Process.Kill(); _ = command.Wait() })
		return command
	}
	holder, pod := start(), start()
	group := t.TempDir()
	inner := filepath.Join(group, "pods", "one")
	must.Do(t, os.MkdirAll(inner, 0o755))
	for path, pid := range map[string]int{group: holder.Process.Pid, inner: pod.Process.Pid} {
		must.Do(t, os.WriteFile(filepath.Join(path, "cgroup.procs"), []byte(fmt.Sprintln(pid)), 0o600))
	}
	if count, err := killBelow(group, holder.Process.Pid); count != 1 || err != nil {
		t.Errorf("killed %d, %v; want one", count, err)
	}
	if err := pod.Wait(); err == nil || !strings.Contains(err.Error(), "killed") {
		t.Errorf("the pod's process ended with %v, want it to be killed", err)
	}
	if err := holder.Process.Signal(syscall.Signal(0)); err != nil {
		t.Errorf("the holder is gone: %v", err)
	}
	if count, err := killBelow(filepath.Join(group, "none"), 0); count != 0 || err != nil {
		t.Errorf("no group: killed %d, %v", count, err)
	}
}
