// Package build compiles the programs of this module, and packs them into images, so that
// the same source and the same Go give the same bytes on every machine.
package build

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
)

// Compiler is how programs are compiled.
type Compiler struct {
	// Source is the root folder of the module.
	Source string
	// LinkerFlags are what go build gets as -ldflags.
	LinkerFlags string
	// Progress gets a line for each package that is compiled.
	Progress io.Writer
}

// Compile builds the program of a package for a platform, such as linux/amd64: without the
// checkout's path and state, and for the plainest processor of each kind.
func (c Compiler) Compile(ctx context.Context, program, platform, target string) error {
	system, architecture, found := strings.Cut(platform, "/")
	if !found {
		return fmt.Errorf("platform %q: expected a system and an architecture, such as linux/amd64", platform)
	}
	command := exec.CommandContext(ctx, "go", "build", "-v", "-trimpath", "-buildvcs=false", "-ldflags", c.LinkerFlags, "-o", target, program)
	command.Dir = c.Source
	command.Env = append(os.Environ(), "CGO_ENABLED=0", "GOWORK=off",
		"GOOS="+system, "GOARCH="+architecture, "GOAMD64=v1", "GOARM64=v8.0", "GOEXPERIMENT=", "GOFIPS140=off")
	command.Stderr = c.Progress
	if err := command.Run(); err != nil {
		return fmt.Errorf("go build %s for %s: %w", program, platform, err)
	}
	return nil
}
