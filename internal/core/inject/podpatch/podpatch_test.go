package podpatch_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tabard-dev/tabard/internal/core/inject/podpatch"
	"github.com/tabard-dev/tabard/internal/core/inject/raw"
	"github.com/tabard-dev/tabard/internal/testkit/must"
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
	object := must.Get(raw.Parse([]byte(text)))(t)
	pod := must.Get(podpatch.Read(object))(t)
	containers := must.Get(p.Examine(pod))(t)
	return string(p.Write(pod, containers))
}

func TestPatches(t *testing.T) {
	t.Parallel()
	long := `{"name":"A","value":"` + strings.Repeat("long", 20) + `"}`
	const b, c = `{"name":"B","value":"1"}`, `{"name":"C","valueFrom":{"fieldRef":{"fieldPath":"metadata.name"}}}`
	const mount = `{"name":"token","readOnly":true,"mountPath":"/t"}`
	const volume = `{"name":"token","projected":{"sources":[{"serviceAccountToken":{"audience":"a","path":"t"}}]}}`
	tests := map[string]struct{ spec, want string }{
		"lists that are missing are made, in each container in words": {
			`{"volumes":[` + volume + `],"containers":[{},{}]}`,
			`[{"op":"add","path":"/spec/containers/0/env","value":[` + long + `,` + b + `,` + c + `]},` +
				`{"op":"add","path":"/spec/containers/0/volumeMounts","value":[` + mount + `]},` +
				`{"op":"add","path":"/spec/containers/1/env","value":[` + long + `,` + b + `,` + c + `]},` +
				`{"op":"add","path":"/spec/containers/1/volumeMounts","value":[` + mount + `]}]`,
		},
		"what is missing in a list is appended, in each container in words": {
			`{"volumes":[` + volume + `],"containers":[{"env":[{}],"volumeMounts":[` + mount + `]},{"env":[{},{}],"volumeMounts":[` + mount + `]}]}`,
			`[{"op":"add","path":"/spec/containers/0/env/-","value":` + long + `},` +
				`{"op":"add","path":"/spec/containers/0/env/-","value":` + b + `},` +
				`{"op":"add","path":"/spec/containers/0/env/-","value":` + c + `},` +
				`{"op":"add","path":"/spec/containers/1/env/-","value":` + long + `},` +
				`{"op":"add","path":"/spec/containers/1/env/-","value":` + b + `},` +
				`{"op":"add","path":"/spec/containers/1/env/-","value":` + c + `}]`,
		},
		"a container that has something of each settling group is left alone": {
			`{"volumes":[` + volume + `],"containers":[{"env":[{"name":"A"}]}]}`, ``,
		},
		"a group of which a variable is there is left out": {
			`{"volumes":[` + volume + `],"containers":[{"env":[{"name":"C"}],"volumeMounts":[` + mount + `]}]}`,
			`[{"op":"add","path":"/spec/containers/0/env/-","value":` + long + `}]`,
		},
		"no containers": {`{"volumes":[` + volume + `]}`, ``},
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

// reserved is a plan whose names are its own.
func reserved() *podpatch.Plan {
	return &podpatch.Plan{
		Volumes: []podpatch.Volume{{Name: "r", Reserved: true, Sources: []podpatch.Source{{Path: "t", Audience: "a", Seconds: 600}}}},
		Mounts:  []podpatch.Mount{{Volume: "r", Path: "/t", Reserved: true}},
	}
}

func TestReservedNames(t *testing.T) {
	t.Parallel()
	const token = `"projected":{"sources":[{"serviceAccountToken":{"audience":"a","expirationSeconds":600,"path":"t"}}]}`
	const volume, mount = `{"name":"r",` + token + `}`, `{"name":"r","readOnly":true,"mountPath":"/t"}`
	replaced := func(path, value string) string {
		return `[{"op":"replace","path":"` + path + `","value":` + value + `}]`
	}
	tests := map[string]struct{ spec, want string }{
		"a volume comes last":               {`{"volumes":[{"name":"x"}]}`, `[{"op":"add","path":"/spec/volumes/-","value":` + volume + `}]`},
		"a list of volumes is made":         {`{"volumes":null}`, `[{"op":"add","path":"/spec/volumes","value":[` + volume + `]}]`},
		"another volume is replaced":        {`{"volumes":[{"name":"x"},{"name":"r"}]}`, replaced("/spec/volumes/1", volume)},
		"one of two is replaced":            {`{"volumes":[{"name":"r"},{"name":"r"}]}`, replaced("/spec/volumes/0", volume)},
		"one with another source is, too":   {`{"volumes":[{"name":"r","projected":{"sources":[]}}]}`, replaced("/spec/volumes/0", volume)},
		"one with a source more is, too":    {`{"volumes":[{"name":"r","projected":{"sources":[{"serviceAccountToken":{"audience":"a","expirationSeconds":600,"path":"t"}},{}]}}]}`, replaced("/spec/volumes/0", volume)},
		"one with another mode is, too":     {`{"volumes":[{"name":"r","projected":{"defaultMode":256,"sources":[{"serviceAccountToken":{"audience":"a","expirationSeconds":600,"path":"t"}}]}}]}`, replaced("/spec/volumes/0", volume)},
		"the same volume stays":             {`{"volumes":[{` + token + `,"name":"\u0072"}]}`, ``},
		"one that was defaulted stays":      {`{"volumes":[{"name":"r","projected":{"sources":[{"serviceAccountToken":{"path":"t","expirationSeconds":600,"audience":"a"}}],"defaultMode":420}}]}`, ``},
		"the right one of two is enough":    {`{"volumes":[{"name":"r"},` + volume + `]}`, ``},
		"the same mount stays":              {`{"volumes":[` + volume + `],"containers":[{"volumeMounts":[{"mountPath":"/t","name":"r","readOnly":true}]}]}`, ``},
		"another mount is replaced":         {`{"volumes":[` + volume + `],"containers":[{"volumeMounts":[{"name":"x"},{"name":"r","mountPath":"/x"}]}]}`, replaced("/spec/containers/0/volumeMounts/1", mount)},
		"one that is writable is, too":      {`{"volumes":[` + volume + `],"containers":[{"volumeMounts":[{"name":"r","mountPath":"/t"}]}]}`, replaced("/spec/containers/0/volumeMounts/0", mount)},
		"one of a part is, too":             {`{"volumes":[` + volume + `],"containers":[{"volumeMounts":[{"name":"r","mountPath":"/t","readOnly":true,"subPath":"x"}]}]}`, replaced("/spec/containers/0/volumeMounts/0", mount)},
		"of two the one in its place is":    {`{"volumes":[` + volume + `],"containers":[{"volumeMounts":[{"name":"r","mountPath":"/x"},{"name":"r","mountPath":"/t/"},{"name":"r","mountPath":"/t/."}]}]}`, replaced("/spec/containers/0/volumeMounts/1", mount)},
		"of two elsewhere the first is":     {`{"volumes":[` + volume + `],"containers":[{"volumeMounts":[{"name":"r","mountPath":"/x"},{"name":"r","mountPath":"/y"}]}]}`, replaced("/spec/containers/0/volumeMounts/0", mount)},
		"of two the right one is enough":    {`{"volumes":[` + volume + `],"containers":[{"volumeMounts":[{"name":"r","mountPath":"/x"},` + mount + `]}]}`, ``},
		"where something else is none goes": {`{"volumes":[` + volume + `],"containers":[{"volumeMounts":[{"name":"r","mountPath":"/x"},{"name":"y","mountPath":"/t"}]}]}`, ``},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(test.want, write(t, reserved(), `{"spec":`+test.spec+`}`)); diff != "" {
				t.Errorf("patch (-want +got):\n%s", diff)
			}
		})
	}
}

// TestReplacedVolumeIsFoundBehindNewOnes has volumes of both kinds in one plan.
func TestReplacedVolumeIsFoundBehindNewOnes(t *testing.T) {
	t.Parallel()
	both := &podpatch.Plan{Volumes: []podpatch.Volume{{Name: "a"}, {Name: "r", Reserved: true}, {Name: "b"}}}
	const add, empty = `{"op":"add","path":"/spec/volumes/`, `"emptyDir":{}}}`
	want := `[` + add + `0","value":{"name":"a",` + empty + `,{"op":"replace","path":"/spec/volumes/2","value":{"name":"r",` + empty + `,` +
		add + `1","value":{"name":"b",` + empty + `]`
	if diff := cmp.Diff(want, write(t, both, `{"spec":{"volumes":[{"name":"x"},{"name":"r"}]}}`)); diff != "" {
		t.Errorf("patch (-want +got):\n%s", diff)
	}
	want = `[{"op":"add","path":"/spec/volumes","value":[{"name":"a","emptyDir":{}},{"name":"r","emptyDir":{}},{"name":"b","emptyDir":{}}]}]`
	if diff := cmp.Diff(want, write(t, both, `{"spec":{}}`)); diff != "" {
		t.Errorf("patch (-want +got):\n%s", diff)
	}
}

func TestKindsOfVolumes(t *testing.T) {
	t.Parallel()
	field := podpatch.Source{Path: "f", Field: "metadata.name"}
	tests := map[string]struct {
		volume podpatch.Volume
		want   string
	}{
		"without files an empty folder": {podpatch.Volume{Name: "v"}, `{"name":"v","emptyDir":{}}`},
		"with fields the downward API": {
			podpatch.Volume{Name: "v", Mode: 0o440, Sources: []podpatch.Source{field, field}},
			`{"name":"v","downwardAPI":{"defaultMode":288,"items":[{"fieldRef":{"fieldPath":"metadata.name"},"path":"f"},{"fieldRef":{"fieldPath":"metadata.name"},"path":"f"}]}}`,
		},
		"with all kinds a projected one": {
			podpatch.Volume{Name: "v", Sources: []podpatch.Source{
				field,
				{Path: "m/x", ConfigMap: "m", Key: "k"},
				{Path: "b", TrustBundle: "a:b"},
				{Path: "t", Audience: "a", Seconds: 600},
			}},
			`{"name":"v","projected":{"sources":[{"downwardAPI":{"items":[{"fieldRef":{"fieldPath":"metadata.name"},"path":"f"}]}},` +
				`{"configMap":{"name":"m","items":[{"key":"k","path":"m/x"}]}},{"clusterTrustBundle":{"name":"a:b","path":"b"}},` +
				`{"serviceAccountToken":{"audience":"a","expirationSeconds":600,"path":"t"}}]}}`,
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			want := `[{"op":"add","path":"/spec/volumes","value":[` + test.want + `]},` +
				`{"op":"add","path":"/spec/containers/0/volumeMounts","value":[{"name":"v","mountPath":"/v"}]}]`
			p := &podpatch.Plan{Volumes: []podpatch.Volume{test.volume}, Mounts: []podpatch.Mount{{Volume: "v", Path: "/v", Writable: true}}}
			if diff := cmp.Diff(want, write(t, p, `{"spec":{"containers":[{}]}}`)); diff != "" {
				t.Errorf("patch (-want +got):\n%s", diff)
			}
		})
	}
}

func TestParseNames(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		text  string
		want  []string
		fails bool
	}{
		"nothing":                 {"", nil, false},
		"blanks":                  {" \t", nil, false},
		"blanks do not count":     {" a , b,c ", []string{"a", "b", "c"}, false},
		"a quoted name":           {`"a,b",c`, []string{"a,b", "c"}, false},
		"empty names":             {"a,,b,", []string{"a", "b"}, false},
		"only the first record":   {"a\nb", []string{"a"}, false},
		"a quote inside":          {`a"b`, nil, true},
		"a quote that never ends": {`"a`, nil, true},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := podpatch.ParseNames(test.text)
			if (err != nil) != test.fails || !cmp.Equal(test.want, got) {
				t.Errorf("%q, error %v, want %q, an error %t", got, err, test.want, test.fails)
			}
		})
	}
}

func TestSplitNames(t *testing.T) {
	t.Parallel()
	want := []string{"a", "b,c", `"d"`}
	if got := podpatch.SplitNames(" a; b,c ;\n;\"d\"\n", ";"); !cmp.Equal(want, got) {
		t.Errorf("%q, want %q", got, want)
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
