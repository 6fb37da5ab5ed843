package main

import (
	"cmp"
	"errors"
	"flag"
	"fmt"
	"strconv"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/tabard-dev/tabard/examples/bucket-controller/bucket"
	"github.com/tabard-dev/tabard/roleselector"
	"github.com/tabard-dev/tabard/roleselector/carm"
)

// The feature gates, all off by default.
const (
	selectorGate = "IAMRoleSelector"
	teamGate     = "TeamLevelCARM"
	serviceGate  = "ServiceLevelCARM"
)

// flags are the command line, with ACK's names where ACK has the flag.
type flags struct {
	region, deletionPolicy        string
	enableCARM, leaderElect       bool
	gates                         gates
	resync                        time.Duration
	metricsAddress, healthAddress string
	// options and settings are what the administrator says of selectors.
	options  roleselector.Options
	settings roleselector.Settings
	// namespace is the controller's own, which holds the config maps.
	namespace string
}

// gates are the values of --feature-gates.
type gates map[string]bool

// String is the flag's default, for its help.
func (g gates) String() string { return "" }

// Set reads NAME=BOOL,…
func (g gates) Set(text string) error {
	for pair := range strings.SplitSeq(text, ",") {
		name, value, found := strings.Cut(pair, "=")
		if _, known := map[string]bool{selectorGate: true, teamGate: true, serviceGate: true}[name]; !known || !found {
			return fmt.Errorf("%q is not NAME=true or NAME=false of %s, %s or %s", pair, selectorGate, teamGate, serviceGate)
		}
		on, err := strconv.ParseBool(value)
		if err != nil {
			return fmt.Errorf("the feature gate %s is %q, neither true nor false", name, value)
		}
		g[name] = on
	}
	return nil
}

// parseFlags reads the command line.
func parseFlags(args []string, getenv func(string) string) (*flags, error) {
	f := &flags{gates: gates{}, namespace: cmp.Or(getenv("ACK_SYSTEM_NAMESPACE"), getenv("K8S_NAMESPACE"), "ack-system")}
	set := flag.NewFlagSet("bucket-controller", flag.ContinueOnError)
	set.Var(f.gates, "feature-gates", "NAME=BOOL,... of "+strings.Join([]string{selectorGate, teamGate, serviceGate}, ", "))
	set.BoolVar(&f.enableCARM, "enable-carm", true, "find roles by CARM; off where the gate IAMRoleSelector is on")
	ofSelectors := map[string]bool{}
	for _, one := range roleselector.Flags(&f.options, &f.settings) {
		ofSelectors[one.Name] = true
		set.Func(one.Name, one.Usage, one.Set)
	}
	set.StringVar(&f.region, "aws-region", getenv("AWS_REGION"), "where buckets are made of which nothing else is said")
	set.StringVar(&f.deletionPolicy, "deletion-policy", "delete", "what becomes of the bucket of a deleted Bucket: delete or retain")
	set.DurationVar(&f.resync, "resync-period", 10*time.Hour, "how often to look at a Bucket that nothing happens to")
	set.BoolVar(&f.leaderElect, "leader-elect", false, "work only while holding the lease, for several replicas")
	set.StringVar(&f.metricsAddress, "metrics-bind-address", "0", "where to serve metrics; 0 is nowhere")
	set.StringVar(&f.healthAddress, "health-probe-bind-address", "0", "where to serve /healthz and /readyz; 0 is nowhere")
	if err := set.Parse(args); err != nil {
		return nil, err
	}
	carmGiven, idle := false, ""
	set.Visit(func(given *flag.Flag) {
		carmGiven = carmGiven || given.Name == "enable-carm"
		if ofSelectors[given.Name] && !f.gates[selectorGate] {
			idle = given.Name
		}
	})
	if idle != "" {
		return nil, fmt.Errorf("--%s has no effect without --feature-gates=%s=true", idle, selectorGate)
	}
	return f, f.check(carmGiven && f.enableCARM)
}

func (f *flags) check(carmAsked bool) error {
	problems := f.settings.Problems()
	switch {
	case len(problems) > 0:
		return errors.New(problems[0].String())
	case f.gates[selectorGate] && carmAsked:
		return errors.New("cannot enable feature gate 'IAMRoleSelector' when flag 'enable-carm' is set to true")
	case f.region == "":
		return errors.New("--aws-region is missing")
	case f.deletionPolicy != "delete" && f.deletionPolicy != "retain":
		return fmt.Errorf("--deletion-policy is %q, neither delete nor retain", f.deletionPolicy)
	case f.resync <= 0:
		return errors.New("--resync-period must be longer than 0")
	}
	return nil
}

// carm is this controller as CARM sees it.
func (f *flags) carm(account string) carm.Controller {
	return carm.Controller{
		Name: name, Alias: bucket.Service, Group: bucket.Kind.Group, Kinds: []schema.GroupVersionKind{bucket.Kind},
		SystemNamespace: f.namespace, Account: account, Region: f.region, DeletionPolicy: f.deletionPolicy,
		DisableCARM: !f.enableCARM, TeamLevelCARM: f.gates[teamGate], ServiceLevelCARM: f.gates[serviceGate],
	}
}
