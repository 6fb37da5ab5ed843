package chain

import (
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/tabard-dev/tabard/awsauth/identity"
	"github.com/tabard-dev/tabard/internal/core/inject"
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
			Observed: w.asked.RoleARN, Required: "arn:aws:iam::ACCOUNT:role/NAME", Mend: []string{w.annotate(blankRole), w.restart()}, Blanks: []string{blankRole},
		})
	case w.asked.RoleARN != "":
		by := ""
		if manager := writer(account, roleAnnotation()); manager != "" {
			by = ", written by " + manager
		}
		return Step{State: Sound, Text: fmt.Sprintf("ServiceAccount %s → %s (annotation%s)", name, w.asked.RoleARN, by)}
	case w.own != nil && isExpanded(w.role):
		return unseen("which role container "+w.own.Name+" has", "the kubelet puts other variables into "+roleVariable+"="+w.role, inContainer)
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
			Observed: "no annotation " + roleAnnotation(), Required: roleAnnotation() + " with the ARN of the role", Mend: []string{w.annotate(blankRole), w.restart()}, Blanks: []string{blankRole},
		})
	}
	if step, is := w.otherwise(); is {
		return step
	}
	f := Finding{
		Code: CodeNoRole, Symptom: fmt.Sprintf("nothing names a role for ServiceAccount %s", name),
		Observed: "no annotation " + roleAnnotation(), Required: roleAnnotation() + " with the ARN of the role", Mend: []string{w.annotate(blankRole), w.restart()}, Blanks: []string{blankRole},
		Note: "A pod without a role has the rights of its node, if it can reach the node's metadata service.",
	}
	if w.pod() == nil { // what else may name a role would be seen in the pod
		f.Certainty, f.Note = Likely, "EKS Pod Identity and the webhook's config map name roles too: ask about a pod, which shows it."
		f.Mend = f.Mend[:1]
	} else if at := slices.IndexFunc(containersOf(w.pod()), func(c *corev1.Container) bool { return len(c.EnvFrom) > 0 }); at >= 0 {
		f.Certainty = Likely
		f.Note += " Container " + containersOf(w.pod())[at].Name + " has variables of envFrom, which are not read: they may name a role."
	}
	return broken(f)
}

// inContainer is what is needed to see what a pod does not say.
const inContainer = "a look into the container"

// otherwise is the step of a pod that names its role in another way, which is not followed: by a file of
// the SDKs, as OpenShift's operators do, by a profile, or by a variable from elsewhere
// (https://docs.aws.amazon.com/sdkref/latest/guide/file-location.html).
func (w *walk) otherwise() (step Step, is bool) {
	pod := w.pod()
	if pod == nil {
		return Step{}, false
	}
	injector, _ := deciders()
	if profiles := injector.ProfilesAnnotation(); pod.Annotations[profiles] != "" {
		return unseen("which role the pod takes", "its annotation "+profiles+" names roles by profile: "+pod.Annotations[profiles], "the profile that the workload takes, which this version does not follow"), true
	}
	for _, container := range containersOf(pod) {
		if variable := variableOf(container, roleVariable); variable != nil && variable.ValueFrom != nil {
			return unseen("which role container "+container.Name+" has", roleVariable+" comes"+sourceOf(*variable)+", which is not read", inContainer), true
		}
		for _, name := range []string{"AWS_SHARED_CREDENTIALS_FILE", "AWS_CONFIG_FILE", "AWS_PROFILE"} {
			if variable := variableOf(container, name); variable != nil && (variable.Value != "" || variable.ValueFrom != nil) {
				return unseen("which role container "+container.Name+" has", "by "+name+" it takes credentials from a file, which is not read", inContainer), true
			}
		}
	}
	return Step{}, false
}

func roleAnnotation() string {
	injector, _ := deciders()
	return injector.RoleAnnotation()
}

func (w *walk) annotate(arn string) string {
	return w.kubectl(fmt.Sprintf("annotate serviceaccount %s --overwrite %s=%s", line.Word(w.subject.Account), roleAnnotation(), line.Word(arn)))
}

// asWebhookReads are the annotations of a ServiceAccount as the webhook reads them: too many are none.
func asWebhookReads(injector *inject.Injector, annotations map[string]string) *inject.ServiceAccount {
	if !injector.ReadsAnnotations(annotations) {
		return &inject.ServiceAccount{TooLong: true}
	}
	return &inject.ServiceAccount{Annotations: annotations}
}
