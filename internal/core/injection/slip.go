package injection

import (
	"cmp"
	"fmt"
	"hash/fnv"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/tabard-dev/tabard/internal/core/inject"
	"github.com/tabard-dev/tabard/internal/core/inject/azure"
)

// Bounds of what is told of slips: who may write ServiceAccounts or pods may write very
// many, each with another slip.
const (
	// MaxSlips is how many are told of in a namespace, of those that are there.
	MaxSlips = 20
	// MaxNewSlips is how many are told of in one pass, of all namespaces.
	MaxNewSlips = 100
	// longestSlip is how many bytes are kept of one.
	longestSlip = 700
	// slipKey is where TrimAccount keeps it: no annotation can have this name.
	slipKey = ""
)

// Slip is what somebody wrote into annotations or labels, and what does not count as it is
// written. The webhook warns of the same; but where a controller makes the pods, it is the
// controller that gets the warning.
type Slip struct {
	// Regarding is where it is told: the ServiceAccount, or what makes the pod.
	Regarding corev1.ObjectReference
	// Note tells a person what is wrong, and what to type.
	Note string
	// IsOfSkipped says that it is about a pod that the webhook is not asked about.
	IsOfSkipped bool
}

// SlipKey identifies a slip: one that is corrected into another is told of again, and the
// thousand pods of one owner have one.
type SlipKey struct {
	UID  types.UID
	Text uint64
}

// Key is what identifies the slip.
func (s *Slip) Key() SlipKey {
	sum := fnv.New64a()
	_, _ = sum.Write([]byte(s.Note)) // it never fails
	return SlipKey{s.Regarding.UID, sum.Sum64()}
}

// EventName is a name for its event, the same whoever makes it.
func (s *Slip) EventName() string {
	return fmt.Sprintf("annotation-ignored.%s.%08x", s.Regarding.UID, uint32(s.Key().Text)) //nolint:gosec // part of the sum is enough
}

// AccountSlip is the slip of a ServiceAccount, as TrimAccount leaves it; nil for none.
func (e *Examiner) AccountSlip(account *metav1.PartialObjectMetadata) *Slip {
	text := account.Annotations[slipKey]
	if text == "" {
		return nil
	}
	return &Slip{
		Regarding: corev1.ObjectReference{APIVersion: "v1", Kind: "ServiceAccount", Namespace: account.Namespace, Name: account.Name, UID: account.UID},
		Note:      fmt.Sprintf("%s. Correct it (kubectl -n %s edit serviceaccount %s), and recreate its pods.", text, account.Namespace, account.Name),
	}
}

// slipOfAccount is what is kept of the slips of a ServiceAccount.
func (e *Examiner) slipOfAccount(account *metav1.PartialObjectMetadata) string {
	if kept := account.Annotations[slipKey]; kept != "" {
		return kept
	}
	of := &inject.ServiceAccount{TooLong: !e.injector.ReadsAnnotations(account.Annotations)}
	if !of.TooLong {
		of.Annotations = account.Annotations
	}
	text := joined(e.injector.AccountSlips(account.Name, of))
	if text != "" && !of.TooLong && !e.Annotated(account) {
		text += ". This is so unless the webhook's ConfigMap or its identities file names the ServiceAccount"
	}
	return text
}

// PodSlip is the slip of a pod, as Trim leaves it; nil for none.
func (e *Examiner) PodSlip(pod *Pod) *Slip {
	if pod.slip == "" {
		return nil
	}
	of := corev1.ObjectReference{APIVersion: "v1", Kind: "Pod", Namespace: pod.Namespace, Name: pod.Name, UID: pod.UID}
	if maker := pod.maker; maker != nil {
		of = corev1.ObjectReference{APIVersion: maker.APIVersion, Kind: maker.Kind, Namespace: pod.Namespace, Name: maker.Name, UID: maker.UID}
	}
	where := cmp.Or(pod.owner, "pod/"+pod.Name)
	return &Slip{Regarding: of, Note: fmt.Sprintf("Pods of %s: %s. Correct it: kubectl -n %s edit %s", where, pod.slip, pod.Namespace, where), IsOfSkipped: skipSlip(pod.Labels) != ""}
}

// slipOfPod is what is kept of the slips of a pod. Azure's label is looked at here alone: no
// hook asks about a pod with another value of it.
func (e *Examiner) slipOfPod(pod *corev1.Pod, read inject.Pod) string {
	slips := e.injector.PodSlips(read)
	if slip := skipSlip(pod.Labels); slip != "" {
		slips = append(slips, slip)
	}
	if value, has := pod.Labels[azure.UseLabel]; has {
		if slip := azure.UseSlip(value); slip != "" {
			slips = append(slips, slip)
		}
	}
	return joined(slips)
}

// joined are sentences in one text that is not too long.
func joined(slips []string) string {
	text := strings.Join(slips, "; ")
	if len(text) <= longestSlip {
		return text
	}
	end := longestSlip
	for !utf8.RuneStart(text[end]) {
		end--
	}
	return text[:end] + "…"
}

// News are the slips to tell of now, each once, where those of told have been. They are no
// more than are bearable, as many as there may be. Of too many, all who look choose the
// same: what is random is a UID, so that no namespace goes before others.
func News(found []*Slip, told map[SlipKey]struct{}) []*Slip {
	room, counted := map[string]int{}, make(map[SlipKey]struct{}, len(told))
	fresh := map[SlipKey]*Slip{}
	for _, each := range found {
		key := each.Key()
		if _, before := told[key]; !before {
			fresh[key] = each
		} else if _, twice := counted[key]; !twice {
			counted[key] = struct{}{}
			room[each.Regarding.Namespace]++
		}
	}
	var news []*Slip
	for _, key := range slices.SortedFunc(maps.Keys(fresh), SlipKey.compare) {
		each := fresh[key]
		if room[each.Regarding.Namespace] >= MaxSlips || len(news) >= MaxNewSlips {
			continue
		}
		room[each.Regarding.Namespace]++
		news = append(news, each)
	}
	return news
}

func (k SlipKey) compare(other SlipKey) int {
	return cmp.Or(cmp.Compare(k.UID, other.UID), cmp.Compare(k.Text, other.Text))
}
