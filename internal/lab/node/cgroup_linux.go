package node

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// hierarchy is a mounted hierarchy of control groups.
type hierarchy struct {
	root string
	// unified is version 2; controllers are those of version 1.
	unified     bool
	controllers []string
}

// hierarchies reads them from the table of mounts of a process (proc(5),
// mountinfo). A hierarchy that is mounted twice is listed once.
func hierarchies(mountinfo string) []hierarchy {
	var out []hierarchy
	seen := map[string]bool{}
	for line := range strings.Lines(mountinfo) {
		mount, super, found := strings.Cut(strings.TrimSuffix(line, "\n"), " - ")
		fields, rest := strings.Fields(mount), strings.Fields(super)
		if !found || len(fields) < 5 || len(rest) < 3 || fields[3] != "/" || seen[fields[2]] {
			continue
		}
		if rest[0] != "cgroup" && rest[0] != "cgroup2" {
			continue
		}
		seen[fields[2]] = true
		out = append(out, hierarchy{root: fields[4], unified: rest[0] == "cgroup2", controllers: strings.Split(rest[2], ",")})
	}
	return out
}

// tracking is the hierarchy by which the node's processes are known: that of version
// 2, which machines with version 1 have too, else the one that counts processes.
func tracking(all []hierarchy) (hierarchy, error) {
	for _, wanted := range []func(hierarchy) bool{
		func(h hierarchy) bool { return h.unified },
		func(h hierarchy) bool { return slices.Contains(h.controllers, "pids") },
	} {
		if at := slices.IndexFunc(all, wanted); at >= 0 {
			return all[at], nil
		}
	}
	return hierarchy{}, errors.New("this machine has no hierarchy of control groups mounted that could hold the node; mount cgroup2 at /sys/fs/cgroup")
}

func mounted() ([]hierarchy, error) {
	text, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil {
		return nil, fmt.Errorf("find the control groups: %w", err)
	}
	return hierarchies(string(text)), nil
}

// system is the group of the node's own programs; version 2 wants processes in
// leaves only.
const system = "system"

// join makes the node's control group in each hierarchy, and moves this process into
// it, and so all that it starts.
func (node Node) join() error {
	all, err := mounted()
	if err != nil {
		return err
	}
	held, err := tracking(all)
	if err != nil {
		return err
	}
	for _, each := range all {
		if err := os.MkdirAll(filepath.Join(each.root, node.Cgroup), 0o755); err != nil {
			return fmt.Errorf("make the node's control group: %w", err)
		}
	}
	if sole(all) {
		if err := node.delegate(held.root); err != nil {
			return err
		}
	}
	own := filepath.Join(held.root, node.Cgroup, system)
	if err := os.MkdirAll(own, 0o755); err != nil {
		return fmt.Errorf("make the node's control group: %w", err)
	}
	if err := os.WriteFile(filepath.Join(own, "cgroup.procs"), []byte("0"), 0o600); err != nil {
		return fmt.Errorf("join the node's control group: %w", err)
	}
	return nil
}

// removeWithin bounds how long the node's last processes may take to go.
const removeWithin = 20 * time.Second

// Remove ends every process of the node that is left, and removes its control
// groups. Where there are none there is nothing to do.
func (node Node) Remove(ctx context.Context) error {
	all, err := mounted()
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, removeWithin)
	defer cancel()
	for last := node.removeGroups(all); last != nil; last = node.removeGroups(all) {
		select {
		case <-ctx.Done():
			return fmt.Errorf("remove the node's control groups: %w", last)
		case <-time.After(50 * time.Millisecond):
		}
	}
	if sole(all) {
		turn(all[0].root, "-", node.Controllers)
	}
	return nil
}

// Evict ends every process of the node but the holder of its namespaces. It returns
// when they are gone.
func (node Node) Evict(ctx context.Context, holder int) error {
	all, err := mounted()
	if err != nil {
		return err
	}
	held, err := tracking(all)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, removeWithin)
	defer cancel()
	for {
		left, err := killBelow(filepath.Join(held.root, node.Cgroup), holder)
		if err != nil || left == 0 {
			return err
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("end the node's pods: %d processes are left", left)
		case <-time.After(15 * time.Millisecond):
		}
	}
}

// killBelow kills what is in a control group and in those below it, but for one
// process. It returns how many there were.
func killBelow(group string, spared int) (int, error) {
	groups, err := groupsOf(group)
	count := 0
	for _, each := range groups {
		count += kill(each, spared)
	}
	return count, err
}

// groupsOf lists a control group and those below it, each before its own.
func groupsOf(group string) (groups []string, err error) {
	err = filepath.WalkDir(group, func(path string, entry fs.DirEntry, err error) error {
		if errors.Is(err, os.ErrNotExist) {
			return nil
		}
		if err == nil && entry.IsDir() {
			groups = append(groups, path)
		}
		return err
	})
	return groups, err
}

// removeGroups does what it can at once; an error says what is left.
func (node Node) removeGroups(all []hierarchy) error {
	var left error
	for _, each := range all {
		left = errors.Join(left, removeTree(filepath.Join(each.root, node.Cgroup)))
	}
	return left
}

// removeTree kills what is in a control group and in those below it, and removes them,
// the deepest first. An error says what is left; it may be gone at the next try.
func removeTree(group string) error {
	groups, err := groupsOf(group)
	if err != nil {
		return err
	}
	var left error
	for _, each := range slices.Backward(groups) {
		kill(each, 0)
		if err := os.Remove(each); err != nil && !errors.Is(err, os.ErrNotExist) {
			left = errors.Join(left, err)
		}
	}
	return left
}

// kill ends the processes of one control group but for one of them. It returns how
// many there were.
func kill(group string, spared int) int {
	text, err := os.ReadFile(filepath.Join(group, "cgroup.procs"))
	if err != nil {
		return 0 // it has gone
	}
	count := 0
	for word := range strings.FieldsSeq(string(text)) {
		if pid, err := strconv.Atoi(word); err == nil && pid > 0 && pid != spared {
			_ = syscall.Kill(pid, syscall.SIGKILL) // an error means that it has gone
			count++
		}
	}
	return count
}
