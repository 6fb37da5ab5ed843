package chain

import (
	"net/url"
	"slices"
	"strings"

	"github.com/tabard-dev/tabard/internal/core/issuer"
)

func (w *walk) issuer() Step {
	switch {
	case w.Issuer.Unread != "":
		return unseen("the issuer of the cluster's tokens is not known", w.Issuer.Unread, w.Issuer.Needs)
	case w.Issuer.Value == nil || *w.Issuer.Value == "":
		return unseen("the issuer of the cluster's tokens is not known", "the API server has no discovery document", "the flag --service-account-issuer of the API server")
	case issuer.ValidateForeignURL(*w.Issuer.Value) != nil || isInner(*w.Issuer.Value):
		return broken(Finding{
			Code: CodeIssuerURL, Symptom: "the API server signs as an issuer of which AWS cannot fetch the keys",
			Observed: *w.Issuer.Value, Required: "an https URL that AWS reaches, such as that of a bucket", Mend: []string{"tabard issuer init"},
			Note: "It begins to publish an issuer, and prints what to set on kube-apiserver: docs/oidc-issuer.md. EKS and OpenShift have an issuer of their own.",
		})
	}
	return Step{State: Sound, Text: "the API server signs as " + *w.Issuer.Value}
}

// isInner says that the host of a URL is a Service of the cluster, as kubeadm has it where nobody chose
// an issuer (https://kubernetes.io/docs/concepts/services-networking/dns-pod-service/).
func isInner(text string) bool {
	at, err := url.Parse(text)
	return err == nil && (slices.Contains(strings.Split(at.Hostname(), "."), "svc") || strings.HasSuffix(at.Hostname(), ".local"))
}

// url is the issuer's, empty where it is not known.
func (w *walk) url() string {
	if w.Issuer.Value == nil {
		return ""
	}
	return *w.Issuer.Value
}
