// Package completion completes what people type: the values that a flag takes, and the names
// that their cluster and their kubeconfig have.
package completion

import (
	"crypto/tls"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/tabard-dev/tabard/iampolicy"
	"github.com/tabard-dev/tabard/internal/handoff"
)

// values are what flags take, by the flag's name, or by the command's path and the flag's
// name for a command whose flag takes others.
var values = map[string][]string{
	"log-level":                  {"debug", "info", "warn", "error"},
	"platform":                   {"Auto", "Kubernetes", "OpenShift"},
	"issuer init platform":       {"Kubernetes", "OpenShift"},
	"cloud-credential-operator":  {"auto", "present", "absent"},
	"print":                      handoff.Forms(),
	"show":                       {"all", "matching"},
	"hub role in":                {"hub", "spoke"},
	"no-selector-policy":         {"DefaultRole", "Deny"},
	"annotation-profile":         {"auto", "legacy", "full"},
	"credentials-drift":          {"Enforce", "Report"},
	"hubaccess-managed-iam":      {"On", "Off"},
	"hub join registration-auth": {"csr", "awsirsa", "grpc"},
	"hub join mode":              {"Default", "Singleton"},
	"token-image-pull-policy":    {"Always", "IfNotPresent", "Never"},
	"feature-gates":              {"IAMRoleSelector=true", "IAMRoleSelector=false"},
	"capacity feature-gates":     {"MachineAPIMigration=true", "MachineAPIMigration=false", "IAMRoleSelector=true", "IAMRoleSelector=false"},
	"capacity-feature-gates":     {"MachineAPIMigration=true", "MachineAPIMigration=false"},
	"gcp-default-injection-mode": {"direct", "gcloud"},
	"azure-environment":          {"AzurePublicCloud", "AzureUSGovernmentCloud", "AzureChinaCloud"},
	"tls-min-version":            {"1.0", "1.1", "1.2", "1.3"},
	"migrate carm controllers":   {"ack", "tabard"},

	"iam-role-selector-controllers": {"capacity"},

	"addon-kubeclient-registration-auth": {"csr", "token"},

	"operators list token-auth":    {"yes", "no", "unknown"},
	"operators list permissions":   {"known", "unknown", "sensitive", "none"},
	"operators list cloud":         operatorClouds,
	"operators install approval":   {"manual", "automatic"},
	"operators install dry-run":    {"none", "client", "server", "files"},
	"operators permissions cloud":  operatorClouds,
	"operators handoff cloud":      operatorClouds,
	"operators handoff partition":  {"aws", "aws-cn", "aws-us-gov"},
	"operators upgrade-diff cloud": operatorClouds,
	"operators list feature":       {"disconnected", "fips-compliant", "proxy-aware", "cnf", "cni", "csi", "tls-profiles", "single-node"},

	"migrate carm output": {"text", "json"},
	"policy check output": {"text", "json", "sarif"},
	"lab status output":   {"json"},

	"policy check fail-on": {"error", "warning"},
	"policy check kind": {
		string(iampolicy.IdentityPolicy), string(iampolicy.ResourcePolicy), string(iampolicy.TrustPolicy),
		string(iampolicy.BoundaryPolicy), string(iampolicy.SessionPolicy), string(iampolicy.ManagedPolicy),
	},
}

// operatorClouds are those that operators ask for roles.
var operatorClouds = []string{"aws", "azure", "gcp", "this"}

// lists are the values of flags that take several, with commas between them.
var lists = map[string][]string{
	"clouds":                        {"aws", "azure", "gcp"},
	"hub init registration-drivers": {"csr", "awsirsa", "grpc"},
	"lock-assume-role-fields":       {"external-id", "session-name", "session-tags"},
	"tls-cipher-suites":             cipherSuites(),
}

func cipherSuites() (names []string) {
	for _, suite := range tls.CipherSuites() {
		names = append(names, suite.Name)
	}
	return names
}

// Add completes the flags and the arguments of a command and of all below it. A flag that is
// completed already stays so.
func Add(root *cobra.Command) { add(root, root.CommandPath()) }

func add(c *cobra.Command, program string) {
	path := strings.TrimSpace(strings.TrimPrefix(c.CommandPath(), program))
	if complete, ok := arguments()[path]; ok {
		c.ValidArgsFunction = complete
	} else if c.ValidArgsFunction == nil && !takesArguments(c) {
		c.ValidArgsFunction = cobra.NoFileCompletions
	}
	for _, flags := range []*pflag.FlagSet{c.Flags(), c.PersistentFlags()} {
		flags.VisitAll(func(flag *pflag.Flag) {
			if _, done := c.GetFlagCompletionFunc(flag.Name); done || flag.Value.Type() == "bool" {
				return
			}
			// The flag is there, and has no completion: those are the errors.
			_ = c.RegisterFlagCompletionFunc(flag.Name, ofFlag(c, path, flag.Name))
		})
	}
	for _, below := range c.Commands() {
		add(below, program)
	}
}

// takesArguments says that the line of usage has an argument behind the command.
func takesArguments(c *cobra.Command) bool {
	_, arguments, _ := strings.Cut(c.Use, " ")
	return arguments != "" && arguments != "[flags]" && !strings.HasPrefix(arguments, "-f ")
}

// ofFlag is how a flag is completed: as a value, as a name, as a file, or not at all.
func ofFlag(c *cobra.Command, path, name string) cobra.CompletionFunc {
	short := strings.TrimPrefix(name, "capacity-") // of the operator's controller
	for _, key := range []string{path + " " + name, name, short} {
		if known, ok := values[key]; ok {
			return cobra.FixedCompletions(known, cobra.ShellCompDirectiveNoFileComp|cobra.ShellCompDirectiveKeepOrder)
		}
		if known, ok := lists[key]; ok {
			return ListOf(known)
		}
	}
	switch {
	case isFolder[name]:
		return func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
			return nil, cobra.ShellCompDirectiveFilterDirs
		}
	case isFile[name] || strings.HasSuffix(name, "-file") || strings.HasSuffix(name, "kubeconfig"):
		return func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
			return nil, cobra.ShellCompDirectiveDefault
		}
	case c.Flag("kubeconfig") == nil:
		return cobra.NoFileCompletions
	case contexts[name] != nil:
		return contexts[name]
	case strings.HasSuffix(name, "namespace"):
		return namesOf(namespaces)
	default:
		return cobra.NoFileCompletions
	}
}

var (
	isFolder = map[string]bool{"role-documents": true, "dir": true, "out": true, "output-dir": true, "log_dir": true}
	isFile   = map[string]bool{
		"filename": true, "tls-cert": true, "tls-key": true, "localkube": true, "state": true, "log_file": true,
		"catalogue": true, "requests": true, "certificate-authority": true, "request": true, "reply": true,
		"watch-container-credentials-config": true,
	}
)

// ListOf completes the last of several values.
func ListOf(known []string) cobra.CompletionFunc {
	return func(_ *cobra.Command, _ []string, typed string) ([]string, cobra.ShellCompDirective) {
		before := typed[:strings.LastIndex(typed, ",")+1]
		var offered []string
		for _, value := range known {
			if !slices.Contains(strings.Split(before, ","), value) {
				offered = append(offered, before+value)
			}
		}
		return offered, cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveNoSpace
	}
}
