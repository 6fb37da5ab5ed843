package app

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/spf13/pflag"
	"k8s.io/client-go/dynamic"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/metrics"

	"github.com/tabard-dev/tabard/awsauth"
	"github.com/tabard-dev/tabard/awsauth/kube"
	"github.com/tabard-dev/tabard/awsauth/metric"
	"github.com/tabard-dev/tabard/internal/app/program"
	"github.com/tabard-dev/tabard/internal/cloud/instancetype"
	"github.com/tabard-dev/tabard/internal/controller/capacity"
	core "github.com/tabard-dev/tabard/internal/core/capacity"
)

const (
	// migrationGate is OpenShift's feature gate.
	migrationGate = "MachineAPIMigration"
	// identityCheck is the part of /readyz that is about who asks AWS.
	identityCheck = "capacity-identity"
	// maxReserve is the largest part of the memory, in percent, that can be meant.
	maxReserve = 50
)

// capacityControllerFlags are what the controller is told, in whichever process
// it runs.
type capacityControllerFlags struct {
	// prefix begins the flags' names.
	prefix     string
	options    capacity.Options
	types      instancetype.Options
	identities capacity.Identities
	profile    string
	gates      string
	// knownGates are those that the flag takes, and chosenGates what it says.
	knownGates  []string
	chosenGates map[string]bool
}

// add adds the flags, each with the prefix before its name.
func (f *capacityControllerFlags) add(flags *pflag.FlagSet, prefix string) {
	f.prefix, f.knownGates = prefix, append(f.knownGates, migrationGate)
	decision := &f.options.Decision
	flags.StringVar(&f.options.Namespace, prefix+"namespace", "", "the namespace whose objects are annotated (default: all)")
	flags.StringVar(&f.gates, prefix+"feature-gates", "", migrationGate+"=true or =false: whether machines can move between the two machine APIs (default: found out from the schema of the MachineSet)")
	flags.StringVar(&f.profile, prefix+"annotation-profile", string(core.ByKind), "auto: the Machine API's keys, and on Cluster API's objects also upstream's; legacy: the Machine API's alone; full: all keys on all objects")
	flags.BoolVar(&decision.OnlyAutoscaled, prefix+"only-autoscaled", false, "annotate only objects that have an annotation with a smallest or largest size for the autoscaler (cluster-api-autoscaler-node-group-min-size, -max-size); if these are removed later, annotations that were written stay until the object is deleted")
	flags.Int64Var(&decision.MemoryReserve, prefix+"memory-reserve-percent", 0, "how much of an instance's memory is subtracted, 0 to 50: the kernel and the kubelet reserve it, and pods cannot use it")
	flags.BoolVar(&decision.DeferToTemplate, prefix+"defer-to-template-status", false, "on Cluster API's objects, omit upstream's keys for CPU and memory if status.capacity of the AWSMachineTemplate has them; the memory reserve does not apply there")
	flags.StringSliceVar(&decision.Predecessors, prefix+"predecessor-field-managers", nil, "field managers whose values are treated as this program's own: for a program that wrote these annotations with another field manager and no longer runs (see metadata.managedFields)")
	flags.DurationVar(&f.options.Sync, prefix+"sync-period", 10*time.Minute, "how often every object is reconciled without a change")
	flags.DurationVar(&decision.UnknownRecheck, prefix+"unknown-type-recheck", 30*time.Minute, "when AWS is asked again for a type or region that it does not know")
	flags.DurationVar(&f.options.Limit, prefix+"aws-request-timeout", time.Minute, "timeout of one AWS request")
	flags.DurationVar(&f.types.Soft, prefix+"instance-type-cache-ttl", 24*time.Hour, "how long a region's list of instance types is cached")
	flags.DurationVar(&f.types.Regions, prefix+"region-cache-ttl", 30*time.Minute, "how long the list of regions is cached")
	flags.BoolVar(&f.identities.AllowContainer, prefix+"allow-container-credentials", false, "use the credentials of the EKS Pod Identity agent if there is neither a web identity nor a Secret")
	flags.BoolVar(&f.identities.AllowDefaultChain, prefix+"allow-default-credential-chain", false, "use what the AWS SDK finds (keys in the environment, profiles, instance metadata) if there is nothing else")
}

// complete checks what the flags say and takes it over.
func (f *capacityControllerFlags) complete() error {
	decision := &f.options.Decision
	decision.Profile = core.Profile(f.profile)
	if !slices.Contains(core.Profiles(), decision.Profile) {
		return fmt.Errorf("--%sannotation-profile=%.200s: expected one of %v", f.prefix, f.profile, core.Profiles())
	}
	if decision.MemoryReserve < 0 || decision.MemoryReserve > maxReserve {
		return fmt.Errorf("--%smemory-reserve-percent=%d: expected 0 to %d", f.prefix, decision.MemoryReserve, maxReserve)
	}
	for i, manager := range decision.Predecessors {
		decision.Predecessors[i] = strings.TrimSpace(manager)
		if decision.Predecessors[i] == "" {
			return fmt.Errorf("--%spredecessor-field-managers=%.200s: expected names between the commas", f.prefix, strings.Join(decision.Predecessors, ","))
		}
	}
	var err error
	if f.chosenGates, err = parseGates(f.prefix+"feature-gates", f.gates, f.knownGates...); err != nil {
		return err
	}
	if on, said := f.chosenGates[migrationGate]; said {
		f.options.Migration = &on
	}
	return nil
}

// start adds the controller to a manager, with all that it asks of AWS.
func (f *capacityControllerFlags) start(ctx context.Context, mgr ctrl.Manager, logger *slog.Logger) error {
	access, err := dynamic.NewForConfigAndClient(mgr.GetConfig(), mgr.GetHTTPClient())
	if err != nil {
		return fmt.Errorf("make a client for Secrets: %w", err)
	}
	// Nothing is followed before the controller asks for it.
	var controller *capacity.Controller
	var types *instancetype.Types
	changed := func(ref kube.Reference) {
		types.Forgive()
		controller.Changed(ref)
	}
	auth, err := awsauth.New(awsauth.Options{
		Source: kube.New(ctx, kube.Options{Client: access, Changed: changed}),
		AppID:  "tabard/" + program.Version, Observer: awsMetrics(), Logger: logger,
		InUse: func() int { return controller.Sessions() },
	})
	if err != nil {
		return err
	}
	f.types.Negative = f.options.Decision.UnknownRecheck // else asking again would get the old answer
	f.types.Refreshed = func(r instancetype.Refresh) { capacity.Fetched(r.Region, r.Err) }
	types = instancetype.New(auth, f.types)
	f.options.Ages = types.Ages
	f.identities.Environment, f.options.DefaultRegion = auth.Environment(), auth.Region()
	f.options.Types, f.options.Credentials = types, f.identities
	if controller, err = capacity.Add(mgr, f.options); err != nil {
		return err
	}
	return f.addIdentityCheck(mgr, logger)
}

// addIdentityCheck makes the process not ready while its environment has half a
// web identity, which only a new environment mends. The process stays, to tell of
// it by events too. Nobody in AWS is asked: its troubles are no reason to be
// replaced.
func (f *capacityControllerFlags) addIdentityCheck(mgr ctrl.Manager, logger *slog.Logger) error {
	problem := f.identities.Environment.Check()
	if problem != nil {
		logger.Error("not ready", "check", identityCheck, "err", problem)
	}
	return mgr.AddReadyzCheck(identityCheck, func(*http.Request) error { return problem })
}

// awsMetrics count this process's calls of AWS.
var awsMetrics = sync.OnceValue(func() *metric.Collector {
	made := metric.New("tabard")
	metrics.Registry.MustRegister(made)
	return made
})

// declareCapacity is the controller beside others.
func declareCapacity() *declaration {
	var f capacityControllerFlags
	return &declaration{
		name: "capacity",
		does: "tells the cluster autoscaler what a node of a group without nodes would have, by annotations",
		page: "capacity.md",
		off:  true, selected: true, predecessors: []string{"capa-annotator-leader"},
		flags: f.add, complete: f.complete,
		add: func(ctx context.Context, mgr ctrl.Manager, op *operator) error {
			if err := op.roleSelectors.join(mgr, &f.options, op.namespace); err != nil {
				return err
			}
			return f.start(ctx, mgr, op.logger)
		},
	}
}
