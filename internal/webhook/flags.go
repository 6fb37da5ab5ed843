package webhook

import (
	"crypto/tls"
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"github.com/tabard-dev/tabard/internal/core/inject"
)

// AddFlags binds the options to flags. Names and meanings are those of EKS's
// pod identity webhook where it has the flag.
func (o *Options) AddFlags(flags *pflag.FlagSet) {
	o.Clouds = []string{cloudAWS}
	o.Settings = inject.Defaults()
	o.Settings.Jitter = rand.Int64N
	o.addServing(flags)
	o.addLimits(flags)
	o.addOwned(cloudAWS, flags, o.addRoles, o.addContainerCredentials, o.addPods)
	o.addOwned(cloudAzure, flags, o.addAzure, o.addTokenEndpoint)
	o.addOwned(cloudGoogle, flags, o.addGoogle)
	addIgnored(flags)
}

// addOwned adds flags that are only of one cloud.
func (o *Options) addOwned(cloud string, to *pflag.FlagSet, adders ...func(*pflag.FlagSet)) {
	own := pflag.NewFlagSet(cloud, pflag.ContinueOnError)
	for _, add := range adders {
		add(own)
	}
	own.VisitAll(func(flag *pflag.Flag) {
		to.AddFlag(flag)
		o.owned = append(o.owned, ownedFlag{cloud, flag})
	})
}

// Listening has the defaults of flags that differ from server to server.
type Listening struct {
	// Port is that of the HTTPS listener.
	Port int
	// Namespace is Tabard's own, and NamespaceOf says what of there is read.
	Namespace, NamespaceOf string
	// Secret is the name of the one with the serving certificate.
	Secret string
}

// AddListening adds the flags of every server: where it listens, and with what certificate.
func (o *Options) AddListening(flags *pflag.FlagSet, d Listening) {
	flags.StringVar(&o.BindAddress, "bind-address", "", "address to listen on; empty: all")
	flags.IntVar(&o.Port, "port", d.Port, "port of the HTTPS listener")
	flags.IntVar(&o.MetricsPort, "metrics-port", 9999, "port of the plain listener with /metrics, /healthz and /readyz; negative: none")
	flags.StringVar(&o.Namespace, "namespace", d.Namespace, "namespace of "+d.NamespaceOf)
	flags.StringVar(&o.TLSSecret, "tls-secret", d.Secret, "Secret with the serving certificate")
	flags.StringVar(&o.TLSSecretNamespace, "tls-secret-namespace", "", "namespace of that Secret; empty: that of --namespace")
	flags.StringVar(&o.TLSCert, "tls-cert", "", "file with the serving certificate, instead of the Secret")
	flags.StringVar(&o.TLSKey, "tls-key", "", "file with its key, instead of the Secret")
	flags.DurationVar(&o.DrainTime, "drain-time", 5*time.Second, "how long to go on answering after SIGTERM, not ready any more")
}

// addServing adds the flags of the server itself.
func (o *Options) addServing(flags *pflag.FlagSet) {
	flags.Var((*cloudNames)(&o.Clouds), "clouds", "clouds whose identities pods can get, of "+strings.Join(allClouds, ", ")+", with commas between them")
	o.AddListening(flags, Listening{Port: 443, Namespace: "eks", NamespaceOf: "the Secret with the serving certificate, and of the config map", Secret: "tabard-webhook-cert"})
	flags.BoolVar(&o.InCluster, "in-cluster", true, "read the serving certificate from the Secret, unless files are named; false: from files, "+defaultTLSCert+" and "+defaultTLSKey+" unless others are named")
	flags.Var((*tlsVersion)(&o.TLSMinVersion), "tls-min-version", "oldest TLS version to speak, 1.0 to 1.3 or VersionTLS10 to VersionTLS13; empty: 1.2")
	flags.Var((*cipherSuites)(&o.TLSCipherSuites), "tls-cipher-suites", "cipher suites of TLS 1.2 and before by the names of Go's crypto/tls, with commas between them; empty: Go's choice")
	flags.DurationVar(&o.LookupTimeout, "service-account-lookup-grace-period", 0, "timeout of the one lookup of a ServiceAccount that is not in the cache; 0: "+defaultLookupTimeout.String())
	flags.BoolVar(&o.RoleSelectorWarnings, "role-selector-warnings", false, "answer "+selectorPath+": warn whoever writes an IAMRoleSelector that overlaps with others")
	flags.BoolVar(&o.DebuggingHandlers, "enable-debugging-handlers", false, "answer /debug/alpha/deny and /debug/alpha/500 on the HTTPS listener, /debug/alpha/cache on the plain one")
}

// addRoles adds the flags of web identity.
func (o *Options) addRoles(flags *pflag.FlagSet) {
	flags.StringVar(&o.Settings.AnnotationPrefix, "annotation-prefix", o.Settings.AnnotationPrefix, "prefix of all annotations, before the slash")
	flags.StringVar(&o.Settings.Audience, "token-audience", o.Settings.Audience, "audience of the token, unless the ServiceAccount says otherwise")
	flags.StringVar(&o.Settings.MountPath, "token-mount-path", o.Settings.MountPath, "where the token is mounted")
	flags.Int64Var(&o.Settings.TokenExpiration, "token-expiration", o.Settings.TokenExpiration, "life of the token in seconds, unless ServiceAccount or pod say otherwise; at least 600")
	flags.StringVar(&o.Settings.Region, "aws-default-region", "", "region to put into AWS_REGION and AWS_DEFAULT_REGION; empty: neither")
	flags.BoolVar(&o.Settings.RegionalSTS, "sts-regional-endpoint", false, "put AWS_STS_REGIONAL_ENDPOINTS=regional, unless the ServiceAccount says otherwise")
	flags.BoolVar(&o.WatchConfigMap, "watch-config-map", false, "take roles of ServiceAccounts without annotation from the config map "+configMapName+" in --namespace")
	flags.BoolVar(&o.ComposeRoleARN, "compose-role-arn", false, "make the ARNs of roles of --account-id in --partition of role-arn annotations that are no ARNs; without the two, EC2 is asked for the account and region of this machine")
	flags.StringVar(&o.AccountID, "account-id", "", "AWS account to compose role ARNs with, 12 digits")
	flags.StringVar(&o.Settings.Partition, "partition", "", "AWS partition of the roles, such as aws: one of another is warned of; empty: all are fine")
	flags.BoolVar(&o.Settings.AnyRoleARN, "any-role-arn", false, "inject also what is no ARN of an IAM role, with a warning")
}

// addContainerCredentials adds the flags of the other method.
func (o *Options) addContainerCredentials(flags *pflag.FlagSet) {
	settings := &o.Settings.ContainerCredentials
	flags.StringVar(&o.WatchIdentities, "watch-container-credentials-config", "", "file that lists the ServiceAccounts whose pods get container credentials; empty: none")
	flags.StringVar(&settings.Audience, "container-credentials-audience", settings.Audience, "audience of the token for container credentials")
	flags.StringVar(&settings.MountPath, "container-credentials-token-mount-path", settings.MountPath, "where that token is mounted")
	flags.StringVar(&settings.VolumeName, "container-credentials-token-volume-name", settings.VolumeName, "name of that token's volume")
	flags.StringVar(&settings.TokenPath, "container-credentials-token-path", settings.TokenPath, "file of that token within the volume")
	flags.StringVar(&settings.FullURI, "container-credentials-full-uri", settings.FullURI, "where pods ask for container credentials")
}

// addPods adds the flags of what EKS's webhook does not do.
func (o *Options) addPods(flags *pflag.FlagSet) {
	flags.BoolVar(&o.Settings.SessionName, "session-name", false, "put AWS_ROLE_SESSION_NAME, made of the names of namespace and pod")
	flags.Var((*fileMode)(&o.Settings.TokenFileMode), "token-file-mode", "mode of the token's file in octal digits, such as 0440; 0: Kubernetes' default")
	flags.Int64Var(&o.Settings.FSGroup, "fs-group", 0, "fsGroup of pods that ask not to run as root and name none; 0: none")
}

// tlsVersions are by the names that the flag takes.
var tlsVersions = map[string]uint16{
	"": 0, "1.0": tls.VersionTLS10, "1.1": tls.VersionTLS11, "1.2": tls.VersionTLS12, "1.3": tls.VersionTLS13,
	"VersionTLS10": tls.VersionTLS10, "VersionTLS11": tls.VersionTLS11, "VersionTLS12": tls.VersionTLS12, "VersionTLS13": tls.VersionTLS13,
}

// tlsVersion is a flag for a version of TLS.
type tlsVersion uint16

// Set is for pflag.
func (v *tlsVersion) Set(text string) error {
	version, ok := tlsVersions[text]
	if !ok {
		return fmt.Errorf("it is %.40q, expected 1.0 to 1.3 or VersionTLS10 to VersionTLS13", text)
	}
	*v = tlsVersion(version)
	return nil
}

// Type is for pflag.
func (v *tlsVersion) Type() string { return "version" }

func (v *tlsVersion) String() string {
	if *v == 0 {
		return ""
	}
	return tls.VersionName(uint16(*v))
}

// cipherSuites is a flag for names with commas between them.
type cipherSuites []uint16

// Set is for pflag.
func (c *cipherSuites) Set(text string) error {
	known := map[string]uint16{}
	for _, suite := range append(tls.CipherSuites(), tls.InsecureCipherSuites()...) {
		known[suite.Name] = suite.ID
	}
	*c = nil
	for name := range strings.SplitSeq(text, ",") {
		name = strings.TrimSpace(name)
		if name == "" {
			continue
		}
		id, ok := known[name]
		if !ok {
			return fmt.Errorf("%.80q is no cipher suite, expected names such as TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256, with commas between them", name)
		}
		*c = append(*c, id)
	}
	return nil
}

// Type is for pflag.
func (c *cipherSuites) Type() string { return "names" }

func (c *cipherSuites) String() string {
	names := make([]string, 0, len(*c))
	for _, id := range *c {
		names = append(names, tls.CipherSuiteName(id))
	}
	return strings.Join(names, ",")
}

// fileMode is a flag for a mode in octal digits, with or without a 0 before
// them.
type fileMode int32

// Set is for pflag.
func (m *fileMode) Set(text string) error {
	mode, err := strconv.ParseUint(text, 8, 31)
	if err != nil {
		return fmt.Errorf("it is %.40q, expected octal digits such as 0440", text)
	}
	*m = fileMode(mode) //nolint:gosec // 31 bits fit
	return nil
}

// Type is for pflag.
func (m *fileMode) Type() string { return "mode" }

func (m *fileMode) String() string { return fmt.Sprintf("%#o", int32(*m)) }
