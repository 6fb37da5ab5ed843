package lab_test

import "strings"

// driver is what a storage driver deploys: a privileged pod on each node, and here one
// by itself.
const driver = `
apiVersion: apps/v1
kind: DaemonSet
metadata: {name: driver}
spec:
  selector: {matchLabels: {app: driver}}
  template:
    metadata: {labels: {app: driver}}
    spec:
      containers:
      - {name: driver, image: none, securityContext: {privileged: true}}
---
apiVersion: v1
kind: Pod
metadata: {name: driver}
spec:
  containers:
  - {name: driver, image: none, securityContext: {privileged: true}}
`

// checkPrivileged creates privileged pods where nothing runs them, whether they were
// asked for or not.
func (bench *bench) checkPrivileged() {
	bench.t.Helper()
	bench.kubectl(driver, "apply", "-f", "-")
	if said := bench.kubectl("", "get", "daemonset/driver", "pod/driver", "-o", "name"); strings.Count(said, "driver") < 2 {
		bench.t.Errorf("the lab has only %q", said)
	}
	if said := bench.must("up", "--allow-privileged"); !strings.Contains(said, "nothing to do") {
		bench.t.Errorf("up --allow-privileged of a lab without a node said %q", said)
	}
}
