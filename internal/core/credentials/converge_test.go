package credentials_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	cloudv1 "github.com/tabard-dev/tabard/api/cloudcredential/v1"
	"github.com/tabard-dev/tabard/api/identity/v1alpha1"
	"github.com/tabard-dev/tabard/internal/core/condition"
	"github.com/tabard-dev/tabard/internal/core/credentials"
	"github.com/tabard-dev/tabard/internal/core/fault"
	"github.com/tabard-dev/tabard/internal/core/platform"
	"github.com/tabard-dev/tabard/internal/testkit/crash"
)

const foreignRole = "team/app/of-somebody-else"

// Disturb has others do what they like. It takes two bytes: what, and how.
func (m *model) Disturb(next func() byte) error {
	what, how := next()%32, next()
	switch what {
	case 0:
		m.change(how % 8)
	case 1:
		m.delete()
	case 2: // deleted, and made anew under the same name; its finalizers may be taken off by hand
		if m.request != nil && how%2 == 0 {
			m.request.Finalizers = nil
		}
		m.delete()
		if m.request == nil {
			m.create(how / 2 % 7)
		}
	case 3:
		m.now = m.now.Add(26 * time.Hour)
	case 4:
		m.fault = &fault.Fault{Class: fault.Throttled, Service: "STS", Operation: "GetCallerIdentity", Code: "Throttling"}
	case 5:
		m.fault = &fault.Fault{Class: fault.Denied, Service: "STS", Operation: "GetCallerIdentity", Code: "AccessDenied"}
	case 6:
		m.fault = nil
	case 7:
		if how%4 == 3 { // an administrator changes the permissions boundary
			m.loose = !m.loose
			break
		}
		m.gone["apps"] = !m.gone["apps"]
		for target := range m.objects {
			if m.gone[target.Namespace] {
				delete(m.objects, target)
			}
		}
	case 8, 9, 10, 11:
		m.operator(what)
	case 12, 13, 14, 15:
		m.issuer(what)
	case 16: // somebody deletes the grant
		if m.grant != nil && m.grant.DeletionTimestamp.IsZero() {
			now := metav1.NewTime(m.now)
			if m.grant.DeletionTimestamp = &now; len(m.grant.Finalizers) == 0 {
				m.grant = nil
			}
		}
	case 17: // an administrator adopts
		if m.request != nil && m.grant == nil {
			m.grant = &v1alpha1.CredentialsGrant{Spec: v1alpha1.CredentialsGrantSpec{Request: v1alpha1.RequestRef{Namespace: "team", Name: "app", UID: m.request.UID}}}
			m.grant.Name = credentials.GrantName("team", "app")
		}
		if m.grant != nil {
			m.grant.Spec.Adopted = true
		}
	case 18: // an administrator binds, or unbinds
		if m.grant != nil && m.grant.Spec.Bound == nil {
			m.grant.Spec.Bound = &v1alpha1.BoundIdentity{RoleARN: givenARN}
		} else if m.grant != nil {
			m.grant.Spec.Bound = nil
		}
	default:
		m.disturbRoles(what)
		m.disturbObjects(what)
	}
	return nil
}

func (m *model) change(shape byte) {
	if m.request != nil {
		m.shape(shape)
	}
}

func (m *model) delete() {
	if m.request == nil {
		return
	}
	now := metav1.NewTime(m.now)
	if m.request.DeletionTimestamp = &now; len(m.request.Finalizers) == 0 {
		m.request = nil
	}
}

// operator has a Cloud Credential Operator come, change its mode, and leave.
func (m *model) operator(what byte) {
	switch what {
	case 8:
		m.platform = openshift(platform.Manual)
	case 9:
		m.platform = openshift(platform.Mint)
	case 10:
		m.platform = kubernetes()
	case 11: // it puts its finalizer on the request, and its own status
		if m.request == nil || !m.platform.Operator.Live || !m.request.DeletionTimestamp.IsZero() {
			return
		}
		if !slices.Contains(m.request.Finalizers, cloudv1.Finalizer) {
			m.request.Finalizers = append(m.request.Finalizers, cloudv1.Finalizer)
		}
		m.request.Status = cloudv1.CredentialsRequestStatus{Provisioned: true, LastSyncGeneration: 7}
	}
}

// issuer has issuers come and go.
func (m *model) issuer(what byte) {
	last := len(m.issuers) - 1
	switch what {
	case 12:
		if last < 3 {
			m.issuers = append(slices.Clone(m.issuers), testIssuer(last+2))
		}
	case 13:
		if last >= 0 {
			m.issuers = slices.Clone(m.issuers)
			m.issuers[0].Deleting = true
		}
	case 14: // the oldest is gone by force
		if last > 0 {
			m.issuers = slices.Clone(m.issuers[1:])
		}
	case 15:
		if last >= 0 {
			m.issuers = slices.Clone(m.issuers)
			m.issuers[last].Registered = !m.issuers[last].Registered
		}
	}
}

// disturbRoles has others change roles.
func (m *model) disturbRoles(what byte) {
	role := m.roles[roleName()]
	switch {
	case what == 19 && role == nil: // a role of the same name, of somebody else
		m.roles[roleName()] = &credentials.Role{Name: roleName(), Path: credentials.DefaultPath, Trust: "{}", Tags: map[string]string{credentials.OwnerTag: foreignRole}, Policies: map[string]string{"theirs": "{}"}}
	case what == 19 && role.Tags[credentials.OwnerTag] == foreignRole:
		delete(m.roles, roleName())
	case role == nil || !m.ours[role.Tags[credentials.OwnerTag]]:
	case what == 20:
		delete(m.roles, roleName())
	case what == 21:
		role.Trust, role.Boundary, role.MaxSession = `{"Statement":[]}`, "", 12*time.Hour
	case what == 22:
		role.Policies = map[string]string{"added": "{}"}
	case what == 23:
		role.Attached = append(role.Attached, "arn:aws:iam::aws:policy/AdministratorAccess")
	case what == 24:
		delete(role.Tags, credentials.ClusterTag)
		role.Tags["theirs"] = "too"
	}
}

func roleName() string {
	return credentials.RoleName(credentials.Settings{}, "infra", "team", "app")
}

// disturbObjects has others change Secrets and ServiceAccounts.
func (m *model) disturbObjects(what byte) {
	account, secret := credentials.Target{Kind: "ServiceAccount", Namespace: "apps", Name: "app"}, credentials.Target{Kind: "Secret", Namespace: "team", Name: "creds"}
	a, s := m.objects[account], m.objects[secret]
	switch {
	case what == 25 && a != nil && a.annotations[credentials.RequestAnnotation] == "team/app":
		delete(a.annotations, credentials.RoleAnnotation)
	case what == 26 && a != nil && a.annotations[credentials.RequestAnnotation] == "team/app":
		delete(m.objects, account)
	case what == 27 && a == nil && !m.gone["apps"]: // it is there, without a role
		m.objects[account] = &object{labels: map[string]string{}, annotations: map[string]string{"mine": "too"}}
	case what == 28 && (a == nil || a.annotations[credentials.RequestAnnotation] == "") && !m.gone["apps"]: // with a role of others
		m.objects[account] = &object{labels: map[string]string{}, annotations: map[string]string{credentials.RoleAnnotation: "arn:aws:iam::111122223333:role/theirs"}}
	case what == 29 && a != nil:
		a.extended = true
	case what == 30 && s != nil && s.annotations[credentials.RequestAnnotation] == "team/app":
		s.data["credentials"], s.data["theirs"] = "changed", "x"
		delete(s.labels, credentials.ManagedLabel)
	case what == 31 && s == nil: // a Secret of others
		m.objects[secret] = &object{labels: map[string]string{}, annotations: map[string]string{}, data: map[string]string{"password": "x"}}
	case what == 31 && s.annotations[credentials.RequestAnnotation] == "":
		delete(m.objects, secret)
	}
}

// Foreign implements crash.Model.
func (m *model) Foreign() (out []string) {
	for name, role := range m.roles {
		if !m.ours[role.Tags[credentials.OwnerTag]] {
			out = append(out, fmt.Sprint("role ", name, *role))
		}
	}
	for target, o := range m.objects {
		if o.annotations[credentials.RequestAnnotation] == "" && (o.data["password"] != "" || o.annotations[credentials.RoleAnnotation] != "") {
			out = append(out, fmt.Sprint(target, o))
		}
		for _, key := range []string{"password", "theirs"} {
			if o.data[key] != "" {
				out = append(out, fmt.Sprint(target, key))
			}
		}
		if o.annotations["mine"] != "" {
			out = append(out, fmt.Sprint(target, "mine"))
		}
		if o.extended {
			out = append(out, fmt.Sprint(target, "extended"))
		}
	}
	return out
}

// fulfilled says that the request is to be fulfilled by a role or an identity.
func (m *model) fulfilled() bool {
	return m.request != nil && m.request.DeletionTimestamp.IsZero() && m.plan.Acting.Actor == credentials.ActorTabard && m.request.Spec.ProviderSpec != nil
}

// Violation implements crash.Model.
func (m *model) Violation() string {
	if m.wrong != "" {
		return m.wrong
	}
	for name, role := range m.roles {
		owner := role.Tags[credentials.OwnerTag]
		switch {
		case !m.ours[owner]:
		case m.grant == nil || m.grant.Status.Role == nil || m.grant.Status.Role.Name != name:
			return "no grant knows the role " + name
		case credentials.Owner(m.grant.Spec.Request) != owner:
			return "the grant of the role is another request's"
		}
	}
	for target, o := range m.objects {
		if o.annotations[credentials.RequestAnnotation] != "team/app" || m.isOperators(target) {
			continue
		}
		known := m.grant != nil && slices.ContainsFunc(m.grant.Status.Targets, func(g v1alpha1.GrantedTarget) bool {
			return target == credentials.Target{Kind: g.Kind, Namespace: g.Namespace, Name: g.Name}
		})
		if !known {
			return "no grant knows " + target.String()
		}
	}
	return ""
}

// Rest implements crash.Model.
func (m *model) Rest(chapter int) (more bool, wrong string) {
	if chapter == 0 {
		if wrong := m.unwell(); wrong != "" {
			return false, wrong
		}
		m.platform = kubernetes()
		for _, role := range m.roles { // a person makes room
			if m.ours[role.Tags[credentials.OwnerTag]] && m.grant != nil && m.drift == credentials.DriftReport {
				role.Attached = nil
				for name := range role.Policies {
					if name != m.grant.Status.Role.PolicyName {
						delete(role.Policies, name)
					}
				}
			}
		}
		m.delete()
		return true, ""
	}
	switch {
	case m.grant != nil:
		return false, fmt.Sprintf("the grant stays: %+v", m.grant.Status)
	case m.request != nil && slices.Contains(m.request.Finalizers, credentials.Finalizer):
		return false, "the request is held for ever"
	}
	return false, ""
}

// unwell says what is wrong in a quiet world: a request of Tabard's is Ready, or others
// stand in the way.
func (m *model) unwell() string {
	if name := m.reaching(); name != "" {
		return "the issuer's bucket can be reached by the role " + name
	}
	if !m.fulfilled() {
		return ""
	}
	ready, ok := condition.Read(m.grant.Status.Conditions, credentials.TypeReady)
	if !ok {
		return "the grant says nothing"
	}
	if !ready.IsTrue() {
		excuse := map[condition.Reason]bool{
			credentials.ReasonRoleNotOurs: true, credentials.ReasonServiceAccountHasRole: true, credentials.ReasonSecretConflict: true,
			credentials.ReasonIssuerNotRegistered: true, credentials.ReasonAudienceMissing: true,
			credentials.ReasonReachesProtected: m.loose,
		}
		if !excuse[ready.Reason] {
			return fmt.Sprintf("Ready is %s: %s: %s", ready.Status, ready.Reason, ready.Message)
		}
		return ""
	}
	for target, o := range m.objects {
		arn := o.annotations[credentials.RoleAnnotation]
		if _, after, is := strings.Cut(o.data["credentials"], "role_arn = "); is {
			arn, _, _ = strings.Cut(after, "\n")
		}
		if o.annotations[credentials.RequestAnnotation] == "team/app" && !m.isOperators(target) && !m.works(arn) {
			return target.String() + " leads to no role"
		}
	}
	for _, i := range m.grant.Status.Issuers {
		if i.RetireAfter != nil && !m.now.Before(i.RetireAfter.Time) {
			return "an issuer that left is still trusted: " + i.URL
		}
	}
	if !m.platform.Operator.Live && !m.request.Status.Provisioned {
		return "the request is ready and its status does not say so"
	}
	return ""
}

// reaching is a role of ours that may write to the issuer's bucket, by the evaluator.
func (m *model) reaching() string {
	for name, role := range m.roles {
		text, has := role.Policies[credentials.PolicyName(name)]
		if !has || !m.ours[role.Tags[credentials.OwnerTag]] || m.fault != nil {
			continue
		}
		bound := tightBound
		if m.loose {
			bound = looseBound
		}
		if sessionOf(text, bound).may(call{"s3:PutObject", "arn:aws:s3:::keys/keys.json"}, nil) {
			return name
		}
	}
	return ""
}

// FuzzConverge runs lives of a request.
func FuzzConverge(f *testing.F) {
	start := func(variety byte) crash.Model[credentials.World, credentials.Step] { return newModel(variety) }
	// A role with policies of others that is left while its issuers go.
	seeds := [][]byte{{8, 0, 12, 0, 4, 15, 0, 14, 0, 5, 0, 22}, {8, 5, 15, 0, 0, 12, 0, 3, 18, 0, 0, 22}}
	for a := range byte(32) {
		for b := range byte(32) {
			seeds = append(seeds, []byte{a + b, 15, a, b, 9, b, a, 0x13, a, a, 9, b, b, 9, 6, 0})
		}
	}
	crash.Fuzz(f, start, seeds...)
}
