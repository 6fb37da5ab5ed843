package credentials

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	cloudv1 "github.com/tabard-dev/tabard/api/cloudcredential/v1"
	"github.com/tabard-dev/tabard/internal/core/platform"
)

// Actor fulfils a request.
type Actor string

// The actors.
const (
	ActorTabard Actor = "Tabard"
	ActorCCO    Actor = "CloudCredentialOperator"
	ActorNobody Actor = "Nobody"
)

// Name is the actor for people.
func (a Actor) Name() string {
	switch a {
	case ActorTabard:
		return "Tabard"
	case ActorCCO:
		return "Cloud Credential Operator"
	case ActorNobody:
		return "nobody"
	case ActorUnknown:
		return "not known"
	}
	return string(a)
}

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
	Platform platform.Facts
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
	live := a.Platform.Operator.Live
	switch {
	case !a.NoProvider && !a.Platform.Known():
		return Acting{ActorNobody, ReasonPlatformUnknown, "it is not known what cluster this is: " + strings.Join(a.Platform.Missing, "; ")}
	case !a.NoProvider && !a.Platform.Has(kinds[a.Provider]):
		return Acting{ActorNobody, ReasonIgnored, mismatch(a)}
	case live && a.NoProvider:
		return Acting{ActorCCO, ReasonCCOLive, a.Platform.Operator.Why + "; the request has no providerSpec"}
	case live && a.Target == KindServiceAccount:
		return beside(a)
	case live && (a.Target == KindSecret || a.NamesSecret):
		return Acting{ActorCCO, ReasonCCOLive, a.Platform.Operator.Why + "; it fulfils requests for Secrets"}
	case live:
		return Acting{ActorNobody, ReasonInvalidTarget, a.Invalid}
	case a.CCOFinalizer && !a.Adopted:
		return Acting{ActorNobody, ReasonNotAdopted, "a Cloud Credential Operator that is gone had the request: run tabard credentials adopt to have Tabard take it over"}
	case a.NoProvider:
		return Acting{ActorTabard, ReasonProviderSpecMissing, "spec.providerSpec is missing, expected an AWSProviderSpec, AzureProviderSpec or GCPProviderSpec"}
	case a.Invalid != "":
		return Acting{ActorTabard, ReasonInvalidTarget, a.Invalid}
	}
	return Acting{ActorTabard, ReasonAccepted, a.Platform.Operator.Why}
}

// beside says who fulfils a request for a ServiceAccount where a Cloud Credential
// Operator is live.
func beside(a Asked) Acting {
	const manual = ": Tabard fulfils requests for ServiceAccounts beside it where its mode is Manual"
	why := fmt.Sprintf("%s, its mode is %s (%s)", a.Platform.Operator.Why, a.Platform.Mode, a.Platform.ModeWhy)
	switch a.Platform.Mode {
	case platform.Manual:
		return Acting{ActorTabard, ReasonAccepted, why + ", in which it leaves ServiceAccounts alone"}
	case platform.Mint, platform.Default:
		return Acting{ActorNobody, ReasonCCOWouldMint, why + ", in which it would make a user for the same request" + manual}
	case platform.Passthrough:
		return Acting{ActorNobody, ReasonCCOPassthrough, why + manual}
	}
	return Acting{ActorNobody, ReasonCCOModeUnknown, why + manual}
}

// kinds are the clouds of the provider specs that are fulfilled.
var kinds = map[string]platform.Cloud{
	cloudv1.AWSProviderSpecKind: platform.AWS, cloudv1.AzureProviderSpecKind: platform.Azure, cloudv1.GCPProviderSpecKind: platform.GCP,
}

func mismatch(a Asked) string {
	cloud := cmp.Or(string(a.Platform.Cloud), "none of OpenShift's")
	if a.Provider == "" {
		return "spec.providerSpec has no kind, and the cluster's platform is " + cloud
	}
	return fmt.Sprintf("the kind of spec.providerSpec is %s, and the cluster's platform is %s", a.Provider, cloud)
}
