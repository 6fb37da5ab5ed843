// Command tabard-operator is what runs in clusters as tabard: all of its commands but
// those of the local lab.
package main

import (
	"os"

	"github.com/tabard-dev/tabard/internal/app"
	"github.com/tabard-dev/tabard/internal/app/program"
)

func main() { os.Exit(app.Main(os.Args[1:], program.Extra{})) }
