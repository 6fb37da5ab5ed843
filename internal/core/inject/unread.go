package inject

import "github.com/tabard-dev/tabard/internal/core/inject/podpatch"

// undecided says that what could not be read may give the pod an identity, and
// nothing else does. The identities count before all else, the mapping only
// where no annotation names a role.
func (s Subject) undecided(pod Pod, found binding, reason Reason) bool {
	if found.method != NoMethod || pod.ServiceAccountName == "" {
		return false
	}
	return s.IdentitiesUnread || s.MappingUnread && (reason == NotOptedIn || reason == UnknownServiceAccount)
}

// adviseUnread warns of a role that stands only as long as the identities cannot
// be read. It is still given: somebody has said that it is this
// ServiceAccount's, and a pod with no identity at all would help nobody.
func (s Subject) adviseUnread(found binding, warnings *podpatch.Warnings) {
	if s.IdentitiesUnread && found.method == WebIdentity {
		warnings.Add("the webhook cannot read who gets container credentials; the pod gets its ServiceAccount's role")
	}
}
