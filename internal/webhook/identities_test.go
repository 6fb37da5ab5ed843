package webhook

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-logr/logr"
	"github.com/google/go-cmp/cmp"

	"github.com/tabard-dev/tabard/internal/core/inject"
	"github.com/tabard-dev/tabard/internal/testkit/must"
)

const (
	listsApp  = `{"identities":[{"namespace":"shop","serviceAccount":"app"}]}`
	listsTwo  = `{"identities":[{"namespace":"shop","serviceAccount":"app"},{"namespace":"shop","serviceAccount":"web"}]}`
	listsNone = `{"identities":[]}`
)

// state is what is known of the identities: how many are listed, and whether
// the file is there and has never been readable.
type state struct {
	Listed int
	Unread bool
}

func stateOf(c *configuration) state {
	return state{c.identities.current.Load().Len(), c.identities.unread.Load()}
}

func write(t testing.TB, path, text string) {
	t.Helper()
	must.Do(t, os.WriteFile(path, []byte(text), 0o600))
}

// step is one change of the file, and what is known after the next look.
type step struct {
	what   string
	change func(t *testing.T, path string)
	want   state
}

func writes(text string) func(*testing.T, string) {
	return func(t *testing.T, path string) { t.Helper(); write(t, path, text) }
}

func replaces(text string) func(*testing.T, string) {
	return func(t *testing.T, path string) {
		t.Helper()
		write(t, path+".new", text)
		must.Do(t, os.Rename(path+".new", path))
	}
}

func removes(t *testing.T, path string) {
	t.Helper()
	must.Do(t, os.RemoveAll(path))
}

// mounts makes the file what the kubelet makes of a key of a ConfigMap volume: a
// link into the folder that the link ..data leads to, which is exchanged.
func mounts(version, text string) func(*testing.T, string) {
	return func(t *testing.T, path string) {
		t.Helper()
		folder := filepath.Dir(path)
		must.Do(t, os.Mkdir(filepath.Join(folder, version), 0o700))
		write(t, filepath.Join(folder, version, filepath.Base(path)), text)
		must.Do(t, os.Symlink(version, filepath.Join(folder, "..data_tmp")))
		must.Do(t, os.Rename(filepath.Join(folder, "..data_tmp"), filepath.Join(folder, "..data")))
		if _, err := os.Lstat(path); err != nil {
			must.Do(t, os.Symlink(filepath.Join("..data", filepath.Base(path)), path))
		}
	}
}

func becomesFolder(t *testing.T, path string) {
	t.Helper()
	must.Do(t, os.Mkdir(path, 0o700))
}

func becomesPipe(t *testing.T, path string) {
	t.Helper()
	must.Do(t, syscall.Mkfifo(path, 0o600))
}

func becomesHuge(t *testing.T, path string) {
	t.Helper()
	write(t, path, "")
	must.Do(t, os.Truncate(path, maxIdentities+1))
}

func TestTheIdentitiesFileIsFollowed(t *testing.T) {
	t.Parallel()
	tests := map[string][]step{
		"a file that comes later": {
			{"there is none", func(*testing.T, string) {}, state{}},
			{"it is written", writes(listsApp), state{Listed: 1}},
			{"it is removed", removes, state{Listed: 0}},
		},
		"a file written in place": {
			{"it lists one", writes(listsApp), state{Listed: 1}},
			{"it lists two", writes(listsTwo), state{Listed: 2}},
			{"it is half written", writes(listsTwo[:20]), state{Listed: 2}},
			{"it lists nobody", writes(listsNone), state{Listed: 0}},
			{"it is garbage", writes("garbage"), state{Listed: 0}},
			{"it lists one again", writes(listsApp), state{Listed: 1}},
		},
		"a file replaced by another": {
			{"it lists one", replaces(listsApp), state{Listed: 1}},
			{"it lists two", replaces(listsTwo), state{Listed: 2}},
		},
		"a file of a ConfigMap volume": {
			{"it lists one", mounts("..1", listsApp), state{Listed: 1}},
			{"it lists two", mounts("..2", listsTwo), state{Listed: 2}},
			{"it is garbage", mounts("..3", "{"), state{Listed: 2}},
			{"it lists nobody", mounts("..4", listsNone), state{Listed: 0}},
		},
		"garbage from the beginning": {
			{"it is garbage", writes("garbage"), state{Unread: true}},
			{"it is other garbage", writes(`{"identities":5}`), state{Unread: true}},
			{"it lists one", writes(listsApp), state{Listed: 1}},
		},
		"garbage that is removed": {
			{"it is garbage", writes("garbage"), state{Unread: true}},
			{"it is gone", removes, state{}},
		},
		"a folder in its place": {
			{"a folder", becomesFolder, state{Unread: true}},
			{"it is gone", removes, state{}},
			{"it lists one", writes(listsApp), state{Listed: 1}},
			{"it is gone", removes, state{}},
			{"a folder", becomesFolder, state{}},
		},
		"a pipe, which is not waited for": {{"a pipe", becomesPipe, state{Unread: true}}},
		"a file without end":              {{"a huge file", becomesHuge, state{Unread: true}}},
		"an entry that is wrong":          {{"one is right", writes(strings.Replace(listsTwo, "web", "", 1)), state{Listed: 1}}},
	}
	for name, steps := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := filepath.Join(t.TempDir(), "identities.json")
			synctest.Test(t, func(t *testing.T) {
				var c configuration
				steps[0].change(t, path)
				run := c.followFile(path, newMetrics(), logr.Discard())
				if diff := cmp.Diff(steps[0].want, stateOf(&c)); diff != "" {
					t.Errorf("at the start, %s (-want +got):\n%s", steps[0].what, diff)
				}
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				go run(ctx)
				for _, each := range steps[1:] {
					each.change(t, path)
					// A file that is empty is looked at twice.
					<-time.After(2*identitiesInterval + identitiesInterval/2)
					synctest.Wait()
					if diff := cmp.Diff(each.want, stateOf(&c)); diff != "" {
						t.Errorf("%s (-want +got):\n%s", each.what, diff)
					}
				}
			})
		})
	}
}

// TestAFileThatIsBrieflyEmptyTakesNothing: who writes in place empties it before.
func TestAFileThatIsBrieflyEmptyTakesNothing(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "identities.json")
	synctest.Test(t, func(t *testing.T) {
		file := &identitiesFile{path: path, document: document[inject.Identities]{
			name: "identities", parse: inject.ParseIdentities, length: (*inject.Identities).Len,
			into: new(source[inject.Identities]), metrics: newMetrics(), log: logr.Discard()}}
		listed := func() int { return file.document.into.current.Load().Len() }
		write(t, path, listsApp)
		file.look()
		for range 3 {
			write(t, path, " \n")
			file.look()
			file.look() // for a pod, at once
			<-time.After(identitiesInterval - 1)
			file.look()
			if listed() != 1 {
				t.Fatal("a file that is empty for less than a second lists nobody")
			}
			write(t, path, listsApp)
			file.look()
		}
		write(t, path, "")
		file.look()
		<-time.After(identitiesInterval)
		file.look()
		if listed() != 0 {
			t.Error("a file that stays empty still lists somebody")
		}
	})
}

// TestProblemsOfTheConfigurationAreTold once, and not any more when they are gone.
func TestProblemsOfTheConfigurationAreTold(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "identities.json")
	var c configuration
	counted := newMetrics()
	write(t, path, listsApp)
	run := c.followFile(path, counted, logr.Discard())
	_ = run // looks are made by hand here
	expect := func(when string, want ...string) {
		t.Helper()
		must.Do(t, c.identities.renew(t.Context(), time.Minute))
		_, text := get(t, counted.handler(), "/metrics")
		for _, line := range want {
			if !strings.Contains(text+"\n", "\n"+line+"\n") {
				t.Errorf("%s, metrics lack %s:\n%s", when, line, grep(text, "configuration"))
			}
		}
	}
	entries, problems := `tabard_webhook_configuration_entries{source="identities"} `, `tabard_webhook_configuration_problems{source="identities"} `
	refused := `tabard_webhook_configuration_reads_total{result="refused",source="identities"} `
	expect("at the start", entries+"1", problems+"0")
	write(t, path, strings.Replace(listsTwo, "app", "", 1))
	expect("one entry is wrong", entries+"1", problems+"1")
	write(t, path, listsTwo)
	expect("both are right", entries+"2", problems+"0")
	removes(t, path)
	becomesFolder(t, path)
	expect("it cannot be read", entries+"2", problems+"1", refused+"1")
	expect("it still cannot", refused+"1")
	removes(t, path)
	write(t, path, listsTwo)
	expect("it is as before", entries+"2", problems+"0", refused+"1")
}
