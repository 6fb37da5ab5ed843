package app

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/pflag"
	ctrl "sigs.k8s.io/controller-runtime"

	"github.com/tabard-dev/tabard/internal/controller/capacity"
	"github.com/tabard-dev/tabard/roleselector"
	"github.com/tabard-dev/tabard/roleselector/kube"
)

// selectorCheck is the part of /readyz that is about selectors.
const selectorCheck = "role-selectors"

// takePart are the controllers whose objects IAMRoleSelectors can select.
func takePart() (names []string) {
	for _, c := range declared() {
		if c.selected {
			names = append(names, c.name)
		}
	}
	return names
}

// roleSelectorFlags are what a process is told of IAMRoleSelectors.
type roleSelectorFlags struct {
	controllers string
	clusterID   string
	// options and settings are the administrator's, said by the flags that all
	// controllers with selectors have; given are those that were set, as
	// --NAME=VALUE.
	options  roleselector.Options
	settings roleselector.Settings
	given    []string

	// on says that the feature gate is, and named are the controllers that take
	// part; both come of complete.
	on    bool
	named []string
	// selectors are followed once for all controllers of the process.
	selectors *kube.Selectors
}

func (f *roleSelectorFlags) add(flags *pflag.FlagSet) {
	flags.StringVar(&f.controllers, "iam-role-selector-controllers", "", "the controllers whose objects IAMRoleSelectors select, of "+strings.Join(takePart(), ", ")+": a selector applies to their kinds only if it names the group (default: none); needs the feature gate "+selectorGate)
	flags.StringVar(&f.clusterID, "iam-role-selector-cluster-id", "", "what tells this cluster from others in session names and as %CLUSTER_ID% in the templates of selectors")
	for _, one := range roleselector.Flags(&f.options, &f.settings) {
		flags.Func(one.Name, one.Usage, func(text string) error {
			f.given = append(f.given, "--"+one.Name+"="+text)
			return one.Set(text)
		})
	}
}

// complete checks what the flags say, with whether the feature gate is on.
func (f *roleSelectorFlags) complete(on bool) error {
	f.on, f.named = on, nil
	for name := range strings.SplitSeq(f.controllers, ",") {
		switch name = strings.TrimSpace(name); {
		case name == "":
		case name == "issuer":
			return errors.New("--iam-role-selector-controllers: issuer takes no part: an OIDCIssuer is an object of the cluster, " +
				"which no namespace's selector is for, and names its roles itself, as assumeRoleARN of its providers")
		case !slices.Contains(takePart(), name):
			return fmt.Errorf("--iam-role-selector-controllers: no controller %.80q can take part; there is %s", name, strings.Join(takePart(), ", "))
		default:
			f.named = append(f.named, name)
		}
	}
	if !on && f.controllers+f.clusterID != "" {
		return fmt.Errorf("--iam-role-selector-controllers and --iam-role-selector-cluster-id have no effect without --feature-gates=%s=true", selectorGate)
	}
	return f.completeSettings()
}

// completeSettings checks the flags that all controllers with selectors have.
func (f *roleSelectorFlags) completeSettings() error {
	for _, flag := range f.given {
		name, text, _ := strings.Cut(flag, "=")
		switch {
		case !f.on:
			return fmt.Errorf("%s has no effect without --feature-gates=%s=true", name, selectorGate)
		case strings.Contains(text, "%CLUSTER_ID%") && f.clusterID == "":
			return fmt.Errorf("%s: %%CLUSTER_ID%% has no value; say it by --iam-role-selector-cluster-id, such as --iam-role-selector-cluster-id=prod-eu", name)
		}
	}
	if problems := f.settings.Problems(); len(problems) > 0 {
		return errors.New(problems[0].String())
	}
	return nil
}

// takesPart says that the objects of a controller are selected.
func (f *roleSelectorFlags) takesPart(controller string) bool {
	return slices.Contains(f.named, controller)
}

// follow follows the cluster's selectors, and makes the process not ready while
// they are not known. Only the controllers that use them wait.
func (f *roleSelectorFlags) follow(mgr ctrl.Manager) (*kube.Selectors, error) {
	if f.selectors != nil {
		return f.selectors, nil
	}
	selectors, err := kube.New(mgr, kube.Options{Roles: f.options, Kinds: capacity.Kinds()})
	if err != nil {
		return nil, fmt.Errorf("follow the role selectors: %w", err)
	}
	f.selectors = selectors
	return selectors, mgr.AddReadyzCheck(selectorCheck, selectors.Ready)
}

// join lets the capacity controller go by selectors, if it takes part.
func (f *roleSelectorFlags) join(mgr ctrl.Manager, options *capacity.Options, namespace string) error {
	if !f.takesPart("capacity") {
		return nil
	}
	selectors, err := f.follow(mgr)
	if err != nil {
		return err
	}
	options.Selectors, options.AssumeRole = selectors, f.settings
	options.Process = roleselector.Subject{ClusterID: f.clusterID, ControllerNamespace: namespace}
	return nil
}
