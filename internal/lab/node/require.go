package node

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
)

// programs are what a node is made of besides Kubernetes.
var programs = []string{"containerd", "containerd-shim-runc-v2", "ctr", "runc", "nft"}

// plugins are the CNI plugins that connect pods.
var plugins = []string{"bridge", "host-local", "loopback"}

// pluginFolders are where CNI plugins are: Debian's folder, and the one of the CNI
// project's own archive.
var pluginFolders = []string{"/usr/lib/cni", "/opt/cni/bin"}

// hidden are the folders that are the node's own: what the machine has there is not
// seen on the node.
var hidden = []string{"/run", "/var/lib", "/var/log"}

// Machine is what Check asks.
type Machine struct {
	System string
	UID    int
	// Look finds a program on the PATH.
	Look func(name string) (string, error)
	// Exists says whether there is such a file.
	Exists func(path string) bool
}

// ThisMachine is the machine that this program runs on.
func ThisMachine(look func(string) (string, error)) Machine {
	return Machine{System: runtime.GOOS, UID: os.Geteuid(), Look: look, Exists: exists}
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// Check says everything that a machine lacks for a node whose files are in a
// folder, and how to get it; nil for nothing.
func Check(machine Machine, dir string) error {
	var missing []string
	if machine.System != "linux" {
		return fmt.Errorf("a lab with a node runs on Linux only, and this is %s; \"tabard lab up\" without --node runs here", machine.System)
	}
	if machine.UID != 0 {
		missing = append(missing, "root (this is user "+fmt.Sprint(machine.UID)+"): run it with sudo")
	}
	for _, name := range programs {
		if _, err := machine.Look(name); err != nil {
			missing = append(missing, "the program "+name)
		}
	}
	if _, err := pluginFolder(machine.Exists); err != nil {
		missing = append(missing, err.Error())
	}
	for _, folder := range hidden {
		if inside, err := filepath.Rel(folder, dir); err == nil && inside != ".." && !strings.HasPrefix(inside, "../") {
			missing = append(missing, fmt.Sprintf("another folder than %s: the node has a %s of its own; name one with --dir", dir, folder))
		}
	}
	if len(missing) == 0 {
		return nil
	}
	return fmt.Errorf("a lab with a node needs what this machine lacks:\n  - %s\nDebian and Ubuntu have the programs in packages:\n"+
		"  apt-get install containerd runc containernetworking-plugins nftables", strings.Join(missing, "\n  - "))
}

// pluginFolder is where the CNI plugins are.
func pluginFolder(exists func(string) bool) (string, error) {
	for _, folder := range pluginFolders {
		found := 0
		for _, plugin := range plugins {
			if exists(filepath.Join(folder, plugin)) {
				found++
			}
		}
		if found == len(plugins) {
			return folder, nil
		}
	}
	return "", fmt.Errorf("the CNI plugins %s in one of %s", strings.Join(plugins, ", "), strings.Join(pluginFolders, ", "))
}
