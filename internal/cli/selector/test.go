package selector

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/tabard-dev/tabard/internal/cli/command"
	"github.com/tabard-dev/tabard/internal/cli/manifest"
	"github.com/tabard-dev/tabard/roleselector"
)

const testHelp = `Decides for every resource in files with which IAM role it would be managed, without
a cluster. The files hold, in any order, IAMRoleSelectors, IAMRoleChoices, Namespaces
and resources: objects of *.services.k8s.aws, of a group that a selector names, or
with an expectation. Lists are taken apart; other kinds are passed over, and counted.

A resource may say what is expected of it, by the annotation

  ` + expectAnnotation + `: NAME

the name of the IAMRoleSelector whose role is used, or one of Use, Conflict, Denied,
Invalid, NotYetKnown and NoSelector, or a reason such as ChoiceNotPermitted.

If a namespace is in no file, its labels are unknown, and a result that depends on them
is NotYetKnown. With --assume-unlabelled-namespaces such a namespace has no labels
but its name (kubernetes.io/metadata.name).

` + administratorHelp + `

The command also reports problems of selectors and choices, selectors that select none
of the resources, and selectors that overlap.

Exit code 0: every resource is as its annotation expects; one without the annotation has
a role, or the controller's own. 1: a resource is not as expected, or blocked, or a
selector or a choice cannot be evaluated. 2: the input cannot be used.`

// testFlags are those of test.
type testFlags struct {
	files      []string
	namespace  string
	output     command.Output
	unlabelled bool
	administrator
}

func newTest(streams command.Streams) *cobra.Command {
	flags := &testFlags{}
	test := &cobra.Command{
		Use:   "test -f FILE...",
		Short: "Decide for resources in files, without a cluster",
		Long:  testHelp,
		Example: `  tabard selector test -f selectors.yaml -f resources.yaml -f namespaces.yaml
  kubectl get iamroleselectors,iamrolechoices,namespaces,buckets.s3.services.k8s.aws -A -o yaml | tabard selector test -f -`,
		SilenceUsage: true, SilenceErrors: true,
		Args: command.NoArgs(streams),
		RunE: command.Spoken(streams, func(*cobra.Command, []string) error { return flags.run(streams) }),
	}
	f := test.Flags()
	f.StringArrayVarP(&flags.files, "filename", "f", nil, "a `file` or folder of YAML or JSON; - is the standard input; repeatable")
	f.StringVarP(&flags.namespace, "namespace", "n", "", "the `namespace` of objects that name none")
	flags.output.AddFlags(test)
	f.BoolVar(&flags.unlabelled, "assume-unlabelled-namespaces", false, "a namespace that is in no file has no labels")
	flags.add(f)
	return test
}

func (f *testFlags) run(streams command.Streams) error {
	if err := f.output.Check(); err != nil {
		return err
	}
	if len(f.files) == 0 {
		return fmt.Errorf("there is nothing to test: give -f")
	}
	if err := f.check(); err != nil {
		return err
	}
	objects, err := manifest.Read(f.files, streams.In)
	if err != nil {
		return err
	}
	b := &bundle{
		world: newWorld(f.administrator), namespace: f.namespace, unlabelled: f.unlabelled,
		seen: map[string]bool{}, ignored: map[string]int{},
	}
	if err := b.add(objects); err != nil {
		return err
	}
	if len(b.world.selectors) == 0 || len(b.resources) == 0 {
		return fmt.Errorf("the files hold %d IAMRoleSelectors and %d resources: there is nothing to test", len(b.world.selectors), len(b.resources))
	}
	report, err := b.decide()
	if err != nil {
		return err
	}
	err = streams.PrintAs(f.output, command.Printed{Document: report, Text: report.text})
	if err == nil && !report.Passed {
		err = &command.Exit{Code: command.Found, What: report.summary()}
	}
	return err
}

// decide decides for every resource.
func (b *bundle) decide() (*testReport, error) {
	report := &testReport{APIVersion: "tabard.dev/v1alpha1", Kind: "RoleSelectorTest", Resources: []result{}, Problems: b.world.problems, Ignored: b.ignored}
	use := newUsage()
	for _, r := range b.resources {
		expected, err := expectation(r)
		if err != nil {
			return nil, err
		}
		query := b.world.query(r)
		decided := b.world.admit(b.world.index.Decide(query), r, query)
		one := result{
			Resource: resourceRef{r.gvk.Group, r.gvk.Version, r.gvk.Kind, r.object.GetNamespace(), r.object.GetName()},
			Decision: describe(decided), Expected: expected, Passed: decided.MayCallAWS(),
		}
		if expected != "" {
			one.Passed = one.Decision.meets(expected)
		}
		report.Resources = append(report.Resources, one)
		use.count(b.world.index, query, r)
	}
	report.Idle = use.idle(b.world)
	report.Overlaps = use.overlaps()
	report.conclude()
	return report, nil
}

// usage is which selectors select which resources.
type usage struct {
	used     map[string]bool
	together map[string]*overlap
	// undecided are selectors of which it is not known.
	undecided map[string]bool
}

func newUsage() *usage {
	return &usage{used: map[string]bool{}, together: map[string]*overlap{}, undecided: map[string]bool{}}
}

// count enters a resource.
func (u *usage) count(index *roleselector.Index, q roleselector.Query, r resource) {
	selecting, known := index.Match(q, nil)
	var names []string
	for _, one := range selecting {
		u.used[one.Reference().Name] = true
		if !one.Denies() {
			names = append(names, one.Reference().Name)
		}
	}
	u.overlap(names, r)
	if known {
		return
	}
	for _, one := range index.Explain(q).Selectors {
		if one.Selects == roleselector.Unknown {
			u.undecided[one.Selector.Name] = true
		}
	}
}
