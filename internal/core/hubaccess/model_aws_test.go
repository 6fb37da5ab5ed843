package hubaccess_test

import (
	"errors"
	"fmt"
	"maps"

	"github.com/tabard-dev/tabard/internal/core/fault"
	"github.com/tabard-dev/tabard/internal/core/hub"
	"github.com/tabard-dev/tabard/internal/core/hubaccess"
)

// performAWS performs a step that calls AWS.
func (m *model) performAWS(step hubaccess.Step) error {
	m.calls++
	m.demand(!m.isClosed(), "AWS is called, and shall not be")
	if m.fault != nil {
		return *m.fault
	}
	switch step := step.(type) {
	case hubaccess.CreateRole:
		return m.createRole(step)
	case hubaccess.SetTrust:
		m.demandOwn(m.roles[step.Role].Tags, step.Owner)
		if m.noSpokeRole {
			return fault.Fault{Class: fault.Invalid, Code: "MalformedPolicyDocument"}
		}
		m.roles[step.Role].Trust = step.Trust
	case hubaccess.DeleteRole:
		return m.deleteRole(step)
	default:
		return m.performEntry(step)
	}
	return nil
}

func (m *model) createRole(step hubaccess.CreateRole) error {
	if is := m.roles[step.Role]; is != nil {
		if is.Tags[hub.ClusterTag] != step.Owner {
			return fault.Fault{Class: fault.Exists}
		}
		m.made = is.ID
		return nil
	}
	if m.noSpokeRole {
		return fault.Fault{Class: fault.Invalid, Service: "IAM", Operation: "CreateRole", Code: "MalformedPolicyDocument"}
	}
	m.roles[step.Role] = &role{Role: hubaccess.Role{Exists: true, ID: m.newID(), Trust: step.Trust, Tags: maps.Clone(step.Tags)}}
	m.made = m.roles[step.Role].ID
	return nil
}

func (m *model) newID() string {
	m.count++
	return fmt.Sprint("AROA", m.count)
}

func (m *model) deleteRole(step hubaccess.DeleteRole) error {
	m.demandOver()
	is := m.roles[step.Role]
	switch {
	case is == nil:
		return nil
	case is.Tags[hub.ClusterTag] != step.Owner:
		return fault.Fault{Class: fault.Exists}
	case is.inUse:
		return fault.Fault{Class: fault.Invalid, Code: "DeleteConflict"}
	}
	for _, e := range m.entries {
		m.demand(e.bound != is.ID || e.Tags[hub.ClusterTag] != step.Owner, "a role goes before its entry")
	}
	delete(m.roles, step.Role)
	return nil
}

func (m *model) performEntry(step hubaccess.Step) error {
	switch step := step.(type) {
	case hubaccess.CreateEntry:
		is := m.roles[hub.RoleName(m.access().Suffix)]
		switch {
		case m.entries[step.RoleARN] != nil:
			return fault.Fault{Class: fault.Exists}
		case is == nil || m.lag > 0:
			m.lag--
			return fault.Fault{Class: fault.Invalid, Service: "EKS", Operation: "CreateAccessEntry", Code: "InvalidParameterException"}
		}
		id := step.RoleID
		if id == "" {
			id = m.made
		}
		m.demand(id != "", "an entry is made for a role of no ID")
		m.demandOwn(is.Tags, step.Tags[hub.ClusterTag])
		tags := maps.Clone(step.Tags)
		tags[hub.RoleTag] = id
		m.entries[step.RoleARN] = &entry{bound: is.ID, Entry: hubaccess.Entry{
			Exists: true, Username: step.Username, Groups: []string{step.Group}, Type: hubaccess.Standard, Tags: tags,
		}}
	case hubaccess.UpdateEntry:
		m.demandOwn(m.entries[step.RoleARN].Tags, step.Owner)
		m.entries[step.RoleARN].Username, m.entries[step.RoleARN].Groups = step.Username, []string{step.Group}
	case hubaccess.DeleteEntry:
		is := m.entries[step.RoleARN]
		switch {
		case is == nil:
			return nil
		case is.Tags[hub.ClusterTag] != step.Owner:
			return fault.Fault{Class: fault.Exists}
		}
		if r := m.roles[hub.RoleName(m.access().Suffix)]; r != nil && r.ID == is.bound && is.Type == hubaccess.Standard {
			m.demandOver() // else it gives no access
		}
		delete(m.entries, step.RoleARN)
	default:
		return errors.New("a step that is not known")
	}
	return nil
}
