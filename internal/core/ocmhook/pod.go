package ocmhook

import (
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/tabard-dev/tabard/internal/core/hub"
)

// The programs of Open Cluster Management's images, by their first argument.
const (
	registration = "/registration"
	work         = "/work"
	both         = "/registration-operator"
)

// The flags of agents and of the hub controller (v1.2.1, pkg/registration and pkg/work).
const (
	authFlag       = "--registration-auth"
	clusterFlag    = "--spoke-cluster-name"
	managedARNFlag = "--managed-cluster-arn"
	suffixFlag     = "--managed-cluster-role-suffix"
)

// AdmitPod decides about a pod that is made in a namespace. Pods that run none of Open Cluster
// Management's programs pass as they are, whatever their ServiceAccount is.
func AdmitPod(pod *corev1.Pod, namespace string, w World, s Settings) Decision {
	number, args := theirs(pod)
	switch {
	case number < 0:
		return Decision{}
	case args.runs(registration, "controller"):
		return admitController(number, args)
	}
	k, found := agentsOf(w.Klusterlets, namespace, pod.Spec.ServiceAccountName)
	auth, _ := args.value(authFlag)
	switch {
	case !found && auth == hub.DriverAWS:
		return refuse("no Klusterlet is known whose agents are the ServiceAccount %s/%s: whose identity the pod should have cannot be said. If there is one, the pod is let in as soon as it has been read",
			namespace, pod.Spec.ServiceAccountName)
	case !found, k.AuthType != hub.DriverAWS:
		return Decision{}
	}
	return agent{pod: pod, number: number, args: args, klusterlet: k, settings: s}.admit()
}

// theirs is the container that runs one of Open Cluster Management's agents or its hub
// controller, and its arguments; -1 for none. Their images have no entry point, and their
// operators set no command.
func theirs(pod *corev1.Pod) (number int, args arguments) {
	for i := range pod.Spec.Containers {
		container := &pod.Spec.Containers[i]
		args := arguments(container.Args)
		if len(container.Command) > 0 {
			continue
		}
		if args.runs(registration, "agent") || args.runs(work, "agent") || args.runs(both, "agent") || args.runs(registration, "controller") {
			return i, args
		}
	}
	return -1, nil
}

// agentsOf is the Klusterlet whose agents run as a ServiceAccount.
func agentsOf(all []Klusterlet, namespace, account string) (Klusterlet, bool) {
	number := slices.IndexFunc(all, func(k Klusterlet) bool {
		return k.Namespace == namespace && (account == k.Name+"-registration-sa" || account == k.Name+"-work-sa")
	})
	if number < 0 {
		return Klusterlet{}, false
	}
	return all[number], true
}

// containerPath is where a pod has a part of a container.
func containerPath(number int, part string) string {
	return fmt.Sprintf("/spec/containers/%d/%s", number, part)
}
