package app

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"slices"
	"strings"

	"github.com/go-logr/logr"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	ctrl "sigs.k8s.io/controller-runtime"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"

	cloudv1 "github.com/tabard-dev/tabard/api/cloudcredential/v1"
	"github.com/tabard-dev/tabard/api/identity/v1alpha1"
	services "github.com/tabard-dev/tabard/api/services/v1alpha1"
	"github.com/tabard-dev/tabard/internal/app/election"
	"github.com/tabard-dev/tabard/internal/app/program"
	"github.com/tabard-dev/tabard/internal/cli/command"
	"github.com/tabard-dev/tabard/internal/cli/completion"
)

// operator is what the controllers of one process share.
type operator struct {
	// served reaches the cluster whose objects are reconciled, host the one
	// that Tabard runs in: its leases and its own Secrets. Mostly the same.
	served, host *rest.Config
	// namespace is Tabard's own.
	namespace string
	// serviceAccount is the account that the process runs as.
	serviceAccount string
	// roleSelectors is what is said of IAMRoleSelectors.
	roleSelectors *roleSelectorFlags
	logger        *slog.Logger
}

// controllers makes what each controller declares, in alphabetical order of their
// names: each in the file of its name.
var controllers = []func() *declaration{
	declareCapacity, declareCertificate, declareCredentials, declareHubAccess, declareInjection, declareIssuer, declareOperators,
	declareSelectorReport, declareWebhookDeployment,
}

type operatorFlags struct {
	controllers               string
	kubeconfig, hostConfig    string
	namespace, serviceAccount string
	leaderElect               bool
	metrics, health           string
	logLevel                  string
	gates                     string
	roleSelectors             roleSelectorFlags
	// all are the controllers, with what the flags say to each.
	all []*declaration
}

func operatorCommand() *cobra.Command {
	var flags operatorFlags
	command := &cobra.Command{
		Use:   "operator",
		Short: "Run Tabard's controllers",
		Long:  "Run Tabard's controllers. Rights are separated by Deployment: each runs the\ncontrollers that its ServiceAccount has the rights for.\n\nControllers:\n" + describeControllers(),
		Example: `  # what the Deployment tabard-issuer runs
  tabard operator --controllers=issuer

  # everything but the issuer
  tabard operator --controllers='*,-issuer'

  # everything, and capacity, which is off by default
  tabard operator --controllers='*,capacity' --capacity-only-autoscaled`,
		Args: func(cmd *cobra.Command, args []string) error {
			return cmp.Or(meantOperators(cmd, args), cobra.NoArgs(cmd, args))
		},
		RunE: func(cmd *cobra.Command, _ []string) error { return runOperator(cmd.Context(), flags) },
	}
	// A flag of "tabard operators list" is refused before the argument is looked at.
	command.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		return cmp.Or(meantOperators(cmd, cmd.Flags().Args()), cmd.Parent().FlagErrorFunc()(cmd, err))
	})
	flags.add(command.Flags())
	known, _ := controllerNames()
	// The flag is there, and has no completion: those are the errors.
	_ = command.RegisterFlagCompletionFunc("controllers", completion.ListOf(known))
	return command
}

// meantOperators tells who types "tabard operator list" of the command "tabard operators list". Nil
// where no such command is meant.
func meantOperators(operator *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	for _, beside := range operator.Parent().Commands() {
		for _, below := range beside.Commands() {
			if beside.Name() == "operators" && below.Name() == args[0] {
				return program.Unusable(fmt.Errorf("%s runs the controllers and takes no arguments; did you mean %s?", operator.CommandPath(), below.CommandPath()))
			}
		}
	}
	return nil
}

func (f *operatorFlags) add(flags *pflag.FlagSet) {
	flags.StringVar(&f.controllers, "controllers", "*", "the controllers to run: names, '*' for all that are not off, '-name' to leave one out")
	command.AddKubeconfig(flags, &f.kubeconfig, "the cluster served")
	flags.StringVar(&f.hostConfig, "host-kubeconfig", "", "kubeconfig of the cluster that Tabard runs in, for its leases and Secrets (default: the cluster served)")
	flags.StringVar(&f.namespace, "namespace", command.Namespace, "Tabard's own namespace")
	flags.StringVar(&f.serviceAccount, "service-account", "tabard-issuer", "the ServiceAccount that this process runs as; the issuer controller requests tokens for it to see what the cluster signs with")
	flags.BoolVar(&f.leaderElect, "leader-elect", true, "wait for each controller's lease, so that it acts in one process only")
	flags.StringVar(&f.metrics, "metrics-bind-address", ":8080", "where /metrics is served; 0 turns it off")
	flags.StringVar(&f.health, "health-probe-bind-address", ":8081", "where /healthz and /readyz are served; 0 turns them off")
	flags.StringVar(&f.logLevel, "log-level", "info", "debug, info, warn or error")
	flags.StringVar(&f.gates, "feature-gates", "", selectorGate+"=true or =false: whether IAMRoleSelectors are followed (default: false)")
	f.roleSelectors.add(flags)
	f.all = declared()
	for _, c := range f.all {
		if c.flags != nil {
			c.flags(flags, c.name+"-")
		}
	}
}

func describeControllers() string {
	var text strings.Builder
	width := 0
	for _, c := range declared() {
		width = max(width, len(c.name))
	}
	for _, c := range declared() {
		does := c.does
		if c.off {
			does += "\n" + strings.Repeat(" ", width+4) + "(off by default; '*' does not turn it on)"
		}
		fmt.Fprintf(&text, "  %-*s  %s\n", width, c.name, does)
	}
	return text.String()
}

func runOperator(ctx context.Context, flags operatorFlags) error {
	logger, err := program.NewLogger(os.Stderr, flags.logLevel)
	if err != nil {
		return err
	}
	ctrl.SetLogger(logr.FromSlogHandler(logger.Handler()))
	if _, err := program.LimitMemory(""); err != nil {
		return err
	}
	chosen, err := flags.complete()
	if err != nil {
		return program.Unusable(err)
	}
	op, err := newOperator(flags)
	if err != nil {
		return err
	}
	op.logger, op.roleSelectors = logger, &flags.roleSelectors
	mgr, err := newManager(op, flags)
	if err != nil {
		return err
	}
	elected, err := election.New(mgr, election.Options{
		On: flags.leaderElect, Config: op.host, Namespace: op.namespace, First: setLeases(chosen, without(controllerNames())),
	})
	if err != nil {
		return err
	}
	for _, c := range flags.all {
		if !slices.Contains(chosen, c.name) {
			continue
		}
		if err := c.run(ctx, elected, op); err != nil {
			return fmt.Errorf("start controller %s: %w", c.name, err)
		}
	}
	logger.Info("starting", "controllers", chosen, "namespace", op.namespace)
	return elected.Run(ctx)
}

// complete checks what the flags say, and returns the controllers to run.
func (f *operatorFlags) complete() ([]string, error) {
	known, off := controllerNames()
	chosen, err := choose(f.controllers, known, off)
	if err != nil {
		return nil, err
	}
	gates, err := parseGates("feature-gates", f.gates, selectorGate)
	if err != nil {
		return nil, err
	}
	if err := f.roleSelectors.complete(gates[selectorGate]); err != nil {
		return nil, err
	}
	for _, c := range f.all {
		if c.gated && !f.roleSelectors.on && slices.Contains(chosen, c.name) {
			return nil, fmt.Errorf("--controllers: %s needs --feature-gates=%s=true", c.name, selectorGate)
		}
	}
	for _, c := range f.all {
		if c.complete != nil {
			err = errors.Join(err, c.complete())
		}
	}
	return chosen, err
}

func newOperator(flags operatorFlags) (*operator, error) {
	served, err := program.KubeConfig(flags.kubeconfig)
	if err != nil {
		return nil, err
	}
	host := served
	if flags.hostConfig != "" {
		if host, err = program.KubeConfig(flags.hostConfig); err != nil {
			return nil, err
		}
	}
	return &operator{served: served, host: host, namespace: flags.namespace, serviceAccount: flags.serviceAccount}, nil
}

func newScheme() (*runtime.Scheme, error) {
	scheme := runtime.NewScheme()
	if err := clientgoscheme.AddToScheme(scheme); err != nil {
		return nil, err
	}
	if err := v1alpha1.AddToScheme(scheme); err != nil {
		return nil, err
	}
	if err := cloudv1.AddToScheme(scheme); err != nil {
		return nil, err
	}
	return scheme, services.AddToScheme(scheme)
}

func newManager(op *operator, flags operatorFlags) (ctrl.Manager, error) {
	scheme, err := newScheme()
	if err != nil {
		return nil, err
	}
	mgr, err := ctrl.NewManager(op.served, ctrl.Options{
		Scheme:                 scheme,
		Metrics:                metricsserver.Options{BindAddress: flags.metrics},
		HealthProbeBindAddress: flags.health,
	})
	if err != nil {
		return nil, err
	}
	return mgr, addPing(mgr)
}
