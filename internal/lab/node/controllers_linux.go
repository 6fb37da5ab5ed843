package node

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// available lists the controllers of a control group of version 2, and switches turns
// them on and off for the groups below it (cgroup-v2, "Enabling and Disabling").
const (
	available = "cgroup.controllers"
	switches  = "cgroup.subtree_control"
)

// Idle are the controllers of version 2 that are off for all groups of this machine.
// A kubelet wants them on. With version 1 there are none: each controller has a
// hierarchy of its own.
func Idle() ([]string, error) {
	all, err := mounted()
	if err != nil || !sole(all) {
		return nil, err
	}
	return idle(all[0].root)
}

// sole says that version 2's hierarchy is the only one.
func sole(all []hierarchy) bool { return len(all) == 1 && all[0].unified }

func idle(root string) ([]string, error) {
	there, err := controllers(root, available)
	if err != nil {
		return nil, err
	}
	on, err := controllers(root, switches)
	return slices.DeleteFunc(there, func(controller string) bool { return slices.Contains(on, controller) }), err
}

func controllers(group, file string) ([]string, error) {
	text, err := os.ReadFile(filepath.Join(group, file))
	if err != nil {
		return nil, fmt.Errorf("read the controllers of control groups: %w", err)
	}
	return strings.Fields(string(text)), nil
}

// delegate turns all controllers on for the groups below the root, and below the
// node's own: then they cannot be turned off at the root, as another lab may try.
func (node Node) delegate(root string) error {
	for _, group := range []string{root, filepath.Join(root, node.Cgroup)} {
		all, err := controllers(group, available)
		if err != nil {
			return err
		}
		turn(group, "+", all)
	}
	return nil
}

// turn turns controllers on or off, each by itself: some cannot be turned on at any
// time, and none can be turned off that another group uses by now. The kubelet says
// which of those it needs are missing.
func turn(group, sign string, all []string) {
	for _, controller := range all {
		_ = os.WriteFile(filepath.Join(group, switches), []byte(sign+controller), 0o600)
	}
}
