package lab

import (
	"fmt"
	"os"
	"strconv"
	"strings"

	"github.com/tabard-dev/tabard/internal/lab/process"
)

// Names of the lab's own processes, in the order in which they start.
const (
	Etcd              = "etcd"
	LocalAWS          = "awslocal"
	APIServer         = "kube-apiserver"
	ControllerManager = "kube-controller-manager"
)

// Components are the names of the lab's own processes in the order in which
// they start. Without a node there is no scheduler and no kubelet: pods stay
// pending, and "lab run" runs their commands.
func (lab Lab) Components() []string {
	control := []string{Etcd, LocalAWS, APIServer, ControllerManager}
	if lab.Node == nil {
		return control
	}
	return append(append([]string{Holder}, control...), Scheduler, Containerd, Kubelet, Proxy)
}

// component returns how one of the lab's own processes is started.
func (lab Lab) component(name string) process.Spec {
	return process.Spec{
		Name: name, Command: lab.command(name),
		// Nothing of the caller's environment: a proxy, a KUBECONFIG or an AWS
		// profile in it would change what the lab does.
		Env: []string{"PATH=" + os.Getenv("PATH"), "HOME=" + lab.Dir, "TMPDIR=" + lab.Path("tmp")},
		Dir: lab.Dir, Log: lab.Path("logs", name+".log"),
	}
}

// command is the program of a component with its arguments.
func (lab Lab) command(name string) []string {
	switch name {
	case Etcd:
		return append([]string{lab.Localkube, name}, lab.etcdArguments()...)
	case LocalAWS:
		return append([]string{lab.Tabard, name}, lab.awsArguments()...)
	case APIServer:
		return append([]string{lab.Localkube, name}, lab.apiServerArguments()...)
	case ControllerManager:
		return append([]string{lab.Localkube, name}, lab.controllerManagerArguments()...)
	}
	return lab.nodeCommand(name)
}

func (lab Lab) etcdArguments() []string {
	client, peer := loopbackURL(lab.Ports.Etcd), loopbackURL(lab.Ports.EtcdPeer)
	return []string{
		"--name=lab", "--data-dir=" + lab.Path("etcd"),
		"--listen-client-urls=" + client, "--advertise-client-urls=" + client,
		"--listen-peer-urls=" + peer, "--initial-advertise-peer-urls=" + peer, "--initial-cluster=lab=" + peer,
		"--cert-file=" + lab.pki("etcd.crt"), "--key-file=" + lab.pki("etcd.key"),
		"--client-cert-auth", "--trusted-ca-file=" + lab.pki("ca.crt"),
		"--peer-cert-file=" + lab.pki("etcd.crt"), "--peer-key-file=" + lab.pki("etcd.key"),
		"--peer-client-cert-auth", "--peer-trusted-ca-file=" + lab.pki("ca.crt"),
		// A lab survives the end of its processes, not that of the machine.
		"--unsafe-no-fsync",
		"--quota-backend-bytes=1073741824", "--log-level=warn",
	}
}

func (lab Lab) awsArguments() []string {
	return []string{
		"--listen", lab.Host() + ":" + strconv.Itoa(lab.Ports.AWS), "--dir", lab.Path("aws"),
		"--state", lab.Path("aws", "state.json"), "--region", Region,
		"--account", strings.Join(append([]string{AccountID}, lab.Accounts...), ","),
	}
}

func (lab Lab) apiServerArguments() []string {
	arguments := []string{
		"--etcd-servers=" + loopbackURL(lab.Ports.Etcd), "--etcd-cafile=" + lab.pki("ca.crt"),
		"--etcd-certfile=" + lab.pki("etcd-client.crt"), "--etcd-keyfile=" + lab.pki("etcd-client.key"),
		"--bind-address=" + lab.Host(), "--advertise-address=" + lab.Host(), "--secure-port=" + strconv.Itoa(lab.Ports.APIServer),
		"--tls-cert-file=" + lab.pki("kube-apiserver.crt"), "--tls-private-key-file=" + lab.pki("kube-apiserver.key"),
		"--client-ca-file=" + lab.pki("ca.crt"), "--anonymous-auth=false",
		"--authorization-mode=Node,RBAC", "--enable-admission-plugins=NodeRestriction",
		"--service-account-issuer=" + lab.IssuerURL(),
		"--service-account-signing-key-file=" + lab.pki("service-account.key"),
		"--service-account-key-file=" + lab.pki("service-account.pub"),
		"--service-cluster-ip-range=10.96.0.0/24",
		"--allow-privileged=" + strconv.FormatBool(lab.Node == nil || lab.AllowPrivileged),
		"--event-ttl=15m", "--profiling=false", "--shutdown-watch-termination-grace-period=0s",
		"--max-requests-inflight=100", "--max-mutating-requests-inflight=50",
	}
	arguments = append(arguments, lab.auditArguments()...)
	if lab.Node != nil {
		return append(arguments, lab.nodeAPIServerArguments()...)
	}
	// Endpoints refuse loopback addresses, so the API server could not publish its
	// own: it would only log an error every ten seconds.
	return append(arguments, "--endpoint-reconciler-type=none")
}

func (lab Lab) controllerManagerArguments() []string {
	return []string{
		"--kubeconfig=" + lab.pki("kube-controller-manager.kubeconfig"),
		"--bind-address=" + Loopback, "--secure-port=" + strconv.Itoa(lab.Ports.ControllerManager),
		"--tls-cert-file=" + lab.pki("kube-apiserver.crt"), "--tls-private-key-file=" + lab.pki("kube-apiserver.key"),
		"--authentication-skip-lookup",
		"--service-account-private-key-file=" + lab.pki("service-account.key"), "--root-ca-file=" + lab.pki("ca.crt"),
		"--cluster-signing-cert-file=" + lab.pki("ca.crt"), "--cluster-signing-key-file=" + lab.pki("ca.key"),
		"--use-service-account-credentials", "--leader-elect=false", "--profiling=false",
		// The default of 20 requests a second makes the start take seconds more.
		"--kube-api-qps=200", "--kube-api-burst=400",
	}
}

func loopbackURL(port int) string { return fmt.Sprintf("https://%s:%d", Loopback, port) }
