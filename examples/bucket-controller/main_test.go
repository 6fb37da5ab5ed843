package main

import (
	"strings"
	"testing"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func TestFlagsThatCannotBeMeantAreRefused(t *testing.T) {
	const gate = "--feature-gates=IAMRoleSelector=true"
	for name, c := range map[string]struct {
		args string
		want string // empty is no error
	}{
		"nothing":                     {"", ""},
		"the gate":                    {gate, ""},
		"the gate without CARM":       {gate + " --enable-carm=false", ""},
		"the gate and CARM":           {gate + " --enable-carm=true", "cannot enable feature gate 'IAMRoleSelector' when flag 'enable-carm' is set to true"},
		"the gate off and CARM":       {"--feature-gates=IAMRoleSelector=false --enable-carm", ""},
		"several gates":               {"--feature-gates=TeamLevelCARM=true,ServiceLevelCARM=true", ""},
		"an unknown gate":             {"--feature-gates=Selectors=true", `"Selectors=true"`},
		"a gate without a value":      {"--feature-gates=IAMRoleSelector", `"IAMRoleSelector"`},
		"a gate that is neither":      {"--feature-gates=IAMRoleSelector=on", "neither true nor false"},
		"an empty gate":               {"--feature-gates=", `"" is not`},
		"an unknown policy":           {gate + " --no-selector-policy=Allow", "neither DefaultRole nor Deny"},
		"a policy without the gate":   {"--no-selector-policy=Deny", "--no-selector-policy has no effect without --feature-gates=IAMRoleSelector=true"},
		"a lock without the gate":     {"--feature-gates=TeamLevelCARM=true --lock-assume-role-fields=external-id", "--lock-assume-role-fields has no effect without"},
		"an external ID":              {gate + " --assume-role-external-id=%CLUSTER_ID%", ""},
		"a bad external ID":           {gate + " --assume-role-external-id=%RESOURCE_NAME%", "--assume-role-external-id: the variable %RESOURCE_NAME% is not allowed here"},
		"a bad limit":                 {gate + " --assume-role-session-limit=-1", "is not a whole number of 1 or more"},
		"an unknown deletion policy":  {"--deletion-policy=keep", "neither delete nor retain"},
		"no region":                   {"--aws-region=", "--aws-region is missing"},
		"no time between two looks":   {"--resync-period=0s", "longer than 0"},
		"something that is no option": {"--role=x", "not defined"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := parseFlags(append([]string{"--aws-region=eu-west-1"}, strings.Fields(c.args)...), func(string) string { return "" })
			switch {
			case c.want == "" && err != nil:
				t.Errorf("got %v, want no error", err)
			case c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)):
				t.Errorf("got %v, want %q", err, c.want)
			}
		})
	}
}

func TestALeaseIsAliveUntilItIsOver(t *testing.T) {
	now := time.Now()
	renewed := func(ago time.Duration) *metav1.MicroTime { return &metav1.MicroTime{Time: now.Add(-ago)} }
	for name, c := range map[string]struct {
		lease coordinationv1.LeaseSpec
		want  bool
	}{
		"held":               {coordinationv1.LeaseSpec{HolderIdentity: new("x"), LeaseDurationSeconds: new(int32(15)), RenewTime: renewed(10 * time.Second)}, true},
		"over":               {coordinationv1.LeaseSpec{HolderIdentity: new("x"), LeaseDurationSeconds: new(int32(15)), RenewTime: renewed(20 * time.Second)}, false},
		"given back":         {coordinationv1.LeaseSpec{HolderIdentity: new(""), LeaseDurationSeconds: new(int32(15)), RenewTime: renewed(0)}, false},
		"of nobody":          {coordinationv1.LeaseSpec{LeaseDurationSeconds: new(int32(15)), RenewTime: renewed(0)}, false},
		"held since unknown": {coordinationv1.LeaseSpec{HolderIdentity: new("x")}, true},
	} {
		t.Run(name, func(t *testing.T) {
			if got := isAlive(c.lease, now); got != c.want {
				t.Errorf("alive %v, want %v", got, c.want)
			}
		})
	}
}
