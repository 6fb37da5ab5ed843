package chain

import (
	"fmt"
	"slices"

	"github.com/tabard-dev/tabard/internal/core/issuer"
	"github.com/tabard-dev/tabard/internal/core/line"
)

// providerARN is that of the provider that AWS looks for.
func (w *walk) providerARN() string {
	role, ok := w.arn()
	if !ok || w.url() == "" {
		return ""
	}
	return issuer.ProviderARN(role.Partition, role.Account, w.url())
}

func (w *walk) provider() Step {
	arn := w.providerARN()
	switch {
	case w.role == "":
		return Step{State: Unreached, Text: "no role is named, whose account would have the provider"}
	case arn == "":
		return Step{State: Unreached, Text: "the issuer or the role is not known"}
	case w.Provider.Unread != "":
		return unseen("the OIDC provider "+arn, w.Provider.Unread, w.Provider.Needs)
	case w.Provider.Value == nil:
		role, _ := w.arn()
		return broken(Finding{
			Code: CodeNoProvider, Symptom: fmt.Sprintf("account %s, which has the role, has no OIDC provider for the issuer", role.Account),
			Observed: "no provider " + arn, Required: "a provider with the audience " + w.audience,
			Mend: []string{fmt.Sprintf("aws iam create-open-id-connect-provider --url %s --client-id-list %s", line.Word(w.url()), line.Word(w.audience))},
			Note: "A provider in another account does not count. Type it with a session of account " + role.Account + ".",
		})
	case !slices.Contains(w.Provider.Value.Audiences, w.audience):
		return broken(Finding{
			Code: CodeProviderAudience, Symptom: "the OIDC provider does not accept the audience of the pod's token",
			Observed: "client IDs " + listed(w.Provider.Value.Audiences), Required: w.audience,
			Mend: []string{fmt.Sprintf("aws iam add-client-id-to-open-id-connect-provider --open-id-connect-provider-arn %s --client-id %s", line.Word(arn), line.Word(w.audience))},
		})
	}
	return Step{State: Sound, Text: fmt.Sprintf("%s accepts the audience %s", arn, w.audience)}
}
