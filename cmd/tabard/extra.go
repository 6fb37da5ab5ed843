//go:build !windows

package main

import (
	"github.com/tabard-dev/tabard/internal/app/local"
	"github.com/tabard-dev/tabard/internal/app/program"
)

// extra are the commands of the lab.
func extra() program.Extra { return local.Commands() }
