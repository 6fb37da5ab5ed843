package chain

import (
	"fmt"

	"github.com/tabard-dev/tabard/awsauth/identity"
	"github.com/tabard-dev/tabard/internal/core/line"
)

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
