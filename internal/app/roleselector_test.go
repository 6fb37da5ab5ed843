package app

import (
	"reflect"
	"slices"
	"testing"

	"github.com/spf13/pflag"

	services "github.com/tabard-dev/tabard/api/services/v1alpha1"
	"github.com/tabard-dev/tabard/internal/cli/usage"
	"github.com/tabard-dev/tabard/internal/testkit/must"
	"github.com/tabard-dev/tabard/roleselector"
)

func TestRoleSelectorFlagsOfTheOperator(t *testing.T) {
	for name, c := range map[string]struct {
		args    []string
		on      bool
		named   []string
		refused string
	}{
		"off unless it is said":                  {},
		"off if that is said":                    {args: []string{"--feature-gates=IAMRoleSelector=false"}},
		"on, and no controller takes part":       {args: []string{"--feature-gates=IAMRoleSelector=true"}, on: true},
		"on for one":                             {args: []string{"--feature-gates=IAMRoleSelector=true", "--iam-role-selector-controllers=capacity"}, on: true, named: []string{"capacity"}},
		"the report needs the gate":              {args: []string{"--controllers=selectorreport"}, refused: "--controllers: selectorreport needs --feature-gates=IAMRoleSelector=true"},
		"the report with the gate":               {args: []string{"--controllers=selectorreport", "--feature-gates=IAMRoleSelector=true"}, on: true},
		"another gate":                           {args: []string{"--feature-gates=Other=true"}, refused: `--feature-gates=Other=true: there is no feature gate "Other"; there is IAMRoleSelector`},
		"capacity's gate is another flag's":      {args: []string{"--feature-gates=MachineAPIMigration=true"}, refused: `--feature-gates=MachineAPIMigration=true: there is no feature gate "MachineAPIMigration"; there is IAMRoleSelector`},
		"no value":                               {args: []string{"--feature-gates=IAMRoleSelector"}, refused: "--feature-gates=IAMRoleSelector: expected IAMRoleSelector=true or IAMRoleSelector=false"},
		"another value":                          {args: []string{"--feature-gates=IAMRoleSelector=on"}, refused: "--feature-gates=IAMRoleSelector=on: expected IAMRoleSelector=true or IAMRoleSelector=false"},
		"no name":                                {args: []string{"--feature-gates==true"}, refused: `--feature-gates==true: there is no feature gate ""; there is IAMRoleSelector`},
		"a controller without the gate":          {args: []string{"--iam-role-selector-controllers=capacity"}, refused: "--iam-role-selector-controllers and --iam-role-selector-cluster-id have no effect without --feature-gates=IAMRoleSelector=true"},
		"a cluster ID without the gate":          {args: []string{"--iam-role-selector-cluster-id=a"}, refused: "--iam-role-selector-controllers and --iam-role-selector-cluster-id have no effect without --feature-gates=IAMRoleSelector=true"},
		"the issuer":                             {args: []string{"--feature-gates=IAMRoleSelector=true", "--iam-role-selector-controllers=capacity,issuer"}, on: true, refused: "--iam-role-selector-controllers: issuer takes no part: an OIDCIssuer is an object of the cluster, which no namespace's selector is for, and names its roles itself, as assumeRoleARN of its providers"},
		"a controller that there is not":         {args: []string{"--feature-gates=IAMRoleSelector=true", "--iam-role-selector-controllers=buckets"}, on: true, refused: `--iam-role-selector-controllers: no controller "buckets" can take part; there is capacity`},
		"a controller that calls AWS for no one": {args: []string{"--feature-gates=IAMRoleSelector=true", "--iam-role-selector-controllers=certificate"}, on: true, refused: `--iam-role-selector-controllers: no controller "certificate" can take part; there is capacity`},
	} {
		t.Run(name, func(t *testing.T) {
			var flags operatorFlags
			parsed := pflag.NewFlagSet("operator", pflag.ContinueOnError)
			flags.add(parsed)
			must.Do(t, parsed.Parse(c.args))
			_, err := flags.complete()
			wantRefused(t, err, c.refused)
			if got := flags.roleSelectors; err == nil && (got.on != c.on || !slices.Equal(got.named, c.named)) {
				t.Errorf("on %v for %q, want %v for %q", got.on, got.named, c.on, c.named)
			}
		})
	}
}

func TestTheAdministratorsFlagsForRolesOfSelectors(t *testing.T) {
	const on, cluster = "--feature-gates=IAMRoleSelector=true", "--iam-role-selector-cluster-id=c1"
	for name, c := range map[string]struct {
		args     []string
		policy   roleselector.NoSelectorPolicy
		settings roleselector.Settings
		refused  string
	}{
		"none": {args: []string{on}},
		"all": {
			args: []string{
				on, cluster, "--no-selector-policy=Deny", "--assume-role-external-id=ack/%CLUSTER_ID%", "--assume-role-session-name=ack-%KIND%",
				"--assume-role-session-tags=stage=a", "--assume-role-session-limit=5", "--lock-assume-role-fields=external-id,session-tags",
				"--allowed-role-arn-patterns=arn:aws:iam::*:role/ack/*", "--protected-label-prefixes=identity.tabard.dev/",
			},
			policy: roleselector.PolicyDeny,
			settings: roleselector.Settings{
				ExternalID: "ack/%CLUSTER_ID%", SessionName: "ack-%KIND%", SessionLimit: 5,
				SessionTags:  []services.SessionTag{{Key: "stage", Text: services.Text{Value: "a"}}},
				Locked:       []roleselector.Field{roleselector.ExternalIDField, roleselector.SessionTagsField},
				AllowedRoles: []string{"arn:aws:iam::*:role/ack/*"}, ProtectedLabels: []string{"identity.tabard.dev/"},
			},
		},
		"a policy without the gate":        {args: []string{"--no-selector-policy=Deny"}, refused: "--no-selector-policy has no effect without --feature-gates=IAMRoleSelector=true"},
		"the default without the gate":     {args: []string{"--no-selector-policy=DefaultRole"}, refused: "--no-selector-policy has no effect without --feature-gates=IAMRoleSelector=true"},
		"an external ID without the gate":  {args: []string{"--feature-gates=IAMRoleSelector=false", "--assume-role-external-id=ab"}, refused: "--assume-role-external-id has no effect without --feature-gates=IAMRoleSelector=true"},
		"patterns without the gate":        {args: []string{"--allowed-role-arn-patterns=arn:aws:iam::*:role/ack/*"}, refused: "--allowed-role-arn-patterns has no effect without --feature-gates=IAMRoleSelector=true"},
		"a cluster without its ID":         {args: []string{on, "--assume-role-external-id=ack/%CLUSTER_ID%"}, refused: "--assume-role-external-id: %CLUSTER_ID% has no value; say it by --iam-role-selector-cluster-id, such as --iam-role-selector-cluster-id=prod-eu"},
		"a bad value":                      {args: []string{on, "--assume-role-session-limit=0"}, refused: `--assume-role-session-limit=0: "0" is not a whole number of 1 or more; write 1000`},
		"a value that is not filled in":    {args: []string{on, "--allowed-role-arn-patterns="}, refused: "--allowed-role-arn-patterns=: the value is empty; leave the flag out, or write arn:aws:iam::*:role/ack/*"},
		"what no ARN fits":                 {args: []string{on, "--allowed-role-arn-patterns=ack/*"}, refused: `--allowed-role-arn-patterns: "ack/*" is not the ARN of a role, with * for any characters; write one such as arn:aws:iam::*:role/ack/*`},
		"a lock of what the flags say not": {args: []string{on, "--lock-assume-role-fields=session-tags"}, refused: "--lock-assume-role-fields: session-tags locks the keys of --assume-role-session-tags, and there are none"},
	} {
		t.Run(name, func(t *testing.T) {
			var flags operatorFlags
			parsed := pflag.NewFlagSet("operator", pflag.ContinueOnError)
			flags.add(parsed)
			err := parsed.Parse(c.args)
			if err == nil {
				_, err = flags.complete()
			} else {
				err = usage.ExplainFlag(err)
			}
			wantRefused(t, err, c.refused)
			if got := flags.roleSelectors; err == nil && (got.options.NoSelector != c.policy || !reflect.DeepEqual(got.settings, c.settings)) {
				t.Errorf("the policy is %q and the settings %+v, want %q and %+v", got.options.NoSelector, got.settings, c.policy, c.settings)
			}
		})
	}
}

func TestTheCapacityCommandHasBothFeatureGates(t *testing.T) {
	var flags capacityFlags
	parsed := pflag.NewFlagSet("capacity", pflag.ContinueOnError)
	flags.add(parsed)
	args := []string{"--feature-gates=IAMRoleSelector=true, MachineAPIMigration=false", "--iam-role-selector-controllers=capacity", "--no-selector-policy=Deny"}
	must.Do(t, parsed.Parse(args))
	must.Do(t, flags.complete())
	if migrates := flags.controller.options.Migration; migrates == nil || *migrates {
		t.Errorf("the gate MachineAPIMigration is %v, want false", migrates)
	}
	if !flags.roleSelectors.takesPart("capacity") {
		t.Error("capacity takes no part")
	}
	if got := flags.roleSelectors.options.NoSelector; got != roleselector.PolicyDeny {
		t.Errorf("the policy is %q, want Deny", got)
	}
}

func TestWhatIsGatedIsOffUntilItIsNamed(t *testing.T) {
	for _, c := range declared() {
		if c.gated && !c.off {
			t.Errorf("'*' would choose %s, which the feature gate then refuses", c.name)
		}
	}
}
