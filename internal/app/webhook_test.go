package app

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/tabard-dev/tabard/internal/app/local"
	"github.com/tabard-dev/tabard/internal/app/program"
	"github.com/tabard-dev/tabard/internal/app/webhook"
	"github.com/tabard-dev/tabard/internal/testkit/must"
)

// referenceFlags are the flags of EKS's pod identity webhook, with their
// defaults.
var referenceFlags = map[string]string{
	"port": "443", "metrics-port": "9999", "kubeconfig": "", "kube-api": "",
	"tls-key": "/etc/webhook/certs/tls.key", "tls-cert": "/etc/webhook/certs/tls.crt",
	"tls-cipher-suites": "", "tls-min-version": "", "in-cluster": "true", "service-name": "pod-identity-webhook",
	"namespace": "eks", "tls-secret": "pod-identity-webhook", "annotation-prefix": "eks.amazonaws.com",
	"token-audience": "sts.amazonaws.com", "token-mount-path": "/var/run/secrets/eks.amazonaws.com/serviceaccount",
	"token-expiration": "86400", "aws-default-region": "", "sts-regional-endpoint": "false",
	"watch-config-map": "false", "compose-role-arn": "false", "watch-container-credentials-config": "",
	"container-credentials-audience":          "pods.eks.amazonaws.com",
	"container-credentials-token-mount-path":  "/var/run/secrets/pods.eks.amazonaws.com/serviceaccount",
	"container-credentials-token-volume-name": "eks-pod-identity-token",
	"container-credentials-token-path":        "eks-pod-identity-token",
	"container-credentials-full-uri":          "http://169.254.170.23/v1/credentials",
	"service-account-lookup-grace-period":     "0s", "resync-period": "1m0s", "enable-debugging-handlers": "false", "version": "false",
	// Those of klog, its logging.
	"v": "0", "vmodule": "", "logtostderr": "true", "alsologtostderr": "false", "alsologtostderrthreshold": "0",
	"legacy_stderr_threshold_behavior": "true", "stderrthreshold": "2", "log_dir": "", "log_file": "", "log_file_max_size": "1800",
	"log_backtrace_at": "", "add_dir_header": "false", "skip_headers": "false", "skip_log_headers": "false", "one_output": "false",
}

// otherDefaults are the flags whose default is another here. Each is in
// docs/compatibility.md.
var otherDefaults = map[string]string{
	"tls-secret": "tabard-webhook-cert", "tls-cert": "", "tls-key": "",
}

// ownFlags are those that EKS's webhook does not have.
var ownFlags = []string{
	"account-id", "any-role-arn", "azure-audience", "azure-environment", "azure-tenant-id", "bind-address",
	"client-ca-file", "client-names", "clouds",
	"custom-token-endpoint-annotation-suffix", "custom-token-endpoint-audience", "custom-token-endpoint-ca-config-map",
	"custom-token-endpoint-ca-data", "custom-token-endpoint-ca-trust-bundle", "custom-token-endpoint-sni-name",
	"custom-token-endpoint-token-proxy", "drain-time", "fs-group", "gcp-access-token-lifetime", "gcp-annotation-prefix",
	"gcp-default-injection-mode", "gcp-default-region", "gcp-token-audience", "gcp-token-default-mode", "gcp-token-expiration",
	"gcp-universe-domain", "help", "log-level", "max-connections", "memory-limit", "partition", "require-client-certificate",
	"role-selector-warnings", "session-name", "tls-secret-namespace", "token-file-mode", "unknown-lookups-per-second",
}

func TestTheWebhookHasTheFlagsOfEKSs(t *testing.T) {
	t.Parallel()
	command := webhook.Command()
	command.InitDefaultHelpFlag()
	command.InitDefaultVersionFlag()
	var own []string
	command.Flags().VisitAll(func(flag *pflag.Flag) {
		if _, ok := referenceFlags[flag.Name]; !ok {
			own = append(own, flag.Name)
		}
	})
	if diff := cmp.Diff(ownFlags, own); diff != "" {
		t.Errorf("flags that EKS's webhook does not have (-want +got):\n%s", diff)
	}
	for name, want := range referenceFlags {
		if other, ok := otherDefaults[name]; ok {
			want = other
		}
		flag := command.Flags().Lookup(name)
		switch {
		case flag == nil:
			t.Errorf("there is no --%s", name)
		case flag.DefValue != want:
			t.Errorf("the default of --%s is %q, want %q", name, flag.DefValue, want)
		}
	}
}

// TestWhatTheWebhooksCommandSays without serving.
func TestWhatTheWebhooksCommandSays(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		args, says string
		code       int
	}{
		"its version":                  {args: "--version", says: program.Version + "\n"},
		"a flag that nobody has":       {args: "--watch-configmap", says: "unknown flag: --watch-configmap", code: program.ExitUnusable},
		"a value that cannot be":       {args: "--tls-min-version=2", says: `--tls-min-version=2: it is "2", expected 1.0 to 1.3`, code: program.ExitUnusable},
		"a switch that is no switch":   {args: "--watch-config-map=maybe", says: "--watch-config-map=maybe: expected true or false; see tabard webhook --help", code: program.ExitUnusable},
		"a number that is none":        {args: "--port=https", says: "--port=https: expected a whole number", code: program.ExitUnusable},
		"a time that is none":          {args: "--resync-period=often", says: "--resync-period=often: expected a time such as", code: program.ExitUnusable},
		"klog's flags are checked":     {args: "--stderrthreshold=loud", says: "expected INFO, WARNING, ERROR, FATAL or a number", code: program.ExitUnusable},
		"a log level that is none":     {args: "--log-level=loud -v=5", says: "use debug, info, warn or error", code: program.ExitUnusable},
		"what does not go together":    {args: "--kube-api=http://127.0.0.1:1 -v 4 --logtostderr --compose-role-arn --account-id=111122223333", says: "--account-id without --partition", code: program.ExitUnusable},
		"settings that cannot be":      {args: "--kube-api=http://127.0.0.1:1 --token-audience=", says: "--token-audience is empty, expected one such as", code: program.ExitUnusable},
		"a cloud that nobody knows":    {args: "--clouds=aws,ibm", says: "--clouds=aws,ibm: it has \"ibm\", expected some of aws, azure, gcp, with commas between them", code: program.ExitUnusable},
		"no cloud":                     {args: "--clouds=,", says: "--clouds=,: it is empty, expected some of", code: program.ExitUnusable},
		"a flag of a cloud that's off": {args: "--kube-api=http://127.0.0.1:1 --azure-tenant-id=x", says: "--azure-tenant-id is set, and --clouds has no azure", code: program.ExitUnusable},
		"a kubeconfig that is nowhere": {args: "--kube-api=http://127.0.0.1:1 --kubeconfig=/nonexistent", says: "the kubeconfig (/nonexistent) cannot be read", code: program.ExitUnusable},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if code, says := say(t, test.args); code != test.code || !strings.Contains(says, test.says) {
				t.Errorf("code %d, %q; want %d, %q", code, says, test.code, test.says)
			}
		})
	}
}

// TestCompatibilityNamesFlagsThatAre: the page tells people what to set.
func TestCompatibilityNamesFlagsThatAre(t *testing.T) {
	t.Parallel()
	page := must.Get(os.ReadFile("../../docs/compatibility.md"))(t)
	ofWebhook, ofCapacity, _ := strings.Cut(string(page), "\n## capa-annotator\n")
	command := webhook.Command()
	for text, command := range map[string]*cobra.Command{ofWebhook: command, ofCapacity: capacityCommand()} {
		command.InitDefaultVersionFlag()
		named := regexp.MustCompile("`--([a-z-]+)").FindAllStringSubmatch(text, -1)
		if len(named) < 8 {
			t.Errorf("of %s %d flags are named, expected more: %v", command.Name(), len(named), named)
		}
		for _, name := range named {
			if command.Flags().Lookup(name[1]) == nil {
				t.Errorf("docs/compatibility.md names --%s of %s, which there is not", name[1], command.Name())
			}
		}
	}
	for name, other := range otherDefaults {
		if flag := command.Flags().Lookup(name); flag.DefValue != other || !strings.Contains(string(page), "`--"+name) {
			t.Errorf("--%s is %q by default, and must be named with it", name, flag.DefValue)
		}
	}
}

// say runs the command, which must not come to serve.
func say(t *testing.T, args string) (code int, says string) {
	t.Helper()
	var out strings.Builder
	root := rootCommand("tabard", local.Commands())
	root.SetOut(&out)
	root.SetArgs(append([]string{"webhook"}, strings.Fields(args)...))
	code = program.ExitCode(&out, root.ExecuteContext(t.Context()))
	return code, out.String()
}

// TestTheEnvironmentSaysWhatNoFlagSays of Azure.
func TestTheEnvironmentSaysWhatNoFlagSays(t *testing.T) {
	const azure = "--kube-api=http://127.0.0.1:1 --clouds=azure "
	t.Setenv("AZURE_TENANT_ID", "")
	t.Setenv("AZURE_ENVIRONMENT", "")
	expect := func(args, want string) {
		t.Helper()
		if code, says := say(t, args); code != program.ExitUnusable || !strings.Contains(says, want) {
			t.Errorf("%s: code %d, %q; want %d, %q", args, code, says, program.ExitUnusable, want)
		}
	}
	expect(azure, "--azure-tenant-id is empty, and AZURE_TENANT_ID is not set")
	t.Setenv("AZURE_TENANT_ID", "22222222-0000-0000-0000-000000000000")
	t.Setenv("AZURE_ENVIRONMENT", "by-environment")
	expect(azure, `--azure-environment is "by-environment"`)
	expect(azure+"--azure-environment=by-flag", `--azure-environment is "by-flag"`)
	expect(azure+"--azure-tenant-id=%20 --azure-environment=AzureChinaCloud --azure-audience=", "--azure-audience is empty")
}
