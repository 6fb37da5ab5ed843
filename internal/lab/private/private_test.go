package private

import (
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
)

const nobody = 65534

// mustBeRoot is for tests of what another user does: only root can be one.
func mustBeRoot(t *testing.T) {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Fatal("only root can make files of another user: run make e2e-node as root")
	}
}

func must(t *testing.T, errs ...error) {
	t.Helper()
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
}

func isRefused(err error) bool {
	_, refused := errors.AsType[*Refusal](err)
	return refused
}

func TestAFolderIsMadeForItsUserOnly(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "a", "b")
	if err := Check(dir); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("before it is there: %v", err)
	}
	must(t, Make(dir), Make(dir), Check(dir))
	for _, each := range []string{dir, filepath.Dir(dir)} {
		info, err := os.Stat(each)
		if err != nil || info.Mode().Perm() != 0o700 {
			t.Errorf("%s has the mode %v, %v", each, info.Mode(), err)
		}
	}
	must(t, os.Chmod(dir, 0o777))
	if err := Check(dir); !isRefused(err) {
		t.Errorf("one that others write: %v", err)
	}
	must(t, Make(dir), Check(dir)) // it is empty, and is closed
	must(t, os.WriteFile(filepath.Join(dir, "x"), nil, 0o600), os.Chmod(dir, 0o777))
	if err := Make(dir); !isRefused(err) {
		t.Errorf("one that others write, with a file in it: %v", err)
	}
	must(t, os.Chmod(dir, 0o755), Make(dir))
	if info, err := os.Stat(dir); err != nil || info.Mode().Perm() != 0o755 {
		t.Errorf("the mode of a folder with files was changed to %v, %v", info.Mode(), err)
	}
}

func TestLinksAreNotFollowed(t *testing.T) {
	home := t.TempDir()
	must(t, os.Mkdir(filepath.Join(home, "real"), 0o755), os.Symlink("real", filepath.Join(home, "link")))
	if err := Make(filepath.Join(home, "link")); !isRefused(err) {
		t.Errorf("a link as the folder: %v", err)
	}
	err := Make(filepath.Join(home, "link", "lab"))
	if os.Geteuid() == 0 { // root's links lay a system out
		must(t, err, Check(filepath.Join(home, "link", "lab")))
		return
	}
	if !isRefused(err) {
		t.Errorf("a link above the folder: %v", err)
	}
}

func TestRootLinksThatLeadInCirclesEnd(t *testing.T) {
	mustBeRoot(t)
	home := t.TempDir()
	must(t, os.Symlink("b", filepath.Join(home, "a")), os.Symlink("a", filepath.Join(home, "b")))
	if err := Check(filepath.Join(home, "a", "lab")); !isRefused(err) {
		t.Errorf("got %v", err)
	}
}

func TestRootFoldersOfAnotherUserAreRefused(t *testing.T) {
	mustBeRoot(t)
	home := t.TempDir()
	theirs, ours := filepath.Join(home, "theirs"), filepath.Join(home, "theirs", "ours")
	must(t, os.Mkdir(theirs, 0o755), os.Mkdir(ours, 0o700), os.Chown(theirs, nobody, nobody))
	lab, aws := filepath.Join(home, "lab"), filepath.Join(home, "lab", "aws")
	must(t, Make(lab), os.Mkdir(aws, 0o700), os.Chown(aws, nobody, nobody))
	for name, err := range map[string]error{
		"their folder": Make(theirs), "our folder in theirs": Make(ours), "a new folder in theirs": Make(filepath.Join(theirs, "new")),
		"a look at our folder in theirs": Check(ours), "their folder in ours": CheckContent(lab, true),
	} {
		if !isRefused(err) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := os.Stat(filepath.Join(theirs, "new")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a folder was made in another user's: %v", err)
	}
}

// TestSwap is not a test by itself: it is the other user of the one below, who puts
// a link, and then a folder, where ours is to be, as fast as that goes.
func TestSwap(t *testing.T) {
	target, victim := os.Getenv("PRIVATE_TEST_TARGET"), os.Getenv("PRIVATE_TEST_VICTIM")
	if target == "" {
		return
	}
	for {
		_ = os.Symlink(victim, target)
		_ = os.Remove(target)
		_ = os.Mkdir(target, 0o777)
		_ = os.Symlink(victim, filepath.Join(target, "pki"))
		_ = os.RemoveAll(target)
	}
}

// Whatever another user puts in its place meanwhile, a folder that is made is ours and
// stays, and nothing happens to the one that a link leads to.
func TestRootNobodySwapsAFolderThatIsBeingMade(t *testing.T) {
	mustBeRoot(t)
	everybodys, victim := filepath.Join(t.TempDir(), "tmp"), t.TempDir()
	must(t, os.Mkdir(everybodys, 0o700), os.Chmod(everybodys, 0o777|fs.ModeSticky), os.Chmod(filepath.Dir(filepath.Dir(everybodys)), 0o755))
	target := filepath.Join(everybodys, "lab")
	// The program of a test is in a folder of its user's, too.
	program, err := os.Executable()
	must(t, err)
	copied, err := os.ReadFile(program)
	must(t, err, os.WriteFile(filepath.Join(everybodys, "attack"), copied, 0o755)) //nolint:gosec // another user runs it
	attacker := exec.CommandContext(t.Context(), filepath.Join(everybodys, "attack"), "-test.run=^TestSwap$")
	attacker.Env = []string{"PRIVATE_TEST_TARGET=" + target, "PRIVATE_TEST_VICTIM=" + victim}
	attacker.Dir = everybodys
	attacker.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody, Gid: nobody}}
	must(t, attacker.Start())
	defer func() { _ = attacker.Wait() }()
	defer func() { _ = attacker.Process.Kill() }()
	before, err := os.Stat(victim)
	must(t, err)
	made, refused := 0, 0
	for made+refused < 20_000 && (made < 200 || refused < 200) {
		if err := Make(filepath.Join(target, "pki")); err != nil {
			refused++
			continue
		}
		made++
		must(t, Check(target), Write(filepath.Join(target, "pki", "ca.key"), []byte("x")), CheckContent(target, false), os.RemoveAll(target))
	}
	after, err := os.Stat(victim)
	entries, readErr := os.ReadDir(victim)
	must(t, err, readErr)
	if before.Mode() != after.Mode() || len(entries) > 0 {
		t.Errorf("the folder that links led to has now the mode %v and %v", after.Mode(), entries)
	}
	if made == 0 || refused == 0 {
		t.Errorf("made %d times, refused %d times: the other user never came between", made, refused)
	}
	t.Logf("made %d times, refused %d times", made, refused)
}

func TestFilesAreWrittenThroughNoLink(t *testing.T) {
	home := t.TempDir()
	victim, path := filepath.Join(home, "victim"), filepath.Join(home, "file")
	must(t, os.WriteFile(victim, []byte("precious"), 0o600))
	must(t, os.Symlink(victim, path), os.Symlink(victim, path+".part"))
	must(t, Write(path, []byte("new")))
	must(t, os.Symlink(victim, filepath.Join(home, "log")))
	if file, err := Open(filepath.Join(home, "log"), os.O_APPEND|os.O_WRONLY); err == nil {
		_ = file.Close()
		t.Error("a log is opened through a link")
	}
	kept, err := os.ReadFile(victim)
	must(t, err)
	written, err := os.ReadFile(path)
	must(t, err)
	if string(kept) != "precious" || string(written) != "new" {
		t.Errorf("the link's file is %q and the file %q", kept, written)
	}
}
