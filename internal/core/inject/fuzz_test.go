package inject_test

import (
	"bytes"
	"cmp"
	"encoding/json"
	"strings"
	"testing"

	godiff "github.com/google/go-cmp/cmp"
	"sigs.k8s.io/yaml"

	"github.com/tabard-dev/tabard/awsauth/identity"
	"github.com/tabard-dev/tabard/internal/core/inject"
	"github.com/tabard-dev/tabard/internal/testkit/must"
)

// Settings that FuzzInject turns on, one bit each.
const (
	fuzzIdentities = 1 << iota
	fuzzUnknown
	fuzzSessionName
	fuzzNonRoot
	fuzzCompose
	fuzzAnyRole
	fuzzRegion
)

// FuzzInject takes any pod through the injector, and demands that it is not
// crashed, that the patched pod is the old one and what we add, and that
// injecting a second time changes nothing.
func FuzzInject(f *testing.F) {
	for _, text := range seeds(f) {
		for _, on := range []uint8{0, fuzzRegion | fuzzSessionName, fuzzIdentities | fuzzNonRoot} {
			f.Add(text, roleARN, "true", "3600", `{"*/app":{"RoleARN":"`+roleARN+`"}}`, on)
		}
	}
	f.Add([]byte(`{"spec":{"containers":[{"env":null}],"containers":[]}}`), "", "", "", "", uint8(0))
	f.Fuzz(func(t *testing.T, text []byte, role, sts, expiration, mapping string, on uint8) {
		given := fuzzed(role, sts, expiration, mapping, on)
		injector := must.Get(inject.New(given.Settings))(t)
		subject, _ := given.parse()
		ours := awsAllowed
		if identity.IsRoleARN(role) && on&(fuzzIdentities|fuzzUnknown) == 0 {
			ours.audience = cmp.Or(string([]rune(sts)), "sts.amazonaws.com")
		}
		checkInjection(t, injector, subject, text, ours)
	})
}

// checkInjection demands of an injector that the patched pod is the old one and
// what is allowed, and that injecting a second time changes nothing.
func checkInjection(t *testing.T, by injector, subject inject.Subject, text []byte, ours allowed) {
	t.Helper()
	text = canonical(text)
	first, err := decide(by, subject, text)
	if err != nil {
		if first.Patch != nil {
			t.Errorf("error %v, and a patch %s", err, first.Patch)
		}
		return
	}
	if (first.Method == inject.NoMethod) != (first.Patch == nil && first.Reason != inject.Complete && first.Reason != inject.TokenNotMounted) {
		t.Errorf("method %q, reason %s, patch %s", first.Method, first.Reason, first.Patch)
	}
	patched := apply(t, text, first.Patch)
	if diff := godiff.Diff(decode(t, text), ours.without(decode(t, text), decode(t, patched))); diff != "" {
		t.Errorf("changed more than allowed (-before +after without ours):\n%s", diff)
	}
	second, err := decide(by, subject, patched)
	if err != nil || second.Patch != nil || (first.Reason == inject.TokenNotMounted) != (second.Reason == inject.TokenNotMounted) {
		t.Errorf("injecting again: error %v, reason %s, patch %s, after reason %s, patch %s", err, second.Reason, second.Patch, first.Reason, first.Patch)
	}
	checkReach(t, text, patched, first, ours.audience)
	checkWarnings(t, first.Warnings)
}

// checkWarnings demands what Kubernetes advises, and one line each.
func checkWarnings(t *testing.T, warnings []string) {
	t.Helper()
	if len(warnings) > 8 {
		t.Errorf("%d warnings", len(warnings))
	}
	for _, warning := range warnings {
		if len(warning) > 240 || strings.ContainsAny(warning, "\n\r\x00") {
			t.Errorf("warning of %d bytes: %q", len(warning), warning)
		}
	}
}

func fuzzed(role, sts, expiration, mapping string, on uint8) setup {
	given := newSetup()
	given.Mapping = mapping
	given.Unknown = on&fuzzUnknown != 0
	given.Labels = map[string]string{"app": role}
	given.Annotations = map[string]string{
		"eks.amazonaws.com/role-arn":               role,
		"eks.amazonaws.com/sts-regional-endpoints": sts,
		"eks.amazonaws.com/token-expiration":       expiration,
		"eks.amazonaws.com/audience":               sts,
	}
	if on&fuzzIdentities != 0 {
		given.Identities = `{"identities":[{"namespace":"shop","serviceAccount":"app"}]}`
	}
	given.Settings.SessionName = on&fuzzSessionName != 0
	given.Settings.AnyRoleARN = on&fuzzAnyRole != 0
	if on&fuzzNonRoot != 0 {
		given.Settings.FSGroup, given.Settings.TokenFileMode = 1000, 0o440
	}
	if on&fuzzCompose != 0 {
		given.Settings.ComposeAccount, given.Settings.Partition = "111122223333", "aws"
	}
	if on&fuzzRegion != 0 {
		given.Settings.Region = "us-west-2"
	}
	return given
}

// canonical is the text as the API server sends pods: no member is there twice,
// so that it means the same to everybody who applies a patch.
func canonical(text []byte) []byte {
	var value any
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.UseNumber()
	if decoder.Decode(&value) != nil {
		return text
	}
	if written, err := json.Marshal(value); err == nil {
		return written
	}
	return text
}

func seeds(f *testing.F) [][]byte {
	f.Helper()
	var texts [][]byte
	for _, file := range podFiles(f) {
		text := must.Get(yaml.YAMLToJSON(readFile(f, file)))(f)
		texts = append(texts, text)
	}
	return texts
}

func decode(t *testing.T, text []byte) any {
	t.Helper()
	var value any
	if err := json.Unmarshal(text, &value); err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return value
}

// FuzzParseMapping demands that no document stops the parser, and that nobody
// gets a role by an entry that is reported as a problem.
func FuzzParseMapping(f *testing.F) {
	f.Add(`{"shop/app":{"RoleARN":"`+roleARN+`","Audience":"a","UseRegionalSTS":true,"TokenExpiration":1}}`, "shop", "app")
	f.Add(`{"*/app":{"rolearn":"`+roleARN+`"},"app":{},"shop/app":{"TokenExpiration":1.5}}`, "shop", "app")
	f.Add(`{"tabard.dev/bindings":{"items":[{"namespaceSelector":{"matchLabels":{"a":"b"}},"RoleARN":"`+roleARN+`"},{}]}}`, "shop", "app")
	f.Add(`{"shop/app":null}`, "shop", "app")
	injector := must.Get(inject.New(inject.Defaults()))(f)
	f.Fuzz(func(t *testing.T, text, namespace, name string) {
		mapping, problems := inject.ParseMapping([]byte(text))
		if mapping == nil && len(problems) != 1 {
			t.Fatalf("no mapping, and problems %q", problems)
		}
		subject := inject.Subject{Namespace: namespace, Mapping: mapping, NamespaceLabels: map[string]string{"a": "b"}}
		pod := must.Get(json.Marshal(map[string]any{"spec": map[string]any{"serviceAccountName": name}}))(t)
		result := must.Get(decide(injector, subject, pod))(t)
		own := must.Get(json.Marshal(namespace + "/" + name))(t)
		for _, problem := range problems {
			if strings.HasPrefix(problem, string(own)+": ") && result.Method != inject.NoMethod {
				t.Errorf("%s, but the pod is injected: %s", problem, result.Patch)
			}
		}
	})
}

// FuzzParseIdentities demands that no document stops the parser, and that what is
// reported as a problem is not listed.
func FuzzParseIdentities(f *testing.F) {
	f.Add(`{"identities":[{"namespace":"shop","serviceAccount":"app"},{"namespace":"shop"},5]}`)
	f.Add(``)
	f.Add(`{"identities":{}}`)
	f.Fuzz(func(t *testing.T, text string) {
		identities, problems := inject.ParseIdentities([]byte(text))
		if identities == nil && len(problems) != 1 {
			t.Fatalf("no identities, and problems %q", problems)
		}
		var document struct{ Identities []json.RawMessage }
		if identities != nil && len(strings.TrimSpace(text)) > 0 {
			must.Do(t, json.Unmarshal([]byte(text), &document))
			if identities.Len()+len(problems) > len(document.Identities) {
				t.Errorf("%d listed and %d problems of %d", identities.Len(), len(problems), len(document.Identities))
			}
		}
	})
}
