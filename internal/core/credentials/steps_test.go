package credentials_test

import (
	"fmt"
	"slices"
	"strings"

	cloudv1 "github.com/tabard-dev/tabard/api/cloudcredential/v1"
	"github.com/tabard-dev/tabard/internal/core/credentials"
	"github.com/tabard-dev/tabard/internal/core/fault"
)

// performTarget does a step on a Secret or a ServiceAccount, as the API server does.
func (m *model) performTarget(step credentials.Step) error {
	changed := fault.Fault{Class: fault.Changed, Service: "Kubernetes", Operation: "Create"}
	switch s := step.(type) {
	case credentials.WriteServiceAccount:
		if s.Create == (m.objects[s.Target] != nil) {
			return changed
		}
		m.demand(m.works(s.RoleARN), "a ServiceAccount gets a role that is not complete")
		o := m.make(s.Target, s.Create)
		o.annotations[credentials.RoleAnnotation], o.annotations[credentials.RequestAnnotation] = s.RoleARN, s.Request
	case credentials.WriteSecret:
		if s.Create == (m.objects[s.Target] != nil) {
			return changed
		}
		o := m.make(s.Target, s.Create)
		o.labels[credentials.ManagedLabel], o.annotations[credentials.RequestAnnotation] = "true", s.Request
		if s.CCO {
			o.labels[cloudv1.RequestKey], o.annotations[cloudv1.RequestKey] = "true", s.Request
		}
		for key, value := range s.Data.Map() {
			m.demand(!strings.HasPrefix(key, "aws_") && !strings.Contains(value, "aws_secret_access_key"), "a static key is written")
			o.data[key] = value
		}
		for key := range strings.SplitSeq(s.Remove, ",") {
			delete(o.data, key)
		}
	case credentials.ClearServiceAccount:
		o := m.objects[s.Target]
		switch {
		case o == nil || o.annotations[credentials.RequestAnnotation] != s.Request:
		case s.Delete:
			m.demand(!o.extended, "a ServiceAccount with things of others is deleted")
			delete(m.objects, s.Target)
		default:
			delete(o.annotations, credentials.RoleAnnotation)
			delete(o.annotations, credentials.RequestAnnotation)
		}
	case credentials.ClearSecret:
		o := m.objects[s.Target]
		switch {
		case o == nil || o.annotations[credentials.RequestAnnotation] != s.Request:
		case s.Delete:
			delete(m.objects, s.Target)
		default:
			delete(o.annotations, credentials.RequestAnnotation)
			delete(o.labels, credentials.ManagedLabel)
			delete(o.annotations, cloudv1.RequestKey)
			delete(o.labels, cloudv1.RequestKey)
			for key := range strings.SplitSeq(s.Remove, ",") {
				delete(o.data, key)
			}
		}
	}
	return nil
}

func (m *model) make(target credentials.Target, create bool) *object {
	if create {
		m.objects[target] = &object{labels: map[string]string{credentials.ManagedLabel: "true"}, annotations: map[string]string{}, data: map[string]string{}}
	}
	return m.objects[target]
}

// works says that a role has its policy and trusts somebody; one made by hand does.
func (m *model) works(arn string) bool {
	if arn == givenARN {
		return true
	}
	for _, role := range m.roles {
		if role.ARN == arn {
			return len(role.Policies) > 0 && role.Trust != ""
		}
	}
	return false
}

// performRole does a step on a role, as the adapter does: the owner's tag is read first.
func (m *model) performRole(step credentials.Step) error {
	if m.fault != nil {
		return *m.fault
	}
	exists := fault.Fault{Class: fault.Exists, Service: "IAM", Operation: fmt.Sprintf("%T", step), Message: "not ours"}
	mine := func(name, owner string) (*credentials.Role, error) {
		role := m.roles[name]
		switch {
		case role == nil:
			return nil, fault.Fault{Class: fault.Gone, Service: "IAM", Operation: "GetRole"}
		case role.Tags[credentials.OwnerTag] != owner:
			m.demand(false, "a step is for a role that is not the request's")
			return nil, exists
		}
		return role, nil
	}
	if s, is := step.(credentials.CreateRole); is {
		if role := m.roles[s.Want.Name]; role != nil {
			if role.Tags[credentials.OwnerTag] != s.Want.Owner {
				m.demand(false, "a role is to be made where one of others was seen")
				return exists
			}
			return nil
		}
		m.roles[s.Want.Name] = &credentials.Role{
			Name: s.Want.Name, Path: s.Want.Path, ARN: s.Want.ARN, Trust: s.Want.Trust, Tags: s.Want.Tags.Map(),
			Boundary: s.Want.Boundary, MaxSession: s.Want.MaxSession, Policies: map[string]string{},
		}
		return nil
	}
	if s, is := step.(credentials.DeleteRole); is {
		role, err := mine(s.Role, s.Owner)
		if err != nil || role == nil {
			if m.roles[s.Role] == nil {
				return nil
			}
			return err
		}
		if len(role.Attached) > 0 {
			return fault.Fault{Class: fault.Invalid, Service: "IAM", Operation: "DeleteRole", Code: "DeleteConflict"}
		}
		for target, o := range m.objects {
			named := o.annotations[credentials.RoleAnnotation] == role.ARN && o.annotations[credentials.RequestAnnotation] == "team/app"
			m.demand(!named, "a role is deleted while "+target.String()+" leads to it")
		}
		delete(m.roles, s.Role)
		return nil
	}
	return m.changeRole(step, mine)
}

func (m *model) changeRole(step credentials.Step, mine func(name, owner string) (*credentials.Role, error)) error {
	edit := func(name, owner string, change func(*credentials.Role)) error {
		role, err := mine(name, owner)
		if err == nil {
			change(role)
		}
		return err
	}
	switch s := step.(type) {
	case credentials.PutPolicy:
		return edit(s.Role, s.Owner, func(r *credentials.Role) { r.Policies[s.Name] = s.Policy })
	case credentials.SetTrust:
		return edit(s.Role, s.Owner, func(r *credentials.Role) { r.Trust = s.Trust })
	case credentials.SetBoundary:
		return edit(s.Role, s.Owner, func(r *credentials.Role) { r.Boundary = s.Boundary })
	case credentials.SetTags:
		return edit(s.Role, s.Owner, func(r *credentials.Role) {
			for key, value := range s.Tags.Map() {
				r.Tags[key] = value
			}
		})
	case credentials.SetSession:
		return edit(s.Role, s.Owner, func(r *credentials.Role) { r.MaxSession = s.MaxSession })
	case credentials.RemovePolicy:
		return edit(s.Role, s.Owner, func(r *credentials.Role) { delete(r.Policies, s.Name) })
	case credentials.Detach:
		return edit(s.Role, s.Owner, func(r *credentials.Role) {
			r.Attached = slices.DeleteFunc(r.Attached, func(a string) bool { return a == s.Policy })
		})
	}
	return fmt.Errorf("step %T is not known to the model", step)
}
