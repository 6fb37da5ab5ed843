package chain

import (
	"cmp"
	"fmt"
	"maps"
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
		return w.silent()
	case valueOf(own, roleVariable) != w.asked.RoleARN:
		return broken(Finding{
			Code: CodeOtherRole, Certainty: Likely, Symptom: "a new pod of ServiceAccount " + account + " gets another role than its annotation names",
			Observed: valueOf(own, roleVariable), Required: w.asked.RoleARN, Mend: []string{w.subject.again()},
			Note: "A webhook sees a changed annotation within seconds: ask again. If it stays so, something else writes " + roleVariable + " into new pods: kubectl get mutatingwebhookconfigurations shows who may.",
		})
	}
	return Step{State: Sound, Text: "a new pod of ServiceAccount " + account + " gets the role today"}
}

// closed is the finding of a hook for identities that lets no pod pass without an answer, and does not
// answer: the API server names it in its refusal.
func (w *walk) closed() (f Finding, is bool) {
	_, rest, has := strings.Cut(w.NewPod.Unread, `failed calling webhook "`)
	name, _, _ := strings.Cut(rest, `"`)
	if !has {
		return f, false
	}
	hook := Hook{Name: name}
	if w.Hooks.Value != nil {
		for _, h := range *w.Hooks.Value {
			if h.Name == name {
				hook = h
			}
		}
	}
	if !hook.isNamed() {
		return f, false
	}
	f = w.noAnswer("the API server makes no new pod of ServiceAccount "+w.subject.Namespace+"/"+w.subject.Account+": the hook "+name+" does not answer", hook)
	f.Observed = w.NewPod.Unread
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
	switch {
	case len(asked) == 0 && w.pod() == nil && slices.ContainsFunc(hooks, func(h Hook) bool { return w.selects(h.Namespaces) }):
		return unseen("whether a new pod of ServiceAccount "+w.subject.Namespace+"/"+w.subject.Account+" gets the role", "the webhook is asked about pods with certain labels alone", "the name of a pod: tabard explain pod NAME -n "+w.subject.Namespace)
	case len(asked) == 0:
		return broken(w.notAsked(symptom, hooks))
	case !slices.ContainsFunc(asked, func(h Hook) bool { return !h.Expired }):
		return broken(expired(symptom, asked[0]))
	}
	return broken(w.noAnswer(symptom, asked[0]))
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
		Mend: []string{"helm upgrade --install tabard charts/tabard --namespace tabard-system --create-namespace --set image.registry=REGISTRY,image.tag=TAG"},
		Note: "docs/install.md has what comes before. EKS brings a webhook of its own, pod-identity-webhook: if it is gone from there, AWS support brings it back.",
	}
	if others := *w.Hooks.Value; len(others) > 0 {
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
	switch {
	case !h.Bundle:
		f.Note = "The hook has no caBundle, so that the API server trusts only certificates of public CAs. " + f.Note
	case h.Conditions:
		f.Note += " The matchConditions of the hook may leave the pod out too."
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

// notAsked is the finding of hooks that are asked about other pods, with the labels of the one for which
// the fewest have to change.
func (w *walk) notAsked(symptom string, hooks []Hook) Finding {
	f := Finding{
		Code: CodeNotAsked, Symptom: symptom + ": its webhook is not asked about it", Observed: "labels that " + hooks[0].title() + " does not select",
		Required: "it selects " + wants(hooks[0]), Mend: []string{hooks[0].look()}, Note: "No label makes the hook be asked: its selectors leave the namespace or the pod out.",
	}
	best := -1
	for _, h := range hooks {
		namespace, possible := changes(h.Namespaces, w.namespaceLabels())
		pod, can := changes(h.Objects, w.NewPod.Value.Labels)
		if !possible || !can || best >= 0 && len(namespace)+len(pod) >= best {
			continue
		}
		f.Required, f.Note, f.Mend = h.title()+" selects "+wants(h), "", nil
		f.Observed = strings.Join(append(labelled("the namespace", namespace, w.namespaceLabels()), labelled("the pod", pod, w.NewPod.Value.Labels)...), ", ")
		best = len(namespace) + len(pod)
		if len(namespace) > 0 {
			f.Mend = append(f.Mend, "kubectl label namespace "+line.Word(w.subject.Namespace)+" --overwrite"+typed(namespace))
			f.Note = "Who may label namespaces types it. All pods of the namespace are asked about then."
			if w.pod() != nil && w.own == nil && len(pod) == 0 { // a template that changes makes new pods by itself
				f.Mend = append(f.Mend, w.restart())
			}
		}
		if len(pod) > 0 {
			f.Mend = append(f.Mend, w.patch(map[string]any{"metadata": map[string]any{"labels": pod}}, h.look()))
			f.Note += " The pod's template gets its labels too; those by which its workload finds its pods cannot change."
		}
		f.Note = strings.TrimSpace(f.Note)
	}
	return f
}

// wants is what a hook selects.
func wants(h Hook) string {
	out := []string{}
	if h.Namespaces != nil {
		out = append(out, "namespaces with "+metav1.FormatLabelSelector(h.Namespaces))
	}
	if h.Objects != nil {
		out = append(out, "pods with "+metav1.FormatLabelSelector(h.Objects))
	}
	return strings.Join(out, ", ")
}

func (w *walk) namespaceLabels() map[string]string {
	if w.NamespaceLabels.Value == nil {
		return nil
	}
	return *w.NamespaceLabels.Value
}

// changes are the labels that have to change for a selector to match, nil in place of a value for one
// that has to go. It is not possible for a label that the API server keeps, and for a selector that
// contradicts itself.
func changes(selector *metav1.LabelSelector, of map[string]string) (out map[string]*string, possible bool) {
	out = map[string]*string{}
	if selector == nil {
		return out, true
	}
	for key, value := range selector.MatchLabels {
		if has, is := of[key]; !is || has != value {
			out[key] = new(value)
		}
	}
	for _, each := range selector.MatchExpressions {
		has, is := of[each.Key]
		switch {
		case each.Operator == metav1.LabelSelectorOpIn && len(each.Values) > 0 && !slices.Contains(each.Values, has):
			out[each.Key] = new(each.Values[0])
		case each.Operator == metav1.LabelSelectorOpExists && !is && out[each.Key] == nil:
			out[each.Key] = new("")
		case is && (each.Operator == metav1.LabelSelectorOpDoesNotExist || each.Operator == metav1.LabelSelectorOpNotIn && slices.Contains(each.Values, has)):
			out[each.Key] = nil
		}
	}
	after := maps.Clone(of)
	if after == nil {
		after = map[string]string{}
	}
	for key, value := range out {
		if key == corev1.LabelMetadataName {
			return nil, false
		}
		if value == nil {
			delete(after, key)
		} else {
			after[key] = *value
		}
	}
	return out, selects(selector, after)
}

// labelled says what somebody has of the labels that have to change.
func labelled(who string, all map[string]*string, of map[string]string) (out []string) {
	for _, key := range slices.Sorted(maps.Keys(all)) {
		if value, has := of[key]; has {
			out = append(out, who+" has "+key+"="+value)
		} else {
			out = append(out, who+" has no label "+key)
		}
	}
	return out
}

// typed are the labels as kubectl label takes them.
func typed(all map[string]*string) (out string) {
	for _, key := range slices.Sorted(maps.Keys(all)) {
		word := key + "-"
		if value := all[key]; value != nil {
			word = key + "=" + *value
		}
		out += " " + line.Word(word)
	}
	return out
}
