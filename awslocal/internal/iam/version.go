package iam

import (
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/tabard-dev/tabard/awslocal/internal/call"
	"github.com/tabard-dev/tabard/awslocal/internal/pattern"
	"github.com/tabard-dev/tabard/awslocal/internal/query"
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
func (r *request) version(find func(contextOf) (*managed, *call.Fault)) (*managed, int, *call.Fault) {
	var v query.Validation
	id := v.Text(r.form, "VersionId", 1, 64, versionPattern)
	if fault := v.Fault(); fault != nil {
		return nil, 0, fault
	}
	found, fault := find(nil)
	if fault != nil {
		return nil, 0, fault
	}
	place := slices.IndexFunc(found.versions, func(v policyVersion) bool { return v.id() == id })
	if place < 0 {
		return nil, 0, noVersion(found.arn(), id)
	}
	return found, place, nil
}

func createPolicyVersion(r *request) (any, *call.Fault) {
	var v query.Validation
	text := v.Text(r.form, "PolicyDocument", 1, maxDocument, nil)
	if fault := v.Fault(); fault != nil {
		return nil, fault
	}
	found, fault := r.ownManaged(nil)
	if fault != nil {
		return nil, fault
	}
	parsed, fault := parseManaged(text)
	if fault != nil {
		return nil, fault
	}
	if len(found.versions) >= maxVersions {
		return nil, tooManyVersions()
	}
	made := found.add(parsed, r.call.Now, r.form.Get("SetAsDefault") == "true")
	return versionResult{wireVersion(found, made)}, nil
}

func getPolicyVersion(r *request) (any, *call.Fault) {
	found, place, fault := r.version(r.managed)
	if fault != nil {
		return nil, fault
	}
	element := wireVersion(found, &found.versions[place])
	element.Document = escapePolicy(found.versions[place].text)
	return versionResult{element}, nil
}

// listPolicyVersions shows the newest first.
func listPolicyVersions(r *request) (any, *call.Fault) {
	found, fault := r.managed(nil)
	if fault != nil {
		return nil, fault
	}
	newest := func(v policyVersion) string { return fmt.Sprintf("%010d", 1_000_000_000-v.number) }
	shown, end, fault := page(r, slices.Clone(found.versions), newest)
	if fault != nil {
		return nil, fault
	}
	elements := []versionElement{}
	for i := range shown {
		elements = append(elements, wireVersion(found, &shown[i]))
	}
	return versionsResult{listOf(elements), end}, nil
}

func setDefaultPolicyVersion(r *request) (any, *call.Fault) {
	found, place, fault := r.version(r.ownManaged)
	if fault != nil {
		return nil, fault
	}
	found.standard, found.updated = found.versions[place].number, r.call.Now
	return nil, nil
}

func deletePolicyVersion(r *request) (any, *call.Fault) {
	found, place, fault := r.version(r.ownManaged)
	if fault != nil {
		return nil, fault
	}
	if found.versions[place].number == found.standard {
		return nil, conflict(textDefaultVersion)
	}
	found.versions = slices.Delete(found.versions, place, place+1)
	return nil, nil
}
