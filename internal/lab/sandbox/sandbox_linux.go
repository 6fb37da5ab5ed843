package sandbox

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"syscall"

	"golang.org/x/sys/unix"
)

// orderFD is the file descriptor at which the sandboxed half finds its order.
// The order holds the environment, which must not show in a process list.
const orderFD = 3

// Command prepares the program of a spec: self is this program, arguments are
// those that make it call Init. The caller sets the streams, starts it, and
// then calls the second result once, which sends the order.
func Command(self string, arguments []string, spec Spec) (*exec.Cmd, func() error, error) {
	order, err := json.Marshal(spec)
	if err != nil {
		return nil, nil, fmt.Errorf("write the order: %w", err)
	}
	reader, writer, err := os.Pipe()
	if err != nil {
		return nil, nil, fmt.Errorf("make a pipe: %w", err)
	}
	command := exec.Command(self, arguments...)
	command.ExtraFiles = []*os.File{reader}
	command.Env = []string{}
	command.SysProcAttr = namespaces()
	send := func() error {
		_ = reader.Close()
		_, err := writer.Write(order)
		return errors.Join(err, writer.Close())
	}
	return command, send, nil
}

// namespaces are those of the sandbox. An ordinary user needs a user namespace
// to be allowed a mount namespace; there it stays itself, and gets the one
// capability to mount handed through the start of the second half. The
// superuser needs none, and would lose access to other users' files in one.
func namespaces() *syscall.SysProcAttr {
	if os.Geteuid() == 0 && hasSysAdmin() {
		return &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWNS}
	}
	uid, gid := os.Geteuid(), os.Getegid()
	return &syscall.SysProcAttr{
		Cloneflags:  syscall.CLONE_NEWUSER | syscall.CLONE_NEWNS,
		UidMappings: []syscall.SysProcIDMap{{ContainerID: uid, HostID: uid, Size: 1}},
		GidMappings: []syscall.SysProcIDMap{{ContainerID: gid, HostID: gid, Size: 1}},
		AmbientCaps: []uintptr{unix.CAP_SYS_ADMIN},
	}
}

func hasSysAdmin() bool {
	header := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	var data [2]unix.CapUserData
	return unix.Capget(&header, &data[0]) == nil && data[0].Effective&(1<<unix.CAP_SYS_ADMIN) != 0
}

// Try says whether the sandbox works here, by building one with the spec's
// mounts and no program in it. ErrUnsupported: it does not.
func Try(ctx context.Context, self string, arguments []string, spec Spec) error {
	spec.Command, spec.Env = nil, nil
	command, send, err := Command(self, arguments, spec)
	if err != nil {
		return err
	}
	var said limited
	command.Stdout, command.Stderr = &said, &said
	if err := command.Start(); err != nil {
		_ = send() // closes the pipe; nobody reads it
		return fmt.Errorf("%w: %w", ErrUnsupported, err)
	}
	stop := context.AfterFunc(ctx, func() { _ = command.Process.Kill() })
	defer stop()
	sendErr := send()
	if err := command.Wait(); err != nil {
		return fmt.Errorf("%w: %s(%w)", ErrUnsupported, said.data, err)
	}
	return sendErr
}

// limited keeps the first bytes that are written to it.
type limited struct{ data []byte }

// Write implements io.Writer.
func (limited *limited) Write(data []byte) (int, error) {
	const most = 500
	if room := most - len(limited.data); room > 0 {
		limited.data = append(limited.data, data[:min(room, len(data))]...)
	}
	return len(data), nil
}

// Init is the sandboxed half: it reads its order, builds the file system, and
// becomes the program. It returns only to report an error, or after a trial.
func Init() error {
	// Capabilities belong to a thread; the program must start from the one that
	// gave them up.
	runtime.LockOSThread()
	pipe := os.NewFile(orderFD, "order")
	if pipe == nil {
		return errors.New("this command is started by \"lab run\" and not by hand")
	}
	spec, err := readSpec(pipe)
	if err != nil {
		return err
	}
	_ = pipe.Close()
	if err := build(spec); err != nil {
		return err
	}
	if len(spec.Command) == 0 {
		return nil
	}
	program, err := Look(spec.Command[0], spec.Env, spec.Dir)
	if err != nil {
		return err
	}
	if err := unix.Prctl(unix.PR_CAP_AMBIENT, unix.PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0); err != nil {
		return fmt.Errorf("give up capabilities: %w", err)
	}
	if err := dieWithParent(); err != nil {
		return err
	}
	return fmt.Errorf("run %s: %w", program, syscall.Exec(program, spec.Command, spec.Env))
}

// dieWithParent renews what the runner asked for at the start, that this
// process is killed when the runner goes: the system forgets it where a program
// starts with capabilities.
func dieWithParent() error {
	parent := os.Getppid()
	if err := unix.Prctl(unix.PR_SET_PDEATHSIG, uintptr(unix.SIGKILL), 0, 0, 0); err != nil {
		return fmt.Errorf("tie the command to its runner: %w", err)
	}
	if os.Getppid() != parent {
		return errors.New("the runner has gone")
	}
	return nil
}

// build makes the file system and moves this process into it.
func build(spec Spec) error {
	steps, err := plan(os.DirFS("/"), spec.Mounts, func(source string) (bool, error) {
		info, err := os.Stat(source)
		return err == nil && info.IsDir(), err
	})
	if err != nil {
		return err
	}
	// What is mounted here must not reach the machine; what the machine mounts
	// later may reach us.
	if err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_SLAVE, ""); err != nil {
		return fmt.Errorf("separate the mounts: %w", err)
	}
	if err := unix.Mount("tabard-lab", spec.Root, "tmpfs", unix.MS_NOSUID|unix.MS_NODEV, "mode=0755"); err != nil {
		return fmt.Errorf("mount the new root: %w", err)
	}
	// The folder that holds Root is shown in the new file system too; that must
	// not show the new one in itself.
	if err := unix.Mount("", spec.Root, "", unix.MS_UNBINDABLE, ""); err != nil {
		return fmt.Errorf("protect the new root: %w", err)
	}
	for _, step := range steps {
		if err := step.perform(spec.Root); err != nil {
			return fmt.Errorf("show %s: %w", step.path, err)
		}
	}
	return enter(spec)
}

// enter makes the new root the root, and forgets the old one.
func enter(spec Spec) error {
	if err := unix.Chdir(spec.Root); err != nil {
		return fmt.Errorf("enter the new root: %w", err)
	}
	// The system stacks the old root on the new one, whence it is taken off.
	if err := unix.PivotRoot(".", "."); err != nil {
		return fmt.Errorf("change the root: %w", err)
	}
	if err := unix.Unmount(".", unix.MNT_DETACH); err != nil {
		return fmt.Errorf("leave the old root: %w", err)
	}
	if err := unix.Chdir(spec.Dir); err != nil {
		return unix.Chdir("/")
	}
	return nil
}

func (step step) perform(root string) error {
	at := filepath.Join(root, step.path)
	switch step.do {
	case makeDir:
		if err := os.Mkdir(at, 0o700); err != nil {
			return err
		}
		return os.Chmod(at, step.mode)
	case link:
		return os.Symlink(step.source, at)
	case keep:
		err := bind(step.source, at, step.isDir)
		if errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrPermission) {
			return nil // it went meanwhile, or this user cannot see it anyway
		}
		return err
	default:
		return step.put(at)
	}
}

// put shows a volume at its path.
func (step step) put(at string) error {
	if err := os.MkdirAll(filepath.Dir(at), 0o755); err != nil {
		return err
	}
	if err := bind(step.source, at, step.isDir); err != nil {
		return err
	}
	if !step.readOnly {
		return nil
	}
	return unix.MountSetattr(unix.AT_FDCWD, at, unix.AT_RECURSIVE, &unix.MountAttr{Attr_set: unix.MOUNT_ATTR_RDONLY})
}

// bind shows source at a path, which it makes. Recursively: a user namespace
// may not show a folder without the mounts that cover parts of it.
func bind(source, at string, isDir bool) error {
	if isDir {
		if err := os.MkdirAll(at, 0o755); err != nil {
			return err
		}
	} else if err := touch(at); err != nil {
		return err
	}
	return unix.Mount(source, at, "", unix.MS_BIND|unix.MS_REC, "")
}

func touch(path string) error {
	if _, err := os.Lstat(path); err == nil {
		return nil
	}
	return os.WriteFile(path, nil, 0o644)
}
