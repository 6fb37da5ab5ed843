package lab

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/tabard-dev/tabard/internal/lab/process"
)

// DownOptions say which lab ends, and what stays of it.
type DownOptions struct {
	// Dir is the lab's folder.
	Dir string
	// Keep keeps the folder: a later Up goes on with its data.
	Keep bool
	// Out takes one line a step.
	Out io.Writer
}

// grace is how long a process has to end by itself.
const grace = 8 * time.Second

// graceAlone is how long it has where the node's holder died before: the address of
// the API server went with it, and the API server would wait in vain for the clients
// that it had there.
const graceAlone = 2 * time.Second

// Down ends every process of the lab and removes its files. Where there is no
// lab there is nothing to do, and that is no error.
func Down(ctx context.Context, options DownOptions) error {
	lab, err := Load(options.Dir)
	if errors.Is(err, ErrNone) {
		_, err = fmt.Fprintf(options.Out, "no lab in %s: nothing to take down\n", options.Dir)
		return err
	}
	if err != nil {
		return err
	}
	unlock, err := lock(lab.Dir)
	if err != nil {
		return err
	}
	defer unlock()
	begin := time.Now()
	records, err := lab.Processes().All()
	if err != nil {
		return err
	}
	peers, control := split(records)
	count, err := lab.end(ctx, grace, peers)
	if err != nil {
		return err
	}
	patience, err := lab.evict(ctx)
	if err != nil {
		return err
	}
	more, err := lab.end(ctx, patience, control)
	if err != nil {
		return err
	}
	count += more
	if err := lab.clearNode(ctx); err != nil {
		return err
	}
	if !options.Keep {
		if err := lab.empty(); err != nil {
			return err
		}
	}
	_, err = fmt.Fprintf(options.Out, "the lab in %s is down: %d processes ended in %.1f s\n", lab.Dir, count, time.Since(begin).Seconds())
	return err
}

// controlWave is the first wave of the lab's control plane.
const controlWave = 4

// waves orders the end: first what uses the lab, then the node, then what uses
// etcd, then etcd, so that nothing spends its grace on a peer that has gone. A
// command is asked by the process that keeps its files; asked by both it would take
// the second time for a threat. Only what that process left behind comes second.
func waves(records []process.Record) [][]process.Record {
	out := make([][]process.Record, 6)
	for _, record := range records {
		wave := 0
		switch record.Name {
		case Etcd, Holder: // the address of the API server goes with the node
			wave = 5
		case LocalAWS, APIServer, ControllerManager, Scheduler:
			wave = controlWave
		case Containerd:
			wave = 3
		case Kubelet, Proxy:
			wave = 2
		default:
			if strings.HasSuffix(record.Name, CommandSuffix) {
				wave = 1
			}
		}
		out[wave] = append(out[wave], record)
	}
	return out
}

// split parts what uses the control plane from the control plane. The pods end in
// between: the API server lets the calls of its clients come to their end before its
// own, and pods do not know that theirs is near.
func split(records []process.Record) (peers, control []process.Record) {
	for wave, each := range waves(records) {
		if wave < controlWave {
			peers = append(peers, each...)
		} else {
			control = append(control, each...)
		}
	}
	return peers, control
}

// evict ends the pods, whose kubelet and runtime have ended, and all else on the node
// but its holder. It returns how long the control plane then has.
func (lab Lab) evict(ctx context.Context) (time.Duration, error) {
	if lab.Node == nil {
		return grace, nil
	}
	record, found, err := lab.Processes().Get(Holder)
	if err != nil {
		return 0, err
	}
	if !found || !record.Alive() {
		return graceAlone, lab.Node.Evict(ctx, 0) // nobody is spared
	}
	return grace, lab.Node.Evict(ctx, record.PID)
}

// end ends processes wave by wave and forgets them. Each has a time to end by itself.
// It returns how many ran.
func (lab Lab) end(ctx context.Context, grace time.Duration, records []process.Record) (int, error) {
	count := 0
	for _, wave := range waves(records) {
		for _, record := range wave {
			if record.Alive() {
				count++
			}
		}
		if err := process.Stop(ctx, grace, wave...); err != nil {
			return count, err
		}
		for _, record := range wave {
			if err := lab.Processes().Remove(record.Name); err != nil {
				return count, err
			}
		}
	}
	return count, nil
}

// Stop ends one process of the lab by its name. A command that was run is then
// forgotten; a component of the lab is started again by Up.
func Stop(ctx context.Context, dir, name string) error {
	lab, err := Load(dir)
	if err != nil {
		return err
	}
	records, err := lab.Processes().All()
	if err != nil {
		return err
	}
	named := slices.DeleteFunc(records, func(record process.Record) bool {
		return record.Name != name && record.Name != name+CommandSuffix
	})
	if len(named) == 0 {
		return fmt.Errorf("the lab in %s has no process %q; \"tabard lab status\" lists them: %w", dir, name, os.ErrNotExist)
	}
	_, err = lab.end(ctx, grace, named)
	return err
}
