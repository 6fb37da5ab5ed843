package main

import (
	"path"
	"slices"
)

// rooms are the folders that exist below internal. A new one is a decision of
// its own, written down in docs/adr.
var rooms = []string{"app", "catalogue", "cli", "cloud", "console", "controller", "core", "credentials", "evidence", "handoff", "image", "lab", "olm", "platform", "testkit", "webhook"}

// vague are package names that say nothing of what is inside, so that anything
// ends up there.
var vague = []string{"base", "common", "helper", "helpers", "misc", "pkg", "shared", "types", "util", "utils"}

// checkNames names packages in a room that does not exist and packages with a
// vague name.
func checkNames(packages []pkg) []violation {
	var found []violation
	for _, p := range packages {
		name := short(p.ImportPath)
		if room := roomOf("./internal", name); room != "" && !slices.Contains(rooms, room) {
			found = append(found, violation{name, "internal/" + room, "opens the room",
				"a new room below internal needs an ADR and a place in the list of rooms"})
		}
		if last := path.Base(name); slices.Contains(vague, last) {
			found = append(found, violation{name, last, "is named", "name the package by the noun that it is about"})
		}
	}
	return found
}
