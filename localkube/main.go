// Command localkube is a Kubernetes control plane in one file: etcd, the
// Kubernetes components and kubectl as one multi-call program. The first
// argument names the component, the rest are that component's own flags:
//
//	localkube etcd --data-dir DIR …
//	localkube kube-apiserver --etcd-servers URL …
//	localkube kubectl get pods
//
// Called through a link with a component's name, it is that component: a link
// named kubectl is kubectl.
//
// Each component needs a process of its own, because each configures the
// process-wide logging of Kubernetes once. One program for all of them keeps
// the build short: they share nine tenths of their code.
package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"go.etcd.io/etcd/server/v3/etcdmain"
	"k8s.io/component-base/cli"
	_ "k8s.io/component-base/logs/json/register"          // --logging-format=json of every component
	_ "k8s.io/component-base/metrics/prometheus/clientgo" // client metrics on /metrics
	_ "k8s.io/component-base/metrics/prometheus/version"  // kubernetes_build_info on /metrics
	kubectl "k8s.io/kubectl/pkg/cmd"
	kubectlutil "k8s.io/kubectl/pkg/cmd/util"
	apiserver "k8s.io/kubernetes/cmd/kube-apiserver/app"
	controllermanager "k8s.io/kubernetes/cmd/kube-controller-manager/app"
	proxy "k8s.io/kubernetes/cmd/kube-proxy/app"
	scheduler "k8s.io/kubernetes/cmd/kube-scheduler/app"
	kubelet "k8s.io/kubernetes/cmd/kubelet/app"
)

// components maps a component's name to what runs it. A value returns only if
// the component ends; nothing is initialised for those not asked for.
var components = map[string]func(){
	"etcd":                    func() { etcdmain.Main(os.Args) },
	"kube-apiserver":          func() { run(apiserver.NewAPIServerCommand()) },
	"kube-controller-manager": func() { run(controllermanager.NewControllerManagerCommand()) },
	"kube-proxy":              func() { run(proxy.NewProxyCommand()) },
	"kube-scheduler":          func() { run(scheduler.NewSchedulerCommand()) },
	"kubelet":                 func() { run(kubelet.NewKubeletCommand(context.Background())) },
	"kubectl": func() {
		kubectlutil.CheckErr(cli.RunNoErrOutput(kubectl.NewDefaultKubectlCommand()))
	},
}

func run(command *cobra.Command) { os.Exit(cli.Run(command)) }

func main() {
	component, args := choose(os.Args)
	if component == nil {
		fmt.Fprintf(os.Stderr, "usage: localkube COMPONENT [FLAGS]\ncomponents: %s\n", strings.Join(names(), ", "))
		os.Exit(2)
	}
	os.Args = args // each component parses os.Args itself
	component()
}

// choose returns the component that a command line asks for, by the name it was
// called with or by its first argument, and the component's own command line;
// nil if there is no such component.
func choose(args []string) (func(), []string) {
	if len(args) == 0 {
		return nil, nil
	}
	if component := components[filepath.Base(args[0])]; component != nil {
		return component, args
	}
	if len(args) < 2 {
		return nil, nil
	}
	return components[args[1]], args[1:]
}

func names() []string {
	out := make([]string, 0, len(components))
	for name := range components {
		out = append(out, name)
	}
	slices.Sort(out)
	return out
}
