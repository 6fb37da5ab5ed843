// Package webhook is the admission server that gives pods their cloud identity:
// it takes a review apart, asks core/inject, and writes the answer. What it
// needs to know of ServiceAccounts it keeps in a cache; it never answers
// "unchanged" for lack of knowledge, but with an error, so that the API server
// applies the hook's failurePolicy.
//
// The rights it needs, cluster-wide: to read ServiceAccounts, and namespaces if the
// config map asks for their labels. In the namespace of the controller that makes
// certificates: to read the one Secret with its own, by name, which is not the one
// with the authority's key. In its own namespace: to read the one config map. Of these it
// uses what its options ask for. Warnings about IAMRoleSelectors need the right to read
// those, which config/manifests/role-selectors/warnings.yaml gives.
//
// +kubebuilder:rbac:groups="",resources=serviceaccounts;namespaces,verbs=get;list;watch
// +kubebuilder:rbac:groups="",resources=secrets,resourceNames=tabard-webhook-cert,verbs=get;list;watch,namespace=tabard-certificate
// +kubebuilder:rbac:groups="",resources=configmaps,resourceNames=pod-identity-webhook,verbs=get;list;watch,namespace=tabard-system
package webhook

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/spf13/pflag"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/client-go/rest"

	"github.com/tabard-dev/tabard/internal/core/inject"
	"github.com/tabard-dev/tabard/internal/core/inject/azure"
	"github.com/tabard-dev/tabard/internal/core/inject/gcp"
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
	// Clouds are those whose identities pods can get: aws, azure and gcp.
	Clouds []string
	// Settings, Azure and Google decide what is injected, by cloud.
	Settings inject.Settings
	Azure    azure.Settings
	Google   gcp.Settings
	// Namespace is where the config map is, and the Secret.
	Namespace string
	// TLSSecret is the Secret with the serving certificate, TLSSecretNamespace where
	// it is, Namespace if empty.
	TLSSecret, TLSSecretNamespace string
	// InCluster reads the serving certificate from the Secret, unless TLSCert and
	// TLSKey name files; without it, it is read from files.
	InCluster bool
	// TLSCert and TLSKey are files to serve with instead; both or none.
	TLSCert, TLSKey string
	// TLSMinVersion is the oldest version of TLS to speak, 0 means 1.2.
	TLSMinVersion uint16
	// TLSCipherSuites are those of TLS 1.2 and before; nil means Go's choice.
	TLSCipherSuites []uint16
	// ComposeRoleARN makes role ARNs of names in annotations, with AccountID and
	// the partition of the Settings. Without AccountID EC2 is asked for both.
	ComposeRoleARN bool
	AccountID      string
	// LookupTimeout bounds the one live look at a ServiceAccount that the cache
	// does not know; 0 means a second.
	LookupTimeout time.Duration
	// MemoryLimit is how much memory the process may take, in bytes; 0 means that it
	// is not known. What is let in at a time follows from it.
	MemoryLimit int64
	// MaxConnections is how many connections there may be at a time, 0 that it follows
	// from MemoryLimit.
	MaxConnections int
	// ClientCAFile has the authorities of client certificates; empty means that none
	// is asked for. ClientNames are the common names that they may have, none for
	// any.
	ClientCAFile string
	ClientNames  []string
	// RequireClientCertificate refuses connections without one.
	RequireClientCertificate bool
	// UnknownLookups is how many names that are not known are looked up live in a
	// second.
	UnknownLookups int
	// WatchIdentities is the file that lists who gets container credentials;
	// empty means nobody.
	WatchIdentities string
	// WatchConfigMap follows the config map pod-identity-webhook in Namespace.
	WatchConfigMap bool
	// DebuggingHandlers answers under /debug/alpha/.
	DebuggingHandlers bool
	// RoleSelectorWarnings answers /validate/iamroleselector.
	RoleSelectorWarnings bool
	// DrainTime is how long the server still answers after it was told to end,
	// not ready any more, so that those who ask have gone elsewhere.
	DrainTime time.Duration

	// tokenEndpoint is what the flags say of Azure's custom token endpoint.
	tokenEndpoint azure.CustomTokenEndpoint
	// owned are the flags that are only of one cloud.
	owned []ownedFlag
}

// ownedFlag is a flag that is only of one cloud.
type ownedFlag struct {
	cloud string
	flag  *pflag.Flag
}

// defaultTLSCert and defaultTLSKey are the files of EKS's pod identity webhook.
const (
	defaultTLSCert = "/etc/webhook/certs/tls.crt"
	defaultTLSKey  = "/etc/webhook/certs/tls.key"
)

// maxPort is the highest port of TCP.
const maxPort = 65535

// SettingsError is that of Options that cannot be meant, before anything is asked of a cluster.
type SettingsError struct{ error }

// Unwrap gives the reason.
func (e *SettingsError) Unwrap() error { return e.error }

// complete fills in what follows from the other options, and says what of them
// cannot work.
func (o *Options) complete() error {
	if err := o.checkServing(); err != nil {
		return err
	}
	switch {
	case o.WatchConfigMap && o.Namespace == "":
		return errors.New("--namespace is empty, expected that of the config map")
	case o.LookupTimeout < 0:
		return fmt.Errorf("--service-account-lookup-grace-period is %s: expected a time, or 0 for the default of %s", o.LookupTimeout, defaultLookupTimeout)
	}
	return errors.Join(o.checkClients(), o.completeClouds(), o.completeRoleARNs())
}

// checkServing says what cannot work of where and with what certificate is served.
func (o *Options) checkServing() error {
	if !o.InCluster && o.TLSCert == "" && o.TLSKey == "" {
		o.TLSCert, o.TLSKey = defaultTLSCert, defaultTLSKey
	}
	switch {
	case o.Config == nil:
		return errors.New("no client configuration: expected one for the cluster that is served")
	case o.Port < 0 || o.Port > maxPort:
		return fmt.Errorf("--port is %d, expected 0 to %d", o.Port, maxPort)
	case o.MetricsPort > maxPort:
		return fmt.Errorf("--metrics-port is %d, expected at most %d, or less than 0 for none", o.MetricsPort, maxPort)
	case (o.TLSCert == "") != (o.TLSKey == ""):
		return errors.New("one of --tls-cert and --tls-key is empty: expected both files, or neither for the Secret")
	case o.TLSCert == "" && (cmp.Or(o.TLSSecretNamespace, o.Namespace) == "" || o.TLSSecret == ""):
		return errors.New("no serving certificate: expected --namespace and --tls-secret, or --tls-cert and --tls-key")
	case o.Namespace != "" && len(validation.IsDNS1123Label(o.Namespace)) > 0:
		return fmt.Errorf("--namespace is %q, expected the name of a namespace", o.Namespace)
	case o.TLSSecretNamespace != "" && len(validation.IsDNS1123Label(o.TLSSecretNamespace)) > 0:
		return fmt.Errorf("--tls-secret-namespace is %q, expected the name of a namespace, or nothing for that of --namespace", o.TLSSecretNamespace)
	case o.TLSSecret != "" && len(validation.IsDNS1123Subdomain(o.TLSSecret)) > 0:
		return fmt.Errorf("--tls-secret is %q, expected the name of a Secret", o.TLSSecret)
	case o.DrainTime < 0:
		return fmt.Errorf("--drain-time is %s: expected a time, or 0 to end at once", o.DrainTime)
	}
	return nil
}

// completeClouds refuses what is said of clouds that are off: whoever says it
// expects that something comes of it.
func (o *Options) completeClouds() error {
	if err := checkClouds(o.Clouds); err != nil {
		return fmt.Errorf("--clouds: %w", err)
	}
	for _, each := range o.owned {
		if each.flag.Changed && !slices.Contains(o.Clouds, each.cloud) {
			return fmt.Errorf("--%s is set, and --clouds has no %s", each.flag.Name, each.cloud)
		}
	}
	o.Azure.Environment = cmp.Or(o.Azure.Environment, azure.Defaults().Environment)
	if o.tokenEndpoint != (azure.CustomTokenEndpoint{}) {
		endpoint := o.tokenEndpoint
		o.Azure.CustomTokenEndpoint = &endpoint
	}
	return nil
}

// AddEnvironment takes over what the azure-workload-identity webhook is told by
// the environment, where no flag says otherwise.
func (o *Options) AddEnvironment(get func(name string) string) {
	o.Azure.TenantID = cmp.Or(o.Azure.TenantID, get("AZURE_TENANT_ID"))
	o.Azure.Environment = cmp.Or(o.Azure.Environment, get("AZURE_ENVIRONMENT"))
}

// completeRoleARNs fills in what role ARNs are composed with, if it is said. What
// is not, EC2 is asked for, as EKS's webhook does; said, the webhook runs anywhere
// and needs no way to EC2's metadata service.
func (o *Options) completeRoleARNs() error {
	switch {
	case !o.ComposeRoleARN && o.AccountID != "":
		return errors.New("--account-id without --compose-role-arn: expected both, or neither")
	case o.AccountID != "" && o.Settings.Partition == "":
		return errors.New("--account-id without --partition: expected the partition of its roles, such as aws")
	}
	o.Settings.ComposeAccount = o.AccountID
	return nil
}
