package app

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/pflag"
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
var ownFlags = []string{"account-id", "any-role-arn", "bind-address", "drain-time", "fs-group", "help", "log-level", "partition", "session-name", "token-file-mode"}

func TestTheWebhookHasTheFlagsOfEKSs(t *testing.T) {
	t.Parallel()
	command := webhookCommand()
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
		"its version":                  {args: "--version", says: version + "\n"},
		"a flag that nobody has":       {args: "--watch-configmap", says: "unknown flag: --watch-configmap", code: exitUnusable},
		"a value that cannot be":       {args: "--tls-min-version=2", says: `--tls-min-version=2: it is "2", expected 1.0 to 1.3`, code: exitUnusable},
		"a switch that is no switch":   {args: "--watch-config-map=maybe", says: "--watch-config-map=maybe: expected true or false; see tabard webhook --help", code: exitUnusable},
		"a number that is none":        {args: "--port=https", says: "--port=https: expected a whole number", code: exitUnusable},
		"a time that is none":          {args: "--resync-period=often", says: "--resync-period=often: expected a time such as", code: exitUnusable},
		"klog's flags are checked":     {args: "--stderrthreshold=loud", says: "expected INFO, WARNING, ERROR, FATAL or a number", code: exitUnusable},
		"a log level that is none":     {args: "--log-level=loud -v=5", says: "use debug, info, warn or error", code: exitUnusable},
		"what does not go together":    {args: "--kube-api=http://127.0.0.1:1 -v 4 --logtostderr --compose-role-arn --account-id=111122223333", says: "--account-id without --partition", code: exitRefused},
		"settings that cannot be":      {args: "--kube-api=http://127.0.0.1:1 --token-audience=", says: "--token-audience is empty, expected one such as", code: exitRefused},
		"a kubeconfig that is nowhere": {args: "--kube-api=http://127.0.0.1:1 --kubeconfig=/nonexistent", says: "no cluster to talk to at --kube-api", code: exitRefused},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var out strings.Builder
			root := rootCommand("tabard")
			root.SetOut(&out)
			root.SetArgs(append([]string{"webhook"}, strings.Fields(test.args)...))
			code := exitCode(&out, root.ExecuteContext(t.Context()))
			if code != test.code || !strings.Contains(out.String(), test.says) {
				t.Errorf("code %d, %q; want %d, %q", code, out.String(), test.code, test.says)
			}
		})
	}
}

// TestCompatibilityNamesFlagsThatAre: the page tells people what to set.
func TestCompatibilityNamesFlagsThatAre(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../../docs/compatibility.md")
	if err != nil {
		t.Fatal(err)
	}
	command := webhookCommand()
	command.InitDefaultVersionFlag()
	named := regexp.MustCompile("`--([a-z-]+)").FindAllStringSubmatch(string(page), -1)
	if len(named) < 20 {
		t.Errorf("%d flags are named, expected some twenty: %v", len(named), named)
	}
	for _, name := range named {
		if command.Flags().Lookup(name[1]) == nil {
			t.Errorf("docs/compatibility.md names --%s, which there is not", name[1])
		}
	}
	for name, other := range otherDefaults {
		if flag := command.Flags().Lookup(name); flag.DefValue != other || !strings.Contains(string(page), "`--"+name) {
			t.Errorf("--%s is %q by default, and must be named with it", name, flag.DefValue)
		}
	}
}
