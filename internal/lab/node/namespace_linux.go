package node

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/tabard-dev/tabard/internal/lab/private"
)

// tunables are what a kubelet sets for the whole machine. On the node it sets
// copies of them.
var tunables = []string{
	"vm/overcommit_memory", "vm/panic_on_oom", "kernel/panic", "kernel/panic_on_oops",
	"kernel/keys/root_maxkeys", "kernel/keys/root_maxbytes",
}

// Init makes the node's namespaces and becomes the program that holds them. dir is
// the folder of the node's files. It returns only to report an error.
func Init(node Node, dir string, holder []string) error {
	// Namespaces belong to a thread; the holder must start from the one in them.
	runtime.LockOSThread()
	if err := node.join(); err != nil {
		return err
	}
	if err := unix.Unshare(unix.CLONE_NEWNS | unix.CLONE_NEWNET); err != nil {
		return fmt.Errorf("make the node's namespaces: %w", err)
	}
	// What is mounted here must not reach the machine.
	if err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""); err != nil {
		return fmt.Errorf("separate the mounts: %w", err)
	}
	for _, step := range []func() error{
		hide, func() error { return shield(filepath.Join(dir, "tunables")) }, forward,
	} {
		if err := step(); err != nil {
			return err
		}
	}
	return fmt.Errorf("run %s: %w", holder[0], syscall.Exec(holder[0], holder, os.Environ()))
}

// hide gives the node folders of its own where programs keep state at fixed paths.
func hide() error {
	for _, folder := range hidden {
		if err := unix.Mount("tabard-lab", folder, "tmpfs", unix.MS_NOSUID|unix.MS_NODEV, "mode=0755"); err != nil {
			return fmt.Errorf("give the node its own %s: %w", folder, err)
		}
	}
	return nil
}

// shield covers the tunables with files of their present values.
func shield(dir string) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	for _, name := range tunables {
		path := filepath.Join("/proc/sys", name)
		value, err := os.ReadFile(path)
		if errors.Is(err, os.ErrNotExist) {
			continue
		}
		if err != nil {
			return fmt.Errorf("read %s: %w", path, err)
		}
		cover := filepath.Join(dir, strings.ReplaceAll(name, "/", "."))
		if err := private.Write(cover, value); err != nil {
			return err
		}
		if err := unix.Mount(cover, path, "", unix.MS_BIND, ""); err != nil {
			return fmt.Errorf("keep %s as it is: %w", path, err)
		}
	}
	return nil
}

// forward lets the node pass packets on between its pods and the machine, and lets
// its own rules see those between pods. Both are settings of the node's network.
func forward() error {
	if err := os.WriteFile("/proc/sys/net/ipv4/ip_forward", []byte("1"), 0o600); err != nil {
		return fmt.Errorf("let the node forward packets: %w", err)
	}
	err := os.WriteFile("/proc/sys/net/bridge/bridge-nf-call-iptables", []byte("1"), 0o600)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("let the node's rules see packets between pods: %w", err)
	}
	return nil
}

// Enter moves this process into the namespaces of the node that a process holds,
// and becomes a program there. It returns only to report an error.
func Enter(node Node, holder int, command []string) error {
	runtime.LockOSThread()
	if err := node.join(); err != nil {
		return err
	}
	// A thread that shares its working folder with others may not change mounts.
	if err := unix.Unshare(unix.CLONE_FS); err != nil {
		return fmt.Errorf("enter the node: %w", err)
	}
	for _, kind := range []string{"net", "mnt"} {
		if err := enter(holder, kind); err != nil {
			return fmt.Errorf("enter the node's %s namespace: %w", kind, err)
		}
	}
	return fmt.Errorf("run %s: %w", command[0], syscall.Exec(command[0], command, os.Environ()))
}

func enter(pid int, kind string) error {
	namespace, err := os.Open(fmt.Sprintf("/proc/%d/ns/%s", pid, kind))
	if err != nil {
		return err
	}
	defer func() { _ = namespace.Close() }()
	return unix.Setns(int(namespace.Fd()), 0)
}
