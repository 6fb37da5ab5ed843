// Package lab runs a Kubernetes control plane and a local AWS on one machine,
// all on 127.0.0.1, and Tabard's own programs and the commands of pods beside
// them. It starts the real programs, each as a process of its own that outlives
// the command that started it. Everything that a lab is lives in one folder.
//
// A lab may have a node: then pods run in containers, and the API server and the
// local AWS are at an address that they reach.
package lab

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/tabard-dev/tabard/internal/lab/node"
	"github.com/tabard-dev/tabard/internal/lab/private"
	"github.com/tabard-dev/tabard/internal/lab/process"
)

// Identification of the lab's own file.
const (
	apiVersion = "lab.tabard.dev/v1"
	kind       = "Lab"
)

// Loopback is the address of everything that pods do not call. It is never
// "localhost": a name makes S3 clients put the bucket before it.
const Loopback = "127.0.0.1"

// Region is that of the lab's AWS, and AccountID the account that every lab has.
const (
	Region    = "us-west-2"
	AccountID = "123456789012"
)

// maxDirBytes bounds the length of a lab's folder. Programs in the lab may put
// Unix sockets below it, and a socket's whole path has at most 107 bytes on
// Linux and 103 elsewhere.
const maxDirBytes = 80

// ErrNone says that a folder holds no lab.
var ErrNone = errors.New("no lab here")

// DirError says why a folder cannot hold a lab, or not the one that is asked for.
// Another folder helps.
type DirError struct{ Reason string }

// Error implements error.
func (err *DirError) Error() string { return err.Reason }

// Lab is what is decided once, before anything starts, and kept: the ports and
// the bucket's name are part of the issuer's URL, and that of every token.
type Lab struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	// Dir is the lab's folder, an absolute path.
	Dir string `json:"dir"`
	// Bucket is the S3 bucket that the issuer's documents belong into. It does
	// not exist before somebody publishes.
	Bucket string `json:"bucket"`
	// Accounts are those of the local AWS besides AccountID, each once and sorted.
	Accounts []string `json:"accounts,omitempty"`
	Ports    Ports    `json:"ports"`
	// Node is nil for a lab without one.
	Node *node.Node `json:"node,omitempty"`
	// AllowPrivileged lets the node run privileged pods, which are root on this
	// machine. Without a node nothing runs pods, and they may be privileged anyway.
	AllowPrivileged bool `json:"allowPrivileged,omitempty"`
	// Localkube and Tabard are the programs that the processes were started
	// from last.
	Localkube string `json:"localkube"`
	Tabard    string `json:"tabard"`
}

// Ports are the TCP ports of the lab, on 127.0.0.1; with a node, those of the API
// server and the local AWS are on Host.
type Ports struct {
	APIServer         int `json:"apiServer"`
	Etcd              int `json:"etcd"`
	EtcdPeer          int `json:"etcdPeer"`
	ControllerManager int `json:"controllerManager"`
	AWS               int `json:"aws"`
	Webhook           int `json:"webhook"`
	Scheduler         int `json:"scheduler,omitempty"`
}

// Host is the address of the API server and the local AWS.
func (lab Lab) Host() string {
	if lab.Node != nil {
		return lab.Node.Host.String()
	}
	return Loopback
}

// IssuerURL is the issuer of the lab's ServiceAccount tokens.
func (lab Lab) IssuerURL() string { return lab.AWSURL() + "/" + lab.Bucket }

// AWSURL is the endpoint of the local AWS.
func (lab Lab) AWSURL() string { return fmt.Sprintf("https://%s:%d", lab.Host(), lab.Ports.AWS) }

// APIServerURL is the address of the Kubernetes API.
func (lab Lab) APIServerURL() string {
	return fmt.Sprintf("https://%s:%d", lab.Host(), lab.Ports.APIServer)
}

// Path is a path below the lab's folder.
func (lab Lab) Path(elements ...string) string {
	return filepath.Join(append([]string{lab.Dir}, elements...)...)
}

// Kubeconfig is the path of the administrator's client configuration.
func (lab Lab) Kubeconfig() string { return lab.Path("kubeconfig") }

// AWSCA is the path of the local AWS's CA certificate.
func (lab Lab) AWSCA() string { return lab.Path("aws", "ca.crt") }

// Processes are the records of what runs in the lab.
func (lab Lab) Processes() process.Book { return process.Book{Dir: lab.Path("run")} }

// DefaultDir is the lab's folder if none is named: below XDG_STATE_HOME, else
// below the home folder's .local/state.
func DefaultDir(getenv func(string) string) string {
	base := getenv("XDG_STATE_HOME")
	if base == "" {
		base = filepath.Join(getenv("HOME"), ".local", "state")
	}
	return filepath.Join(base, "tabard", "lab")
}

// CheckDir returns the absolute form of a folder that is to hold a lab, or says
// why it cannot hold one.
func CheckDir(dir string) (string, error) {
	if dir == "" {
		return "", &DirError{"the lab's folder has no name; name one with --dir"}
	}
	absolute, err := filepath.Abs(dir)
	if err != nil {
		return "", fmt.Errorf("the lab's folder %q: %w", dir, err)
	}
	if len(absolute) > maxDirBytes {
		return "", &DirError{fmt.Sprintf("the lab's folder %q is %d bytes long; at most %d are allowed, because the path of a socket "+
			"below it would be too long for the system: choose a shorter one with --dir", absolute, len(absolute), maxDirBytes)}
	}
	return absolute, nil
}

// Load reads the lab in a folder; ErrNone if there is none.
func Load(dir string) (Lab, error) {
	dir, err := CheckDir(dir)
	if err != nil {
		return Lab{}, err
	}
	path := filepath.Join(dir, "lab.json")
	if _, err := os.Lstat(path); errors.Is(err, os.ErrNotExist) {
		return Lab{}, fmt.Errorf("%w: %s has no lab.json; \"tabard lab up --dir %s\" makes one", ErrNone, dir, dir)
	}
	if err := checkDir(dir); err != nil {
		return Lab{}, err
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return Lab{}, fmt.Errorf("read the lab: %w", err)
	}
	return parse(data, path)
}

func parse(data []byte, path string) (Lab, error) {
	var lab Lab
	if err := json.Unmarshal(data, &lab); err != nil {
		return Lab{}, fmt.Errorf("%s is not readable: %w", path, err)
	}
	if lab.APIVersion != apiVersion || lab.Kind != kind {
		return Lab{}, fmt.Errorf("%s is a %q of %q; want a %q of %q: it is not a lab of this program",
			path, lab.Kind, lab.APIVersion, kind, apiVersion)
	}
	if lab.Dir != filepath.Dir(path) {
		return Lab{}, fmt.Errorf("%s was made for %s; a lab cannot be moved: take it down there, or remove this folder", path, lab.Dir)
	}
	return lab, nil
}

// save writes the lab's own file, whole or not at all.
func (lab Lab) save() error {
	data, err := json.MarshalIndent(lab, "", "  ")
	if err != nil {
		return fmt.Errorf("write the lab: %w", err)
	}
	return private.Write(lab.Path("lab.json"), append(data, '\n'))
}
