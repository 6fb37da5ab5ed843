package podpatch_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tabard-dev/tabard/internal/core/inject/podpatch"
	"github.com/tabard-dev/tabard/internal/core/inject/raw"
)

// plan is one of each.
func plan() *podpatch.Plan {
	return &podpatch.Plan{
		Volumes: []podpatch.Volume{{Name: "token", Sources: []podpatch.Source{{Path: "t", Audience: "a", Seconds: 600}}}},
		Groups: []podpatch.Group{
			{Names: []string{"A"}, Variables: []podpatch.Variable{{Name: "A", Value: strings.Repeat("long", 20)}}, Settles: true},
			{Names: []string{"B", "C"}, Variables: []podpatch.Variable{{Name: "B", Value: "1"}, {Name: "C", Field: "metadata.name"}}},
		},
		Mounts: []podpatch.Mount{{Volume: "token", Path: "/t"}},
	}
}

// write applies a plan to a pod.
func write(t *testing.T, p *podpatch.Plan, text string) string {
	t.Helper()
	object, err := raw.Parse([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	pod, err := podpatch.Read(object)
	if err != nil {
		t.Fatal(err)
	}
	containers, err := p.Examine(pod)
	if err != nil {
		t.Fatal(err)
	}
	return string(p.Write(pod, containers))
}

func TestPatches(t *testing.T) {
	t.Parallel()
	long := `{"name":"A","value":"` + strings.Repeat("long", 20) + `"}`
	const b, c = `{"name":"B","value":"1"}`, `{"name":"C","valueFrom":{"fieldRef":{"fieldPath":"metadata.name"}}}`
	const mount = `{"name":"token","readOnly":true,"mountPath":"/t"}`
	tests := map[string]struct{ spec, want string }{
		"lists that are missing are made, and copied to the next container": {
			`{"volumes":[{"name":"token"}],"containers":[{},{}]}`,
			`[{"op":"add","path":"/spec/containers/0/env","value":[` + long + `,` + b + `,` + c + `]},` +
				`{"op":"add","path":"/spec/containers/0/volumeMounts","value":[` + mount + `]},` +
				`{"op":"copy","from":"/spec/containers/0/env","path":"/spec/containers/1/env"},` +
				`{"op":"copy","from":"/spec/containers/0/volumeMounts","path":"/spec/containers/1/volumeMounts"}]`,
		},
		"an element is copied only where that is shorter": {
			`{"volumes":[{"name":"token"}],"containers":[{"env":[{}],"volumeMounts":[{"name":"token"}]},{"env":[{},{}],"volumeMounts":[{"name":"token"}]}]}`,
			`[{"op":"add","path":"/spec/containers/0/env/-","value":` + long + `},` +
				`{"op":"add","path":"/spec/containers/0/env/-","value":` + b + `},` +
				`{"op":"add","path":"/spec/containers/0/env/-","value":` + c + `},` +
				`{"op":"copy","from":"/spec/containers/0/env/1","path":"/spec/containers/1/env/-"},` +
				`{"op":"add","path":"/spec/containers/1/env/-","value":` + b + `},` +
				`{"op":"copy","from":"/spec/containers/0/env/3","path":"/spec/containers/1/env/-"}]`,
		},
		"a container that has something of each settling group is left alone": {
			`{"volumes":[{"name":"token"}],"containers":[{"env":[{"name":"A"}]}]}`, ``,
		},
		"a group of which a variable is there is left out": {
			`{"volumes":[{"name":"token"}],"containers":[{"env":[{"name":"C"}],"volumeMounts":[{"name":"token"}]}]}`,
			`[{"op":"add","path":"/spec/containers/0/env/-","value":` + long + `}]`,
		},
		"no containers": {`{"volumes":[{"name":"token"}]}`, ``},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(test.want, write(t, plan(), `{"spec":`+test.spec+`}`)); diff != "" {
				t.Errorf("patch (-want +got):\n%s", diff)
			}
		})
	}
}

func TestParseNames(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		text      string
		separator rune
		want      []string
		fails     bool
	}{
		"nothing":                 {"", ',', nil, false},
		"blanks":                  {" \t", ',', nil, false},
		"blanks do not count":     {" a , b,c ", ',', []string{"a", "b", "c"}, false},
		"a quoted name":           {`"a,b",c`, ',', []string{"a,b", "c"}, false},
		"empty names":             {"a,,b,", ',', []string{"a", "b"}, false},
		"another separator":       {"a; b,c", ';', []string{"a", "b,c"}, false},
		"only the first record":   {"a\nb", ',', []string{"a"}, false},
		"a quote inside":          {`a"b`, ',', nil, true},
		"a quote that never ends": {`"a`, ',', nil, true},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := podpatch.ParseNames(test.text, test.separator)
			if (err != nil) != test.fails || !cmp.Equal(test.want, got) {
				t.Errorf("%q, error %v, want %q, an error %t", got, err, test.want, test.fails)
			}
		})
	}
}

func TestWarningsAreBounded(t *testing.T) {
	t.Parallel()
	var warnings podpatch.Warnings
	warnings.Add("%s", strings.Repeat("é", 200))
	if got := warnings[0]; len(got) > 240 || !strings.HasSuffix(got, "é…") {
		t.Errorf("a long warning became %d bytes: %s", len(got), got)
	}
	warnings.Add("%q", "a\nb")
	if want := `"a\nb"`; warnings[1] != want {
		t.Errorf("warning %s, want %s", warnings[1], want)
	}
	for range 20 {
		warnings.Add("x")
	}
	if last := warnings[len(warnings)-1]; len(warnings) != 8 || !strings.Contains(last, "more") {
		t.Errorf("%d warnings, the last is %q", len(warnings), last)
	}
}
