// Package web has the console's front end: its sources, and in the program what "make console" built
// of them.
package web

import (
	"embed"
	"io/fs"
)

// Folder dist is empty but for one file in a checkout where nothing was built.
//
//go:embed all:dist
var dist embed.FS

// Pages are the built files, each compressed with gzip. There are none in a program that was built
// without them.
func Pages() (fs.FS, error) { return fs.Sub(dist, "dist") }
