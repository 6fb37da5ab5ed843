package iam

import (
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/tabard-dev/tabard/awslocal/internal/call"
	"github.com/tabard-dev/tabard/awslocal/internal/pattern"
)

const maxVersions = 5

// policyVersion is one version of a managed policy. Its number is never given
// again.
type policyVersion struct {
	number  int
	created time.Time
	document
}

func (v *policyVersion) id() string { return "v" + strconv.Itoa(v.number) }

// versionPattern is the model's form of version IDs, of which a dot and more may
// follow the number; those never exist.
var versionPattern = pattern.New(`^v[1-9][0-9]*(\.[A-Za-z0-9-]*)?$`)

// index is where a version is, -1 for none.
func (m *managed) index(number int) int {
	return slices.IndexFunc(m.versions, func(v policyVersion) bool { return v.number == number })
}

// add gives a policy its next version.
func (m *managed) add(text document, now time.Time, standard bool) *policyVersion {
	m.last++
	m.versions = append(m.versions, policyVersion{number: m.last, created: now, document: text})
	if standard {
		m.standard = m.last
	}
	m.updated = now
	return &m.versions[len(m.versions)-1]
}

// version reads VersionId and returns its place in the policy's versions.
func (r *request) version(find func(contextOf) *managed) (*managed, int) {
	id := r.text("VersionId", 1, 64, versionPattern)
	found := find(nil)
	place := slices.IndexFunc(found.versions, func(v policyVersion) bool { return v.id() == id })
	if place < 0 {
		call.Refuse(noVersion(found.arn(), id))
	}
	return found, place
}

func createPolicyVersion(r *request) any {
	text := r.text("PolicyDocument", 1, maxDocument, nil)
	found := r.ownManaged(nil)
	parsed := parseManaged(text)
	if len(found.versions) >= maxVersions {
		call.Refuse(tooManyVersions())
	}
	made := found.add(parsed, r.call.Now, r.form.Get("SetAsDefault") == "true")
	return versionResult{wireVersion(found, made)}
}

func getPolicyVersion(r *request) any {
	found, place := r.version(r.managed)
	element := wireVersion(found, &found.versions[place])
	element.Document = escapePolicy(found.versions[place].text)
	return versionResult{element}
}

// listPolicyVersions shows the newest first.
func listPolicyVersions(r *request) any {
	found := r.managed(nil)
	newest := func(v policyVersion) string { return fmt.Sprintf("%010d", 1_000_000_000-v.number) }
	shown, end := page(r, slices.Clone(found.versions), newest, func(v policyVersion) versionElement { return wireVersion(found, &v) })
	return versionsResult{shown, end}
}

func setDefaultPolicyVersion(r *request) any {
	found, place := r.version(r.ownManaged)
	found.standard, found.updated = found.versions[place].number, r.call.Now
	return nil
}

func deletePolicyVersion(r *request) any {
	found, place := r.version(r.ownManaged)
	if found.versions[place].number == found.standard {
		call.Refuse(conflict(textDefaultVersion))
	}
	found.versions = slices.Delete(found.versions, place, place+1)
	return nil
}
