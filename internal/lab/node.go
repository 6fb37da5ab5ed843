package lab

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"time"

	"github.com/tabard-dev/tabard/internal/lab/node"
)

// Names of the processes of a lab's node. Holder holds its namespaces.
const (
	Holder     = "node"
	Scheduler  = "kube-scheduler"
	Containerd = "containerd"
	Proxy      = "kube-proxy"
	Kubelet    = "kubelet"
)

// Hidden commands of the program, which the lab calls.
const (
	// NodeInit becomes the holder of a node's namespaces.
	NodeInit = "node-init"
	// NodeExec becomes a program on the node.
	NodeExec = "node-exec"
	// Pause does nothing until it is told to end: the holder of namespaces, of the
	// node's and of each pod's.
	Pause = "pause"
)

// kubeletClient is the holder of the certificate by which the API server asks the
// kubelet for logs.
const kubeletClient = "kubelet-client"

// nodeLeaves are the certificates of the node's programs and their clients.
func (lab Lab) nodeLeaves() []leaf {
	if lab.Node == nil {
		return nil
	}
	return []leaf{
		{file: Scheduler, name: "system:kube-scheduler"},
		{file: Proxy, name: "system:kube-proxy"},
		{file: Kubelet, name: "system:node:" + lab.Node.Name, group: "system:nodes", hosts: []string{lab.Node.Name}},
		{file: kubeletClient, name: "kube-apiserver-kubelet-client", group: "system:masters"},
	}
}

// nodeAPIServerArguments let the API server reach pods: webhooks at their own
// addresses instead of their Service's, which are known on the node alone, and logs
// through the kubelet.
func (lab Lab) nodeAPIServerArguments() []string {
	return []string{
		"--enable-aggregator-routing=true", "--kubelet-preferred-address-types=InternalIP",
		"--kubelet-certificate-authority=" + lab.pki("ca.crt"),
		"--kubelet-client-certificate=" + lab.pki(kubeletClient+".crt"), "--kubelet-client-key=" + lab.pki(kubeletClient+".key"),
	}
}

// nodeCommand is the program of one of the node's components with its arguments.
func (lab Lab) nodeCommand(name string) []string {
	switch name {
	case Holder:
		return []string{lab.Tabard, "lab", NodeInit, "--dir", lab.Dir}
	case Scheduler:
		return []string{
			lab.Localkube, name, "--kubeconfig=" + lab.pki(name+".kubeconfig"), "--bind-address=" + Loopback, fmt.Sprintf("--secure-port=%d", lab.Ports.Scheduler),
			"--tls-cert-file=" + lab.pki(name+".crt"), "--tls-private-key-file=" + lab.pki(name+".key"),
			"--authentication-skip-lookup", "--leader-elect=false", "--profiling=false",
		}
	case Containerd:
		return lab.onNode("containerd", "--config", lab.Path("node", "containerd.toml"))
	case Proxy:
		return lab.onNode(lab.Localkube, name, "--config="+lab.Path("node", "kube-proxy.json"))
	}
	return lab.onNode(lab.Localkube, name, "--config="+lab.Path("node", "kubelet.json"), "--kubeconfig="+lab.pki(name+".kubeconfig"),
		"--hostname-override="+lab.Node.Name, "--node-ip="+lab.Node.Address.String(),
		"--root-dir="+lab.Path("node", "kubelet"), "--cert-dir="+lab.Path("node", "kubelet-pki"))
}

// onNode is a command that is run in the node's namespaces.
func (lab Lab) onNode(command ...string) []string {
	return append([]string{lab.Tabard, "lab", NodeExec, "--dir", lab.Dir, "--"}, command...)
}

// nodeFiles are the files of the node.
func (lab Lab) nodeFiles() node.Files {
	return node.Files{
		Dir: lab.Path("node"), CA: lab.pki("ca.crt"), Proxy: lab.pki(Proxy + ".kubeconfig"),
		Certificate: lab.pki(Kubelet + ".crt"), Key: lab.pki(Kubelet + ".key"),
	}
}

// writeNode writes the configuration of the node's programs.
func (lab Lab) writeNode() error {
	if lab.Node == nil {
		return nil
	}
	return lab.Node.Write(lab.nodeFiles())
}

// InitNode becomes the holder of the node's namespaces. It returns only to report
// an error.
func (lab Lab) InitNode() error {
	if lab.Node == nil {
		return fmt.Errorf("the lab in %s has no node", lab.Dir)
	}
	return node.Init(*lab.Node, lab.Path("node"), []string{lab.Tabard, "lab", Pause})
}

// EnterNode becomes a program on the node. It returns only to report an error.
func (lab Lab) EnterNode(command []string) error {
	record, found, err := lab.Processes().Get(Holder)
	if err != nil {
		return err
	}
	if lab.Node == nil || !found || !record.Alive() {
		return fmt.Errorf("the node of the lab in %s is not up; \"tabard lab status\" shows what runs", lab.Dir)
	}
	program, err := exec.LookPath(command[0])
	if err != nil {
		return fmt.Errorf("find %s: %w", command[0], err)
	}
	return node.Enter(*lab.Node, record.PID, append([]string{program}, command[1:]...))
}

// clearNode ends what is left of the node and its pods, before a new holder starts
// and after the old one was ended.
func (lab Lab) clearNode(ctx context.Context) error {
	if lab.Node == nil {
		return nil
	}
	if err := lab.Node.Remove(ctx); err != nil {
		return err
	}
	for _, name := range []string{Holder, Containerd, Proxy, Kubelet} {
		if err := lab.Processes().Remove(name); err != nil {
			return err
		}
	}
	return nil
}

// holderCheck waits until the holder is in namespaces of its own.
func (lab Lab) holderCheck() func(context.Context) error {
	return func(context.Context) error {
		record, _, err := lab.Processes().Get(Holder)
		if err != nil {
			return err
		}
		ours, err := os.Readlink("/proc/self/ns/net")
		if err != nil {
			return err
		}
		command, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", record.PID))
		if err != nil {
			return err
		}
		its, err := os.Readlink(fmt.Sprintf("/proc/%d/ns/net", record.PID))
		if err == nil && (its == ours || !isPause(command)) {
			err = errors.New("its namespaces are not made yet")
		}
		return err
	}
}

// settleHolder connects the node to this machine.
func (lab Lab) settleHolder() error {
	record, _, err := lab.Processes().Get(Holder)
	if err != nil || lab.Node.Connected(record.PID) {
		return err
	}
	return lab.Node.Connect(record.PID)
}

// containerdCheck asks whether the runtime takes calls.
func (lab Lab) containerdCheck() func(context.Context) error {
	return func(ctx context.Context) error {
		connection, err := (&net.Dialer{}).DialContext(ctx, "unix", lab.nodeFiles().Socket())
		if err != nil {
			return err
		}
		return connection.Close()
	}
}

// loadWithin bounds one question to the container runtime, the loading of images
// among them.
const loadWithin = 5 * time.Minute

// isPause says whether a command line is the holder's own.
func isPause(commandLine []byte) bool {
	return bytes.HasSuffix(commandLine, []byte("\x00"+Pause+"\x00"))
}
