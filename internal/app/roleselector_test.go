package app

import (
	"slices"
	"testing"

	"github.com/spf13/pflag"
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
			if err := parsed.Parse(c.args); err != nil {
				t.Fatal(err)
			}
			_, err := flags.complete()
			wantRefused(t, err, c.refused)
			if got := flags.roleSelectors; err == nil && (got.on != c.on || !slices.Equal(got.named, c.named)) {
				t.Errorf("on %v for %q, want %v for %q", got.on, got.named, c.on, c.named)
			}
		})
	}
}

func TestTheCapacityCommandHasBothFeatureGates(t *testing.T) {
	var flags capacityFlags
	parsed := pflag.NewFlagSet("capacity", pflag.ContinueOnError)
	flags.add(parsed)
	args := []string{"--feature-gates=IAMRoleSelector=true, MachineAPIMigration=false", "--iam-role-selector-controllers=capacity"}
	if err := parsed.Parse(args); err != nil {
		t.Fatal(err)
	}
	if err := flags.complete(); err != nil {
		t.Fatal(err)
	}
	if migrates := flags.controller.options.Migration; migrates == nil || *migrates {
		t.Errorf("the gate MachineAPIMigration is %v, want false", migrates)
	}
	if !flags.roleSelectors.takesPart("capacity") {
		t.Error("capacity takes no part")
	}
}

func TestWhatIsGatedIsOffUntilItIsNamed(t *testing.T) {
	for _, c := range controllers {
		if c.gated && !c.off {
			t.Errorf("'*' would choose %s, which the feature gate then refuses", c.name)
		}
	}
}
