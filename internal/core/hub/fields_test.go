package hub_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"

	"github.com/tabard-dev/tabard/internal/core/hub"
	"github.com/tabard-dev/tabard/internal/testkit/must"
)

// definition is a definition with the part that the requirement changes as Open Cluster
// Management v1.2.1 has it, and something of theirs around it.
func definition(t *testing.T, name string) map[string]any {
	t.Helper()
	return decoded(t, must.Get(os.ReadFile(filepath.Join("testdata", name+".yaml")))(t))
}

func decoded(t *testing.T, text []byte) map[string]any {
	t.Helper()
	var out map[string]any
	must.Do(t, yaml.Unmarshal(text, &out))
	whole(out)
	return out
}

// whole makes whole numbers int64, as the API server's client decodes them.
func whole(value any) {
	switch v := value.(type) {
	case map[string]any:
		for key, each := range v {
			if number, is := each.(float64); is {
				v[key] = int64(number)
			}
			whole(each)
		}
	case []any:
		for _, each := range v {
			whole(each)
		}
	}
}

func copied(t *testing.T, definition map[string]any) map[string]any {
	t.Helper()
	return decoded(t, must.Get(json.Marshal(definition))(t))
}

var definitions = map[string][]string{
	hub.ManagerDefinition: {"awsirsa.disableManagedIam is added, a boolean", "awsirsa.hubClusterArn admits ARNs of all partitions of AWS"},
	hub.KlusterletDefinition: {
		"awsIrsa.iamConfigSecret is added, a string", "awsIrsa.hubClusterArn admits ARNs of all partitions of AWS",
		"awsIrsa.managedClusterArn admits ARNs of all partitions of AWS", "awsIrsa.managedClusterArn may be empty", "awsIrsa.managedClusterArn is optional",
	},
}

// TestFieldsAreAddedAndTakenBack whole: the second time nothing is to do, and what was before
// is what is after.
func TestFieldsAreAddedAndTakenBack(t *testing.T) {
	for name, want := range definitions {
		t.Run(name, func(t *testing.T) {
			was := definition(t, name)
			now := copied(t, was)
			changes := must.Get(hub.Fields(now))(t)
			var got []string
			for _, change := range changes {
				got = append(got, change.Field+" "+change.What)
			}
			if !slices.Equal(got, want) {
				t.Errorf("the changes are %q, want %q", got, want)
			}
			if !reflect.DeepEqual(now, was) {
				t.Error("to say what is to be done has changed the definition")
			}
			must.Do(t, hub.Merge(now, changes))
			stored := copied(t, now)
			if again := must.Get(hub.Fields(stored))(t); len(again) > 0 {
				t.Errorf("a second time there is still to do: %+v", again)
			}
			back := must.Get(hub.Unmerge(stored))(t)
			if len(back) != len(want) {
				t.Errorf("to be taken back are %+v", back)
			}
			must.Do(t, hub.Restore(stored, back))
			if text, wanted := asText(t, stored), asText(t, was); text != wanted {
				t.Errorf("after all it is\n%s\nwant\n%s", text, wanted)
			}
		})
	}
}

func asText(t *testing.T, definition map[string]any) string {
	t.Helper()
	if annotations, _ := definition["metadata"].(map[string]any)["annotations"].(map[string]any); len(annotations) == 0 { //nolint:forcetypeassert // each has it
		delete(definition["metadata"].(map[string]any), "annotations") //nolint:forcetypeassert // as above
	}
	return string(must.Get(yaml.Marshal(definition))(t))
}

// TestAnUpgradeThatTakesTheFieldsAwayIsSeen: the annotation stays, and all is to do again.
func TestAnUpgradeThatTakesTheFieldsAwayIsSeen(t *testing.T) {
	for name, want := range definitions {
		t.Run(name, func(t *testing.T) {
			theirs := definition(t, name)
			now := copied(t, theirs)
			must.Do(t, hub.Merge(now, must.Get(hub.Fields(now))(t)))
			now["spec"] = copied(t, theirs)["spec"]
			if back := must.Get(hub.Unmerge(now))(t); len(back) > 0 {
				t.Errorf("to be taken back are %+v, and nothing is there", back)
			}
			changes := must.Get(hub.Fields(now))(t)
			if len(changes) != len(want) {
				t.Errorf("to do is %+v", changes)
			}
			must.Do(t, hub.Merge(now, changes))
			if restored := strings.Contains(asText(t, now), hub.RestoredAnnotation); restored != (name == hub.ManagerDefinition) {
				t.Errorf("that what was said in the field is lost is remembered: %t", restored)
			}
			must.Do(t, hub.Restore(now, must.Get(hub.Unmerge(now))(t)))
			if text, wanted := asText(t, now), asText(t, theirs); text != wanted {
				t.Errorf("after all it is\n%s\nwant\n%s", text, wanted)
			}
		})
	}
}

// TestADefinitionThatNobodyHasSeenIsLeftAlone and the refusal says what there is.
func TestADefinitionThatNobodyHasSeenIsLeftAlone(t *testing.T) {
	driver := func(o map[string]any) map[string]any {
		return properties(o, "registrationDrivers")["awsirsa"].(map[string]any)
	} //nolint:forcetypeassert // of the testdata
	tests := map[string]struct {
		change func(map[string]any)
		want   string
	}{
		"the field is of another type": {func(o map[string]any) {
			driver(o)["properties"].(map[string]any)["disableManagedIam"] = map[string]any{"type": "string"} //nolint:forcetypeassert // of the testdata
		}, "awsirsa.disableManagedIam: at properties.spec"},
		"the pattern is somebody's own": {func(o map[string]any) {
			driver(o)["properties"].(map[string]any)["hubClusterArn"].(map[string]any)["pattern"] = "^mine$" //nolint:forcetypeassert // of the testdata
		}, "there is ^mine$, which is neither"},
		"there is no driver awsirsa": {func(o map[string]any) { delete(properties(o, "registrationDrivers"), "awsirsa") }, "there is no properties.spec"},
		"there is no version v1": {func(o map[string]any) {
			o["spec"].(map[string]any)["versions"].([]any)[0].(map[string]any)["name"] = "v2" //nolint:forcetypeassert // of the testdata
		}, "has no schema of the version v1"},
		"there is nothing": {func(o map[string]any) { delete(o, "spec") }, "has no schema of the version v1"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			now := definition(t, hub.ManagerDefinition)
			test.change(now)
			if changes, err := hub.Fields(now); err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("the changes are %+v, %v, want an error with %q", changes, err, test.want)
			}
		})
	}
}

// properties are those of a driver in a definition.
func properties(definition map[string]any, drivers string) map[string]any {
	at := definition["spec"].(map[string]any)["versions"].([]any)[0] //nolint:forcetypeassert // of the testdata
	for _, step := range []string{"schema", "openAPIV3Schema", "properties", "spec", "properties", "registrationConfiguration", "properties", drivers, "items", "properties"} {
		at = at.(map[string]any)[step] //nolint:forcetypeassert // of the testdata
	}
	return at.(map[string]any) //nolint:forcetypeassert // of the testdata
}

// TestAFieldThatTheyAddThemselvesIsTheirs: it is as wanted, and is not taken back.
func TestAFieldThatTheyAddThemselvesIsTheirs(t *testing.T) {
	now := definition(t, hub.ManagerDefinition)
	theirs := map[string]any{"type": "boolean", "description": "theirs"}
	properties(now, "registrationDrivers")["awsirsa"].(map[string]any)["properties"].(map[string]any)["disableManagedIam"] = theirs //nolint:forcetypeassert // of the testdata
	changes := must.Get(hub.Fields(now))(t)
	if len(changes) != 1 || changes[0].Field != "awsirsa.hubClusterArn" {
		t.Errorf("to do is %+v", changes)
	}
	must.Do(t, hub.Merge(now, changes))
	if back := must.Get(hub.Unmerge(now))(t); len(back) != 1 || back[0].Field != "awsirsa.hubClusterArn" {
		t.Errorf("to be taken back is %+v", back)
	}
}

func TestFieldsInUse(t *testing.T) {
	tests := map[string]struct {
		object string
		want   []string
	}{
		"nothing":                            {`{}`, nil},
		"a ClusterManager as they have it":   {`{spec: {registrationConfiguration: {registrationDrivers: [{authType: csr}, {authType: awsirsa, awsirsa: {hubClusterArn: "` + hubARN + `"}}]}}}`, nil},
		"disableManagedIam":                  {`{spec: {registrationConfiguration: {registrationDrivers: [{authType: awsirsa, awsirsa: {disableManagedIam: true}}]}}}`, []string{"awsirsa.disableManagedIam is true"}},
		"disableManagedIam that is not set":  {`{spec: {registrationConfiguration: {registrationDrivers: [{authType: awsirsa, awsirsa: {disableManagedIam: false}}]}}}`, nil},
		"a hub in China":                     {`{spec: {registrationConfiguration: {registrationDrivers: [{authType: awsirsa, awsirsa: {hubClusterArn: "arn:aws-cn:eks:cn-north-1:111111111111:cluster/hub"}}]}}}`, []string{`awsirsa.hubClusterArn is "arn:aws-cn:eks:cn-north-1:111111111111:cluster/hub"`}},
		"a Klusterlet as they have it":       {`{spec: {registrationConfiguration: {registrationDriver: {authType: awsirsa, awsIrsa: {hubClusterArn: "` + hubARN + `", managedClusterArn: "` + spokeARN + `"}}}}}`, nil},
		"a Klusterlet of another driver":     {`{spec: {registrationConfiguration: {registrationDriver: {authType: csr}}}}`, nil},
		"a Klusterlet without an ARN":        {`{spec: {registrationConfiguration: {registrationDriver: {authType: awsirsa, awsIrsa: {hubClusterArn: "` + hubARN + `"}}}}}`, []string{"awsIrsa.managedClusterArn is empty"}},
		"a Klusterlet with a Secret":         {`{spec: {registrationConfiguration: {registrationDriver: {authType: awsirsa, awsIrsa: {hubClusterArn: "` + hubARN + `", managedClusterArn: "` + spokeARN + `", iamConfigSecret: iam}}}}}`, []string{`awsIrsa.iamConfigSecret is "iam"`}},
		"what is of another form altogether": {`{spec: {registrationConfiguration: {registrationDriver: 1, registrationDrivers: [1, {awsirsa: 2}]}}}`, nil},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			if got := hub.FieldsInUse(decoded(t, []byte(test.object))); !slices.Equal(got, test.want) {
				t.Errorf("it is %q, want %q", got, test.want)
			}
		})
	}
}

// FuzzFieldsInUse: whatever the object is, nothing is read that is not there.
func FuzzFieldsInUse(f *testing.F) {
	f.Add([]byte(`{"spec":{"registrationConfiguration":{"registrationDriver":{"awsIrsa":{}}}}}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		var object map[string]any
		if json.Unmarshal(text, &object) == nil {
			hub.FieldsInUse(object)
			_, _ = hub.Fields(object)
			_, _ = hub.Unmerge(object)
		}
	})
}
