// Package certificate decides about the serving certificate of a webhook and
// the authority that signs it: when to make, renew and rotate them, and what the
// webhook configuration is to trust. It does no I/O, asks no clock, and takes
// its randomness from the caller.
//
// Authority and serving certificate lie in one Secret, which the operator alone
// reads; what the webhook serves with is published as another, without the
// authority's key. A new authority takes turns with the configuration, so that what
// is served is trusted at every moment:
//
//	Secret, published after each change          configuration
//	authority A, serving by A            ───▶    trusts A
//	authorities B A, serving by A        ───▶    trusts B A
//	authorities B A, serving by A, probe by B
//	   … every API server is seen to accept the probe certificate …
//	authorities B A, serving by B                trusts B A
//	   … A expires …
//	authority B, serving by B            ───▶    trusts B
package certificate

import (
	"net"
	"net/url"
	"slices"
	"strings"
	"time"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	"k8s.io/apimachinery/pkg/util/validation"
)

// Keys of the Secret's data. The first two are those of a Secret of type
// kubernetes.io/tls; ca.crt holds all authorities to trust, the newest first;
// ca.key is the key of the newest. The probe's are there while a new authority
// is being proved.
const (
	ServingKey      = "tls.crt"
	ServingPrivate  = "tls.key"
	AuthoritiesKey  = "ca.crt"
	AuthorityKeyKey = "ca.key"
	ProbeKey        = "probe.crt"
	ProbePrivate    = "probe.key"
)

// World is everything that one pass has observed.
type World struct {
	// Now is the instant of the pass.
	Now time.Time
	// Secret holds everything, the authority's key included.
	Secret Secret
	// Served is what is published of it: what the webhook serves with.
	Served Secret
	// Previous is what an earlier version, which had one Secret for both, left
	// behind; empty without one.
	Previous Secret
	// Hooks are the hooks of the webhook configuration, none without one.
	Hooks []Hook
	// Injector is the annotation of the configuration by which somebody else sets
	// its caBundles, empty without one.
	Injector string
	// Memory is what was seen before, after the look at these Hooks.
	Memory Memory
}

// Secret is the Secret as stored.
type Secret struct {
	// Ours says that it carries Tabard's mark, and nobody else's.
	Ours bool
	// Data is its content, empty if there is no Secret.
	Data map[string][]byte
}

// MarkLabel and MarkValue are the label of a Secret that Tabard made. One with
// content and without it belongs to somebody else.
const (
	MarkLabel = "app.kubernetes.io/managed-by"
	MarkValue = "tabard"
)

// Annotations by which others say that they fill a Secret.
var fillers = []string{"cert-manager.io/certificate-name", "service.beta.openshift.io/originating-service-name", "service.alpha.openshift.io/originating-service-name"}

// Annotations by which others are asked to set the caBundles of a configuration.
var injectors = []string{
	"cert-manager.io/inject-ca-from", "cert-manager.io/inject-ca-from-secret", "cert-manager.io/inject-apiserver-ca",
	"service.beta.openshift.io/inject-cabundle", "service.alpha.openshift.io/inject-cabundle",
}

// IsOurs says by a Secret's labels and annotations that Tabard keeps it. What is
// labelled as ours may have been given to somebody else since.
func IsOurs(labels, annotations map[string]string) bool {
	return labels[MarkLabel] == MarkValue && first(fillers, annotations) == ""
}

// InjectorOf is the annotation of a configuration by which somebody else sets
// its caBundles, empty without one.
func InjectorOf(annotations map[string]string) string { return first(injectors, annotations) }

// first is the first of the names that is there with a value that asks for
// something.
func first(names []string, annotations map[string]string) string {
	for _, name := range names {
		if value := annotations[name]; value != "" && value != "false" {
			return name
		}
	}
	return ""
}

// Hook is one entry of a webhook configuration.
type Hook struct {
	// Probe says that it is the one by which a new authority is proved.
	Probe bool
	// Names are the DNS names and IP addresses that the certificate must have.
	Names []string
	// Bundle is what its API servers trust, PEM.
	Bundle []byte
}

// NewHook takes from a hook what matters. Kubernetes: a service is called as
// SERVICE.NAMESPACE.svc, a URL by its host. A URL that is none gives no names.
func NewHook(name string, config admissionv1.WebhookClientConfig) Hook {
	hook := Hook{Probe: name == ProbeHook, Bundle: config.CABundle}
	switch {
	case config.Service != nil:
		name := config.Service.Name + "." + config.Service.Namespace
		hook.Names = []string{config.Service.Name, name, name + ".svc", name + ".svc.cluster.local"}
	case config.URL != nil:
		hook.Names = hostOf(*config.URL)
	}
	return hook
}

// hostOf is the host of a URL as a certificate has it.
func hostOf(text string) []string {
	parsed, err := url.Parse(text)
	if err != nil {
		return nil
	}
	host := strings.ToLower(parsed.Hostname())
	if ip := net.ParseIP(host); ip != nil {
		return []string{ip.String()}
	}
	if len(validation.IsDNS1123Subdomain(host)) > 0 {
		return nil
	}
	return []string{host}
}

// names are those of the certificate to serve, sorted.
func (w World) names() Names { return w.namesOf(func(h Hook) bool { return !h.Probe }) }

// probeNames are those of the probe certificate, none if there is nothing to
// prove with. A TLS client names no server that it knows by address only, and a
// name that is served the serving certificate cannot be served another.
func (w World) probeNames() Names {
	found := w.namesOf(func(h Hook) bool { return h.Probe })
	serving := w.names().list()
	for _, name := range found.list() {
		if net.ParseIP(name) != nil || slices.Contains(serving, name) {
			return ""
		}
	}
	return found
}

func (w World) namesOf(wanted func(Hook) bool) Names {
	var names []string
	for _, hook := range w.Hooks {
		if wanted(hook) {
			names = append(names, hook.Names...)
		}
	}
	slices.Sort(names)
	return Names(strings.Join(slices.Compact(names), ","))
}

// Names are DNS names and IP addresses, sorted, joined by commas so that steps
// compare.
type Names string

// list is empty for none.
func (n Names) list() []string {
	if n == "" {
		return nil
	}
	return strings.Split(string(n), ",")
}
