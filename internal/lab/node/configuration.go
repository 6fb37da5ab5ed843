package node

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"

	"github.com/tabard-dev/tabard/internal/lab/private"
)

// object is a document in the making: these need neither the types of the
// components nor what those pull in.
type object = map[string]any

// Files are the node's folder and what its configuration names in it.
type Files struct {
	// Dir is the folder of all of the node's own files.
	Dir string
	// CA is the cluster's, Proxy the client configuration of kube-proxy; Certificate
	// and Key are of the kubelet's server.
	CA, Proxy, Certificate, Key string
}

// Socket is where the container runtime listens. It is seen from the machine too.
func (f Files) Socket() string { return f.path("containerd.sock") }

func (f Files) path(name string) string { return filepath.Join(f.Dir, name) }

// SandboxImage is what holds a pod's namespaces.
const SandboxImage = "localhost/tabard-lab-sandbox:1"

// Write writes the configuration of the node's programs.
func (node Node) Write(f Files) error {
	plugins, err := pluginFolder(exists)
	if err != nil {
		return fmt.Errorf("configure the node: want %w", err)
	}
	documents := map[string]object{
		"cni/10-lab.conflist": node.networkConfiguration(f), "kubelet.json": node.kubeletConfiguration(f), "kube-proxy.json": node.proxyConfiguration(f),
	}
	files := map[string][]byte{"containerd.toml": containerdConfiguration(f, plugins)}
	for name, document := range documents {
		if files[name], err = json.MarshalIndent(document, "", "  "); err != nil {
			return fmt.Errorf("configure the node: %w", err)
		}
	}
	for name, content := range files {
		if err := os.MkdirAll(filepath.Dir(f.path(name)), 0o700); err != nil {
			return fmt.Errorf("configure the node: %w", err)
		}
		if now, err := os.ReadFile(f.path(name)); err == nil && bytes.Equal(now, content) {
			continue // a kube-proxy that runs would end at any write to its file
		}
		if err := private.Write(f.path(name), content); err != nil {
			return fmt.Errorf("configure the node: %w", err)
		}
	}
	return nil
}

// containerdConfiguration is the runtime's configuration, in its version 2. Its state is
// below the node's own /run.
func containerdConfiguration(f Files, plugins string) []byte {
	return fmt.Appendf(nil, `version = 2
root = %q
state = "/run/containerd"
disabled_plugins = ["io.containerd.internal.v1.opt"]
[grpc]
address = %q
[plugins."io.containerd.grpc.v1.cri"]
sandbox_image = %q
# A machine may lack the right to make a process less likely to be killed.
restrict_oom_score_adj = true
netns_mounts_under_state_dir = true
stream_server_address = "127.0.0.1"
[plugins."io.containerd.grpc.v1.cri".cni]
bin_dir = %q
conf_dir = %q
[plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc]
runtime_type = "io.containerd.runc.v2"
[plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc.options]
SystemdCgroup = false
`, f.path("containerd"), f.Socket(), SandboxImage, plugins, f.path("cni"))
}

// Ports of the node on which its programs say whether they are well.
const (
	KubeletHealthPort = 10248
	ProxyHealthPort   = 10256
)

// bridge is the switch between the node's pods.
const bridge = "pods"

// networkConfiguration gives each pod an address that the machine has a route to;
// so nothing is translated, and whoever is called sees who calls.
func (node Node) networkConfiguration(f Files) object {
	return object{
		"cniVersion": "0.4.0", "name": "lab",
		"plugins": []object{{
			"type": "bridge", "bridge": bridge, "isGateway": true, "ipMasq": false, "hairpinMode": true,
			"ipam": object{
				"type": "host-local", "dataDir": f.path("addresses"),
				"ranges": [][]object{{{"subnet": node.Pods.String()}}}, "routes": []object{{"dst": "0.0.0.0/0"}},
			},
		}},
	}
}

func (node Node) kubeletConfiguration(f Files) object {
	return object{
		"apiVersion": "kubelet.config.k8s.io/v1beta1", "kind": "KubeletConfiguration",
		"containerRuntimeEndpoint": "unix://" + f.Socket(),
		"cgroupDriver":             "cgroupfs", "cgroupRoot": "/" + node.Cgroup, "failCgroupV1": false, "failSwapOn": false,
		"authentication": object{
			"anonymous": object{"enabled": false}, "webhook": object{"enabled": true}, "x509": object{"clientCAFile": f.CA},
		},
		"authorization":      object{"mode": "Webhook"},
		"healthzBindAddress": node.Address.String(), "healthzPort": KubeletHealthPort,
		"tlsCertFile": f.Certificate, "tlsPrivateKeyFile": f.Key,
		"podLogsDir": f.path("pod-logs"),
		// A pod gets no resolver: names of the cluster are not served, and the
		// machine's own are not its business.
		"resolvConf": "", "clusterDomain": "cluster.local",
		// The disk is the machine's: how full it is is not for the lab to judge.
		"evictionHard":                object{"memory.available": "0%", "nodefs.available": "0%", "nodefs.inodesFree": "0%", "imagefs.available": "0%", "imagefs.inodesFree": "0%"},
		"imageGCHighThresholdPercent": 100, "imageGCLowThresholdPercent": 99,
		"enableControllerAttachDetach": false,
		"nodeStatusUpdateFrequency":    "5s", "nodeLeaseDurationSeconds": 20,
	}
}

func (node Node) proxyConfiguration(f Files) object {
	return object{
		"apiVersion": "kubeproxy.config.k8s.io/v1alpha1", "kind": "KubeProxyConfiguration",
		"clientConnection": object{"kubeconfig": f.Proxy},
		"hostnameOverride": node.Name, "clusterCIDR": node.Pods.String(), "mode": "nftables",
		"healthzBindAddress": fmt.Sprintf("%s:%d", node.Address, ProxyHealthPort), "metricsBindAddress": "127.0.0.1:10249",
		// These are settings of the whole machine.
		"conntrack": object{"maxPerCore": 0, "min": 0, "tcpEstablishedTimeout": "0s", "tcpCloseWaitTimeout": "0s"},
	}
}
