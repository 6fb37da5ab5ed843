package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestRunSaysTheWholeWay runs the program on what is shipped, with one right more in a
// file of its own: the way is printed to its end, and the program fails.
func TestRunSaysTheWholeWay(t *testing.T) {
	var quiet, out bytes.Buffer
	paths := []string{"../../config/manifests", "../../config/rbac"}
	if err := run(paths, "", &quiet); err != nil || !strings.Contains(quiet.String(), "tabard-system/tabard-issuer is the root of the issuer") {
		t.Errorf("what is shipped: %v\n%s", err, &quiet)
	}
	file := filepath.Join(t.TempDir(), "more.yaml")
	more := plant(nil, "tabard-system/tabard-selectorreport", "tabard-system", `{apiGroups: [""], resources: [pods/exec], verbs: [create]}`)["planted.yaml"]
	if err := os.WriteFile(file, more, 0o600); err != nil {
		t.Fatal(err)
	}
	err := run(append(paths, file), "", &out)
	if err == nil {
		t.Error("one right more is no error")
	}
	for _, want := range []string{
		"tabard-system/tabard-selectorreport becomes tabard-system/tabard-issuer:\n  a way into its pod: create pods/exec attack in tabard-system\n",
		"  and then the issuer: a key that the publisher publishes: patch oidcissuers.identity.tabard.dev attack\n",
	} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("it does not say %q:\n%s", want, &out)
		}
	}
}

// TestEachInstallationIsSearchedByItself: a right that one has is none of the others, and
// the one with a way is named.
func TestEachInstallationIsSearchedByItself(t *testing.T) {
	folder := t.TempDir()
	write := func(name, rule string) string {
		file := filepath.Join(folder, name)
		texts := plant(nil, "tabard/one", "", rule)
		text := append([]byte("kind: ServiceAccount\nmetadata: {name: one, namespace: tabard}\n---\n"), texts["planted.yaml"]...)
		if err := os.WriteFile(file, text, 0o600); err != nil {
			t.Fatal(err)
		}
		return file
	}
	good := `{apiGroups: [""], resources: [events], verbs: [create]}`
	first, open, last := write("first.yaml", good), write("open.yaml", `{apiGroups: [""], resources: [nodes], verbs: [create]}`), write("last.yaml", good)
	var out bytes.Buffer
	if err := runEach([]string{first, last}, &out); err != nil {
		t.Errorf("two without a way: %v\n%s", err, &out)
	}
	out.Reset()
	err := runEach([]string{first, open, last}, &out)
	if err == nil || !strings.HasPrefix(err.Error(), open+": 1 ways") {
		t.Errorf("the error is %v, want one of %s", err, open)
	}
	const none = "1 accounts, 0 policies: no other way from one to another\n"
	want := first + ":\n" + none + open + ":\ntabard/one becomes every account of the cluster:\n  a node of its own: create nodes attack\n" + last + ":\n" + none
	if out.String() != want {
		t.Errorf("it says\n%s, want\n%s", &out, want)
	}
}

// TestRunRefusesWhatItCannotRead by words that say what to do.
func TestRunRefusesWhatItCannotRead(t *testing.T) {
	broken := filepath.Join(t.TempDir(), "broken.yaml")
	if err := os.WriteFile(broken, []byte("kind: Role\nrules: [{verb: [get]}]\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	empty := filepath.Join(t.TempDir(), "empty.yaml")
	if err := os.WriteFile(empty, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for want, paths := range map[string][]string{"no manifests": nil, "there is no ServiceAccount in": {empty}, "no such file": {"nowhere"}, "there is no manifest in": {t.TempDir()}, "unknown field": {broken}} {
		if err := run(paths, "", &bytes.Buffer{}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %s", paths, err, want)
		}
	}
}
