package chain

import (
	"fmt"
	"net/url"
	"slices"
	"strings"

	"github.com/tabard-dev/tabard/awsauth/identity"
	"github.com/tabard-dev/tabard/internal/core/issuer"
	"github.com/tabard-dev/tabard/internal/core/line"
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
			Observed: *w.Issuer.Value, Required: "an https URL that AWS reaches, such as that of a bucket", Mend: []string{"tabard issuer init NAME"},
			Note: "It is the start of publishing the issuer: docs/oidc-issuer.md goes on from there. EKS and OpenShift have an issuer of their own.",
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

func listed(all []string) string {
	if len(all) == 0 {
		return "none"
	}
	return strings.Join(all, ", ")
}

func (w *walk) binding() Step {
	account := w.Account.Value
	name := w.subject.Namespace + "/" + w.subject.Account
	switch {
	case w.agent:
		return unseen("the pod gets its credentials from an agent of its node, such as EKS Pod Identity, whose associations are in AWS",
			"this version does not read them", "eks:ListPodIdentityAssociations")
	case w.Account.Unread != "" && w.own != nil:
		return unseen("whether ServiceAccount "+name+" still names "+w.role+", which the pod has", w.Account.Unread, w.Account.Needs)
	case w.Account.Unread != "":
		return unseen("ServiceAccount "+name, w.Account.Unread, w.Account.Needs)
	case account == nil:
		return broken(Finding{
			Code: CodeNoAccount, Symptom: "there is no ServiceAccount " + name, Mend: []string{w.kubectl("create serviceaccount " + line.Word(w.subject.Account))},
			Note: "Where a chart or an operator makes it, its name or its namespace differs: kubectl get serviceaccounts -A shows what there is.",
		})
	case w.asked.RoleARN != "" && !identity.IsRoleARN(w.asked.RoleARN):
		return broken(Finding{
			Code: CodeRoleARN, Symptom: fmt.Sprintf("the annotation of ServiceAccount %s names no IAM role", name),
			Observed: w.asked.RoleARN, Required: "arn:aws:iam::ACCOUNT:role/NAME", Mend: []string{w.annotate("ROLE_ARN"), w.restart()},
		})
	case w.asked.RoleARN != "":
		by := ""
		if manager := writer(account, roleAnnotation()); manager != "" {
			by = ", written by " + manager
		}
		return Step{State: Sound, Text: fmt.Sprintf("ServiceAccount %s → %s (annotation%s)", name, w.asked.RoleARN, by)}
	case w.own != nil:
		return Step{State: Sound, Text: fmt.Sprintf("container %s → %s (its own variable; the ServiceAccount has no annotation)", w.own.Name, w.role)}
	}
	return w.unbound(name)
}

// unbound is the step where no annotation and no variable names a role.
func (w *walk) unbound(name string) Step {
	_, examiner := deciders()
	if slip := examiner.AccountSlip(examiner.TrimAccount(w.Account.Value)); slip != nil {
		return broken(Finding{
			Code: CodeAnnotationSlip, Symptom: fmt.Sprintf("ServiceAccount %s names no role in the annotation that counts: %s", name, slip.Note),
			Observed: "no annotation " + roleAnnotation(), Required: roleAnnotation() + " with the ARN of the role", Mend: []string{w.annotate("ROLE_ARN"), w.restart()},
		})
	}
	f := Finding{
		Code: CodeNoRole, Symptom: fmt.Sprintf("nothing names a role for ServiceAccount %s", name),
		Observed: "no annotation " + roleAnnotation(), Required: roleAnnotation() + " with the ARN of the role", Mend: []string{w.annotate("ROLE_ARN"), w.restart()},
		Note: "A pod without a role has the rights of its node, if it can reach the node's metadata service.",
	}
	if w.pod() == nil { // what else may name a role would be seen in the pod
		f.Certainty, f.Note = Likely, "EKS Pod Identity and the webhook's config map name roles too: ask about a pod, which shows it."
		f.Mend = f.Mend[:1]
	}
	return broken(f)
}

func roleAnnotation() string {
	injector, _ := deciders()
	return injector.RoleAnnotation()
}

func (w *walk) annotate(arn string) string {
	return w.kubectl(fmt.Sprintf("annotate serviceaccount %s --overwrite %s=%s", line.Word(w.subject.Account), roleAnnotation(), line.Word(arn)))
}
