package chain

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/tabard-dev/tabard/awsauth/identity"
	"github.com/tabard-dev/tabard/internal/core/inject"
	"github.com/tabard-dev/tabard/internal/core/injection"
	"github.com/tabard-dev/tabard/internal/core/line"
)

const (
	// tabards is the name of Tabard's configuration, and of the Deployment behind it.
	tabards = "tabard-webhook"
	// restarted are the commands by which a Deployment is started anew, and waited for.
	restarted, ready = "kubectl -n %s rollout restart deployment/%s", "kubectl -n %s rollout status deployment/%s"
	// createPods is the right by which the API server is asked for a new pod.
	createPods = "create pods in the namespace "
)

// asksWebhook says whether an annotation asks a webhook for the identity of new pods, and why not.
func (w *walk) asksWebhook() (why string, asks bool) {
	switch {
	case w.Account.Unread != "":
		return "what the ServiceAccount asks for was not read", false
	case w.agent:
		return "the pod gets its credentials from an agent of its node", false
	case w.asked.RoleARN == "":
		return "no annotation asks a webhook for a role", false
	case !identity.IsRoleARN(w.asked.RoleARN):
		return "what the annotation names is no role", false
	case w.own != nil && w.isByHand():
		return "the pod is written with its role and its token, and needs no webhook", false
	}
	return "", true
}

// isByHand says that the pod has a token by a volume that no webhook injects.
func (w *walk) isByHand() bool {
	volume, _ := volumeOf(w.pod(), w.own)
	return w.tokenIn(w.own) != nil && volume.Name != inject.VolumeName && volume.Name != inject.ProfilesVolumeName
}

// identified is the container of the new pod that has a role and a token, nil for none.
func (w *walk) identified() *corev1.Container {
	if w.NewPod.Value == nil || w.NewPod.Unread != "" {
		return nil
	}
	if own := holder(w.NewPod.Value, roleVariable); own != nil && valueOf(own, tokenVariable) != "" {
		return own
	}
	return nil
}

func (w *walk) webhook() Step {
	if why, asks := w.asksWebhook(); !asks {
		return Step{State: Unreached, Text: why}
	}
	account := w.subject.Namespace + "/" + w.subject.Account
	what, pod := "whether a new pod of ServiceAccount "+account+" gets the role", w.NewPod.Value
	if w.NewPod.Unread != "" {
		if f, is := w.closed(); is {
			return broken(f)
		}
		return unseen(what, w.NewPod.Unread, w.NewPod.Needs)
	}
	if pod == nil {
		return unseen(what, "the API server was not asked for one", createPods+w.subject.Namespace)
	}
	own := w.identified()
	switch {
	case own == nil && holder(pod, uriVariable) != nil:
		return unseen(what, "it gets its credentials from an agent of its node, such as EKS Pod Identity, whose associations are in AWS", "eks:ListPodIdentityAssociations")
	case own == nil:
		return w.doubted(w.silent())
	case valueOf(own, roleVariable) != w.asked.RoleARN:
		return broken(Finding{
			Code: CodeOtherRole, Certainty: Likely, Symptom: "a new pod of ServiceAccount " + account + " gets another role than its annotation names",
			Observed: valueOf(own, roleVariable), Required: w.asked.RoleARN, Mend: []string{w.subject.again()},
			Note: "A webhook sees a changed annotation within seconds: ask again. If it stays so, something else writes " + roleVariable + " into new pods: kubectl get mutatingwebhookconfigurations shows who may.",
		})
	}
	return Step{State: Sound, Text: "a new pod of ServiceAccount " + account + " gets the role today"}
}

// doubted is the step of a new pod without an identity, about a pod that has one. Its template may bring
// it by hand, copied from a pod that a webhook wrote: nothing in the pod tells one from the other.
func (w *walk) doubted(step Step) Step {
	if w.own == nil || w.tokenIn(w.own) == nil {
		return step
	}
	for i := range step.Findings {
		f := &step.Findings[i]
		f.Certainty = Likely
		f.Note = strings.TrimSpace("The pod has its token: if its template brings it by hand, it needs no webhook. " + f.Note)
	}
	return step
}

// closed is the finding of a hook for identities that lets no pod pass without an answer, and does not
// answer: the API server begins its refusal with its name. Further behind, such words are somebody else's.
func (w *walk) closed() (f Finding, is bool) {
	rest, has := strings.CutPrefix(strings.TrimPrefix(w.NewPod.Unread, "Internal error occurred: "), `failed calling webhook "`)
	name, _, ends := strings.Cut(rest, `"`)
	if !has || !ends {
		return f, false
	}
	hook, certainty := Hook{Name: name}, Certainty("")
	if w.Hooks.Unread == "" && w.Hooks.Value != nil {
		at := slices.IndexFunc(*w.Hooks.Value, func(h Hook) bool { return h.Name == name })
		if at >= 0 {
			hook = (*w.Hooks.Value)[at]
		} else { // it is of another kind, or was taken away since
			certainty = Likely
		}
	}
	if !hook.isNamed() {
		return f, false
	}
	f = w.noAnswer("the API server makes no new pod of ServiceAccount "+w.subject.Namespace+"/"+w.subject.Account+": the hook "+name+" does not answer", hook)
	f.Observed, f.Certainty = w.NewPod.Unread, cmp.Or(certainty, f.Certainty)
	return f, true
}

// silent is the step of a new pod that came back without an identity.
func (w *walk) silent() Step {
	symptom := "a new pod of ServiceAccount " + w.subject.Namespace + "/" + w.subject.Account + " gets no role today"
	if w.Hooks.Unread != "" || w.Hooks.Value == nil {
		f := w.noAnswer(symptom, Hook{})
		f.Note = "No webhook gives it one. By the same command, who may list mutatingwebhookconfigurations in the cluster sees why. Here they were not read: " + cmp.Or(w.Hooks.Unread, "nobody asked for them")
		if w.pod() == nil { // a webhook may be asked about pods with certain labels alone
			f.Certainty = Likely
		}
		return broken(f)
	}
	hooks := candidates(*w.Hooks.Value)
	if len(hooks) == 0 {
		return broken(w.noWebhook(symptom))
	}
	asked := slices.DeleteFunc(slices.Clone(hooks), func(h Hook) bool { return !w.asks(h) })
	alive := slices.DeleteFunc(slices.Clone(asked), func(h Hook) bool { return h.Expired })
	switch {
	case len(alive) == 0 && !hooks[0].isNamed(): // a hook that only has the path may be for anything, and its labels and its CA too
		return broken(w.noWebhook(symptom))
	case len(asked) == 0 && w.pod() == nil && slices.ContainsFunc(hooks, func(h Hook) bool { return w.selects(h.Namespaces) }):
		return unseen("whether a new pod of ServiceAccount "+w.subject.Namespace+"/"+w.subject.Account+" gets the role", "the webhook is asked about pods with certain labels alone", "the name of a pod: tabard explain pod NAME -n "+w.subject.Namespace)
	case len(asked) == 0:
		return broken(w.notAsked(symptom, hooks))
	case len(alive) == 0:
		return broken(conditional(expired(symptom, preferred(asked)), asked))
	}
	f := w.noAnswer(symptom, preferred(alive))
	if at := slices.IndexFunc(asked, func(h Hook) bool { return h.Expired }); at >= 0 {
		f.Note += " Asked is " + asked[at].title() + " too, whose caBundle has expired: " + asked[at].look() + "."
	}
	return broken(conditional(f, asked))
}

// preferred is Tabard's hook, if it is one of these, or else the first.
func preferred(hooks []Hook) Hook {
	return hooks[max(0, slices.IndexFunc(hooks, func(h Hook) bool { return h.Configuration == tabards }))]
}

// conditional is a finding about hooks that are asked. The new pod has labels of the pod alone, so that
// matchConditions may leave it out (https://kubernetes.io/docs/reference/access-authn-authz/extensible-admission-controllers/#matching-requests-matchconditions).
func conditional(f Finding, asked []Hook) Finding {
	at := slices.IndexFunc(asked, func(h Hook) bool { return h.Conditions })
	if at < 0 {
		return f
	}
	f.Certainty = Likely
	f.Note += " The matchConditions of " + asked[at].title() + " may leave the pod out too."
	return f
}

// isNamed says that the name of a hook, or of its configuration, is that of a webhook for identities:
// Tabard's, EKS's, and what others make of that. Others are called under the same path too.
func (h Hook) isNamed() bool {
	return strings.Contains(h.Name, "pod-identity") || strings.Contains(h.Name, "iam-for-pods") || strings.Contains(h.Configuration, "pod-identity") || h.Configuration == tabards
}

// candidates are the hooks that may be for identities: those of such a name, or else of such a path.
func candidates(hooks []Hook) []Hook {
	found := slices.DeleteFunc(slices.Clone(hooks), func(h Hook) bool { return !injection.IsForAWS(h.Path) })
	if named := slices.DeleteFunc(slices.Clone(found), func(h Hook) bool { return !h.isNamed() }); len(named) > 0 {
		return named
	}
	return found
}

// asks says that a hook is asked about the new pod, or may be: labels of the namespace that were not
// read may be any.
func (w *walk) asks(h Hook) bool {
	return selects(h.Objects, w.NewPod.Value.Labels) && w.selects(h.Namespaces)
}

// selects says that a selector is one of the namespace, or may be.
func (w *walk) selects(namespaces *metav1.LabelSelector) bool {
	return w.NamespaceLabels.Value == nil || selects(namespaces, *w.NamespaceLabels.Value)
}

// selects says that a selector matches labels. One that is absent does, and one that is none may.
func selects(selector *metav1.LabelSelector, of map[string]string) bool {
	if selector == nil {
		return true
	}
	read, err := metav1.LabelSelectorAsSelector(selector)
	return err != nil || read.Matches(labels.Set(of))
}

// noWebhook is the finding of a cluster without a webhook for identities. Where others are asked about
// pods, one of them may be it, under a path of its own.
func (w *walk) noWebhook(symptom string) Finding {
	f := Finding{
		Code: CodeNoWebhook, Symptom: symptom + ": the cluster has no webhook that would give it one", Observed: "no hook for identities is asked about new pods", Required: "one, such as Tabard's",
		Mend: []string{"helm upgrade --install tabard charts/tabard --namespace tabard-system --create-namespace --set image.registry=REGISTRY,image.tag=TAG"}, Blanks: []string{"REGISTRY", "TAG"},
		Note: "docs/install.md has what comes before. EKS brings a webhook of its own, pod-identity-webhook: if it is gone from there, AWS support brings it back.",
	}
	if others := append(candidates(*w.Hooks.Value), *w.Hooks.Value...); len(others) > 0 {
		f.Certainty = Likely
		f.Note += " If " + others[0].Configuration + " is one for identities, look whether it answers."
	}
	return f
}

// expired is the finding of a hook whose caBundle is past.
func expired(symptom string, h Hook) Finding {
	f := Finding{
		Code: CodeAuthorityExpired, Symptom: symptom + ": every certificate in the caBundle of its webhook has expired",
		Observed: "caBundle of " + h.title() + " expired at " + h.Until.UTC().Format("2006-01-02 15:04:05Z"), Required: "a caBundle with the CA of the webhook's certificate", Mend: []string{h.look()},
		Note: "What has made the caBundle renews it, such as cert-manager's cainjector, or an annotation of OpenShift's service CA: look why it does not.",
	}
	if h.Configuration == tabards {
		f.Mend = []string{fmt.Sprintf(restarted, "tabard-certificate", "tabard-certificate"), fmt.Sprintf(ready, "tabard-certificate", "tabard-certificate")}
		f.Note = "The controller certificate renews it, unless cert-manager or OpenShift does: kubectl -n tabard-certificate logs deployment/tabard-certificate says what keeps it from that."
	}
	return f
}

// noAnswer is the finding where nothing more precise was seen. The hook is that which is asked; where it
// is not known, an administrator has to look.
func (w *walk) noAnswer(symptom string, h Hook) Finding {
	f := Finding{
		Code: CodeNoAnswer, Symptom: symptom, Observed: "a dry run: a new pod without " + roleVariable + " and " + tokenVariable,
		Required: roleVariable + "=" + w.role + " and a token for " + w.audience, Mend: []string{w.subject.again()},
	}
	if h.Name == "" {
		return f
	}
	if h.Configuration == "" {
		f.Note = "Who runs the cluster sees by kubectl get mutatingwebhookconfigurations what is behind the hook."
		return f
	}
	f.Observed += "; asked is " + h.title()
	f.Note = "The webhook does not run, the API server does not reach it, its certificate is not of the caBundle, or its settings leave the ServiceAccount out: its log says which."
	if !h.Bundle {
		f.Note = "The hook has no caBundle, so that the API server trusts only certificates of public CAs. " + f.Note
	}
	switch {
	case h.Configuration == tabards && h.Service != "":
		f.Mend = []string{fmt.Sprintf(restarted, line.Word(h.Namespace), tabards), fmt.Sprintf(ready, line.Word(h.Namespace), tabards)}
	case h.Service != "":
		f.Mend = []string{fmt.Sprintf("kubectl -n %s get endpointslices -l %s", line.Word(h.Namespace), line.Word("kubernetes.io/service-name="+h.Service))}
		f.Note = "If no endpoint is ready, start what is behind the Service. " + f.Note
	default:
		f.Mend = []string{h.look()}
		f.Note = "The API server calls it by a URL: EKS runs such a one in its control plane, and AWS support mends it. " + f.Note
	}
	if !h.isNamed() {
		f.Certainty = Likely
	}
	return f
}

// title is what a person finds the hook by.
func (h Hook) title() string { return "hook " + h.Name + " of " + h.Configuration }

// look shows the hook.
func (h Hook) look() string {
	return "kubectl get mutatingwebhookconfiguration " + line.Word(h.Configuration) + " -o yaml"
}
