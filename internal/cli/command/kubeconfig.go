package command

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"sync"

	"github.com/spf13/pflag"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"

	"github.com/tabard-dev/tabard/internal/cli/usage"
	"github.com/tabard-dev/tabard/internal/core/line"
)

// Kubeconfig says which cluster a command asks, and as whom, by the flags that kubectl has for
// that. The zero value is the usual cluster.
type Kubeconfig struct {
	// Path is a file; empty is $KUBECONFIG, then the user's own file, then the pod's account.
	Path string

	overrides clientcmd.ConfigOverrides
}

// AddKubeconfig adds the one flag by which every process finds its cluster; of says which
// cluster that is.
func AddKubeconfig(flags *pflag.FlagSet, into *string, of string) {
	flags.StringVar(into, "kubeconfig", "", "kubeconfig `file` of "+of+" (default: $KUBECONFIG, then ~/.kube/config, then the pod's own ServiceAccount)")
}

// AddFlags adds all flags, for commands that people type.
func (k *Kubeconfig) AddFlags(flags *pflag.FlagSet) {
	AddKubeconfig(flags, &k.Path, "the cluster")
	o := &k.overrides
	flags.StringVar(&o.CurrentContext, "context", "", "`name` of the kubeconfig's context (default: its current one)")
	flags.StringVar(&o.Context.Cluster, "cluster", "", "`name` of the kubeconfig's cluster, in place of the context's")
	flags.StringVar(&o.Context.AuthInfo, "user", "", "`name` of the kubeconfig's user, in place of the context's")
	flags.StringVar(&o.AuthInfo.Impersonate, "as", "", "`user` to act as, such as system:serviceaccount:NAMESPACE:NAME")
	flags.StringArrayVar(&o.AuthInfo.ImpersonateGroups, "as-group", nil, "`group` to act as; may be repeated")
	flags.StringVar(&o.Timeout, "request-timeout", "", "longest `time` of one request to the cluster, such as 10s (default: no limit)")
}

// IsSet says that a flag names a cluster, or somebody to ask it as.
func (k *Kubeconfig) IsSet() bool {
	o := k.overrides
	return k.Path+o.CurrentContext+o.Context.Cluster+o.Context.AuthInfo+o.AuthInfo.Impersonate != "" || len(o.AuthInfo.ImpersonateGroups) > 0
}

// Flags are how another command names the same cluster and user, with a blank before; empty for the
// usual ones.
func (k *Kubeconfig) Flags() string {
	o := k.overrides
	out := ""
	for _, one := range [][2]string{
		{"kubeconfig", k.Path}, {"context", o.CurrentContext}, {"cluster", o.Context.Cluster}, {"user", o.Context.AuthInfo}, {"as", o.AuthInfo.Impersonate},
	} {
		if one[1] != "" {
			out += " --" + one[0] + " " + line.Word(one[1])
		}
	}
	for _, group := range o.AuthInfo.ImpersonateGroups {
		out += " --as-group " + line.Word(group)
	}
	return out
}

// Server sets the API server's URL in place of the kubeconfig's.
func (k *Kubeconfig) Server(url string) { k.overrides.ClusterInfo.Server = url }

// Config is how to reach the cluster. Errors are of usage.Wrong.
func (k *Kubeconfig) Config() (*rest.Config, error) {
	config, err := k.config()
	return config, usage.Wrong(err)
}

func (k *Kubeconfig) config() (*rest.Config, error) {
	if err := k.readable(); err != nil {
		return nil, err
	}
	config, err := k.loading().ClientConfig()
	switch {
	case clientcmd.IsEmptyConfig(err):
		return nil, noCluster{fmt.Errorf("no cluster to talk to: there is no kubeconfig (%s), expected one: set --kubeconfig or $KUBECONFIG", k.files())}
	case err != nil && notLoaded().MatchString(err.Error()):
		return nil, fmt.Errorf("the kubeconfig (%s) cannot be read: %s; expected apiVersion v1 and kind Config in YAML",
			k.files(), Cause(errors.New(notLoaded().ReplaceAllString(err.Error(), ""))))
	case err != nil:
		return nil, fmt.Errorf("no cluster to talk to: %w (kubeconfig %s)", err, k.files())
	}
	return config, nil
}

// noCluster is the error where neither a flag nor the environment names a cluster.
type noCluster struct{ error }

// IsNoCluster says that an error of Config is that there is no kubeconfig at all.
func IsNoCluster(err error) bool {
	_, is := errors.AsType[noCluster](err)
	return is
}

// notLoaded is what client-go puts before the reason, at the start of its text.
var notLoaded = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^error loading config file "[^"]*": `) })

// Contents are all contexts, clusters and users of the kubeconfig.
func (k *Kubeconfig) Contents() (*clientcmdapi.Config, error) { return k.rules().Load() }

// Namespace is that of the context, or default. Errors are of usage.Wrong.
func (k *Kubeconfig) Namespace() (string, error) {
	if err := k.readable(); err != nil {
		return "", usage.Wrong(err)
	}
	namespace, _, err := k.loading().Namespace()
	return namespace, usage.Wrong(err)
}

// ClusterName is the kubeconfig's name of the cluster that the flags choose, or of its current
// context; empty where it has none, as with a pod's own account. Errors are of usage.Wrong.
func (k *Kubeconfig) ClusterName() (string, error) {
	if err := k.readable(); err != nil {
		return "", usage.Wrong(err)
	}
	if k.overrides.Context.Cluster != "" {
		return k.overrides.Context.Cluster, nil
	}
	_, chosen, err := k.chosen()
	if chosen == nil {
		return "", err
	}
	return chosen.Cluster, nil
}

// chosen is the context that the flags choose, or the current one; nil for none.
func (k *Kubeconfig) chosen() (string, *clientcmdapi.Context, error) {
	contents, err := k.Contents()
	if err != nil {
		return "", nil, usage.Wrong(fmt.Errorf("the kubeconfig (%s) cannot be read: %w", k.files(), err))
	}
	name := cmp.Or(k.overrides.CurrentContext, contents.CurrentContext)
	return name, contents.Contexts[name], nil
}

// Pinned is Flags for a command that is typed later, perhaps in another folder: the context is named also where
// it is the current one, as that may be another by then, and so is the file where it is not the person's own.
// Of several files in $KUBECONFIG none is named: the context is one of all of them. Where there is no
// context, it is Flags. Errors are of usage.Wrong.
func (k *Kubeconfig) Pinned() (string, error) {
	if err := k.readable(); err != nil {
		return "", usage.Wrong(err)
	}
	name, chosen, err := k.chosen()
	if chosen == nil {
		return k.Flags(), err
	}
	pinned := *k
	pinned.overrides.CurrentContext = name
	if files := k.rules().GetLoadingPrecedence(); k.Path == "" && len(files) == 1 && files[0] != clientcmd.RecommendedHomeFile {
		pinned.Path = files[0]
	}
	if pinned.Path != "" {
		if pinned.Path, err = filepath.Abs(pinned.Path); err != nil {
			return "", usage.Wrong(err)
		}
	}
	return pinned.Flags(), nil
}

func (k *Kubeconfig) rules() *clientcmd.ClientConfigLoadingRules {
	rules := clientcmd.NewDefaultClientConfigLoadingRules()
	rules.ExplicitPath = k.Path
	return rules
}

func (k *Kubeconfig) loading() clientcmd.ClientConfig {
	return clientcmd.NewNonInteractiveDeferredLoadingClientConfig(k.rules(), &k.overrides)
}

// files names where the kubeconfig is looked for.
func (k *Kubeconfig) files() string {
	if k.Path != "" {
		return k.Path
	}
	if files := os.Getenv(clientcmd.RecommendedConfigPathEnvVar); files != "" {
		return "$KUBECONFIG, which is " + files
	}
	return clientcmd.RecommendedHomeFile
}

// readable refuses a named file that cannot be read, and says which. Of several in $KUBECONFIG
// each may be absent, as with kubectl.
func (k *Kubeconfig) readable() error {
	paths := k.rules().GetLoadingPrecedence()
	for _, path := range paths {
		file, err := File{Path: path}.Open(nil)
		if err == nil {
			_ = file.Close() // it was not even read
			continue
		}
		absent := errors.Is(err, fs.ErrNotExist)
		if absent && k.Path == "" && (len(paths) > 1 || os.Getenv(clientcmd.RecommendedConfigPathEnvVar) == "") {
			continue
		}
		return fmt.Errorf("the kubeconfig (%s) cannot be read: %s", k.files(), Cause(err))
	}
	return nil
}
