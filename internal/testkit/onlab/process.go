package onlab

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"syscall"

	"github.com/tabard-dev/tabard/internal/lab/process"
)

// Status is what "tabard lab status" says of a lab.
type Status struct {
	IssuerURL string         `json:"issuerURL"`
	Ports     map[string]int `json:"ports"`
	Processes []Process      `json:"processes"`
}

// Process is one of a lab's.
type Process struct {
	Name string `json:"name"`
	PID  int    `json:"pid"`
}

// Status asks for it, also of a lab that lacks a process.
func (lab *Lab) Status(ctx context.Context) (status Status, err error) {
	text, err := lab.Manage(ctx, "status", "-o", "json")
	if _, incomplete := errors.AsType[*RefusedError](err); err != nil && !incomplete {
		return status, err
	}
	if decodeErr := json.Unmarshal([]byte(text), &status); decodeErr != nil {
		return status, errors.Join(err, decodeErr)
	}
	return status, nil
}

// PID finds a process.
func (s Status) PID(name string) (int, error) {
	for _, p := range s.Processes {
		if p.Name == name {
			return p.PID, nil
		}
	}
	return 0, fmt.Errorf("lab status does not list %s", name)
}

// Kill kills processes of the lab and waits for their end.
func (lab *Lab) Kill(ctx context.Context, names ...string) error {
	status, err := lab.Status(ctx)
	if err != nil {
		return err
	}
	pids := make([]int, len(names))
	for i, name := range names { // all at once: some end by themselves when others do
		if pids[i], err = status.PID(name); err != nil {
			return err
		}
	}
	for i, pid := range pids {
		if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
			return fmt.Errorf("kill %s (%d): %w", names[i], pid, err)
		}
	}
	return Eventually(ctx, Patience, func(context.Context) error {
		for i, pid := range pids {
			if _, err := process.Identify(pid); err == nil {
				return fmt.Errorf("%s (%d) was killed and does not end", names[i], pid)
			}
		}
		return nil
	})
}

// Stop ends a process that runs in the background of the lab.
func (lab *Lab) Stop(ctx context.Context, name string) error {
	_, err := lab.Manage(ctx, "stop", name)
	return err
}
