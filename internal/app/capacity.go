package app

import (
	"context"
	"flag"
	"fmt"
	"log/slog"
	"os"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/go-logr/logr"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"k8s.io/client-go/dynamic"
	"k8s.io/klog/v2"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/healthz"
	"sigs.k8s.io/controller-runtime/pkg/metrics"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"

	"github.com/tabard-dev/tabard/awsauth"
	"github.com/tabard-dev/tabard/awsauth/kube"
	"github.com/tabard-dev/tabard/awsauth/metric"
	"github.com/tabard-dev/tabard/internal/cloud/instancetype"
	"github.com/tabard-dev/tabard/internal/controller/capacity"
	core "github.com/tabard-dev/tabard/internal/core/capacity"
)

const (
	// capacityLease is the original program's, so that the two never act at once.
	capacityLease = "capa-annotator-leader"
	// migrationGate is OpenShift's feature gate.
	migrationGate = "MachineAPIMigration"
)

func capacityCommand() *cobra.Command {
	var flags capacityFlags
	command := &cobra.Command{
		Use:   "capacity",
		Short: "Run the capacity controller alone, in the place of capa-annotator",
		Long: `Run the capacity controller alone, in the place of capa-annotator. It tells the
cluster autoscaler what a node of a group without nodes would have, by annotations
on the Machine API's MachineSets and on Cluster API's MachineDeployments and
stand-alone MachineSets. Each kind is watched from when the cluster serves it.

It asks AWS as its own web identity (AWS_ROLE_ARN and AWS_WEB_IDENTITY_TOKEN_FILE),
else as the Secret that a MachineSet names.`,
		Example: `  # all namespaces, waiting for the lease capa-annotator-leader
  tabard capacity --leader-elect

  # one namespace, and the keys of the Machine API alone
  tabard capacity --namespace=openshift-machine-api --annotation-profile=legacy`,
		Version: version,
		Args:    cobra.NoArgs,
		RunE:    func(cmd *cobra.Command, _ []string) error { return flags.run(cmd.Context(), cmd.Flags()) },
	}
	command.SetVersionTemplate("{{.Version}}\n")
	flags.add(command.Flags())
	return command
}

// capacityFlags are what the command is told.
type capacityFlags struct {
	options           capacity.Options
	types             instancetype.Options
	identities        capacity.Identities
	profile           string
	gates             string
	kubeconfig, level string
	metrics, health   string
	leaderElect       bool
	leaseNamespace    string
	lease             time.Duration
}

func (f *capacityFlags) add(flags *pflag.FlagSet) {
	flags.StringVar(&f.metrics, "metrics-bind-address", ":8080", "where /metrics is served; 0 turns it off")
	flags.StringVar(&f.health, "health-addr", ":9440", "where /healthz and /readyz are served; 0 turns them off")
	flags.StringVar(&f.options.Namespace, "namespace", "", "the namespace whose objects are annotated (default: all)")
	flags.BoolVar(&f.leaderElect, "leader-elect", false, "wait for the lease "+capacityLease+", so that only one replica acts")
	flags.StringVar(&f.leaseNamespace, "leader-elect-resource-namespace", "", "the namespace of the lease (default: the pod's own)")
	flags.DurationVar(&f.lease, "leader-elect-lease-duration", 120*time.Second, "how long a replica that is gone keeps the lease; it is renewed six times as often")
	flags.StringVar(&f.gates, "feature-gates", "", migrationGate+"=true or =false: whether machines can move between the two machine APIs (default: found out from the schema of the MachineSet)")
	flags.StringVar(&f.profile, "annotation-profile", string(core.ByKind), "auto: the Machine API's keys, and on Cluster API's objects also upstream's; legacy: the Machine API's alone; full: all keys on all objects")
	flags.DurationVar(&f.options.Sync, "sync-period", 10*time.Minute, "how often every object is looked at without any cause")
	flags.DurationVar(&f.options.Decision.UnknownRecheck, "unknown-type-recheck", 30*time.Minute, "when AWS is asked again for a type or region that it does not know")
	flags.DurationVar(&f.options.Limit, "aws-request-timeout", time.Minute, "how long AWS may take to answer")
	flags.DurationVar(&f.types.Soft, "instance-type-cache-ttl", 24*time.Hour, "how old a region's list of instance types may be before it is renewed")
	flags.DurationVar(&f.types.Regions, "region-cache-ttl", 30*time.Minute, "how old the list of regions may be")
	flags.BoolVar(&f.identities.AllowContainer, "allow-container-credentials", false, "take the credentials of the pod's agent (EKS Pod Identity) if there is neither a web identity nor a Secret")
	flags.BoolVar(&f.identities.AllowDefaultChain, "allow-default-credential-chain", false, "take what the AWS SDK finds (keys in the environment, profiles, instance metadata) if there is nothing else")
	flags.StringVar(&f.kubeconfig, "kubeconfig", "", "kubeconfig of the cluster served (default: $KUBECONFIG, else the pod's own ServiceAccount)")
	flags.StringVar(&f.level, "log-level", "info", "debug, info, warn or error")
	addKlogFlags(flags)
}

// addKlogFlags takes the flags of Kubernetes' own logging, which the original has
// too. Only -v is shown.
func addKlogFlags(flags *pflag.FlagSet) {
	var all flag.FlagSet
	klog.InitFlags(&all)
	all.VisitAll(func(one *flag.Flag) {
		flags.AddGoFlag(one)
		flags.Lookup(one.Name).Hidden = one.Name != "v"
	})
	flags.Lookup("v").Usage = verbosityUsage
}

// run annotates until ctx ends.
func (f *capacityFlags) run(ctx context.Context, flags *pflag.FlagSet) error {
	logger, err := newLogger(os.Stderr, levelOf(flags, f.level))
	if err != nil {
		return err
	}
	if err := f.complete(); err != nil {
		return usageError{err}
	}
	config, err := kubeConfig(f.kubeconfig)
	if err != nil {
		return err
	}
	ctrl.SetLogger(logr.FromSlogHandler(logger.Handler()))
	scheme, err := newScheme()
	if err != nil {
		return err
	}
	// A lease of 120 seconds is renewed for 110, every 20, as the original's.
	renew, retry := f.lease*11/12, f.lease/6
	mgr, err := ctrl.NewManager(config, ctrl.Options{
		Scheme:                        scheme,
		Metrics:                       metricsserver.Options{BindAddress: f.metrics},
		HealthProbeBindAddress:        f.health,
		LeaderElection:                f.leaderElect,
		LeaderElectionID:              capacityLease,
		LeaderElectionNamespace:       f.leaseNamespace,
		LeaderElectionReleaseOnCancel: true,
		LeaseDuration:                 &f.lease,
		RenewDeadline:                 &renew,
		RetryPeriod:                   &retry,
	})
	if err != nil {
		return err
	}
	if err := addPing(mgr); err != nil {
		return err
	}
	if err := f.start(ctx, mgr, logger); err != nil {
		return err
	}
	return mgr.Start(ctx)
}

// complete checks what the flags say and takes it over.
func (f *capacityFlags) complete() error {
	f.options.Decision.Profile = core.Profile(f.profile)
	known := false
	for _, profile := range core.Profiles() {
		known = known || profile == f.options.Decision.Profile
	}
	if !known {
		return fmt.Errorf("--annotation-profile=%.200s: expected one of %v", f.profile, core.Profiles())
	}
	if f.lease < 6*time.Second {
		return fmt.Errorf("--leader-elect-lease-duration=%s: expected 6s or more", f.lease)
	}
	for gate := range strings.SplitSeq(f.gates, ",") {
		name, text, _ := strings.Cut(strings.TrimSpace(gate), "=")
		if name == "" {
			continue
		}
		on, err := strconv.ParseBool(text)
		if err != nil || name != migrationGate {
			return fmt.Errorf("--feature-gates=%.200s: expected %s=true or %s=false", f.gates, migrationGate, migrationGate)
		}
		f.options.Migration = &on
	}
	return nil
}

// start adds the controller to a manager, with all that it asks of AWS.
func (f *capacityFlags) start(ctx context.Context, mgr ctrl.Manager, logger *slog.Logger) error {
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
		AppID:  "tabard/" + version, Observer: awsMetrics(), Logger: logger,
	})
	if err != nil {
		return err
	}
	f.types.Refreshed = func(r instancetype.Refresh) { capacity.Fetched(r.Region, r.Err) }
	types = instancetype.New(auth, f.types)
	f.options.Ages = types.Ages
	f.identities.Environment, f.options.DefaultRegion = auth.Environment(), auth.Region()
	f.options.Types, f.options.Credentials = types, f.identities
	controller, err = capacity.Add(mgr, f.options)
	return err
}

// awsMetrics count this process's calls of AWS.
var awsMetrics = sync.OnceValue(func() *metric.Collector {
	made := metric.New("tabard")
	metrics.Registry.MustRegister(made)
	return made
})

// addCapacity runs it beside other controllers, as the flags of tabard capacity
// are by default.
func addCapacity(ctx context.Context, mgr ctrl.Manager, op *operator) error {
	var flags capacityFlags
	return flags.start(ctx, mgr, op.logger)
}

// addPing serves /healthz and /readyz.
func addPing(mgr ctrl.Manager) error {
	if err := mgr.AddHealthzCheck("ping", healthz.Ping); err != nil {
		return err
	}
	return mgr.AddReadyzCheck("ping", healthz.Ping)
}
