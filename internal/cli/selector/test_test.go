package selector

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tabard-dev/tabard/internal/cli/command"
	"github.com/tabard-dev/tabard/internal/testkit"
)

func examples() string { return filepath.Join(testkit.Root(), "examples", "role-selectors") }

func TestTheExamplesDoWhatTheyExpect(t *testing.T) {
	for _, format := range []string{"table", "json"} {
		got := run(t, "", "selector", "test", "-f", examples(), "-o", format)
		if got.code != 0 || got.errOut != "" {
			t.Fatalf("%+v", got)
		}
		golden(t, "testdata/want/examples."+format, got.out)
	}
}

const (
	bucketHead = "\n---\napiVersion: s3.services.k8s.aws/v1alpha1\nkind: Bucket\nmetadata: "
	bucket     = bucketHead + "{name: logs, namespace: prod}\n"
	prod       = "\n---\napiVersion: v1\nkind: Namespace\nmetadata: {name: prod, labels: {team: a}}\n"
)

// selecting is a selector of a name with more fields.
func selecting(name, fields string) string {
	return "\n---\napiVersion: services.k8s.aws/v1alpha1\nkind: IAMRoleSelector\nmetadata: {name: " + name + "}\nspec: {" + fields + "}\n"
}

// withRole is a selector of a name, for a role of its name.
func withRole(name, fields string) string {
	return selecting(name, "arn: 'arn:aws:iam::111111111111:role/"+name+"'"+fields)
}

// expecting is the bucket with an expectation.
func expecting(what string) string {
	return bucketHead + "{name: logs, namespace: prod, annotations: {selector.tabard.dev/expect: " + what + "}}\n"
}

func TestResourcesAreDecidedFromFiles(t *testing.T) {
	const byLabel = ", namespaceSelector: {labelSelector: {matchLabels: {team: a}}}"
	const byName = ", namespaceSelector: {labelSelector: {matchLabels: {kubernetes.io/metadata.name: prod}}}"
	const selectable = ", selection: {mode: Selectable}"
	for name, test := range map[string]struct {
		in   string
		args []string
		code int
		want string
	}{
		"one role":                            {withRole("a", "") + bucket, nil, 0, "Use a (Unique)"},
		"as expected":                         {withRole("a", "") + expecting("a"), nil, 0, "1 resources, 0 failed"},
		"use of any":                          {withRole("a", "") + expecting("Use"), nil, 0, "1 resources, 0 failed"},
		"another than expected":               {withRole("a", "") + expecting("b"), nil, command.Found, "FAILED"},
		"a block that is expected":            {withRole("a", "") + withRole("b", "") + expecting("Conflict"), nil, 0, "1 resources, 0 failed"},
		"a block instead":                     {withRole("a", "") + withRole("b", "") + expecting("a"), nil, command.Found, "Conflicting IAMRoleSelectors: [a, b]"},
		"a block of which nothing is said":    {withRole("a", "") + withRole("b", "") + bucket, nil, command.Found, "no block"},
		"a reason that is expected":           {withRole("a", selectable) + bucketHead + "{name: logs, namespace: prod, annotations: {selector.tabard.dev/expect: ChoiceNotPermitted, services.k8s.aws/iam-role-selector: b}}", nil, 0, "Denied (ChoiceNotPermitted)"},
		"none":                                {withRole("a", ", namespaceSelector: {names: [dev]}") + expecting("NoSelector"), nil, 0, "NoSelector"},
		"none, and that is a block":           {withRole("a", ", namespaceSelector: {names: [dev]}") + bucket, []string{"--no-selector-policy", "Deny"}, command.Found, "NoSelectorPolicy"},
		"a namespace's labels":                {withRole("a", byLabel) + prod + bucket, nil, 0, "Use a (Unique)"},
		"a namespace that is not there":       {withRole("a", byLabel) + bucket, nil, command.Found, "NotYetKnown (NamespaceUnknown)"},
		"not there, and that is expected":     {withRole("a", byLabel) + expecting("NotYetKnown"), nil, 0, "1 resources, 0 failed"},
		"a namespace without labels":          {withRole("a", byLabel) + bucket, []string{"--assume-unlabelled-namespaces"}, 0, "NoSelector"},
		"a namespace's name":                  {withRole("a", byName) + prod + bucket, nil, 0, "Use a (Unique)"},
		"a namespace's name, unlabelled":      {withRole("a", byName) + bucket, []string{"--assume-unlabelled-namespaces"}, 0, "Use a (Unique)"},
		"a broken selector, of nothing":       {withRole("a", "") + selecting("b", "arn: b, namespaceSelector: {names: [dev]}") + bucket, nil, command.Found, `Problem: IAMRoleSelector b: spec.arn: "b" is not the ARN`},
		"labels without any":                  {withRole("a", ", namespaceSelector: {names: [], labelSelector: {matchLabels: {}}}") + bucket, nil, command.Found, "Invalid (SelectorInvalid)"},
		"labels without any, beside another":  {withRole("a", "") + withRole("b", ", resourceLabelSelector: {matchLabels: {}}") + expecting("a"), nil, command.Found, "Problem: IAMRoleSelector b: spec.resourceLabelSelector: it has no term"},
		"a harmless problem":                  {withRole("a", ", namespaceSelector: {names: [prod, prod]}") + bucket, nil, 0, "Problem: IAMRoleSelector a: spec.namespaceSelector.names: a name is there twice\n"},
		"a broken choice":                     {withRole("a", "") + bucket + "\n---\napiVersion: identity.tabard.dev/v1alpha1\nkind: IAMRoleChoice\nmetadata: {name: c, namespace: dev}\nspec: {selectorRef: {name: ''}}\n", nil, command.Found, "Problem: IAMRoleChoice dev/c: spec.selectorRef.name"},
		"a selector of nothing":               {withRole("a", "") + withRole("b", ", namespaceSelector: {names: [dev]}") + bucket, nil, 0, "Warning: IAMRoleSelector b selects none of the resources"},
		"an overlap":                          {withRole("a", selectable+", onAccountChange: Refuse") + withRole("b", ", selection: {mode: Selectable, default: true}") + bucket, nil, 0, "Warning: IAMRoleSelectors a, b overlap: 1 resources, the first is Bucket.s3.services.k8s.aws prod/logs"},
		"a namespace by flag":                 {withRole("a", ", namespaceSelector: {names: [prod]}") + bucketHead + "{name: logs}\n", []string{"-n", "prod"}, 0, "Use a (Unique)"},
		"other kinds are counted":             {withRole("a", "") + bucket + "\n---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: c, namespace: prod}\n", nil, 0, "Passed over: 1 of the kind ConfigMap"},
		"a kind of a group that is named":     {withRole("a", ", resourceTypeSelector: [{apiVersion: example.com/v1}]") + "\n---\napiVersion: example.com/v1\nkind: Account\nmetadata: {name: x, namespace: prod}\n", nil, 0, "Account.example.com prod/x  Use a (Unique)"},
		"a kind of a group that is not named": {withRole("a", "") + "\n---\napiVersion: example.com/v1\nkind: Account\nmetadata: {name: x, namespace: prod, annotations: {selector.tabard.dev/expect: NoSelector}}\n", nil, 0, "Account.example.com prod/x  NoSelector"},
	} {
		t.Run(name, func(t *testing.T) {
			got := run(t, test.in, append([]string{"selector", "test", "-f", "-"}, test.args...)...)
			if got.code != test.code || !strings.Contains(got.out, test.want) || got.errOut != "" {
				t.Errorf("%+v, want exit code %d and %q", got, test.code, test.want)
			}
		})
	}
}

func TestASelectorThatMaySelectIsNotCalledIdle(t *testing.T) {
	got := run(t, withRole("a", ", namespaceSelector: {labelSelector: {matchLabels: {team: a}}}")+expecting("NotYetKnown"), "selector", "test", "-f", "-")
	if strings.Contains(got.out, "selects none") {
		t.Errorf("%+v", got)
	}
}

func TestUnusableInputHasAnExitCodeOfItsOwn(t *testing.T) {
	good := withRole("a", "") + bucket
	test := []string{"selector", "test", "-f", "-"}
	for name, each := range map[string]struct {
		in   string
		args []string
		want string
	}{
		"an argument":                       {good, append(test, "x"), `takes no arguments, and got "x"`},
		"no files":                          {good, []string{"selector", "test"}, "give -f"},
		"another format":                    {good, append(test, "-o", "name"), "expected table, json, yaml or jsonpath=TEMPLATE"},
		"another policy":                    {good, append(test, "--no-selector-policy", "Allow"), `"Allow" is neither DefaultRole nor Deny`},
		"a pattern that is none":            {good, append(test, "--allowed-role-arn-patterns", "role/a"), "--allowed-role-arn-patterns: "},
		"a lock of tags that are none":      {good, append(test, "--lock-assume-role-fields", "session-tags"), "--lock-assume-role-fields: "},
		"the limit of sessions":             {good, append(test, "--assume-role-session-limit", "1"), "unknown flag"},
		"no YAML":                           {"a: [", test, `"-": document 1:`},
		"no selectors":                      {bucket, test, "0 IAMRoleSelectors and 1 resources"},
		"no resources":                      {withRole("a", ""), test, "1 IAMRoleSelectors and 0 resources"},
		"a field that is not known":         {withRole("a", ", namespaceSelectors: {names: [dev]}") + bucket, test, `IAMRoleSelector a: strict decoding error: unknown field "spec.namespaceSelectors"`},
		"a label that is null":              {withRole("a", ", namespaceSelector: {labelSelector: {matchLabels: {team: }}}") + bucket, test, "IAMRoleSelector a: spec.namespaceSelector.labelSelector.matchLabels.team is null"},
		"a kind that is null":               {withRole("a", ", resourceTypeSelector: [{group: g.io}, {group: h.io, kind: null}]") + bucket, test, "spec.resourceTypeSelector[1].kind is null"},
		"a field of another form":           {withRole("a", ", namespaceSelector: [dev]") + bucket, test, "IAMRoleSelector a: "},
		"a selector twice":                  {withRole("a", "") + good, test, "IAMRoleSelector a: it is given twice"},
		"a resource twice":                  {good + bucket, test, "Bucket logs: it is given twice"},
		"a resource without a namespace":    {withRole("a", "") + bucketHead + "{name: logs}\n", test, "it has no namespace: write metadata.namespace, or give -n"},
		"a resource without a name":         {withRole("a", "") + bucketHead + "{namespace: prod}\n", test, "it has no name"},
		"a word that cannot be expected":    {withRole("a", "") + expecting("Conflicts"), test, "neither the name of an IAMRoleSelector nor one of Use, Conflict"},
		"an empty expectation":              {withRole("a", "") + expecting("''"), test, "neither the name of an IAMRoleSelector"},
		"an expectation of a core kind":     {withRole("a", "") + "\n---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: c, namespace: prod, annotations: {selector.tabard.dev/expect: a}}\n", test, "no IAMRoleSelector is for it"},
		"a version of ours to come":         {strings.ReplaceAll(good, "aws/v1alpha1\nkind: IAM", "aws/v2\nkind: IAM"), test, "its apiVersion is services.k8s.aws/v2; only services.k8s.aws/v1alpha1"},
		"explain without an argument":       {"", []string{"explain"}, "takes one argument, and got 0"},
		"explain of another thing":          {"", []string{"explain", "pod/web"}, "is not yet known: use resource/KIND/NAME"},
		"explain in another format":         {"", []string{"explain", "resource/bucket/logs", "-o", "wide"}, "expected table, json, yaml or jsonpath=TEMPLATE"},
		"explain of other selectors":        {"", []string{"explain", "resource/bucket/logs", "--show", "none"}, "it must be all or matching"},
		"explain under another policy":      {"", []string{"selector", "explain", "bucket/logs", "--no-selector-policy", ""}, "the value is empty; leave the flag out, or write Deny"},
		"explain of a cluster that is none": {"", []string{"explain", "resource/bucket/logs", "--kubeconfig", "/no/such/file"}, "no such file"},
	} {
		t.Run(name, func(t *testing.T) {
			got := run(t, each.in, each.args...)
			if got.code != command.Unusable || got.out != "" || !strings.HasPrefix(got.errOut, "tabard: ") || !strings.Contains(got.errOut, each.want) {
				t.Errorf("%+v, want exit code %d and %q", got, command.Unusable, each.want)
			}
		})
	}
}

func TestTestSpeaksJSON(t *testing.T) {
	got := run(t, withRole("a", "")+withRole("b", "")+expecting("a"), "selector", "test", "-f", "-", "-o", "json")
	var report testReport
	if err := json.Unmarshal([]byte(got.out), &report); err != nil || got.code != command.Found || got.errOut != "" {
		t.Fatalf("%v: %+v", err, got)
	}
	one := report.Resources[0]
	if report.Passed || one.Passed || one.Expected != "a" || one.Decision.Outcome != "Conflict" {
		t.Errorf("%+v", report)
	}
	if diff := cmp.Diff([]overlap{{Selectors: []string{"a", "b"}, Resources: 1, First: "Bucket.s3.services.k8s.aws prod/logs"}}, report.Overlaps); diff != "" {
		t.Errorf("overlaps (-want +got):\n%s", diff)
	}
}

func TestHelpTeaches(t *testing.T) {
	for args, wants := range map[string][]string{
		"explain":          {"kind: ClusterRole", "Exit code 0", "--show", "Examples:", "resource/KIND/NAME"},
		"selector explain": {"kind: ClusterRole", "KIND/NAME"},
		"selector test":    {"selector.tabard.dev/expect", "Exit code 0", "--assume-unlabelled-namespaces", "Examples:"},
	} {
		got := run(t, "", append(strings.Fields(args), "--help")...)
		for _, want := range wants {
			if !strings.Contains(got.out, want) {
				t.Errorf("%s --help does not say %q:\n%s", args, want, got.out)
			}
		}
	}
}
