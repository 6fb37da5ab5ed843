package injection

import (
	"fmt"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/tabard-dev/tabard/internal/core/spelling"
)

// labelPrefix is the part of Tabard's labels before their name.
const labelPrefix = "tabard.dev/"

// NamespaceSlip is what of a namespace's labels does not count as it is written; nil for
// nothing. An administrator who misspells that identities are required believes that they
// are.
func NamespaceSlip(namespace *metav1.PartialObjectMetadata) *Slip {
	var slips, commands []string
	for _, each := range []struct{ label, value string }{{modeLabel, required}, {skippingLabel, permitted}} {
		value, has := namespace.Labels[each.label]
		if !has {
			if meant := misspelt(namespace.Labels, each.label); meant != "" {
				slips = append(slips, fmt.Sprintf("label %s does not count: did you mean %s=%s?", meant, each.label, each.value))
				commands = append(commands, meant+"-", each.label+"="+each.value)
			}
			continue
		}
		if value != each.value {
			slips = append(slips, fmt.Sprintf("label %s is %q, and counts only if it is %q", each.label, value, each.value))
			commands = append(commands, each.label+"="+each.value)
		}
	}
	if namespace.Labels[skippingLabel] == permitted && namespace.Labels[modeLabel] != required {
		slips = append(slips, fmt.Sprintf("label %s counts only beside %s=%s", skippingLabel, modeLabel, required))
		commands = append(commands, modeLabel+"="+required)
	}
	if len(slips) == 0 {
		return nil
	}
	return &Slip{
		// The event is in the namespace itself, where its people see it.
		Regarding: corev1.ObjectReference{APIVersion: "v1", Kind: "Namespace", Namespace: namespace.Name, Name: namespace.Name, UID: namespace.UID},
		Note:      fmt.Sprintf("Namespace %[1]s: %[2]s. Correct it: kubectl label namespace %[1]s --overwrite %[3]s; or remove the label.", namespace.Name, joined(slips), strings.Join(unique(commands), " ")),
	}
}

// misspelt is a label of Tabard's that is nearly spelt as another one; empty for none.
func misspelt(labels map[string]string, meant string) string {
	const most = 2
	best := ""
	for label := range labels {
		isOther := label == modeLabel || label == skippingLabel
		if isOther || !strings.HasPrefix(label, labelPrefix) || len(label) > len(meant)+most {
			continue
		}
		if spelling.Distance(label, meant) <= most && (best == "" || label < best) {
			best = label
		}
	}
	return best
}

// unique are the texts of a list, each once.
func unique(all []string) (out []string) {
	seen := map[string]bool{}
	for _, one := range all {
		if !seen[one] {
			seen[one] = true
			out = append(out, one)
		}
	}
	return out
}

// skipSlip says that the label to skip the webhook skips it whatever its value; empty where
// the value does not say otherwise.
func skipSlip(labels map[string]string) string {
	value, has := labels[SkipLabel]
	if says, err := strconv.ParseBool(value); !has || err != nil && !strings.EqualFold(value, "no") || says {
		return ""
	}
	return fmt.Sprintf("label %s is %q, and the webhook skips the pod all the same: the label alone counts; remove it", SkipLabel, value)
}
