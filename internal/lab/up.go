package lab

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/tabard-dev/tabard/internal/lab/node"
	"github.com/tabard-dev/tabard/internal/lab/process"
)

// UpOptions say where a lab is to be and what it is made of.
type UpOptions struct {
	// Dir is the lab's folder.
	Dir string
	// Localkube and Tabard are the paths of the two programs.
	Localkube, Tabard string
	// Accounts are those that the local AWS of a new lab has besides AccountID;
	// those of a lab that is there must be the same, or none.
	Accounts []string
	// Node asks for a node, on which pods run in containers.
	Node bool
	// AllowPrivileged asks for a node that runs privileged pods. A lab without one
	// takes them in any case.
	AllowPrivileged bool
	// Out takes one line a step.
	Out io.Writer
}

// usableWithin bounds the wait for each component: a cold machine needs a few
// seconds, so more than this means that something is wrong.
const usableWithin = 90 * time.Second

// Up makes the lab or repairs it: it starts what does not run, with the ports,
// keys and data that there are, waits until all of it is usable, and returns
// with the processes in the background. A lab that is up is left as it is.
//
// On an error the processes that did start keep running: another Up goes on
// from there, Down ends them.
func Up(ctx context.Context, options UpOptions) (Lab, error) {
	dir, err := CheckDir(options.Dir)
	if err != nil {
		return Lab{}, err
	}
	if err := prepareDir(dir); err != nil {
		return Lab{}, err
	}
	unlock, err := lock(dir)
	if err != nil {
		return Lab{}, err
	}
	defer unlock()
	begin := time.Now()
	lab, claim, err := decide(ctx, dir, options)
	if err != nil {
		return Lab{}, err
	}
	// By then every component listens on its port.
	defer claim.Close() //nolint:errcheck // it ends with the process at the latest
	if lab, err = lab.prepare(options, begin); err != nil {
		return Lab{}, err
	}
	started := 0
	for _, name := range lab.Components() {
		didStart, err := lab.ensureComponent(ctx, name, options.Out)
		if err == nil {
			err = lab.settle(ctx, name)
		}
		if err != nil {
			return Lab{}, err
		}
		if didStart {
			started++
		}
	}
	if started == 0 {
		_, err = fmt.Fprintf(options.Out, "the lab in %s is up already: nothing to do\n", dir)
		return lab, err
	}
	_, err = fmt.Fprintf(options.Out, "%-24s %5.1f s  %s\n", "the lab is up", time.Since(begin).Seconds(), dir)
	return lab, err
}

// decide says what the lab is: the one that there is, or a new one. No other lab
// gets a new lab's ports while claim is open.
func decide(ctx context.Context, dir string, options UpOptions) (lab Lab, claim io.Closer, err error) {
	lab, err = Load(dir)
	if errors.Is(err, ErrNone) {
		lab, claim, err = newLab(ctx, dir, options.Node)
		return options.asked(lab), claim, err
	}
	return lab, io.NopCloser(nil), err
}

// asked is a new lab with what was asked for it besides a node.
func (options UpOptions) asked(lab Lab) Lab {
	lab.Accounts = further(options.Accounts)
	lab.AllowPrivileged = lab.Node != nil && options.AllowPrivileged
	return lab
}

// prepare writes every file that the processes need. What was decided is written
// first.
func (lab Lab) prepare(options UpOptions, now time.Time) (Lab, error) {
	if err := options.check(lab); err != nil {
		return Lab{}, err
	}
	lab.Localkube, lab.Tabard = options.Localkube, options.Tabard
	for _, step := range []func() error{
		lab.save,
		lab.makeFolders,
		func() error { return lab.ensureKeys(now) },
		lab.writeKubeconfigs,
		lab.writeManifests,
		lab.writeAuditPolicy,
		lab.writeNode,
		lab.linkPrograms,
	} {
		if err := step(); err != nil {
			return Lab{}, err
		}
	}
	return lab, nil
}

// check refuses what a lab cannot be any more, or not on this machine.
func (options UpOptions) check(lab Lab) error {
	if err := options.keeps(lab); err != nil || lab.Node == nil {
		return err
	}
	if err := node.Check(node.ThisMachine(exec.LookPath), lab.Dir); err != nil {
		return &DirError{err.Error()}
	}
	return nil
}

// keeps refuses what a lab cannot be any more: it keeps what it was made with.
func (options UpOptions) keeps(lab Lab) error {
	if wanted := further(options.Accounts); len(wanted) > 0 && !slices.Equal(wanted, lab.Accounts) {
		return &DirError{fmt.Sprintf("the lab in %s has the accounts %v, not %v; accounts are decided when a lab is made: choose another folder with --dir",
			lab.Dir, append([]string{AccountID}, lab.Accounts...), append([]string{AccountID}, wanted...))}
	}
	if options.Node && lab.Node == nil {
		return &DirError{fmt.Sprintf("the lab in %s has no node, and its addresses are part of the issuer's URL: "+
			"take it down with \"tabard lab down --dir %[1]s\" first, or name another folder with --dir", lab.Dir)}
	}
	if options.AllowPrivileged && lab.Node != nil && !lab.AllowPrivileged {
		return &DirError{fmt.Sprintf("the lab in %s has a node and forbids privileged pods, which is decided when a lab is made: "+
			"take it down with \"tabard lab down --dir %[1]s\" first, or name another folder with --dir", lab.Dir)}
	}
	return nil
}

// further are the accounts besides AccountID, each once and sorted.
func further(accounts []string) []string {
	others := slices.DeleteFunc(slices.Clone(accounts), func(account string) bool { return account == AccountID })
	slices.Sort(others)
	return slices.Compact(others)
}

// linkPrograms makes kubectl and tabard available below one folder for the
// PATH.
func (lab Lab) linkPrograms() error {
	for name, target := range map[string]string{"kubectl": lab.Localkube, "tabard": lab.Tabard} {
		link := lab.Path("bin", name)
		if current, err := os.Readlink(link); err == nil && current == target {
			continue
		}
		if err := os.Remove(link); err != nil && !errors.Is(err, os.ErrNotExist) {
			return fmt.Errorf("link %s: %w", name, err)
		}
		if err := os.Symlink(target, link); err != nil {
			return fmt.Errorf("link %s: %w", name, err)
		}
	}
	return nil
}

// ensureComponent starts a component if it does not run and waits until it can
// be used. It says whether it started it.
func (lab Lab) ensureComponent(ctx context.Context, name string, out io.Writer) (bool, error) {
	begin := time.Now()
	record, found, err := lab.Processes().Get(name)
	if err != nil {
		return false, err
	}
	if found && record.Alive() {
		// It may have been killed just now and not be gone yet.
		watching, stop := context.WithCancel(ctx)
		err := lab.awaitUsable(ctx, name, whenGone(watching, record))
		stop()
		if !errors.Is(err, errGone) {
			return false, lab.unusable(name, err)
		}
	}
	if name == Holder { // what is left of the node is in namespaces that nobody can enter
		if err := lab.clearNode(ctx); err != nil {
			return false, err
		}
	}
	_, ended, err := lab.Processes().Start(lab.component(name))
	if err != nil {
		return false, err
	}
	if err := lab.awaitUsable(ctx, name, ended); err != nil {
		return false, lab.unusable(name, err)
	}
	_, err = fmt.Fprintf(out, "%-24s %5.1f s\n", name, time.Since(begin).Seconds())
	return true, err
}

// settle does what is to be done once a component can be used. It may be done again.
func (lab Lab) settle(ctx context.Context, name string) error {
	switch name {
	case Holder:
		return lab.settleHolder()
	case LocalAWS:
		return lab.writeAWSManifests()
	case Containerd:
		return lab.loadOwnImages(ctx)
	}
	return nil
}

// unusable adds what the component's log says last; nil stays nil.
func (lab Lab) unusable(name string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s is not usable: %w\nthe end of %s:\n%s", name, err,
		lab.Path("logs", name+".log"), tail(lab.Path("logs", name+".log"), 12))
}

// errGone says that a process that ran has ended.
var errGone = errors.New("it has gone")

// whenGone tells of the end of a process that somebody else started.
func whenGone(ctx context.Context, record process.Record) <-chan error {
	gone := make(chan error, 1)
	go func() {
		tick := time.NewTicker(100 * time.Millisecond)
		defer tick.Stop()
		for record.Alive() {
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
			}
		}
		gone <- errGone
	}()
	return gone
}

// awaitUsable asks the component until it answers as it should, has ended, or
// the time is up.
func (lab Lab) awaitUsable(ctx context.Context, name string, ended <-chan error) error {
	ctx, cancel := context.WithTimeout(ctx, usableWithin)
	defer cancel()
	check, err := lab.check(name)
	if err != nil {
		return err
	}
	tick := time.NewTicker(30 * time.Millisecond)
	defer tick.Stop()
	for {
		last := check(ctx)
		if last == nil {
			return nil
		}
		select {
		case err := <-ended:
			return fmt.Errorf("it ended (%w)", orEnded(err))
		case <-ctx.Done():
			return fmt.Errorf("%w; last seen: %w", context.Cause(ctx), last)
		case <-tick.C:
		}
	}
}

// orEnded gives a process that ended without an error a word for it.
func orEnded(err error) error {
	if err == nil {
		return errors.New("exit code 0")
	}
	return err
}

// tail returns the last lines of a log, for a message.
func tail(path string, lines int) string {
	data, err := os.ReadFile(path)
	if err != nil {
		return fmt.Sprintf("(%s cannot be read: %v)", filepath.Base(path), err)
	}
	all := strings.Split(strings.TrimRight(string(data), "\n"), "\n")
	return strings.Join(all[max(0, len(all)-lines):], "\n")
}
