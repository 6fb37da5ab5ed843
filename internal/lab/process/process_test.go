package process

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/tabard-dev/tabard/internal/testkit/must"
)

// begin starts a shell that runs script in the background of the book.
func begin(t *testing.T, book Book, name, script string) (Record, <-chan error) {
	t.Helper()
	record, ended, err := book.Start(Spec{
		Name: name, Command: []string{"/bin/sh", "-c", script}, Env: os.Environ(),
		Dir: book.Dir, Log: filepath.Join(book.Dir, name+".log"),
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = syscall.Kill(-record.PID, syscall.SIGKILL) })
	return record, ended
}

func TestStopEndsWhatWasStarted(t *testing.T) {
	book := Book{Dir: t.TempDir()}
	polite, politeEnded := begin(t, book, "polite", "exec sleep 600")
	// The file tells that the trap is set; without it the signal could come first.
	deaf, deafEnded := begin(t, book, "deaf", "trap '' TERM; : > ready; while :; do sleep 600; done")
	for _, err := os.Stat(filepath.Join(book.Dir, "ready")); err != nil; _, err = os.Stat(filepath.Join(book.Dir, "ready")) {
		if !deaf.Alive() {
			t.Fatal("the process ended before it was ready")
		}
	}
	must.Do(t, Stop(t.Context(), 100*time.Millisecond, polite, deaf))
	if err := <-politeEnded; err == nil {
		t.Error("a process that was asked to end ended by itself")
	}
	if err := <-deafEnded; err == nil {
		t.Error("a process that was killed ended by itself")
	}
	if polite.Alive() || deaf.Alive() {
		t.Errorf("alive after Stop: polite %v, deaf %v", polite.Alive(), deaf.Alive())
	}
	if err := Stop(t.Context(), time.Second, polite, deaf); err != nil {
		t.Errorf("a second Stop: %v", err)
	}
}

func TestStopLeavesARecycledIDAlone(t *testing.T) {
	book := Book{Dir: t.TempDir()}
	record, ended := begin(t, book, "stranger", "exec sleep 600")
	for name, change := range map[string]func(*Record){
		"another start": func(r *Record) { r.Start += "1" },
		"another boot":  func(r *Record) { r.Boot = "another" },
		"no process":    func(r *Record) { r.PID = 0 },
		"everybody":     func(r *Record) { r.PID = -1 },
	} {
		stale := record
		change(&stale)
		if err := Stop(t.Context(), 0, stale); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	select {
	case err := <-ended:
		t.Fatalf("a process was ended for the record of another: %v", err)
	default:
	}
	if !record.Alive() {
		t.Fatal("the stranger does not run any more")
	}
}

func TestAZombieDoesNotRun(t *testing.T) {
	command := exec.Command("/bin/sh", "-c", "read -r line")
	input := must.Get(command.StdinPipe())(t)
	must.Do(t, command.Start())
	identity := must.Get(Identify(command.Process.Pid))(t)
	_ = input.Close()
	if left := await(t.Context(), time.Minute, []Record{{Identity: identity}}); left != nil {
		t.Error("a process that nobody has waited for counts as running")
	}
	_ = command.Wait()
}

func TestBook(t *testing.T) {
	book := Book{Dir: filepath.Join(t.TempDir(), "run")}
	if all, err := book.All(); err != nil || all != nil {
		t.Fatalf("a folder that is not there: %v, %v", all, err)
	}
	must.Do(t, os.Mkdir(book.Dir, 0o700))
	code := 3
	want := []Record{
		{Name: "a", Identity: Identity{PID: 1, Start: "2", Boot: "3"}, Command: []string{"x"}},
		{Name: "b", Exit: &code, Group: true, Command: []string{"y", "z"}},
	}
	for _, record := range want {
		must.Do(t, book.Put(record))
	}
	got := must.Get(book.All())(t)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("records (-want +got):\n%s", diff)
	}
	must.Do(t, book.Remove("a"))
	if err := book.Remove("a"); err != nil {
		t.Errorf("removing twice: %v", err)
	}
	if _, found, err := book.Get("a"); found || err != nil {
		t.Errorf("a removed record: found %v, %v", found, err)
	}
	must.Do(t, os.WriteFile(filepath.Join(book.Dir, "c.json"), []byte("{"), 0o600))
	if _, err := book.All(); err == nil || !strings.Contains(err.Error(), "remove the file") {
		t.Errorf("a broken record: got %v, want what to do", err)
	}
}

func TestStartWithoutAProgramIsSeen(t *testing.T) {
	book := Book{Dir: t.TempDir()}
	_, ended, err := book.Start(Spec{Name: "none", Command: []string{"/does/not/exist"}, Dir: book.Dir, Log: filepath.Join(book.Dir, "log")})
	if err != nil {
		t.Fatal(err)
	}
	if err := <-ended; err == nil {
		t.Error("a program that does not exist ended without an error")
	}
}
