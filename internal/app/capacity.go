package app

import (
	"context"
	"flag"
	"fmt"
	"log/slog"
	"os"
	"runtime/debug"
	"strings"
	"time"

	"github.com/go-logr/logr"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"k8s.io/klog/v2"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/healthz"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"

	"github.com/tabard-dev/tabard/internal/app/election"
	"github.com/tabard-dev/tabard/internal/app/program"
	"github.com/tabard-dev/tabard/internal/cli/command"
)

func capacityCommand() *cobra.Command {
	var flags capacityFlags
	c := &cobra.Command{
		Use:   "capacity",
		Short: "Run the capacity controller alone, in the place of capa-annotator",
		Long: `Run the capacity controller alone, in the place of capa-annotator. It tells the
cluster autoscaler what a node of a group without nodes would have, by annotations
on the Machine API's MachineSets and on Cluster API's MachineDeployments and
stand-alone MachineSets. Each kind is watched from when the cluster serves it.

It calls AWS with its own web identity (AWS_ROLE_ARN and AWS_WEB_IDENTITY_TOKEN_FILE),
or with the Secret that a MachineSet names. If only one of the two variables is set, it
does not become ready, and /readyz/capacity-identity says which is missing.`,
		Example: `  # all namespaces, waiting for the leases
  tabard capacity --leader-elect

  # one namespace, and the keys of the Machine API alone
  tabard capacity --namespace=openshift-machine-api --annotation-profile=legacy

  # in the place of a program of another name, whose values are taken over
  tabard capacity --predecessor-field-managers=scale-from-zero-annotator`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return flags.run(cmd.Context(), cmd.Flags()) },
	}
	flags.add(c.Flags())
	command.AddVersion(c, program.Version)
	return c
}

// capacityFlags are what the command is told.
type capacityFlags struct {
	controller        capacityControllerFlags
	roleSelectors     roleSelectorFlags
	kubeconfig, level string
	metrics, health   string
	leaderElect       bool
	leaseNamespace    string
	lease             time.Duration
}

func (f *capacityFlags) add(flags *pflag.FlagSet) {
	f.controller.knownGates = []string{selectorGate}
	f.controller.add(flags, "")
	flags.Lookup("feature-gates").Usage += "; " + selectorGate + "=true or =false: whether IAMRoleSelectors are followed (default: false)"
	f.roleSelectors.add(flags)
	flags.StringVar(&f.metrics, "metrics-bind-address", ":8080", "where /metrics is served; 0 turns it off")
	flags.StringVar(&f.health, "health-addr", ":9440", "where /healthz and /readyz are served; 0 turns them off")
	flags.BoolVar(&f.leaderElect, "leader-elect", false, "wait for the leases "+strings.Join(declareCapacity().leases(), " and ")+", so that only one replica acts")
	flags.StringVar(&f.leaseNamespace, "leader-elect-resource-namespace", "", "the namespace of the leases (default: the pod's own)")
	flags.DurationVar(&f.lease, "leader-elect-lease-duration", 120*time.Second, "how long a replica that is gone keeps the leases; they are renewed six times as often")
	command.AddKubeconfig(flags, &f.kubeconfig, "the cluster served")
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
	flags.Lookup("v").Usage = program.VerbosityUsage
}

// garbage is how much the heap may grow, in percent, before it is collected: the
// lists of a start are read once, and Go would keep room for them. GOGC goes
// before it.
const garbage = 50

// run annotates until ctx ends.
func (f *capacityFlags) run(ctx context.Context, flags *pflag.FlagSet) error {
	if os.Getenv("GOGC") == "" {
		defer debug.SetGCPercent(debug.SetGCPercent(garbage))
	}
	if _, err := program.LimitMemory(""); err != nil {
		return err
	}
	logger, err := program.NewLogger(os.Stderr, program.LevelOf(flags, f.level))
	if err != nil {
		return err
	}
	if err := f.complete(); err != nil {
		return program.Unusable(err)
	}
	config, err := program.KubeConfig(f.kubeconfig)
	if err != nil {
		return err
	}
	ctrl.SetLogger(logr.FromSlogHandler(logger.Handler()))
	scheme, err := newScheme()
	if err != nil {
		return err
	}
	mgr, err := ctrl.NewManager(config, ctrl.Options{
		Scheme:                 scheme,
		Metrics:                metricsserver.Options{BindAddress: f.metrics},
		HealthProbeBindAddress: f.health,
	})
	if err != nil {
		return err
	}
	return f.elect(ctx, mgr, logger)
}

// elect runs the controller while the process holds its leases.
func (f *capacityFlags) elect(ctx context.Context, mgr ctrl.Manager, logger *slog.Logger) error {
	elected, err := election.New(mgr, election.Options{On: f.leaderElect, Namespace: f.leaseNamespace, Duration: f.lease})
	if err != nil {
		return err
	}
	if mgr, err = elected.Manager(declareCapacity().leases()...); err != nil {
		return err
	}
	if err := addPing(mgr); err != nil {
		return err
	}
	if err := f.roleSelectors.join(mgr, &f.controller.options, f.leaseNamespace); err != nil {
		return err
	}
	if err := f.controller.start(ctx, mgr, logger); err != nil {
		return err
	}
	return elected.Run(ctx)
}

// complete checks what the flags say and takes it over.
func (f *capacityFlags) complete() error {
	if f.lease < 6*time.Second {
		return fmt.Errorf("--leader-elect-lease-duration=%s: expected 6s or more", f.lease)
	}
	if err := f.controller.complete(); err != nil {
		return err
	}
	return f.roleSelectors.complete(f.controller.chosenGates[selectorGate])
}

// addPing serves /healthz and /readyz.
func addPing(mgr ctrl.Manager) error {
	if err := mgr.AddHealthzCheck("ping", healthz.Ping); err != nil {
		return err
	}
	return mgr.AddReadyzCheck("ping", healthz.Ping)
}
