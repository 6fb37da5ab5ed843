// Package certificate decides about the serving certificate of a webhook and
// the authority that signs it: when to make, renew and rotate them, and what the
// webhook configuration is to trust. It does no I/O, asks no clock, and takes
// its randomness from the caller.
//
// Authority and serving certificate lie in one Secret; the operator writes it,
// the webhook's replicas read it. A new authority takes turns with the
// configuration, so that what is served is trusted at every moment:
//
//	Secret                                   configuration
//	authority A, serving by A        ───▶    trusts A
//	authorities B A, serving by A    ───▶    trusts B A
//	   … settles: every API server has seen the new bundle …
//	authorities B A, serving by B            trusts B A
//	   … A expires …
//	authority B, serving by B        ───▶    trusts B
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
// ca.key is the key of the newest.
const (
	ServingKey      = "tls.crt"
	ServingPrivate  = "tls.key"
	AuthoritiesKey  = "ca.crt"
	AuthorityKeyKey = "ca.key"
)

// World is everything that one pass has observed.
type World struct {
	// Now is the instant of the pass.
	Now time.Time
	// Secret is what the webhook serves with.
	Secret Secret
	// Hooks are the hooks of the webhook configuration, none without one.
	Hooks []Hook
}

// Secret is the Secret as stored.
type Secret struct {
	// Ours says that it carries Tabard's mark.
	Ours bool
	// Data is its content, empty if there is no Secret.
	Data map[string][]byte
}

// Hook is one entry of a webhook configuration.
type Hook struct {
	// Names are the DNS names and IP addresses that the certificate must have.
	Names []string
	// Bundle is what its API servers trust, PEM.
	Bundle []byte
}

// NewHook takes from a hook's configuration what matters. Kubernetes: a service
// is called as SERVICE.NAMESPACE.svc, a URL by its host. A URL that is none
// gives no names.
func NewHook(config admissionv1.WebhookClientConfig) Hook {
	hook := Hook{Bundle: config.CABundle}
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

// names are those that all hooks need, sorted.
func (w World) names() []string {
	var names []string
	for _, hook := range w.Hooks {
		names = append(names, hook.Names...)
	}
	slices.Sort(names)
	return slices.Compact(names)
}
