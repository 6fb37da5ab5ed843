package webhook

import "github.com/spf13/pflag"

// addLimits adds the flags that limit what clients may use.
func (o *Options) addLimits(flags *pflag.FlagSet) {
	flags.IntVar(&o.MaxConnections, "max-connections", 0, "connections to the HTTPS listener at a time, and as many more with a client certificate; 0: 2 for each MiB of the memory limit, 512 without one")
	flags.StringVar(&o.ClientCAFile, "client-ca-file", "", "file with the authorities of client certificates: connections that show one have a limit of their own; an invalid one is refused")
	flags.StringSliceVar(&o.ClientNames, "client-names", nil, "common names that a client certificate may have, with commas between them; empty: any")
	flags.BoolVar(&o.RequireClientCertificate, "require-client-certificate", false, "refuse connections to the HTTPS listener without a client certificate")
	flags.IntVar(&o.UnknownLookups, "unknown-lookups-per-second", defaultUnknownLookups, "lookups a second at the API server of ServiceAccounts that are not in the cache")
}
