package carm

import (
	"fmt"
	"slices"
)

// report records what a resolution in a namespace means for selectors; stands
// says whether a selector can stand for it.
func (m *migrator) report(c *Controller, n Namespace, r Resolution, stands bool) {
	where := c.Name + ": " + n.Name
	switch {
	case r.Outcome == Invalid:
		m.findings.add(found(NotARole, Refused, fmt.Sprintf("%q in %s is %q, which is not the ARN of a role", r.Entry, r.Map, r.Role), where))
	case r.Outcome != Blocked:
	case stands:
		m.findings.add(found(NoRole, Note, "CARM blocks: "+r.Message(), where).
			instead("Nothing: a selector keeps these namespaces blocked. Give the key an entry and run this again, or remove the annotation."))
	default:
		m.findings.add(found(NoRole, Refused, "CARM blocks: "+r.Message(), where).
			instead(fmt.Sprintf("Name the account that the key stands for (--blocker-account %s=ACCOUNT), give the key an entry, or remove the annotation.", r.Key)))
	}
}

// examine finds what namespaces and controllers alone tell.
func (m *migrator) examine() {
	for i := range m.controllers {
		c := &m.controllers[i]
		for _, n := range m.cluster.Namespaces {
			if m.annotated(c, n) {
				m.unread(c, n)
			}
		}
	}
	for c, n := range m.scope() {
		if c.Settings(n) != c.SelectorSettings(n) {
			m.findings.add(found(OtherSettings, Warning, "annotations for region, endpoint or deletion policy are passed over today", c.Name+": "+n.Name))
		}
	}
}

// unread records a namespace whose key CARM does not look at.
func (m *migrator) unread(c *Controller, n Namespace) {
	where := c.Name + ": " + n.Name
	switch {
	case c.DisableCARM || c.caches(n.Name):
	case !c.active() && c.reconciles(n.Name):
		m.findings.add(found(SingleNamespace, Refused, "the only watched namespace has a key, which has no effect today", where))
	case !c.active():
	default:
		m.findings.add(found(IgnoredNamespace, Note, "namespaces that CARM ignores have a key", where).
			instead("Nothing: they are left out, as CARM leaves them out."))
	}
}

// annotated says whether a namespace has a key that the controller would read.
func (m *migrator) annotated(c *Controller, n Namespace) bool {
	return n.Annotations[OwnerAccountAnnotation] != "" || c.TeamLevelCARM && n.Annotations[TeamAnnotation] != ""
}

// otherGroups are those of ACK controllers that are not described.
func (m *migrator) otherGroups() []string {
	return slices.DeleteFunc(slices.Clone(m.cluster.Groups), func(group string) bool {
		return slices.ContainsFunc(m.controllers, func(c Controller) bool { return c.Group == group })
	})
}

// advise adds what comes with selectors by design.
func (m *migrator) advise(emitted []Selector) {
	m.findings.add(found(NoOverlap, Note, fmt.Sprintf("%d controllers change over", len(m.controllers))))
	for _, n := range m.cluster.Namespaces {
		if slices.ContainsFunc(m.controllers, func(c Controller) bool { return m.annotated(&c, n) && c.caches(n.Name) }) {
			if m.options.LabelMode {
				m.findings.add(found(SelfService, Warning, "labels are to choose the role", n.Name).
					instead("Let nobody but administrators write the labels " + OwnerAccountLabel + " and " + TeamLabel + " (a ValidatingAdmissionPolicy on namespaces)."))
			} else {
				m.findings.add(found(SelfService, Note, "annotations choose the role", n.Name))
				m.findings.add(found(FutureNamespaces, Warning, "keys are in use that other namespaces may come with", n.Name).
					instead("Run this again whenever a namespace comes or its annotation changes, or select by labels (--labels)."))
			}
		}
	}
	for _, group := range m.otherGroups() {
		m.findings.add(found(FutureControllers, Warning, "kinds of other ACK controllers are installed, which are not part of this", group).
			instead("Describe their controllers, too, and run this again, before one of them changes over."))
	}
	for _, s := range emitted {
		if len(s.Spec.ResourceTypeSelector) > 0 && !IsBlocker(s.Spec.ARN) && s.Spec.Effect == "" {
			m.findings.add(found(FutureControllers, Warning, "selectors list the groups of today's controllers", s.Name))
		}
		if len(namesOf(&s)) == chunk {
			m.findings.add(found(ObjectSize, Note, fmt.Sprintf("selectors list %d namespaces, the most that one may", chunk), s.Name).
				instead("Nothing: further namespaces of the same role are in further selectors."))
		}
	}
}
