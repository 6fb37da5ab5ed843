package lab

import (
	"fmt"

	"github.com/tabard-dev/tabard/internal/lab/process"
)

// CommandSuffix ends the record of the command itself where a second record,
// without it, is of the process that keeps the command's files fresh.
const CommandSuffix = ".command"

// States of a process.
const (
	Running = "Running" // it runs
	Exited  = "Exited"  // it ended by itself, and the exit code is known
	Missing = "Missing" // it should run and does not
)

// Status is what runs of a lab.
type Status struct {
	Dir       string          `json:"dir"`
	IssuerURL string          `json:"issuerURL"`
	Bucket    string          `json:"bucket"`
	Ports     Ports           `json:"ports"`
	Processes []ProcessStatus `json:"processes"`
}

// ProcessStatus is one process of a lab.
type ProcessStatus struct {
	Name  string `json:"name"`
	State string `json:"state"`
	PID   int    `json:"pid,omitempty"`
	// Port is where it listens; zero for a command of a pod.
	Port int `json:"port,omitempty"`
	// ResidentBytes and PeakBytes are its main memory, now and at most.
	ResidentBytes int64 `json:"residentBytes,omitempty"`
	PeakBytes     int64 `json:"peakBytes,omitempty"`
	// ExitCode is set for an exited process.
	ExitCode *int   `json:"exitCode,omitempty"`
	Log      string `json:"log,omitempty"`
}

// Up says whether everything runs that should. A command that ended well is no
// fault of the lab.
func (status Status) Up() bool {
	for _, one := range status.Processes {
		if one.State == Missing || (one.State == Exited && *one.ExitCode != 0) {
			return false
		}
	}
	return true
}

// Status looks at every process of the lab.
func (lab Lab) Status() (Status, error) {
	records, err := lab.Processes().All()
	if err != nil {
		return Status{}, err
	}
	byName := map[string]process.Record{}
	for _, record := range records {
		byName[record.Name] = record
	}
	ports := map[string]int{
		Etcd: lab.Ports.Etcd, LocalAWS: lab.Ports.AWS, APIServer: lab.Ports.APIServer,
		ControllerManager: lab.Ports.ControllerManager, Scheduler: lab.Ports.Scheduler,
	}
	status := Status{Dir: lab.Dir, IssuerURL: lab.IssuerURL(), Bucket: lab.Bucket, Ports: lab.Ports}
	for _, name := range lab.Components() {
		one := statusOf(byName[name], byName[name].Alive())
		one.Name, one.Port = name, ports[name]
		status.Processes = append(status.Processes, one)
		delete(byName, name)
	}
	for _, record := range records {
		// A run that somebody waited for and that was killed is nobody's loss.
		_, isOther := byName[record.Name]
		if alive := record.Alive(); isOther && (alive || record.Log != "") {
			status.Processes = append(status.Processes, statusOf(record, alive))
		}
	}
	return status, nil
}

func statusOf(record process.Record, alive bool) ProcessStatus {
	status := ProcessStatus{Name: record.Name, State: Missing, Log: record.Log}
	switch {
	case alive:
		memory := process.MemoryOf(record.PID)
		status.State, status.PID = Running, record.PID
		status.ResidentBytes, status.PeakBytes = memory.Resident, memory.Peak
	case record.Exit != nil:
		status.State, status.ExitCode = Exited, record.Exit
	}
	return status
}

// AccountError says that a lab does not have an account.
type AccountError struct {
	Account string
	// Known are those that it has.
	Known []string
}

// Error implements error.
func (err *AccountError) Error() string {
	return fmt.Sprintf("the lab has no account %q; it has %v", err.Account, err.Known)
}
