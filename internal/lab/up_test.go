package lab

import (
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/tabard-dev/tabard/internal/lab/process"
	"github.com/tabard-dev/tabard/internal/testkit/must"
)

func TestAccountsAreDecidedWhenALabIsMade(t *testing.T) {
	dir := t.TempDir()
	up := func(accounts ...string) (Lab, error) {
		options := UpOptions{Localkube: "/bin/localkube", Tabard: "/bin/tabard", Accounts: accounts}
		lab, claim, err := decide(t.Context(), dir, options)
		if err != nil {
			t.Fatal(err)
		}
		defer claim.Close() //nolint:errcheck // its ports are not used
		return lab.prepare(options, time.Now())
	}
	want := []string{"111111111111", "222222222222"}
	for _, same := range [][]string{{"222222222222", "111111111111", AccountID, "222222222222"}, {"111111111111", "222222222222"}, nil} {
		lab, err := up(same...)
		if err != nil || !slices.Equal(lab.Accounts, want) {
			t.Fatalf("asked for %v: the accounts are %v, %v; want %v", same, lab.Accounts, err, want)
		}
		if arguments := lab.awsArguments(); arguments[len(arguments)-1] != "123456789012,111111111111,222222222222" {
			t.Errorf("the local AWS is started with %v", arguments)
		}
	}
	var refused *DirError
	if _, err := up("333333333333"); !errors.As(err, &refused) || !strings.Contains(err.Error(), "accounts are decided when a lab is made") {
		t.Errorf("other accounts: %v, want a DirError that says why", err)
	}
}

// TestWhereALabTakesPrivilegedPods: where nothing runs them, or it was asked for when
// the lab was made.
func TestWhereALabTakesPrivilegedPods(t *testing.T) {
	const taken, refused = "--allow-privileged=true", "--allow-privileged=false"
	tests := map[string]struct {
		made  func(string) Lab
		asked bool
		want  string
	}{
		"without a node":                {example, false, taken},
		"without a node, and asked for": {example, true, taken},
		"with a node":                   {withNode, false, refused},
		"with a node, and asked for":    {withNode, true, taken},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			made := UpOptions{AllowPrivileged: test.asked}.asked(test.made(t.TempDir()))
			must.Do(t, made.save())
			lab := must.Get(Load(made.Dir))(t)
			if arguments := lab.apiServerArguments(); !slices.Contains(arguments, test.want) {
				t.Errorf("the API server is started with %v, want %s", arguments, test.want)
			}
			err := UpOptions{AllowPrivileged: true}.keeps(lab)
			var conflict *DirError
			if is := errors.As(err, &conflict) && strings.Contains(err.Error(), "forbids privileged pods, which is decided when a lab is made"); is != (test.want == refused) {
				t.Errorf("asked for later: %v; it is to be refused: %t", err, test.want == refused)
			}
			if err := (UpOptions{}).keeps(lab); err != nil {
				t.Errorf("started again without the flag: %v", err)
			}
		})
	}
}

// TestUpNoticesAComponentThatIsDying is about one that was killed just before:
// it is there when up looks first, and must not be waited for.
func TestUpNoticesAComponentThatIsDying(t *testing.T) {
	book := process.Book{Dir: t.TempDir()}
	record, ended, err := book.Start(process.Spec{
		Name: "component", Command: []string{"/bin/sh", "-c", "exec sleep 600"}, Dir: book.Dir, Log: filepath.Join(book.Dir, "log"),
	})
	if err != nil {
		t.Fatal(err)
	}
	gone := whenGone(t.Context(), record)
	select {
	case err := <-gone:
		t.Fatalf("a process that runs is said to be gone: %v", err)
	default:
	}
	must.Do(t, syscall.Kill(record.PID, syscall.SIGKILL))
	if err := <-gone; !errors.Is(err, errGone) {
		t.Errorf("got %v, want %v", err, errGone)
	}
	if err := <-ended; err == nil {
		t.Error("a process that was killed is said to have ended well")
	}
}
