package lab

import (
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/tabard-dev/tabard/internal/lab/process"
	"github.com/tabard-dev/tabard/internal/testkit/must"
)

// bystander is a process that a lab must not end.
func bystander(t *testing.T) process.Record {
	t.Helper()
	command := exec.CommandContext(t.Context(), "/bin/sleep", "600")
	must.Do(t, command.Start())
	t.Cleanup(func() { _ = command.Process.Kill(); _ = command.Wait() })
	identity := must.Get(process.Identify(command.Process.Pid))(t)
	return process.Record{Name: "etcd", Identity: identity, Log: "x"}
}

// shortDir is for a lab: the folder of t.TempDir is longer than a lab's may be.
func shortDir(t *testing.T) string {
	t.Helper()
	parent := must.Get(os.MkdirTemp("", "lab"))(t)
	t.Cleanup(func() { _ = os.RemoveAll(parent) })
	return filepath.Join(parent, "lab")
}

// A lab that another user has made, or put a file into, is not believed: its records
// name processes to end, and its folder is what "down" removes.
func TestRootLeavesALabThatIsNotItsAloneUntouched(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Fatal("only root can make files of another user: run make e2e-node as root")
	}
	const nobody = 65534
	for name, spoil := range map[string]func(lab Lab) error{
		"another user's folder":       func(lab Lab) error { return os.Chown(lab.Dir, nobody, nobody) },
		"below another user's folder": func(lab Lab) error { return os.Chown(filepath.Dir(lab.Dir), nobody, nobody) },
		"below one that others write": func(lab Lab) error { return os.Chmod(filepath.Dir(lab.Dir), 0o777) },
		"a folder that others write":  func(lab Lab) error { return os.Chmod(lab.Dir, 0o777) },
		"another user's record":       func(lab Lab) error { return os.Chown(lab.Path("run", "etcd.json"), nobody, nobody) },
		"another user's records":      func(lab Lab) error { return os.Chown(lab.Path("run"), nobody, nobody) },
		"another user's program":      func(lab Lab) error { return os.Lchown(lab.Path("bin", "kubectl"), nobody, nobody) },
		"a link to another folder": func(lab Lab) error {
			return errors.Join(os.Rename(lab.Dir, lab.Dir+"-other"), os.Symlink(lab.Dir+"-other", lab.Dir))
		},
		"a link in the place of its keys": func(lab Lab) error {
			return errors.Join(os.Rename(lab.Path("pki"), lab.Path("tmp", "pki")), os.Symlink("tmp/pki", lab.Path("pki")))
		},
	} {
		t.Run(name, func(t *testing.T) {
			victim := bystander(t)
			dir := shortDir(t)
			lab := example(dir)
			lab.Localkube, lab.Tabard = "/bin/true", "/bin/true"
			must.Do(t, errors.Join(prepareDir(dir), lab.save(), lab.makeFolders(), lab.linkPrograms(), lab.Processes().Put(victim), spoil(lab)))
			var refused *DirError
			if err := Down(t.Context(), DownOptions{Dir: dir, Out: io.Discard}); !errors.As(err, &refused) {
				t.Errorf("down: %v, want a DirError", err)
			}
			if err := Stop(t.Context(), dir, "etcd"); !errors.As(err, &refused) {
				t.Errorf("stop: %v, want a DirError", err)
			}
			if _, err := Up(t.Context(), UpOptions{Dir: dir, Localkube: "/bin/false", Tabard: "/bin/false", Out: io.Discard}); !errors.As(err, &refused) {
				t.Errorf("up: %v, want a DirError", err)
			}
			if !victim.Alive() {
				t.Error("a process of somebody else was ended")
			}
			if _, err := os.Stat(filepath.Join(dir, "lab.json")); err != nil {
				t.Errorf("the folder was emptied: %v", err)
			}
		})
	}
}

// Without what spoils it, the same lab is ended: the test above would notice.
func TestAnOwnLabIsEnded(t *testing.T) {
	victim := bystander(t)
	dir := shortDir(t)
	lab := example(dir)
	must.Do(t, errors.Join(prepareDir(dir), lab.save(), lab.makeFolders(), lab.Processes().Put(victim)))
	if err := Down(t.Context(), DownOptions{Dir: dir, Out: io.Discard}); err != nil || victim.Alive() {
		t.Errorf("down: %v; the process is alive: %v", err, victim.Alive())
	}
}
