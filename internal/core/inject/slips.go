package inject

import (
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/tabard-dev/tabard/internal/core/inject/podpatch"
)

// Slips are what somebody wrote into annotations and what does not count, or not as it is
// written. The webhook warns of them, and the controller injection, which sees no request,
// makes events of the same texts.

// vocabularyOf are the names after the prefix.
func vocabularyOf(prefix string) podpatch.Vocabulary {
	return podpatch.Vocabulary{
		Prefix:  prefix,
		Account: []string{"role-arn", "audience", "sts-regional-endpoints", "token-expiration", "region"},
		Pod:     []string{"token-expiration", "skip-containers", "include-containers", "role-profiles", "aws-config"},
		Label:   []string{"skip-pod-identity-webhook", "pod-identity"},
	}
}

// AccountSlips are the slips of a ServiceAccount, one sentence each, as far as its
// annotations alone tell: one without a role may have it from the config map.
func (in *Injector) AccountSlips(name string, account *ServiceAccount) []string {
	var warnings podpatch.Warnings
	found, _ := in.choose(Pod{ServiceAccountName: name}, Subject{Account: account}, &warnings)
	in.adviseAccount(account, name, found, &warnings)
	return warnings
}

// PodSlips are the slips of a pod, one sentence each, as far as it tells itself.
func (in *Injector) PodSlips(pod Pod) []string {
	var warnings podpatch.Warnings
	asked := in.annotations(pod)
	in.readProfiles(asked, &warnings)
	selection := in.selection(asked, &warnings)
	in.advisePod(pod, asked, &warnings)
	pod.AdviseSkipped(in.names.skipContainers, selection.Skip, &warnings)
	for _, name := range selection.Only {
		if !pod.Named(name) || slices.Contains(selection.Skip, name) {
			in.adviseIncluded(name, &warnings)
		}
	}
	return warnings
}

// adviseAccount warns of annotations of a ServiceAccount that do not count. Beside a role
// of the config map none does.
func (in *Injector) adviseAccount(account *ServiceAccount, name string, found binding, warnings *podpatch.Warnings) {
	if account == nil || account.TooLong || len(account.Annotations) == 0 {
		return
	}
	given := account.Annotations
	in.vocabulary.AdviseAccount(name, given, warnings)
	role := given[in.names.roleARN]
	for _, each := range []string{in.names.audience, in.names.regionalSTS, in.names.tokenExpiration, in.names.region} {
		switch {
		case given[each] == "":
		case found.source == mappingSource:
			warnings.Add("ServiceAccount %.63q: annotation %s does not count, as %s names the role: write it there", name, each, mappingSource)
		case role == "" && found.method == NoMethod:
			warnings.Add("ServiceAccount %.63q has the annotation %s and no %s: the pod gets no AWS identity", name, each, in.names.roleARN)
		}
	}
	if found.source == mappingSource {
		return
	}
	if text := given[in.names.regionalSTS]; text != "" {
		if _, err := strconv.ParseBool(text); err != nil {
			warnings.Add("ServiceAccount %.63q: annotation %s is %.40q, expected true or false; it does not count", name, in.names.regionalSTS, text)
		}
	}
	AdviseExpiration(name, in.names.tokenExpiration, given[in.names.tokenExpiration], MaxTokenExpiration, warnings)
}

// advisePod warns of annotations and labels of a pod that do not count.
func (in *Injector) advisePod(pod Pod, asked annotations, warnings *podpatch.Warnings) {
	in.vocabulary.AdvisePod(pod, warnings)
	AdviseExpiration("", in.names.tokenExpiration, asked.tokenExpiration.Text(), MaxTokenExpiration, warnings)
}

func (in *Injector) adviseIncluded(name string, warnings *podpatch.Warnings) {
	warnings.Add("annotation %s names %.63q, which is no container of the pod, or a skipped one", in.names.includeContainers, name)
}

// AdviseExpiration warns of the life of a token that is no number of seconds, so that it
// does not count, or that is brought into the limits: MinTokenExpiration and most. The text
// is empty for none; the account, too, where it is the pod's annotation.
func AdviseExpiration(account, annotation, text string, most int64, warnings *podpatch.Warnings) {
	if text == "" {
		return
	}
	of := ""
	if account != "" {
		of = fmt.Sprintf("ServiceAccount %.63q: ", account)
	}
	switch asked, err := strconv.ParseInt(text, 10, 64); {
	case err != nil:
		warnings.Add("%sannotation %s is %.40q, expected whole seconds, %d or more: write %q; it does not count", of, annotation, text, MinTokenExpiration, secondsOf(text))
	case asked < MinTokenExpiration:
		warnings.Add("%sannotation %s is %d, expected seconds, %d or more; %d counts", of, annotation, asked, MinTokenExpiration, MinTokenExpiration)
	case asked > most:
		warnings.Add("%sannotation %s is %d, expected seconds, at most %d, which counts", of, annotation, asked, most)
	}
}

// secondsOf is what somebody probably meant by a text that is no number of seconds.
func secondsOf(text string) string {
	meant, err := time.ParseDuration(text)
	if seconds := int64(meant / time.Second); err == nil && seconds >= MinTokenExpiration {
		return strconv.FormatInt(seconds, 10)
	}
	return "3600"
}
