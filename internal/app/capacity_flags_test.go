package app

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/pflag"

	"github.com/tabard-dev/tabard/internal/controller/capacity"
	core "github.com/tabard-dev/tabard/internal/core/capacity"
	"github.com/tabard-dev/tabard/internal/testkit/must"
)

// TestCapacityFlags: those of the controller are good for both commands.
func TestCapacityFlags(t *testing.T) {
	for name, c := range map[string]struct {
		args []string
		// alone says that the operator has no such flag.
		alone   bool
		refused string
	}{
		"nothing is fine":               {},
		"the original's flags are fine": {alone: true, args: []string{"--leader-elect=true", "--leader-elect-lease-duration=30s", "--namespace=x", "--feature-gates=MachineAPIMigration=true", "-v=3", "--logtostderr=true"}},
		"what goes beyond is fine": {args: []string{
			"--PREFIX-only-autoscaled", "--PREFIX-memory-reserve-percent=50", "--PREFIX-defer-to-template-status", "--PREFIX-predecessor-field-managers=a, b",
			"--PREFIX-namespace=x", "--PREFIX-annotation-profile=full", "--PREFIX-unknown-type-recheck=1m", "--PREFIX-instance-type-cache-ttl=1h",
			"--PREFIX-region-cache-ttl=1h", "--PREFIX-aws-request-timeout=1m", "--PREFIX-sync-period=1h", "--PREFIX-allow-container-credentials",
			"--PREFIX-allow-default-credential-chain", "--PREFIX-feature-gates=MachineAPIMigration=false",
		}},
		"another profile is refused": {args: []string{"--PREFIX-annotation-profile=all"}, refused: "--PREFIX-annotation-profile=all: expected one of [auto legacy full]"},
		"another feature gate is refused": {
			args: []string{"--PREFIX-feature-gates=Other=true"}, refused: "--PREFIX-feature-gates=Other=true: there is no feature gate \"Other\"; there is KNOWN",
		},
		"a feature gate without value is refused": {
			args:    []string{"--PREFIX-feature-gates=MachineAPIMigration"},
			refused: "--PREFIX-feature-gates=MachineAPIMigration: expected MachineAPIMigration=true or MachineAPIMigration=false",
		},
		"more than half the memory is refused": {args: []string{"--PREFIX-memory-reserve-percent=51"}, refused: "--PREFIX-memory-reserve-percent=51: expected 0 to 50"},
		"more memory than there is is refused": {args: []string{"--PREFIX-memory-reserve-percent=-1"}, refused: "--PREFIX-memory-reserve-percent=-1: expected 0 to 50"},
		"a manager without a name is refused": {
			args: []string{"--PREFIX-predecessor-field-managers=a,,b"}, refused: "--PREFIX-predecessor-field-managers=a,,b: expected names between the commas",
		},
		"a lease that is none is refused": {alone: true, args: []string{"--leader-elect-lease-duration=0s"}, refused: "--leader-elect-lease-duration=0s: expected 6s or more"},
	} {
		for _, prefix := range []string{"", "capacity-"} {
			if prefix != "" && c.alone {
				continue
			}
			t.Run(name+" "+prefix, func(t *testing.T) {
				named := strings.NewReplacer("PREFIX-", prefix, "KNOWN", map[string]string{"": "IAMRoleSelector, MachineAPIMigration", "capacity-": "MachineAPIMigration"}[prefix])
				var args []string
				for _, arg := range c.args {
					args = append(args, named.Replace(arg))
				}
				_, err := completeCapacity(t, prefix, args)
				wantRefused(t, err, named.Replace(c.refused))
			})
		}
	}
}

func TestCapacityFlagsReachTheDecision(t *testing.T) {
	for _, prefix := range []string{"", "capacity-"} {
		got := must.Get(completeCapacity(t, prefix, []string{
			"--" + prefix + "only-autoscaled", "--" + prefix + "memory-reserve-percent=7", "--" + prefix + "defer-to-template-status",
			"--" + prefix + "predecessor-field-managers=a, b", "--" + prefix + "annotation-profile=full", "--" + prefix + "unknown-type-recheck=1m",
			"--" + prefix + "namespace=x", "--" + prefix + "feature-gates=MachineAPIMigration=false",
		}))(t)
		want := capacity.Options{Decision: core.Options{
			OnlyAutoscaled: true, MemoryReserve: 7, DeferToTemplate: true, Predecessors: []string{"a", "b"}, Profile: core.Full, UnknownRecheck: time.Minute,
		}, Namespace: "x", Migration: new(false), Sync: 10 * time.Minute, Limit: time.Minute}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("options of --%s... (-want +got):\n%s", prefix, diff)
		}
	}
}

// completeCapacity is what arguments of the command say whose flags of the
// controller have that prefix.
func completeCapacity(t *testing.T, prefix string, args []string) (capacity.Options, error) {
	t.Helper()
	parsed := pflag.NewFlagSet("command", pflag.ContinueOnError)
	var alone capacityFlags
	var beside capacityControllerFlags
	add, complete, options := alone.add, alone.complete, &alone.controller.options
	if prefix != "" {
		add, complete, options = func(flags *pflag.FlagSet) { beside.add(flags, prefix) }, beside.complete, &beside.options
	}
	add(parsed)
	must.Do(t, parsed.Parse(args))
	err := complete()
	return *options, err
}

// wantRefused compares an error's text; empty is none.
func wantRefused(t *testing.T, err error, want string) {
	t.Helper()
	got := ""
	if err != nil {
		got = err.Error()
	}
	if got != want {
		t.Errorf("error %q, want %q", got, want)
	}
}
