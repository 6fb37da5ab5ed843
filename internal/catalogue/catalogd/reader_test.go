package catalogd_test

import (
	"bytes"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/tabard-dev/tabard/hack/catalogue/generate"
	"github.com/tabard-dev/tabard/internal/catalogue"
	"github.com/tabard-dev/tabard/internal/catalogue/catalogd"
	model "github.com/tabard-dev/tabard/internal/core/catalogue"
)

// Scenario 10: what has not changed is not sent again, and without /metas /all is read.
func TestScenario10NothingIsSentTwice(t *testing.T) {
	for name, tags := range map[string]bool{"by date": false, "by tag": true} {
		t.Run(name, func(t *testing.T) {
			server := &contentServer{content: allP + allQ, modified: firstOfMay, tags: tags}
			r := reader(t, server)
			first := read(t, r, "")
			if asked, sent := server.since(); listed(first) != "p q" || first.Findings != nil || asked != "all" || sent == 0 {
				t.Fatalf("%s, %v; asked %s, sent %d", listed(first), first.Findings, asked, sent)
			}
			second := read(t, r, "")
			if asked, sent := server.since(); asked != "all" || sent != 0 {
				t.Errorf("asked %s, and %d bytes were sent, want none", asked, sent)
			}
			if diff := cmp.Diff(first, second); diff != "" {
				t.Errorf("(-first +second):\n%s", diff)
			}
			// Who cuts a list short does so for themselves.
			clear(second.Packages)
			server.mutex.Lock()
			server.content, server.modified = allQ, firstOfMay.Add(time.Second)
			server.mutex.Unlock()
			if got := listed(read(t, r, "")); got != "q" {
				t.Errorf("after a change the packages are %s", got)
			}
			if _, sent := server.since(); sent == 0 {
				t.Error("after a change nothing was sent")
			}
		})
	}
}

func TestScenario10OnePackage(t *testing.T) {
	for name, test := range map[string]struct {
		server       *contentServer
		pkg          string
		asked, again string
		want         string
	}{
		"by metas":                {&contentServer{metas: true}, "p", "metas?package=p", "metas?package=p", "p"},
		"without metas":           {&contentServer{}, "p", "metas?package=p all", "metas?package=p all", "p"},
		"without its own":         {&contentServer{metas: true, unnamed: true}, "p", "metas?package=p all", "metas?package=p all", "p"},
		"not there":               {&contentServer{metas: true}, "r", "metas?package=r all", "metas?package=r all", ""},
		"not there without metas": {&contentServer{}, "r", "metas?package=r all", "metas?package=r all", ""},
		"with a hostile name":     {&contentServer{metas: true}, "p&x=y/../#", "metas?package=p%26x%3Dy%2F..%2F%23 all", "metas?package=p%26x%3Dy%2F..%2F%23 all", ""},
	} {
		t.Run(name, func(t *testing.T) {
			test.server.content, test.server.modified = allP+allQ, firstOfMay
			r := reader(t, test.server)
			got := read(t, r, test.pkg)
			if asked, _ := test.server.since(); asked != test.asked || listed(got) != test.want || got.Findings != nil {
				t.Errorf("asked %s, and has %s, %v; want %s and %s", asked, listed(got), got.Findings, test.asked, test.want)
			}
			again := read(t, r, test.pkg)
			if asked, sent := test.server.since(); asked != test.again || sent != 0 {
				t.Errorf("again: asked %s, and %d bytes were sent, want %s and none", asked, sent, test.again)
			}
			if diff := cmp.Diff(got, again); diff != "" {
				t.Errorf("(-first +second):\n%s", diff)
			}
			if all := read(t, r, ""); listed(all) != "p q" {
				t.Errorf("all are %s afterwards", listed(all))
			}
		})
	}
}

// A server that answers with more than it was asked for.
func TestAnotherPackageThanAskedFor(t *testing.T) {
	got := read(t, reader(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = w.Write([]byte(allP + allQ))
	})), "q")
	if listed(got) != "q" || len(got.Findings) != 1 || got.Findings[0].Code != model.NotAskedFor || !strings.Contains(got.Findings[0].String(), "has 1 packages besides") {
		t.Errorf("%s, %v", listed(got), got.Findings)
	}
}

func TestAUnknownCatalogue(t *testing.T) {
	for _, pkg := range []string{"", "p"} {
		_, err := reader(t, http.NotFoundHandler()).Read(t.Context(), pkg)
		if !errors.Is(err, catalogd.ErrUnknown) || !strings.Contains(err.Error(), "kubectl get clustercatalogs") {
			t.Errorf("the error is %v", err)
		}
	}
}

// Scenario 9: a directory and catalogd give the same model.
func TestScenario9ADirectoryAndCatalogdGiveTheSame(t *testing.T) {
	plan := generate.Plan{Seed: 7, Packages: 20, Bundles: 200, Bytes: 1_600_000}
	dir, files := t.TempDir(), map[string]*bytes.Buffer{}
	var all bytes.Buffer
	for document := range plan.Documents() {
		line := string(document.JSON) + "\n"
		if files[document.Package] == nil {
			files[document.Package] = &bytes.Buffer{}
		}
		files[document.Package].WriteString(line)
		all.WriteString(line)
	}
	for name, text := range files {
		at := filepath.Join(dir, name)
		if err := errors.Join(os.Mkdir(at, 0o700), os.WriteFile(filepath.Join(at, "catalog.json"), text.Bytes(), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	want, err := catalogue.Reader{}.Read(t.Context(), dir)
	if err != nil || len(want.Packages) != plan.Packages {
		t.Fatal(err, len(want.Packages))
	}
	server := &contentServer{content: all.String(), modified: firstOfMay, metas: true}
	r := reader(t, server)
	got := read(t, r, "")
	if diff := cmp.Diff(want.Packages, got.Packages); diff != "" {
		t.Errorf("(-directory +catalogd):\n%.3000s", diff)
	}
	if len(want.Findings) != len(got.Findings) {
		t.Errorf("the findings are %v and %v", want.Findings, got.Findings)
	}
	if _, sent := server.since(); sent >= all.Len() {
		t.Errorf("%d bytes were sent of %d, want fewer: they can be packed", sent, all.Len())
	}
	for _, p := range want.Packages[:3] {
		if diff := cmp.Diff([]model.Package{p}, read(t, r, p.Name).Packages); diff != "" {
			t.Errorf("%s (-directory +metas):\n%.3000s", p.Name, diff)
		}
	}
}

func TestWhatIsKeptIsBounded(t *testing.T) {
	var text strings.Builder
	for i := range 20 {
		text.WriteString(strings.NewReplacer(`"q"`, fmt.Sprintf(`"q%d"`, i), "q.v", fmt.Sprintf("q%d.v", i)).Replace(allQ))
	}
	server := &contentServer{content: text.String(), modified: firstOfMay, metas: true}
	r := reader(t, server)
	read(t, r, "")
	for i := range 20 {
		read(t, r, fmt.Sprintf("q%d", i))
		read(t, r, "q0")
	}
	if whole, packages := r.Kept(); whole != 1 || packages != 16 {
		t.Errorf("%d and %d are kept, want 1 and 16", whole, packages)
	}
	for pkg, kept := range map[string]bool{"": true, "q0": true, "q19": true, "q1": false} {
		server.since()
		read(t, r, pkg)
		if _, sent := server.since(); (sent == 0) != kept {
			t.Errorf("%q: %d bytes were sent, kept: %v", pkg, sent, kept)
		}
	}
}

func TestSeveralReadAtOnce(t *testing.T) {
	server := &contentServer{content: allP + allQ, modified: firstOfMay, metas: true}
	r := reader(t, server)
	var group sync.WaitGroup
	for i := range 24 {
		group.Go(func() {
			pkg, want := []string{"", "p", "q"}[i%3], []string{"p q", "p", "q"}[i%3]
			for range 5 {
				got, err := r.Read(t.Context(), pkg)
				if err != nil || listed(got) != want {
					t.Errorf("%q: %s, %v", pkg, listed(got), err)
				}
				clear(got.Packages)
			}
		})
	}
	group.Wait()
}

func TestTheURLOfACatalogue(t *testing.T) {
	server := &contentServer{content: allP, modified: firstOfMay}
	for _, end := range []string{"", "/", "//", "/api/v1/all", "/api/v1/all/"} {
		at := serve(t, server) + "/catalogs/vendor" + end
		r, err := catalogd.New(at, client(t))
		if err != nil {
			t.Fatal(err)
		}
		if got := listed(read(t, r, "")); got != "p" {
			t.Errorf("%s: %s", at, got)
		}
	}
	for base, want := range map[string]string{
		"":                             "expected https://HOST/catalogs/NAME",
		"catalogd":                     "expected https://HOST/catalogs/NAME",
		"https:x":                      "expected https://HOST/catalogs/NAME",
		"https:///catalogs/x":          "expected https://HOST/catalogs/NAME",
		"https://:443/x":               "expected https://HOST/catalogs/NAME",
		"file:///etc/passwd":           "no URL of a catalogue",
		"ftp://h/catalogs/x":           "no URL of a catalogue",
		"--flag":                       "no URL of a catalogue",
		"https://ann:secret@h/x":       "a user name or a password",
		"https://ann:secret@h:x y/":    "cannot be read",
		"https://h/catalogs/x?a=b":     `has a "?"`,
		"https://h/catalogs/x?":        `has a "?"`,
		"https://h/catalogs/x#a":       `or "#"`,
		"https://h/catalogs/../x":      "empty parts or dots",
		"https://h/catalogs//x":        "empty parts or dots",
		"https://h/catalogs/%2e%2e/x":  "empty parts or dots",
		"https://h/\x1b[31m":           "cannot be read",
		"https://h/catalogs/x\u202e/.": "empty parts or dots",
	} {
		_, err := catalogd.New(base, client(t))
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "secret") || strings.ContainsAny(err.Error(), "\x1b\u202e") {
			t.Errorf("%q: the error is %q, want %q", base, err, want)
		}
	}
}
