package credentials

import (
	"fmt"
	"slices"

	cloudv1 "github.com/tabard-dev/tabard/api/cloudcredential/v1"
)

// Actor fulfils a request.
type Actor string

// The actors.
const (
	ActorTabard Actor = "Tabard"
	ActorCCO    Actor = "CloudCredentialOperator"
	ActorNobody Actor = "Nobody"
)

// Asked is what who acts depends on.
type Asked struct {
	// Provider is the provider spec's kind; NoProvider says that there is none.
	Provider   string
	NoProvider bool
	// Target is KindSecret or KindServiceAccount, empty if the target is invalid: then
	// Invalid says why, and NamesSecret whether the request names a Secret all the same.
	Target, Invalid string
	NamesSecret     bool
	// Platform is the cluster's.
	Platform Platform
	// CCOFinalizer says that the Cloud Credential Operator had the request, Adopted that
	// an administrator gave it to Tabard.
	CCOFinalizer, Adopted bool
}

// Acting says who fulfils a request, and why.
type Acting struct {
	Actor  Actor
	Reason Reason
	// Text is for people.
	Text string
}

// AskedOf is what who acts depends on, in a world with a request.
func AskedOf(w World) Asked {
	out := Asked{Provider: w.Provider.Kind, NoProvider: w.Provider.Missing, Platform: w.Platform}
	if w.Request == nil {
		return out
	}
	targets, invalid := Targets(w.Request)
	if out.Invalid = invalid; invalid == "" {
		out.Target = targets[0].Kind
	}
	ref := w.Request.Spec.SecretRef
	out.NamesSecret = ref != nil && ref.Name != "" && ref.Namespace != ""
	out.CCOFinalizer = slices.Contains(w.Request.Finalizers, cloudv1.Finalizer)
	out.Adopted = w.Grant != nil && w.Grant.Spec.Request.UID == w.Request.UID && w.Grant.Spec.Adopted
	return out
}

// Act says who fulfils a request: the first of these rules that fits.
func Act(a Asked) Acting {
	cco := "a Cloud Credential Operator is live (" + a.Platform.CCOBecause + ")"
	switch {
	case !a.NoProvider && !fits(a.Provider, a.Platform.Cloud):
		return Acting{ActorNobody, ReasonIgnored, mismatch(a)}
	case a.Platform.CCO && a.NoProvider:
		return Acting{ActorCCO, ReasonCCOLive, cco + ", and the request has no providerSpec"}
	case a.NoProvider:
		return Acting{ActorTabard, ReasonProviderSpecMissing, "the request has no providerSpec"}
	case a.Platform.CCO && a.Target == KindServiceAccount:
		return beside(a, cco)
	case a.Platform.CCO && (a.Target == KindSecret || a.NamesSecret):
		return Acting{ActorCCO, ReasonCCOLive, cco + ", which fulfils requests for Secrets"}
	case a.Platform.CCO:
		return Acting{ActorNobody, ReasonInvalidTarget, a.Invalid}
	case a.CCOFinalizer && !a.Adopted:
		return Acting{ActorNobody, ReasonNotAdopted, "a Cloud Credential Operator that is gone had the request: run tabard credentials adopt"}
	case a.Invalid != "":
		return Acting{ActorTabard, ReasonInvalidTarget, a.Invalid}
	}
	return Acting{ActorTabard, ReasonTabard, "no Cloud Credential Operator is live"}
}

// beside says who fulfils a request for a ServiceAccount where a Cloud Credential
// Operator is live.
func beside(a Asked, cco string) Acting {
	const manual = "; Tabard fulfils requests for ServiceAccounts where the mode is Manual"
	switch a.Platform.Mode {
	case ModeManual:
		return Acting{ActorTabard, ReasonTabard, cco + " in mode Manual, which does not serve ServiceAccounts"}
	case ModeMint, ModeDefault:
		return Acting{ActorNobody, ReasonCCOWouldMint, fmt.Sprintf("%s in mode %s and would make a user for the same request%s", cco, a.Platform.Mode, manual)}
	case ModePassthrough:
		return Acting{ActorNobody, ReasonCCOPassthrough, cco + " in mode Passthrough" + manual}
	}
	return Acting{ActorNobody, ReasonCCOModeUnknown, cco + ", and its mode could not be told" + manual}
}

// kinds are the clouds of the provider specs that are fulfilled.
var kinds = map[string]Cloud{
	cloudv1.AWSProviderSpecKind: AWS, cloudv1.AzureProviderSpecKind: Azure, cloudv1.GCPProviderSpecKind: GCP,
}

// fits says that a provider spec is for the cluster's cloud.
func fits(kind string, cloud Cloud) bool {
	of, known := kinds[kind]
	return known && (cloud == "" || of == cloud)
}

func mismatch(a Asked) string {
	platform := string(a.Platform.Cloud)
	if platform == "" {
		platform = "one that does not say its cloud"
	}
	if a.Provider == "" {
		return "the providerSpec has no kind, and the cluster's platform is " + platform
	}
	return fmt.Sprintf("the providerSpec's kind is %s, and the cluster's platform is %s", a.Provider, platform)
}
