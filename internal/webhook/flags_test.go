package webhook

import (
	"crypto/tls"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/go-logr/logr"
	"github.com/google/go-cmp/cmp"
	"github.com/spf13/pflag"
	"k8s.io/client-go/rest"

	"github.com/tabard-dev/tabard/internal/core/inject/gcp"
	"github.com/tabard-dev/tabard/internal/testkit/must"
)

// flagCases has of every flag a value, and what it sets.
var flagCases = map[string]struct {
	value string
	got   func(Options) any
	want  any
}{
	"clouds":            {"gcp, aws", func(o Options) any { return o.Clouds }, []string{"gcp", "aws"}},
	"azure-tenant-id":   {"t", func(o Options) any { return o.Azure.TenantID }, "t"},
	"azure-environment": {"AzureChinaCloud", func(o Options) any { return o.Azure.Environment }, "AzureChinaCloud"},
	"azure-audience":    {"aud", func(o Options) any { return o.Azure.Audience }, "aud"},
	"custom-token-endpoint-annotation-suffix": {"s", func(o Options) any { return o.tokenEndpoint.AnnotationSuffix }, "s"},
	"custom-token-endpoint-audience":          {"aud", func(o Options) any { return o.tokenEndpoint.Audience }, "aud"},
	"custom-token-endpoint-token-proxy":       {"https://a", func(o Options) any { return o.tokenEndpoint.TokenProxy }, "https://a"},
	"custom-token-endpoint-sni-name":          {"a", func(o Options) any { return o.tokenEndpoint.SNIName }, "a"},
	"custom-token-endpoint-ca-data":           {"c", func(o Options) any { return o.tokenEndpoint.CAData }, "c"},
	"custom-token-endpoint-ca-config-map":     {"c", func(o Options) any { return o.tokenEndpoint.CAConfigMap }, "c"},
	"custom-token-endpoint-ca-trust-bundle":   {"c", func(o Options) any { return o.tokenEndpoint.CATrustBundle }, "c"},
	"gcp-annotation-prefix":                   {"a.example", func(o Options) any { return o.Google.AnnotationPrefix }, "a.example"},
	"gcp-token-audience":                      {"aud", func(o Options) any { return o.Google.Audience }, "aud"},
	"gcp-token-expiration":                    {"3600", func(o Options) any { return o.Google.TokenExpiration }, int64(3600)},
	"gcp-token-default-mode":                  {"400", func(o Options) any { return o.Google.TokenFileMode }, int32(0o400)},
	"gcp-default-region":                      {"europe-west3", func(o Options) any { return o.Google.Region }, "europe-west3"},
	"gcp-default-injection-mode":              {"gcloud", func(o Options) any { return o.Google.Mode }, gcp.Gcloud},
	"gcp-universe-domain":                     {"example.com", func(o Options) any { return o.Google.UniverseDomain }, "example.com"},
	"gcp-access-token-lifetime":               {"3600", func(o Options) any { return o.Google.AccessTokenLifetime }, int64(3600)},
	"max-connections":                         {"7", func(o Options) any { return o.MaxConnections }, 7},
	"client-ca-file":                          {"/ca", func(o Options) any { return o.ClientCAFile }, "/ca"},
	"client-names":                            {"a,b", func(o Options) any { return o.ClientNames }, []string{"a", "b"}},
	"require-client-certificate":              {"true", func(o Options) any { return o.RequireClientCertificate }, true},
	"unknown-lookups-per-second":              {"7", func(o Options) any { return o.UnknownLookups }, 7},
	"bind-address":                            {"::1", func(o Options) any { return o.BindAddress }, "::1"},
	"port":                                    {"8443", func(o Options) any { return o.Port }, 8443},
	"metrics-port":                            {"8080", func(o Options) any { return o.MetricsPort }, 8080},
	"namespace":                               {"own", func(o Options) any { return o.Namespace }, "own"},
	"in-cluster":                              {"false", func(o Options) any { return o.InCluster }, false},
	"tls-secret":                              {"s", func(o Options) any { return o.TLSSecret }, "s"},
	"tls-cert":                                {"/c", func(o Options) any { return o.TLSCert }, "/c"},
	"tls-key":                                 {"/k", func(o Options) any { return o.TLSKey }, "/k"},
	"tls-min-version":                         {"VersionTLS13", func(o Options) any { return o.TLSMinVersion }, uint16(tls.VersionTLS13)},
	"tls-cipher-suites":                       {" TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256 ,,TLS_RSA_WITH_RC4_128_SHA", func(o Options) any { return o.TLSCipherSuites }, []uint16{tls.TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256, tls.TLS_RSA_WITH_RC4_128_SHA}},
	"service-account-lookup-grace-period":     {"100ms", func(o Options) any { return o.LookupTimeout }, 100 * time.Millisecond},
	"drain-time":                              {"1s", func(o Options) any { return o.DrainTime }, time.Second},
	"enable-debugging-handlers":               {"true", func(o Options) any { return o.DebuggingHandlers }, true},
	"tls-secret-namespace":                    {"certificates", func(o Options) any { return o.TLSSecretNamespace }, "certificates"},
	"role-selector-warnings":                  {"true", func(o Options) any { return o.RoleSelectorWarnings }, true},
	"annotation-prefix":                       {"a.example", func(o Options) any { return o.Settings.AnnotationPrefix }, "a.example"},
	"token-audience":                          {"aud", func(o Options) any { return o.Settings.Audience }, "aud"},
	"token-mount-path":                        {"/m", func(o Options) any { return o.Settings.MountPath }, "/m"},
	"token-expiration":                        {"3600", func(o Options) any { return o.Settings.TokenExpiration }, int64(3600)},
	"aws-default-region":                      {"eu-west-1", func(o Options) any { return o.Settings.Region }, "eu-west-1"},
	"sts-regional-endpoint":                   {"true", func(o Options) any { return o.Settings.RegionalSTS }, true},
	"watch-config-map":                        {"true", func(o Options) any { return o.WatchConfigMap }, true},
	"watch-container-credentials-config":      {"/f", func(o Options) any { return o.WatchIdentities }, "/f"},
	"compose-role-arn":                        {"true", func(o Options) any { return o.ComposeRoleARN }, true},
	"account-id":                              {"111122223333", func(o Options) any { return o.AccountID }, "111122223333"},
	"partition":                               {"aws-cn", func(o Options) any { return o.Settings.Partition }, "aws-cn"},
	"any-role-arn":                            {"true", func(o Options) any { return o.Settings.AnyRoleARN }, true},
	"container-credentials-audience":          {"aud", func(o Options) any { return o.Settings.ContainerCredentials.Audience }, "aud"},
	"container-credentials-token-mount-path":  {"/m", func(o Options) any { return o.Settings.ContainerCredentials.MountPath }, "/m"},
	"container-credentials-token-volume-name": {"vol", func(o Options) any { return o.Settings.ContainerCredentials.VolumeName }, "vol"},
	"container-credentials-token-path":        {"p", func(o Options) any { return o.Settings.ContainerCredentials.TokenPath }, "p"},
	"container-credentials-full-uri":          {"http://[::1]/", func(o Options) any { return o.Settings.ContainerCredentials.FullURI }, "http://[::1]/"},
	"session-name":                            {"true", func(o Options) any { return o.Settings.SessionName }, true},
	"token-file-mode":                         {"440", func(o Options) any { return o.Settings.TokenFileMode }, int32(0o440)},
	"fs-group":                                {"65534", func(o Options) any { return o.Settings.FSGroup }, int64(65534)},
}

// withoutEffect are flags that are only accepted, each with a value.
var withoutEffect = map[string]string{
	"service-name": "x", "resync-period": "5s",
	"add_dir_header": "true", "alsologtostderr": "true", "legacy_stderr_threshold_behavior": "true", "logtostderr": "true",
	"one_output": "true", "skip_headers": "true", "skip_log_headers": "true",
	"alsologtostderrthreshold": "ERROR", "log_backtrace_at": "a.go:1", "log_dir": "/tmp", "log_file": "/tmp/x",
	"log_file_max_size": "5", "stderrthreshold": "warning", "vmodule": "a=1,b*=2",
}

func parse(args ...string) (Options, error) {
	var o Options
	flags := pflag.NewFlagSet("webhook", pflag.ContinueOnError)
	o.AddFlags(flags)
	return o, flags.Parse(args)
}

func TestEveryFlagSetsItsOption(t *testing.T) {
	t.Parallel()
	for name, test := range flagCases {
		before, errBefore := parse()
		after, err := parse("--" + name + "=" + test.value)
		if err != nil || errBefore != nil {
			t.Errorf("--%s=%s: %v, %v", name, test.value, errBefore, err)
			continue
		}
		if diff := cmp.Diff(test.want, test.got(after)); diff != "" {
			t.Errorf("--%s=%s (-want +got):\n%s", name, test.value, diff)
		}
		if cmp.Equal(test.got(before), test.want) {
			t.Errorf("--%s=%s is the default: the case shows nothing", name, test.value)
		}
	}
}

func TestEveryFlagIsTested(t *testing.T) {
	t.Parallel()
	var o Options
	flags := pflag.NewFlagSet("webhook", pflag.ContinueOnError)
	o.AddFlags(flags)
	flags.VisitAll(func(flag *pflag.Flag) {
		_, has := flagCases[flag.Name]
		_, ignored := withoutEffect[flag.Name]
		if has == ignored {
			t.Errorf("--%s: it sets an option: %t; it has no effect: %t; want one of both", flag.Name, has, ignored)
		}
		if says := strings.HasPrefix(flag.Usage, "no effect"); says != ignored {
			t.Errorf("--%s: its help is %q, it has no effect: %t", flag.Name, flag.Usage, ignored)
		}
	})
	for name, value := range withoutEffect {
		if _, err := parse("--" + name + "=" + value); err != nil {
			t.Errorf("--%s=%s: %v", name, value, err)
		}
	}
}

func TestBadFlagsAreRefused(t *testing.T) {
	t.Parallel()
	tests := map[string]string{
		"--tls-min-version=1.4":              `expected 1.0 to 1.3`,
		"--tls-cipher-suites=TLS_X":          `"TLS_X" is no cipher suite, expected names such as`,
		"--stderrthreshold=LOUD":             `expected INFO, WARNING, ERROR, FATAL or a number`,
		"--alsologtostderrthreshold=":        `expected INFO, WARNING, ERROR, FATAL or a number`,
		"--vmodule=a":                        `"a" is not as expected: FILE=LEVEL`,
		"--vmodule=a=1,b=-1":                 `"b=-1" is not as expected: FILE=LEVEL`,
		"--log_backtrace_at=a.go":            `it is "a.go", expected FILE.go:LINE`,
		"--log_file_max_size=-1":             `invalid argument "-1"`,
		"--logtostderr=maybe":                `invalid argument "maybe"`,
		"--token-file-mode=9":                `expected octal digits`,
		"--resync-period=often":              `invalid argument`,
		"--sts-regional-endpoints=true":      `unknown flag`,
		"--watch-container-credentials=/etc": `unknown flag`,
	}
	for arg, want := range tests {
		if _, err := parse(arg); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", arg, err, want)
		}
	}
}

// TestFlagsWithoutEffectAreTold, if they ask for what would not be done.
func TestFlagsWithoutEffectAreTold(t *testing.T) {
	t.Parallel()
	var o Options
	flags := pflag.NewFlagSet("webhook", pflag.ContinueOnError)
	o.AddFlags(flags)
	must.Do(t, flags.Parse([]string{"--logtostderr", "--log_file=/tmp/x", "--resync-period=5s", "--stderrthreshold=2", "--port=1"}))
	if diff := cmp.Diff([]string{"--log_file", "--resync-period"}, WithoutEffect(flags)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestWhatFollowsFromOptions(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		args        string
		cert, key   string
		account     string
		wantProblem string
	}{
		"the Secret by default":             {},
		"without --in-cluster EKS's files":  {args: "--in-cluster=false", cert: "/etc/webhook/certs/tls.crt", key: "/etc/webhook/certs/tls.key"},
		"named files go before both":        {args: "--tls-cert=/c --tls-key=/k", cert: "/c", key: "/k"},
		"one named file is a mistake":       {args: "--in-cluster=false --tls-cert=/c", wantProblem: "one of --tls-cert and --tls-key is empty"},
		"an account needs a partition":      {args: "--compose-role-arn --account-id=111122223333", wantProblem: "--account-id without --partition"},
		"without both EC2 will be asked":    {args: "--compose-role-arn"},
		"with both it composes":             {args: "--compose-role-arn --account-id=111122223333 --partition=aws", account: "111122223333"},
		"an account alone does nothing":     {args: "--account-id=111122223333", wantProblem: "--account-id without --compose-role-arn"},
		"no port is that high":              {args: "--port=65536", wantProblem: "--port is 65536, expected 0 to 65535"},
		"nor that low":                      {args: "--port=-1", wantProblem: "--port is -1, expected"},
		"no metrics are that high":          {args: "--metrics-port=65536", wantProblem: "--metrics-port is 65536, expected at most"},
		"a namespace is a name":             {args: "--namespace=../eks", wantProblem: `--namespace is "../eks", expected the name of a namespace`},
		"a config map has a namespace":      {args: "--watch-config-map --in-cluster=false --namespace=", wantProblem: "--namespace is empty, expected that of the config map"},
		"files need none":                   {args: "--in-cluster=false --namespace=", cert: "/etc/webhook/certs/tls.crt", key: "/etc/webhook/certs/tls.key"},
		"a Secret is a name":                {args: "--tls-secret=a/b", wantProblem: `--tls-secret is "a/b", expected the name of a Secret`},
		"a negative time does not drain":    {args: "--drain-time=-1s", wantProblem: "--drain-time is -1s: expected a time"},
		"a negative time is no grace":       {args: "--service-account-lookup-grace-period=-1s", wantProblem: "is -1s: expected a time, or 0"},
		"a partition alone is to warn with": {args: "--partition=aws-cn"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o, err := parse(strings.Fields(test.args)...)
			if err != nil {
				t.Fatal(err)
			}
			o.Config = &rest.Config{}
			err = o.complete()
			if test.wantProblem != "" {
				if err == nil || !strings.Contains(err.Error(), test.wantProblem) {
					t.Errorf("error %v, want %s", err, test.wantProblem)
				}
				return
			}
			if err != nil || o.TLSCert != test.cert || o.TLSKey != test.key || o.Settings.ComposeAccount != test.account {
				t.Errorf("%v; files %q %q, composing with %q; want %q %q, %q", err, o.TLSCert, o.TLSKey, o.Settings.ComposeAccount, test.cert, test.key, test.account)
			}
		})
	}
}

func TestDebuggingHandlers(t *testing.T) {
	t.Parallel()
	known := filled(t, account("shop", "app", "5", withRole), account("shop", "bare", "6", nil))
	for _, on := range []bool{false, true} {
		s := testServer(t, newAccounts(known, absent, 0, newMetrics()), nil)
		s.apply(Options{DebuggingHandlers: on}, &watched{known, newFollower(nil, "", known, logr.Discard())})
		for _, test := range []struct {
			handler http.Handler
			path    string
			code    int
			says    string
		}{
			{s.handler(), "/debug/alpha/deny", 200, "Test deny message"},
			{s.handler(), "/debug/alpha/500", 500, "test error"},
			{s.observer(), "/debug/alpha/cache", 200, `{"shop/app":{"RoleARN":"` + role + `","Audience":"sts.amazonaws.com","UseRegionalSTS":false,"TokenExpiration":86400},` +
				`"shop/bare":{"RoleARN":"","Audience":"sts.amazonaws.com","UseRegionalSTS":false,"TokenExpiration":86400}}`},
			{s.observer(), "/debug/alpha/cache/clear", 200, "ok"},
		} {
			if !on {
				test.code, test.says = 404, "404 page not found"
			}
			if code, says := get(t, test.handler, test.path); code != test.code || !strings.Contains(says, test.says) {
				t.Errorf("handlers on: %t; %s is %d %q, want %d %q", on, test.path, code, says, test.code, test.says)
			}
		}
	}
}

// TestTLSIsSpokenAsAsked: with 1.3 as the oldest version, nobody is served who
// speaks only 1.2; and with one suite, nobody who speaks only others.
func TestTLSIsSpokenAsAsked(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		options Options
		client  *tls.Config
		fine    bool
	}{
		"1.2 by default":    {Options{}, &tls.Config{MaxVersion: tls.VersionTLS12}, true},
		"not 1.1":           {Options{}, &tls.Config{MinVersion: tls.VersionTLS11, MaxVersion: tls.VersionTLS11}, false},
		"1.1 if asked":      {Options{TLSMinVersion: tls.VersionTLS11}, &tls.Config{MinVersion: tls.VersionTLS11, MaxVersion: tls.VersionTLS11}, true},
		"only 1.3 if asked": {Options{TLSMinVersion: tls.VersionTLS13}, &tls.Config{MaxVersion: tls.VersionTLS12}, false},
		"only one suite": {Options{TLSCipherSuites: []uint16{tls.TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384}},
			&tls.Config{MaxVersion: tls.VersionTLS12, CipherSuites: []uint16{tls.TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256}}, false},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newServer(nil, fakeAccounts{}, newMetrics(), logr.Discard())
			must.Do(t, s.serving.load(pair(t, time.Now().Add(time.Hour))))
			s.apply(test.options, nil)
			if err := shakeHands(t, s.tls(), test.client); (err == nil) != test.fine {
				t.Errorf("handshake: %v, want it to succeed: %t", err, test.fine)
			}
		})
	}
}

func shakeHands(t *testing.T, server, client *tls.Config) error {
	t.Helper()
	here, there := net.Pipe()
	t.Cleanup(func() { _, _ = here.Close(), there.Close() })
	go func() { _ = tls.Server(there, server).HandshakeContext(t.Context()) }() // the client tells
	client = client.Clone()
	client.InsecureSkipVerify = true // who it is does not matter here
	return tls.Client(here, client).HandshakeContext(t.Context())
}
