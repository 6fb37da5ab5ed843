// Package webhook is the admission server that gives pods their AWS identity:
// it takes a review apart, asks core/inject, and writes the answer. What it
// needs to know of ServiceAccounts it keeps in a cache; it never answers
// "unchanged" for lack of knowledge, but with an error, so that the API server
// applies the hook's failurePolicy.
//
// The rights it needs, cluster-wide: to read ServiceAccounts. In its own
// namespace: to read the one Secret with its serving certificate, by name.
//
// +kubebuilder:rbac:groups="",resources=serviceaccounts,verbs=get;list;watch
// +kubebuilder:rbac:groups="",resources=secrets,resourceNames=tabard-webhook-cert,verbs=get;list;watch,namespace=tabard-system
package webhook

import (
	"errors"
	"math/rand/v2"
	"time"

	"github.com/spf13/pflag"
	"k8s.io/client-go/rest"

	"github.com/tabard-dev/tabard/internal/core/inject"
)

// Options are how to serve. AddFlags fills in the defaults.
type Options struct {
	// Config reaches the cluster whose pods are served.
	Config *rest.Config
	// OwnConfig reaches the cluster that the server runs in, where its Secret
	// is; nil means the same.
	OwnConfig *rest.Config
	// BindAddress is where both listeners listen; empty means everywhere.
	BindAddress string
	// Port is that of the HTTPS listener, 0 any free one.
	Port int
	// MetricsPort is that of the plain listener for metrics and probes, 0 any
	// free one, negative none.
	MetricsPort int
	// Settings decide what is injected.
	Settings inject.Settings
	// Namespace is where the Secret is.
	Namespace string
	// TLSSecret is the Secret with the serving certificate.
	TLSSecret string
	// TLSCert and TLSKey are files to serve with instead; both or none.
	TLSCert, TLSKey string
	// LookupTimeout bounds the one live look at a ServiceAccount that the cache
	// does not know; 0 means a second.
	LookupTimeout time.Duration
	// DrainTime is how long the server still answers after it was told to end,
	// not ready any more, so that those who ask have gone elsewhere.
	DrainTime time.Duration
}

// AddFlags binds the options to flags. Names and meanings are those of EKS's
// pod identity webhook where it has the flag.
func (o *Options) AddFlags(flags *pflag.FlagSet) {
	o.Settings = inject.Defaults()
	o.Settings.Jitter = rand.Int64N
	flags.StringVar(&o.BindAddress, "bind-address", "", "address to listen on; empty: all")
	flags.IntVar(&o.Port, "port", 443, "port of the HTTPS listener")
	flags.IntVar(&o.MetricsPort, "metrics-port", 9999, "port of the plain listener with /metrics, /healthz and /readyz; negative: none")
	flags.StringVar(&o.Settings.AnnotationPrefix, "annotation-prefix", o.Settings.AnnotationPrefix, "prefix of all annotations, before the slash")
	flags.StringVar(&o.Settings.Audience, "token-audience", o.Settings.Audience, "audience of the token, unless the ServiceAccount says otherwise")
	flags.StringVar(&o.Settings.MountPath, "token-mount-path", o.Settings.MountPath, "where the token is mounted")
	flags.Int64Var(&o.Settings.TokenExpiration, "token-expiration", o.Settings.TokenExpiration, "life of the token in seconds, unless ServiceAccount or pod say otherwise; at least 600")
	flags.StringVar(&o.Settings.Region, "aws-default-region", "", "region to put into AWS_REGION and AWS_DEFAULT_REGION; empty: neither")
	flags.BoolVar(&o.Settings.RegionalSTS, "sts-regional-endpoint", false, "put AWS_STS_REGIONAL_ENDPOINTS=regional, unless the ServiceAccount says otherwise")
	flags.StringVar(&o.Namespace, "namespace", "tabard-system", "namespace of the Secret with the serving certificate")
	flags.StringVar(&o.TLSSecret, "tls-secret", "tabard-webhook-cert", "Secret with the serving certificate")
	flags.StringVar(&o.TLSCert, "tls-cert", "", "file with the serving certificate, instead of the Secret")
	flags.DurationVar(&o.DrainTime, "drain-time", 5*time.Second, "how long to go on answering after SIGTERM, not ready any more")
	flags.StringVar(&o.TLSKey, "tls-key", "", "file with its key, instead of the Secret")
}

// check says what of the options cannot work.
func (o *Options) check() error {
	switch {
	case o.Config == nil:
		return errors.New("no client configuration: expected one for the cluster whose pods are served")
	case (o.TLSCert == "") != (o.TLSKey == ""):
		return errors.New("one of --tls-cert and --tls-key is empty: expected both files, or neither for the Secret")
	case o.TLSCert == "" && (o.Namespace == "" || o.TLSSecret == ""):
		return errors.New("no serving certificate: expected --namespace and --tls-secret, or --tls-cert and --tls-key")
	}
	return nil
}
