package node

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Idle are the controllers of version 2 that are off for all groups of this machine.
// A kubelet wants them on. With version 1 there are none: each controller has a
// hierarchy of its own.
func Idle() ([]string, error) {
	root, found, err := unified()
	if err != nil || !found {
		return nil, err
	}
	return idle(root)
}

// unified is the root of version 2's hierarchy if there is no other.
func unified() (root string, found bool, err error) {
	all, err := mounted()
	if err != nil || len(all) != 1 || !all[0].unified {
		return "", false, err
	}
	return all[0].root, true, nil
}

func idle(root string) ([]string, error) {
	var lists [2][]string
	for at, name := range []string{"cgroup.controllers", switches} {
		text, err := os.ReadFile(filepath.Join(root, name))
		if err != nil {
			return nil, fmt.Errorf("read which controllers of control groups are on: %w", err)
		}
		lists[at] = strings.Fields(string(text))
	}
	return slices.DeleteFunc(lists[0], func(controller string) bool { return slices.Contains(lists[1], controller) }), nil
}

// switches is the file that turns controllers on and off for the groups below its
// own (cgroup-v2, "Enabling and Disabling").
const switches = "cgroup.subtree_control"

// turn turns the node's controllers on or off, each by itself: not every one can be
// turned on with any load, and none can be turned off that another group uses by
// now. The kubelet says which of those it needs are missing.
func (node Node) turn(sign string) error {
	if len(node.Controllers) == 0 {
		return nil
	}
	root, found, err := unified()
	if err != nil || !found {
		return err
	}
	for _, controller := range node.Controllers {
		_ = os.WriteFile(filepath.Join(root, switches), []byte(sign+controller), 0o600)
	}
	return nil
}
