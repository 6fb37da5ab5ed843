package workload

import (
	"fmt"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
)

// loopback is the address of a pod and its host that are on no node: the
// command runs on this machine, and the lab is reached there.
const loopback = "127.0.0.1"

// field returns the value of a pod's field by its path, for those paths that
// Kubernetes allows in environments and downward API volumes.
func field(pod *corev1.Pod, path string) (string, error) {
	if name, key, isMap := subscript(path); isMap {
		switch name {
		case "metadata.labels":
			return pod.Labels[key], nil
		case "metadata.annotations":
			return pod.Annotations[key], nil
		}
	}
	switch path {
	case "metadata.name":
		return pod.Name, nil
	case "metadata.namespace":
		return pod.Namespace, nil
	case "metadata.uid":
		return string(pod.UID), nil
	case "metadata.labels":
		return lines(pod.Labels), nil
	case "metadata.annotations":
		return lines(pod.Annotations), nil
	case "spec.nodeName":
		return pod.Spec.NodeName, nil
	case "spec.serviceAccountName":
		return pod.Spec.ServiceAccountName, nil
	case "status.hostIP", "status.hostIPs":
		return orLoopback(pod.Status.HostIP), nil
	case "status.podIP", "status.podIPs":
		return orLoopback(pod.Status.PodIP), nil
	}
	return "", fmt.Errorf("the field %q is not one that a container can be told", path)
}

// subscript splits NAME['KEY'].
func subscript(path string) (name, key string, ok bool) {
	name, rest, found := strings.Cut(path, "['")
	key, closed := strings.CutSuffix(rest, "']")
	return name, key, found && closed
}

// lines writes a map as the downward API does: KEY="VALUE", a line each, in
// order, the value quoted as in Go.
func lines(values map[string]string) string {
	out := make([]string, 0, len(values))
	for _, key := range sorted(values) {
		out = append(out, key+"="+strconv.Quote(values[key]))
	}
	return strings.Join(out, "\n")
}

func orLoopback(address string) string {
	if address == "" {
		return loopback
	}
	return address
}
