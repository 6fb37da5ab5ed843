package command

import "github.com/spf13/pflag"

// AddSecond adds the flags by which a command finds a second cluster, such as --spoke-context;
// of says which cluster that is.
func (k *Kubeconfig) AddSecond(flags *pflag.FlagSet, prefix, of string) {
	flags.StringVar(&k.Path, prefix+"-kubeconfig", "", "kubeconfig `file` of "+of+" (default: that of --kubeconfig)")
	flags.StringVar(&k.overrides.CurrentContext, prefix+"-context", "", "`name` of the kubeconfig's context of "+of+" (default: its current one)")
}
