package credentials

import (
	"fmt"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/tabard-dev/tabard/awsauth/identity"
	"github.com/tabard-dev/tabard/internal/core/condition"
)

// audiencesServed says whether AWS accepts the tokens that the pods of a request ask for: STS
// refuses a token whose audience the issuer's provider in IAM does not know (AWS:
// AssumeRoleWithWebIdentity, InvalidIdentityToken). It is nil where no provider is known, and
// where nothing lacks of a request for a ServiceAccount, whose pods get the webhook's token.
//
// It is no link of Ready, and stops no delivery. A pod asks for the audience that its own
// manifest names, which nobody knows before the pod is there, and one that asks for another
// audience can become the role. Where the provider knows none of the audiences, no pod could:
// Accepted says so already, and no role is made.
func audiencesServed(w World) *condition.Verdict {
	targets, invalid := Targets(w.Request)
	if w.Provider.AWS == nil || invalid != "" {
		return nil
	}
	if arn, _ := GivenRole(w); arn != "" {
		if role, _ := identity.ParseARN(arn); role.Account != w.Account {
			return nil // the provider of that account is not known
		}
	}
	var out *condition.Verdict
	for _, i := range w.asking() {
		v := servedBy(w, targets[0], i)
		switch {
		case out == nil || out.IsTrue() && !v.IsTrue() || out.Status == metav1.ConditionUnknown && v.Status == metav1.ConditionFalse:
			out = &v
		case out.Status == v.Status:
			out.Message += "; " + v.Message
		}
	}
	if targets[0].Kind == KindServiceAccount && out != nil && out.IsTrue() {
		return nil
	}
	return out
}

// asking are the issuers whose tokens pods get from now on: the cluster's own where it is known,
// else all that are in use. One without a provider in IAM is not among them.
func (w World) asking() []Issuer {
	return slices.DeleteFunc(slices.Clone(w.Issuers), func(i Issuer) bool {
		return i.Deleting || i.Retired || !i.Registered || w.lacksOwn() && i.URL != w.Platform.Issuer
	})
}

// servedBy is the verdict on the provider of one issuer.
func servedBy(w World, target Target, i Issuer) condition.Verdict {
	audiences, asked, add := Audiences(target), askedFor(w, target), toAdd(w, target, i)
	missing := without(audiences, i.Audiences)
	knows := fmt.Sprintf("the provider %s knows the audiences %s", i.ProviderARN, strings.Join(i.Audiences, ", "))
	switch {
	case len(missing) == 0:
		return condition.Yes(ReasonAudiencesServed, "%s", knows)
	case asked != "" && asked != add:
		return condition.Yes(ReasonAudiencesServed, "%s, and does not know %s, for which other pods may ask", knows, add)
	case slices.Contains(i.Wanted, add):
		return condition.No(ReasonAudiencePending, "%s, and spec.providers of the OIDCIssuer %s names %s besides: if it stays so, ProviderReady of the OIDCIssuer says why (kubectl describe oidcissuer %[2]s)", knows, i.Name, add)
	case asked == "" && len(missing) < len(audiences):
		return condition.Unknown(ReasonAudiencesUnknown, "%s; the pods' token is at %s, and for which audience is not known; if they ask for %s, AWS refuses it: then add it: %s", knows, tokenPath(w), add, addition(i, add))
	}
	pods := "pods with the request's Secret ask for " + strings.Join(audiences, " or ")
	switch {
	case target.Kind == KindServiceAccount:
		pods = "the webhook's tokens are for " + asked
	case asked != "":
		pods = fmt.Sprintf("pods of OpenShift's operators, which have their token at %s, ask for %s", tokenPath(w), asked)
	}
	return condition.No(ReasonAudienceMissing, "%s; %s, which AWS refuses: add it: %s", knows, pods, addition(i, add))
}

// askedFor is the audience that the pods of a request are known to ask for; empty where it is not
// known. Those of OpenShift's operators mount a token for "openshift" at DefaultTokenPath
// (openshift/enhancements, cloud-integration/tokenized-auth-enablement-operators-on-cloud.md).
func askedFor(w World, target Target) string {
	switch {
	case target.Kind == KindServiceAccount:
		return audienceSTS
	case tokenPath(w) == DefaultTokenPath:
		return audienceOpenShift
	}
	return ""
}

// toAdd is the audience that a provider lacks first: the one that pods are known to ask for, else
// AWS's own; empty where it lacks none.
func toAdd(w World, target Target, i Issuer) string {
	missing := without(Audiences(target), i.Audiences)
	for _, audience := range []string{askedFor(w, target), audienceSTS, audienceOpenShift} {
		if slices.Contains(missing, audience) {
			return audience
		}
	}
	return ""
}

// addition is the command by which an administrator has a provider know one audience more: in the
// OIDCIssuer where Tabard changes the provider, else in AWS.
func addition(i Issuer, audience string) string {
	if i.AudiencesField == "" {
		return fmt.Sprintf("aws iam add-client-id-to-open-id-connect-provider --open-id-connect-provider-arn %s --client-id %s", i.ProviderARN, audience)
	}
	return fmt.Sprintf(`kubectl patch oidcissuer %s --type=json -p '[{"op":"add","path":"%s/-","value":"%s"}]'`, i.Name, i.AudiencesField, audience)
}
