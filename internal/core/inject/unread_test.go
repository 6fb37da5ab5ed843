package inject_test

import (
	"strings"
	"testing"

	"github.com/tabard-dev/tabard/internal/core/inject"
	"github.com/tabard-dev/tabard/internal/testkit/must"
)

// TestWhatCannotBeReadIsNotGuessed: who may be named by what could never be read
// gets no decision; who is named by what goes before it does.
func TestWhatCannotBeReadIsNotGuessed(t *testing.T) {
	t.Parallel()
	annotated := func(s *setup) { s.Annotations = map[string]string{"eks.amazonaws.com/role-arn": roleARN} }
	malformed := func(s *setup) { s.Annotations = map[string]string{"eks.amazonaws.com/role-arn": "app"} }
	mapped := func(s *setup) { s.Mapping = `{"shop/app":{"RoleARN":"` + roleARN + `"}}` }
	listed := func(s *setup) { s.Identities = `{"identities":[{"namespace":"shop","serviceAccount":"app"}]}` }
	unknown := func(s *setup) { s.Unknown = true }
	bare := func(*setup) {}
	const plain, profiles, nobody = `{"spec":{"serviceAccountName":"app","containers":[{"name":"a"}]}}`,
		`{"metadata":{"annotations":{"eks.amazonaws.com/role-profiles":"b=` + roleARN + `"}},"spec":{"serviceAccountName":"app","containers":[{"name":"a"}]}}`,
		`{"spec":{"containers":[{"name":"a"}]}}`
	tests := map[string]struct {
		mapping, identities bool // unread
		says                func(*setup)
		pod                 string
		want                inject.Reason
		warned              bool
	}{
		"the mapping may name it":                          {mapping: true, says: bare, pod: plain, want: inject.Undecided},
		"the mapping may name one that does not exist":     {mapping: true, says: unknown, pod: plain, want: inject.Undecided},
		"the mapping does not count beside an annotation":  {mapping: true, says: annotated, pod: plain, want: inject.Injected},
		"nor beside one that is malformed":                 {mapping: true, says: malformed, pod: plain, want: inject.MalformedRoleARN, warned: true},
		"nor beside the identities":                        {mapping: true, says: listed, pod: plain, want: inject.Injected},
		"the identities may name it":                       {identities: true, says: bare, pod: plain, want: inject.Undecided},
		"the identities may name one whose role is wrong":  {identities: true, says: malformed, pod: plain, want: inject.Undecided},
		"a role is given instead of the identities":        {identities: true, says: annotated, pod: plain, want: inject.Injected, warned: true},
		"that of the mapping, too":                         {identities: true, says: mapped, pod: plain, want: inject.Injected, warned: true},
		"profiles alone could be half of what it is given": {mapping: true, says: bare, pod: profiles, want: inject.Undecided},
		"nothing can name a pod without ServiceAccount":    {mapping: true, identities: true, says: bare, pod: nobody, want: inject.UnknownServiceAccount},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			given := newSetup()
			test.says(&given)
			subject, _ := given.parse()
			subject.MappingUnread, subject.IdentitiesUnread = test.mapping, test.identities
			injector := must.Get(inject.New(given.Settings))(t)
			got := must.Get(decide(injector, subject, []byte(test.pod)))(t)
			if got.Reason != test.want || (len(got.Warnings) > 0) != test.warned || (got.Patch != nil) != (test.want == inject.Injected) {
				t.Errorf("reason %s, warnings %q, patch %s; want %s, warnings %t", got.Reason, got.Warnings, got.Patch, test.want, test.warned)
			}
			if test.identities && test.want == inject.Injected && !strings.Contains(strings.Join(got.Warnings, ""), "container credentials") {
				t.Errorf("warnings %q", got.Warnings)
			}
		})
	}
}

// TestNamed is what makes a look at the namespace's labels needless.
func TestNamed(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		change func(*setup)
		want   bool
	}{
		"by nothing":             {func(*setup) {}, false},
		"by an annotation":       {func(s *setup) { s.Annotations = map[string]string{"eks.amazonaws.com/role-arn": "x"} }, true},
		"not by an empty one":    {func(s *setup) { s.Annotations = map[string]string{"eks.amazonaws.com/role-arn": ""} }, false},
		"by the identities":      {func(s *setup) { s.Identities = `{"identities":[{"namespace":"shop","serviceAccount":"app"}]}` }, true},
		"by an entry":            {func(s *setup) { s.Mapping = `{"shop/app":{}}` }, true},
		"by an entry for all":    {func(s *setup) { s.Mapping = `{"*/app":{}}` }, true},
		"by one that is wrong":   {func(s *setup) { s.Mapping = `{"shop/app":5}`; s.Unknown = true }, true},
		"not by one for another": {func(s *setup) { s.Mapping = `{"shop/web":{}}` }, false},
	}
	for name, test := range tests {
		given := newSetup()
		test.change(&given)
		subject, _ := given.parse()
		injector := must.Get(inject.New(given.Settings))(t)
		var pod inject.Pod
		pod.ServiceAccountName = "app"
		if got := injector.Named(pod, subject); got != test.want {
			t.Errorf("%s: %t, want %t", name, got, test.want)
		}
	}
}
