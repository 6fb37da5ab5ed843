package hubaccess

import (
	"context"
	"maps"
	"strings"
	"sync"
	"time"

	"github.com/tabard-dev/tabard/awsauth/identity"
	"github.com/tabard-dev/tabard/internal/cloud"
	"github.com/tabard-dev/tabard/internal/controller"
	"github.com/tabard-dev/tabard/internal/core/fault"
	"github.com/tabard-dev/tabard/internal/core/hub"
	core "github.com/tabard-dev/tabard/internal/core/hubaccess"
)

// AWS is what the controller asks of the cloud.
type AWS struct {
	Accounts Accounts
	Roles    Roles
	Entries  Entries
}

// Accounts tells who an identity is.
type Accounts interface {
	Caller(ctx context.Context, id identity.Identity) (account, arn string, err error)
}

// Roles are IAM roles without their policies.
type Roles interface {
	GetBare(ctx context.Context, id identity.Identity, name string) (cloud.BareRole, error)
	AllBare(ctx context.Context, id identity.Identity, each func(cloud.BareRole) error) error
	CreateBare(ctx context.Context, id identity.Identity, want cloud.RoleWant, owner cloud.Tag) (uniqueID string, err error)
	SetTrust(ctx context.Context, id identity.Identity, role, trust string) error
	DeleteBare(ctx context.Context, id identity.Identity, name string, owner cloud.Tag) error
}

// Entries are access entries of EKS.
type Entries interface {
	Get(ctx context.Context, id identity.Identity, ref cloud.AccessEntryRef) (cloud.AccessEntry, error)
	Create(ctx context.Context, id identity.Identity, ref cloud.AccessEntryRef, want cloud.AccessEntryWant, owner cloud.Tag) error
	Update(ctx context.Context, id identity.Identity, ref cloud.AccessEntryRef, want cloud.AccessEntryWant, owner cloud.Tag) error
	Delete(ctx context.Context, id identity.Identity, ref cloud.AccessEntryRef, owner cloud.Tag) error
}

// description is what a role in AWS says of itself.
const description = "Made by Tabard for the agents of a ManagedCluster"

// look is at the role and the entry of a world's record.
func (c *Controller) look(ctx context.Context, w core.World, how core.Look) core.AWS {
	out := core.AWS{Look: how}
	access := w.Record.Spec.Access
	as, name := c.as(w.Setting), hub.RoleName(access.Suffix)
	if err := c.account.check(ctx, as, w.Setting.Hub.Account); err != nil {
		out.Fault = controller.FaultOf(err)
		return out
	}
	var role cloud.BareRole
	var err error
	if how == core.LookQuietly {
		role, err = c.roles.get(ctx, as, name)
	} else {
		role, err = c.options.AWS.Roles.GetBare(ctx, as, name)
	}
	if err == nil {
		var entry cloud.AccessEntry
		entry, err = c.options.AWS.Entries.Get(ctx, as, c.ref(w.Setting, access.RoleARN))
		out.Entry = core.Entry{Exists: entry.Exists, Username: entry.Username, Groups: entry.Groups, Type: entry.Type, Tags: entry.Tags}
	}
	out.Fault = controller.FaultOf(err)
	out.Role = core.Role{Exists: role.Exists, ID: role.ID, Trust: role.Trust, Tags: role.Tags}
	return out
}

// as is who the controller is, where the hub is.
func (c *Controller) as(setting hub.Setting) identity.Identity {
	out := c.options.As
	out.Region = setting.Hub.Region
	return out
}

func (c *Controller) ref(setting hub.Setting, role string) cloud.AccessEntryRef {
	return cloud.AccessEntryRef{Cluster: setting.Hub.Name, Principal: role}
}

// change performs a step in AWS. Made is the unique ID of the role that was made in the
// pass, which is changed by its creation.
func (c *Controller) change(ctx context.Context, setting hub.Setting, step core.Step, made *string) error {
	if err := c.writes.Wait(ctx); err != nil {
		return err
	}
	as, roles, entries := c.as(setting), c.options.AWS.Roles, c.options.AWS.Entries
	switch s := step.(type) {
	case core.CreateRole:
		id, err := roles.CreateBare(ctx, as, cloud.RoleWant{Name: s.Role, Description: description, Trust: s.Trust, Tags: s.Tags}, ownerTag(s.Owner))
		*made = id
		return err
	case core.SetTrust:
		return roles.SetTrust(ctx, as, s.Role, s.Trust)
	case core.DeleteRole:
		return roles.DeleteBare(ctx, as, s.Role, ownerTag(s.Owner))
	case core.CreateEntry:
		tags := maps.Clone(s.Tags)
		if tags[hub.RoleTag] = s.RoleID; s.RoleID == "" {
			tags[hub.RoleTag] = *made
		}
		want := cloud.AccessEntryWant{Username: s.Username, Groups: []string{s.Group}, Tags: tags}
		return entries.Create(ctx, as, c.ref(setting, s.RoleARN), want, ownerTag(s.Tags[hub.ClusterTag]))
	case core.UpdateEntry:
		want := cloud.AccessEntryWant{Username: s.Username, Groups: []string{s.Group}}
		return entries.Update(ctx, as, c.ref(setting, s.RoleARN), want, ownerTag(s.Owner))
	case core.DeleteEntry:
		return entries.Delete(ctx, as, c.ref(setting, s.RoleARN), ownerTag(s.Owner))
	}
	return controller.UnknownStep(step)
}

func ownerTag(owner string) cloud.Tag { return cloud.Tag{Key: hub.ClusterTag, Value: owner} }

// sureFor is how long it counts that the controller is in the hub's account.
const sureFor = 10 * time.Minute

// ownAccount knows in which account the controller is. It is safe for concurrent use.
type ownAccount struct {
	options Options

	mu    sync.Mutex
	until time.Time
	id    string
}

// check says that the controller is in another account than the hub: roles that it makes
// there would serve nobody, and be found by nobody. However many ask, one call is made.
func (o *ownAccount) check(ctx context.Context, as identity.Identity, want string) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	if now := o.options.Now(); now.After(o.until) {
		id, _, err := o.options.AWS.Accounts.Caller(ctx, as)
		if err != nil {
			return err
		}
		o.id, o.until = id, now.Add(sureFor)
	}
	if o.id != want {
		return fault.Fault{
			Class: fault.Invalid, Service: "STS", Operation: "GetCallerIdentity", Code: "WrongAccount",
			Message: "Tabard has credentials of account " + o.id + ", and the hub is in account " + want + "; give it a role of the hub's account",
		}
	}
	return nil
}

// listedFor is how long a list of all roles counts: it serves the hourly look at all
// clusters.
const listedFor = 15 * time.Minute

// roleList is a list of the hub's roles. It is safe for concurrent use.
type roleList struct {
	options Options

	mu    sync.Mutex
	until time.Time
	roles map[string]cloud.BareRole
}

// get is a role by the list, which is read anew if it is too old. However many ask, one
// list is read. A failure is answered to who asked, and the next one asks again.
func (l *roleList) get(ctx context.Context, as identity.Identity, name string) (cloud.BareRole, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if now := l.options.Now(); now.After(l.until) {
		roles := map[string]cloud.BareRole{}
		err := l.options.AWS.Roles.AllBare(ctx, as, func(role cloud.BareRole) error {
			if strings.HasPrefix(role.Name, hub.RoleName("")) {
				roles[role.Name] = role
			}
			return nil
		})
		if err != nil {
			return cloud.BareRole{}, err
		}
		l.roles, l.until = roles, now.Add(listedFor)
	}
	return l.roles[name], nil
}

// between is the shortest time between two looks at AWS for one cluster: its agent can
// write its ManagedCluster as often as it likes.
const between = 2 * time.Second

// looks are the times of the latest looks. It is safe for concurrent use.
type looks struct {
	now func() time.Time

	mu sync.Mutex
	at map[string]time.Time
}

// wait is how long a cluster's next look has to wait; 0 is that it is made now.
func (l *looks) wait(name string) time.Duration {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := l.now()
	if wait := between - now.Sub(l.at[name]); wait > 0 && wait <= between {
		return wait
	}
	if l.at == nil {
		l.at = map[string]time.Time{}
	}
	l.at[name] = now
	return 0
}

// forget drops what is known of a cluster that is gone.
func (l *looks) forget(name string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.at, name)
}
