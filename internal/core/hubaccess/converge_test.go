package hubaccess_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tabard-dev/tabard/internal/core/condition"
	"github.com/tabard-dev/tabard/internal/core/fault"
	"github.com/tabard-dev/tabard/internal/core/hub"
	"github.com/tabard-dev/tabard/internal/core/hubaccess"
	"github.com/tabard-dev/tabard/internal/testkit/crash"
)

// Disturb has others do what they like. It takes two bytes: what, and how.
func (m *model) Disturb(next func() byte) error {
	what, how := next()%24, next()
	name := []string{"one", "two"}[how%2]
	s := m.spokes[name]
	how /= 2
	if what < 8 {
		m.disturbCluster(what, how, name, s)
		return nil
	}
	switch what {
	case 8:
		m.now = m.now.Add(2 * time.Hour)
		m.list()
	case 9:
		m.fault = &fault.Fault{Class: []fault.Class{fault.Throttled, fault.Denied, fault.Unauthenticated, fault.Invalid}[how%4], Service: "IAM", Operation: "GetRole"}
	case 10:
		m.fault = nil
	case 11:
		m.noSpokeRole = !m.noSpokeRole
	case 12:
		m.lag = int(how % 4)
	case 13:
		m.trouble = []string{"", "forbidden"}[how%2]
	case 14:
		m.setting = []hub.Setting{
			{IAM: hub.On, Hub: parsed(hubARN)}, {IAM: hub.Off, Why: "off", Hub: parsed(hubARN)}, {IAM: hub.Unknown, Why: "?", Hub: parsed(hubARN)},
			{IAM: hub.Off, ByOCM: true, Hub: parsed(hubARN)}, {IAM: hub.On, HubProblem: "not known"}, {IAM: hub.On, Hub: parsed(otherHub)},
		}[how%6]
	case 15:
		m.list()
	default:
		m.disturbAWS(what, how, s)
	}
	return nil
}

// disturbCluster has people and agents change clusters, records and works.
func (m *model) disturbCluster(what, how byte, name string, s *spoke) {
	switch {
	case what == 0 && s.cluster == nil:
		m.join(name, how)
	case what == 6:
		s.works = append(s.works, hubaccess.Work{Name: "ManifestWork app", Created: m.now, AddOn: how&1 != 0})
	case what == 7:
		s.works = nil
	case what == 5 && s.record != nil && s.record.DeletionTimestamp == nil: // a person deletes the record
		s.record.DeletionTimestamp = deleted(m.now)
	case s.cluster == nil:
	case what == 1 && !s.cluster.Deleting:
		s.cluster.Accepted = !s.cluster.Accepted
	case what == 2:
		m.remove(s)
	case what == 3: // deleted by force, and made anew under the same name
		s.cluster.Held = false
		m.remove(s)
		m.now = m.now.Add(time.Duration(how%3) * time.Second)
		m.join(name, how/3)
		s.cluster.Held = how&64 != 0 // it was restored from a backup
	case what == 4 && how%4 == 0: // its agent takes the finalizer off
		if s.cluster.Held = false; s.cluster.Deleting {
			s.cluster = nil
		}
	case what == 4: // its agent writes other annotations
		s.cluster.Annotations = shaped(name, how/4)
	}
}

func (m *model) remove(s *spoke) {
	if s.cluster.Deleting = true; !s.cluster.Held {
		s.cluster = nil
	}
}

// disturbAWS has others change roles and entries.
func (m *model) disturbAWS(what, how byte, s *spoke) {
	suffix := suffixOf([]string{spokeARN, nextARN}[how%2], "")
	if s.record != nil && s.record.Spec.Access != nil {
		suffix = s.record.Spec.Access.Suffix
	}
	name := hub.RoleName(suffix)
	arn := parsed(hubARN).RoleARN(name)
	r, e := m.roles[name], m.entries[arn]
	user := []string{"one", "two", "admin"}[how/2%3]
	switch {
	case what == 16 && r == nil: // by hand, in its wanted form or another
		trust := "{}"
		if how%4 < 2 {
			trust = hub.Trust(parsed(hubARN), parsed([]string{spokeARN, nextARN}[how%2]), suffix)
		}
		m.roles[name] = &role{Role: hubaccess.Role{Exists: true, ID: m.newID(), Trust: trust, Tags: former(how, user)}}
	case what == 16 && !m.owners[owned(r.Tags)]:
		delete(m.roles, name)
	case what == 17 && e == nil && r != nil:
		m.entries[arn] = &entry{bound: r.ID, Entry: hubaccess.Entry{Exists: true, Username: user, Groups: []string{hub.Group(user)}, Type: hubaccess.Standard, Tags: former(how, user)}}
	case what == 17 && e != nil && !m.owners[owned(e.Tags)]:
		delete(m.entries, arn)
	case r == nil || !m.owners[owned(r.Tags)]:
	case what == 18:
		delete(m.roles, name)
	case what == 19: // it came back with another ID
		r.ID = m.newID()
	case what == 20:
		r.Trust = "{}"
	case what == 21:
		r.inUse = !r.inUse
	case e == nil || !m.owners[owned(e.Tags)]:
	case what == 22 && how%3 == 0:
		delete(m.entries, arn)
	case what == 22:
		e.Type = "EC2_LINUX"
	case what == 23:
		e.Username, e.Groups = user, []string{"system-like"}
	}
}

// former are tags of a thing of others, or of a cluster of the same name that a person had
// Tabard forget.
func former(how byte, name string) map[string]string {
	if how&8 == 0 {
		return map[string]string{"by": "hand"}
	}
	return map[string]string{hub.HubTag: hubARN, hub.ClusterTag: hub.OwnerOf(name, "uid0")}
}

// Foreign implements crash.Model.
func (m *model) Foreign() (out []string) {
	for name, r := range m.roles {
		if !m.owners[owned(r.Tags)] {
			out = append(out, fmt.Sprint("role ", name, *r))
		}
	}
	for arn, e := range m.entries {
		if !m.owners[owned(e.Tags)] {
			out = append(out, fmt.Sprint("entry ", arn, *e))
		}
	}
	return out
}

// Violation implements crash.Model.
func (m *model) Violation() string {
	if m.wrong != "" {
		return m.wrong
	}
	for name, r := range m.roles {
		if m.isOrphan(owned(r.Tags), name) {
			return "no record knows the role " + name
		}
	}
	for arn, e := range m.entries {
		_, name, _ := strings.Cut(arn, ":role/")
		if m.isOrphan(owned(e.Tags), name) {
			return "no record knows the entry of " + name
		}
	}
	return ""
}

// isOrphan says that something is of one of our clusters, and that no record leads to it.
func (m *model) isOrphan(owner, role string) bool {
	if !m.owners[owner] || m.forgotten[owner] {
		return false
	}
	for name, s := range m.spokes {
		r := s.record
		if r != nil && r.Spec.Access != nil && hub.OwnerOf(name, string(r.Spec.ClusterUID)) == owner && hub.RoleName(r.Spec.Access.Suffix) == role {
			return false
		}
	}
	return true
}

// Rest implements crash.Model.
func (m *model) Rest(chapter int) (more bool, wrong string) {
	for name, s := range m.spokes {
		if wrong := m.unwell(name, s); wrong != "" {
			return false, name + ": " + wrong
		}
	}
	for _, s := range m.spokes {
		if s.cluster != nil {
			m.remove(s)
		}
		s.works = nil
	}
	return chapter == 0, ""
}

// excuses are reasons for which a person has to act.
var excuses = []condition.Reason{
	hubaccess.ReasonRoleNotOurs, hubaccess.ReasonEntryNotOurs, hubaccess.ReasonSuffixInUse, hubaccess.ReasonAnnotationsChanged,
	hubaccess.ReasonHubChanged, hubaccess.ReasonAnnotationsMalformed, hubaccess.ReasonAnnotationsMismatched,
}

// unwell says what is wrong with a cluster in a quiet world.
func (m *model) unwell(name string, s *spoke) string {
	elsewhere := s.record != nil && s.record.Spec.Access != nil && s.record.Spec.Access.HubARN != hubARN
	switch {
	case elsewhere:
		return ""
	case s.cluster == nil && s.record != nil:
		return fmt.Sprintf("the record of a cluster that is gone stays: %+v", s.record.Status)
	case s.cluster == nil:
		return ""
	case s.cluster.Deleting:
		return "the cluster is held for ever"
	case !s.cluster.Accepted && (s.record != nil || s.cluster.Held):
		return "a cluster that was denied is held, or has a record"
	case !s.cluster.Accepted:
		return ""
	}
	if s.record == nil {
		return "an accepted cluster has no record"
	}
	if s.record.Spec.ClusterUID != s.cluster.UID {
		return "the record is that of a former cluster"
	}
	ready, ok := condition.Read(s.record.Status.Conditions, hubaccess.TypeReady)
	switch {
	case !ok:
		return "the record says nothing"
	case ready.Reason == hubaccess.ReasonSuffixInUse && !m.isClaimed(name, s.first[hub.SuffixAnnotation]):
		return "it waits for a suffix that no other was accepted with"
	case slices.Contains(excuses, ready.Reason):
		return ""
	case !ready.IsTrue():
		return fmt.Sprintf("Ready is %s: %s: %s", ready.Status, ready.Reason, ready.Message)
	case s.record.Spec.Access == nil:
		return ""
	}
	return m.unserved(name, s)
}

// isClaimed says that another cluster was accepted with a suffix.
func (m *model) isClaimed(name, suffix string) bool {
	for other, s := range m.spokes {
		if other != name && (s.first[hub.SuffixAnnotation] == suffix || s.record != nil && s.record.Spec.Access != nil && s.record.Spec.Access.Suffix == suffix) {
			return true
		}
	}
	return false
}

// unserved says why the agents of a cluster that is Ready do not get in.
func (m *model) unserved(name string, s *spoke) string {
	access := s.record.Spec.Access
	r, e := m.roles[hub.RoleName(access.Suffix)], m.entries[access.RoleARN]
	switch {
	case r == nil || e == nil:
		return "it is ready without a role or an entry"
	case e.bound != r.ID && m.owners[owned(e.Tags)]:
		return "it is ready, and its entry is that of another role"
	case e.Username != name || !slices.Equal(e.Groups, []string{hub.Group(name)}):
		return "it is ready, and its entry is of another cluster"
	case !hub.SamePolicy(r.Trust, hub.Trust(parsed(hubARN), parsed(access.ManagedClusterARN), access.Suffix)):
		return "it is ready, and the trust of its role is another"
	case !s.cluster.Held:
		return "it is ready, and nothing holds it"
	}
	return ""
}

// FuzzConverge runs lives of two clusters.
func FuzzConverge(f *testing.F) {
	start := func(variety byte) crash.Model[hubaccess.World, hubaccess.Step] { return newModel(variety) }
	seeds := [][]byte{{0}, {8}, {24}, {0x2a}, {3}, {5}, {6}, {7}}
	// A cluster of the same name follows one that a person had Tabard forget, and the
	// former one's role comes back with another ID.
	seeds = append(seeds, []byte{0xf0, 0xeb, 0xb0, 0xa7, 0x8c, 0xbc, 0x45, 0xc8, 0x51, 0x49, 0x4a, 0xcd, 0x54, 0xc1, 0xf5, 0xba, 0xb3, 0x56, 0x3f, 0xf4, 0x73, 0x9c, 0x9e, 0x1d, 0x2f, 0x29, 0x3a, 0x66, 0xd6, 0xda, 0xf6, 0x10, 0x90, 0x20})
	// One is accepted without annotations, its agent writes those of a spoke, and two joins
	// as that spoke.
	for shape := range byte(8) {
		seeds = append(seeds, []byte{7, 14, 1, 0, 14, 15, 0, 14, 15, 0, 14, 15, 0, 14, 4, 2 + shape*8, 14, 0, 1, 14, 15, 0, 14, 15, 0, 14, 15, 0})
	}
	for what := range byte(24) {
		for how := range byte(12) {
			seeds = append(seeds, []byte{how * 8, 15, 8, 0, 0, what, how, 1, 8, 1, 0x12, what, how + 1, 0x21, 1, how, 2, 14, 2, 0, what, how * 3, 0, 14, 0})
		}
	}
	crash.Fuzz(f, start, seeds...)
}
