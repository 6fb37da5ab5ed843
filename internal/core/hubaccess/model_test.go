package hubaccess_test

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/tabard-dev/tabard/api/identity/v1alpha1"
	"github.com/tabard-dev/tabard/internal/core/fault"
	"github.com/tabard-dev/tabard/internal/core/hub"
	"github.com/tabard-dev/tabard/internal/core/hubaccess"
	"github.com/tabard-dev/tabard/internal/testkit/crash"
)

const (
	hubARN   = "arn:aws:eks:us-west-2:111111111111:cluster/eks-hub"
	otherHub = "arn:aws:eks:us-west-2:111111111111:cluster/former"
	spokeARN = "arn:aws:eks:us-east-1:222222222222:cluster/spoke-1"
	farARN   = "arn:aws:eks:eu-west-1:222222222222:cluster/spoke-1" // of the same suffix
	nextARN  = "arn:aws:eks:us-east-1:222222222222:cluster/spoke-2"
)

var noon = time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)

func parsed(text string) hub.ARN {
	out, err := hub.ParseARN(text)
	if err != nil {
		panic(err)
	}
	return out
}

func suffixOf(spoke, name string) string {
	var arn hub.ARN
	if spoke != "" {
		arn = parsed(spoke)
	}
	out, err := hub.Suffix(parsed(hubARN), arn, name)
	if err != nil {
		panic(err)
	}
	return out
}

// annotated are the annotations of an agent.
func annotated(arn, suffix string) map[string]string {
	return map[string]string{hub.ARNAnnotation: arn, hub.SuffixAnnotation: suffix}
}

// spoke is one name of a ManagedCluster, and all that has it.
type spoke struct {
	cluster *hubaccess.Cluster
	record  *v1alpha1.HubAccess
	works   []hubaccess.Work
	// first are the annotations at the look that made the record.
	first map[string]string
}

// role is an IAM role with what its account knows besides.
type role struct {
	hubaccess.Role
	inUse bool
}

// entry is an access entry, bound to the unique ID of a role.
type entry struct {
	hubaccess.Entry
	bound string
}

// model is a hub and its AWS account in memory, with two clusters. Passes take turns.
type model struct {
	crash.Plain
	now     time.Time
	setting hub.Setting
	spokes  map[string]*spoke
	turn    string
	roles   map[string]*role  // by name
	entries map[string]*entry // by role ARN
	// listed are the roles at the time of the last list.
	listed map[string]hubaccess.Role
	// noSpokeRole says that the spokes' own roles do not exist, lag how often EKS does not
	// know a new role yet, trouble why works cannot be read, fault what AWS answers.
	noSpokeRole bool
	lag         int
	trouble     string
	fault       *fault.Fault
	count       int
	// owners are all that there ever were, forgotten those that a person gave up.
	owners, forgotten map[string]bool
	// seen, plan and made are those of the pass under way; calls are its calls to AWS.
	seen  hubaccess.World
	plan  hubaccess.Plan
	made  string
	calls int
	// said are the reasons of conditions that were ever written.
	said map[string]bool
	// wrong is the first broken rule that a step broke.
	wrong string
}

func newModel(variety byte) *model {
	m := &model{
		now: noon, turn: "one", roles: map[string]*role{}, entries: map[string]*entry{}, listed: map[string]hubaccess.Role{},
		said: map[string]bool{}, owners: map[string]bool{}, forgotten: map[string]bool{}, spokes: map[string]*spoke{"one": {}, "two": {}},
		setting: hub.Setting{IAM: hub.On, Why: "it is on", Hub: parsed(hubARN)},
	}
	m.join("one", variety&7)
	if variety&8 != 0 {
		m.join("two", variety>>4&7)
	}
	return m
}

// join makes a ManagedCluster, which is accepted if the shape says so.
func (m *model) join(name string, shape byte) {
	m.count++
	uid := types.UID(fmt.Sprint("uid", m.count))
	m.owners[hub.OwnerOf(name, string(uid))] = true
	m.spokes[name].cluster = &hubaccess.Cluster{UID: uid, Created: m.now, Accepted: shape&4 == 0, Annotations: shaped(name, shape)}
}

// shaped are annotations of all sorts.
func shaped(name string, shape byte) map[string]string {
	switch shape % 8 {
	case 0, 4:
		return annotated(spokeARN, suffixOf(spokeARN, name))
	case 1:
		return annotated(farARN, suffixOf(farARN, name))
	case 2:
		return annotated(nextARN, suffixOf(nextARN, name))
	case 3:
		return annotated("", suffixOf("", name))
	case 5:
		return annotated(spokeARN, suffixOf(nextARN, name)) // a lie
	case 6:
		return annotated(spokeARN, "")
	}
	return nil
}

// Observe implements crash.Model.
func (m *model) Observe() hubaccess.World {
	s := m.spokes[m.turn]
	w := hubaccess.World{Name: m.turn, Setting: m.setting, Tags: map[string]string{"env": "test"}, Now: m.now}
	if s.cluster != nil {
		c := *s.cluster
		c.Annotations = maps.Clone(c.Annotations)
		w.Cluster = &c
	}
	if s.record != nil {
		w.Record = s.record.DeepCopy()
		if hubaccess.IsOver(w.Record, w.Cluster) {
			w.Works = hubaccess.Works{Trouble: m.trouble, Items: slices.Clone(s.works)}
		}
	}
	for name, other := range m.spokes {
		if o, is := hubaccess.OtherOf(name, m.setting, other.cluster, other.record); is {
			w.Others = append(w.Others, o)
		}
	}
	slices.SortFunc(w.Others, func(a, b hubaccess.Other) int { return strings.Compare(a.Name, b.Name) })
	return w
}

// isClosed is the model's own and shorter rule on when AWS is not called.
func (m *model) isClosed() bool {
	access := m.access()
	return m.setting.IAM != hub.On || m.setting.ByOCM || access == nil || m.setting.Hub.String() != access.HubARN
}

func (m *model) access() *v1alpha1.ClusterAccess {
	if r := m.spokes[m.turn].record; r != nil {
		return r.Spec.Access
	}
	return nil
}

// Decide implements crash.Model.
func (m *model) Decide(w hubaccess.World) []hubaccess.Step {
	m.made, m.calls = "", 0
	m.plan = hubaccess.Decide(w)
	for looks := 0; m.plan.Look != hubaccess.LookNowhere; looks++ {
		m.demand(!m.isClosed(), "AWS is looked at, and shall not be")
		m.demand(len(m.plan.Steps) == 0, "there are steps before the look")
		if looks == 2 {
			m.demand(false, "a look is asked for again after one")
			break
		}
		w.AWS = m.look(m.plan.Look)
		m.plan = hubaccess.Decide(w)
	}
	m.seen = w
	return m.plan.Steps
}

// look is at AWS.
func (m *model) look(how hubaccess.Look) hubaccess.AWS {
	m.calls++
	out := hubaccess.AWS{Look: how, Fault: m.fault}
	if m.fault != nil {
		return out
	}
	access := m.access()
	name := hub.RoleName(access.Suffix)
	if how == hubaccess.LookQuietly {
		out.Role = m.listed[name]
		out.Role.Tags = nil
	} else if r := m.roles[name]; r != nil {
		out.Role = r.Role
		out.Role.Tags = maps.Clone(r.Tags)
	}
	if e := m.entries[access.RoleARN]; e != nil {
		out.Entry = e.Entry
		out.Entry.Tags, out.Entry.Groups = maps.Clone(e.Tags), slices.Clone(e.Groups)
	}
	return out
}

// list is a list of all roles.
func (m *model) list() {
	m.listed = map[string]hubaccess.Role{}
	for name, r := range m.roles {
		m.listed[name] = r.Role
	}
}

// Perform implements crash.Model.
func (m *model) Perform(step hubaccess.Step, fail bool) error {
	if fail {
		return fault.Fault{Class: fault.Throttled, Service: "AWS", Operation: "Step", Code: "Throttling"}
	}
	s := m.spokes[m.turn]
	switch step := step.(type) {
	case hubaccess.Hold:
		m.demand(s.cluster.Accepted && !s.cluster.Deleting && step.UID == s.cluster.UID, "the finalizer is put on a cluster that gets nothing")
		s.cluster.Held = true
	case hubaccess.MakeRecord:
		m.demand(s.cluster.Accepted && !s.cluster.Deleting, "a record is made of a cluster that is not accepted")
		m.demand(s.record == nil, "a record is made over another")
		m.demandFree(step.Access)
		s.record = &v1alpha1.HubAccess{Spec: v1alpha1.HubAccessSpec{ClusterUID: step.UID, AcceptedAnnotations: step.AcceptedAnnotations, Access: step.Access.DeepCopy()}}
		s.record.Name, s.record.Finalizers = step.Name, []string{hubaccess.Finalizer}
		s.first = m.seen.Cluster.Annotations
		m.demandAccepted(s, step.Access)
	case hubaccess.CompleteRecord:
		m.demand(s.record.Spec.Access == nil && s.record.Spec.ClusterUID == s.cluster.UID, "a record is changed that lacks nothing")
		m.demandFree(step.Access)
		m.demandAccepted(s, step.Access)
		s.record.Spec.AcceptedAnnotations, s.record.Spec.Access = step.AcceptedAnnotations, step.Access.DeepCopy()
	case hubaccess.Release:
		m.demand(s.record == nil || s.record.Spec.ClusterUID == step.UID, "a cluster is let go for the record of another")
		if s.cluster == nil || s.cluster.UID != step.UID {
			return nil
		}
		if s.cluster.Held = false; s.cluster.Deleting {
			s.cluster = nil
		}
	case hubaccess.DeleteRecord:
		m.deleteRecord(s)
	default:
		return m.performAWS(step)
	}
	return nil
}

// demandFree demands that no other record has the suffix.
func (m *model) demandFree(access *v1alpha1.ClusterAccess) {
	for _, other := range m.spokes {
		taken := access != nil && other.record != nil && other.record.Spec.Access != nil && other.record.Spec.Access.Suffix == access.Suffix
		m.demand(!taken, "two records have one suffix")
	}
}

// demandAccepted demands that access is that of the annotations of the first look.
func (m *model) demandAccepted(s *spoke, access *v1alpha1.ClusterAccess) {
	own := access == nil || access.ManagedClusterARN == s.first[hub.ARNAnnotation] && access.Suffix == s.first[hub.SuffixAnnotation]
	m.demand(own, "a cluster gets access that it was not accepted with")
}

// deleteRecord has nobody remember the access any more.
func (m *model) deleteRecord(s *spoke) {
	owner := hub.OwnerOf(m.turn, string(s.record.Spec.ClusterUID))
	told := m.setting.IAM == hub.Off || m.setting.IAM == hub.On && !m.setting.Hub.IsZero() && m.isClosed()
	if told && !s.record.DeletionTimestamp.IsZero() {
		m.forgotten[owner] = true // a person said so
	}
	m.demand(hubaccess.IsOver(s.record, s.cluster), "it is forgotten what a cluster was accepted with")
	s.record, s.first = nil, nil
}

// demandOver demands that the cluster's access may go.
func (m *model) demandOver() {
	s := m.spokes[m.turn]
	m.demand(hubaccess.IsOver(s.record, s.cluster), "the access of a cluster that lives is removed")
	for _, work := range s.works {
		stays := s.cluster != nil && s.cluster.UID == s.record.Spec.ClusterUID && !s.cluster.Deleting
		later := work.AddOn && stays || s.cluster != nil && s.cluster.UID != s.record.Spec.ClusterUID && !work.Created.Before(s.cluster.Created)
		m.demand(later, "access is removed while works are left")
	}
	m.demand(m.trouble == "", "access is removed while works cannot be read")
}

// demandOwn demands that a thing is that of the cluster whose turn it is.
func (m *model) demandOwn(tags map[string]string, owner string) {
	m.demand(tags[hub.ClusterTag] == owner && owner == hub.OwnerOf(m.turn, string(m.spokes[m.turn].record.Spec.ClusterUID)), "a thing of another is changed")
}

func (m *model) demand(ok bool, rule string) {
	if !ok && m.wrong == "" {
		m.wrong = rule
	}
}

// Report implements crash.Model.
func (m *model) Report(done int, failed error) error {
	m.now = m.now.Add(time.Second)
	if failed != nil {
		known, is := errors.AsType[fault.Fault](failed)
		if !is {
			return failed
		}
		m.plan = hubaccess.Failed(m.plan, m.plan.Steps[done], known, m.seen)
	}
	s := m.spokes[m.turn]
	if s.record != nil && m.seen.Record != nil {
		s.record.Status = *m.plan.Status.DeepCopy()
		for _, c := range s.record.Status.Conditions {
			m.said[c.Reason] = true
		}
		own := s.cluster != nil && s.cluster.UID == s.record.Spec.ClusterUID && s.cluster.Deleting && s.cluster.Held
		m.demand(failed != nil || !own || !m.isClosed(), "a cluster is held while nothing is done for it")
	}
	m.next()
	return nil
}

// Die implements crash.Model.
func (m *model) Die(int) { m.next() }

func (m *model) next() {
	m.turn = map[string]string{"one": "two", "two": "one"}[m.turn]
}

// Stored implements crash.Model.
func (m *model) Stored() any {
	out := map[string]*v1alpha1.HubAccess{}
	for name, s := range m.spokes {
		out[name] = s.record.DeepCopy()
	}
	return out
}

// Patience implements crash.Model.
func (m *model) Patience() int { return 60 }

// Calm implements crash.Model: the agents remove the works of clusters that leave.
func (m *model) Calm() {
	m.fault, m.trouble, m.lag, m.noSpokeRole = nil, "", 0, false
	m.setting = hub.Setting{IAM: hub.On, Hub: parsed(hubARN)}
	m.list()
	for _, r := range m.roles {
		r.inUse = false
	}
	for _, s := range m.spokes {
		if s.record != nil && hubaccess.IsOver(s.record, s.cluster) {
			s.works = nil
		}
	}
}

var owned = func(tags map[string]string) string { return tags[hub.ClusterTag] }

// deleted marks an object as such.
func deleted(now time.Time) *metav1.Time {
	at := metav1.NewTime(now)
	return &at
}
