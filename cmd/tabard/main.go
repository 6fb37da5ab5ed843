// Command tabard gives Kubernetes workloads, controllers and clusters their
// cloud identity without any stored key. See tabard --help.
package main

import (
	"os"

	"github.com/tabard-dev/tabard/internal/app"
)

func main() { os.Exit(app.Main(os.Args[1:], extra())) }
