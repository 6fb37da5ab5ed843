package chain

import (
	"regexp"
	"strings"
	"sync"
)

// OnCluster has the commands of a report name a cluster and a person by flags, with a blank before them, such
// as " --context prod": those to type, and those that a text speaks of. A report that nobody gives flags is
// about the current context of the kubeconfig.
func (r *Report) OnCluster(flags string) {
	if flags == "" {
		return
	}
	for at := range r.Links {
		step := &r.Links[at]
		step.Text, step.Needs = onCluster(step.Text, flags), onCluster(step.Needs, flags)
		for i := range step.Findings {
			f := &step.Findings[i]
			for _, text := range []*string{&f.Symptom, &f.Note, &f.Verify} {
				*text = onCluster(*text, flags)
			}
			for at, typed := range f.Mend {
				f.Mend[at] = onCluster(typed, flags)
			}
		}
	}
}

// ofCluster are the beginnings of the commands that ask a cluster, with the blank before what follows.
var ofCluster = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`\b(kubectl|helm upgrade|tabard explain (?:pod|serviceaccount)|tabard issuer (?:bootstrap|verify|status))( [a-zA-Z-])`)
})

func onCluster(text, flags string) string {
	return ofCluster().ReplaceAllStringFunc(text, func(found string) string {
		of := flags
		if strings.HasPrefix(found, "helm") {
			of = forHelm(flags)
		}
		return found[:len(found)-2] + of + found[len(found)-2:]
	})
}

// forHelm are the flags in helm's words (https://helm.sh/docs/helm/helm_upgrade/). helm knows none for a
// cluster or a user of the kubeconfig: it refuses these, and changes no other cluster.
func forHelm(flags string) string {
	return strings.NewReplacer(" --context ", " --kube-context ", " --as ", " --kube-as-user ", " --as-group ", " --kube-as-group ").Replace(flags)
}
