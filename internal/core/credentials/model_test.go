package credentials_test

import (
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"

	cloudv1 "github.com/tabard-dev/tabard/api/cloudcredential/v1"
	"github.com/tabard-dev/tabard/api/identity/v1alpha1"
	"github.com/tabard-dev/tabard/internal/core/credentials"
	"github.com/tabard-dev/tabard/internal/core/fault"
	"github.com/tabard-dev/tabard/internal/core/platform"
	"github.com/tabard-dev/tabard/internal/testkit/crash"
)

const (
	testAccount = "111122223333"
	givenARN    = "arn:aws:iam::111122223333:role/made/by-hand"
	testBound   = "arn:aws:iam::111122223333:policy/tabard/boundary"
)

var noon = time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)

// wideCeiling is one under which a request may ask for what the permissions boundary keeps it
// from.
const wideCeiling = `{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Action":"s3:GetObject","Resource":"arn:aws:s3:::data/*"},{"Effect":"Allow","Action":"s3:PutObject","Resource":"arn:aws:s3:::*"}]}`

// The policy of testBound, as it is and where somebody has loosened it.
const (
	looseBound = `{"Version":"2012-10-17","Statement":{"Effect":"Allow","Action":"*","Resource":"*"}}`
	tightBound = `{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Action":"*","Resource":"*"},{"Effect":"Deny","Action":"s3:Put*","Resource":["arn:aws:s3:::keys","arn:aws:s3:::keys/*"]},{"Effect":"Deny","NotAction":"s3:Put*","Resource":["arn:aws:s3:::keys","arn:aws:s3:::keys/*"]}]}`
)

// object is a Secret or a ServiceAccount.
type object struct {
	labels, annotations map[string]string
	data                map[string]string
	extended, deleting  bool
}

func (o *object) String() string { return fmt.Sprint(o.labels, o.annotations, o.data, o.extended) }

// model is a cluster and an AWS account in memory, with one request.
type model struct {
	crash.Plain
	now      time.Time
	request  *cloudv1.CredentialsRequest
	grant    *v1alpha1.CredentialsGrant
	platform platform.Facts
	drift    credentials.Drift
	issuers  []credentials.Issuer
	// boundary changes that of the namespace; nil leaves it as it is.
	boundary func(*v1alpha1.CredentialsBoundarySpec)
	roles    map[string]*credentials.Role
	objects  map[credentials.Target]*object
	// gone are the namespaces that do not exist.
	gone map[string]bool
	// unread is why no target can be read; empty if they can.
	unread string
	// loose says that the permissions boundary in AWS denies nothing.
	loose bool
	// fault is what AWS answers; nil for what was asked.
	fault *fault.Fault
	uid   int
	// seen and plan are those of the last pass.
	seen credentials.World
	plan credentials.Plan
	// wrong is the first broken rule that a step broke.
	wrong string
	// ours are the owners of all requests that there were.
	ours map[string]bool
	// left are Secrets that were left to a live operator for good, with their grant.
	left map[credentials.Target]bool
}

// isOperators says that a Secret with the operator's mark is left to the operator.
func (m *model) isOperators(target credentials.Target) bool {
	return m.objects[target].annotations[cloudv1.RequestKey] != "" && (m.platform.Operator.Live || m.left[target])
}

func newModel(variety byte) *model {
	m := &model{
		now: noon, drift: credentials.DriftEnforce,
		roles: map[string]*credentials.Role{}, objects: map[credentials.Target]*object{}, gone: map[string]bool{}, ours: map[string]bool{}, left: map[credentials.Target]bool{},
		platform: kubernetes(), issuers: []credentials.Issuer{testIssuer(1)},
	}
	if variety&8 != 0 {
		m.drift = credentials.DriftReport
	}
	m.create(variety & 7)
	return m
}

// kubernetes is a cluster without a Cloud Credential Operator.
func kubernetes() platform.Facts {
	return platform.Facts{Infrastructure: "infra", Region: "eu-central-1", Mode: platform.Unknown, Operator: platform.Operator{Why: "there is no Cloud Credential Operator"}}
}

// openshift is a cluster with one.
func openshift(mode platform.Mode) platform.Facts {
	out := kubernetes()
	out.OpenShift, out.Cloud, out.Mode = true, platform.AWS, mode
	out.Operator = platform.Operator{Live: true, Why: "a Cloud Credential Operator is live"}
	return out
}

func testIssuer(n int) credentials.Issuer {
	host := fmt.Sprintf("issuer%d.example", n)
	return credentials.Issuer{
		Name: host, URL: "https://" + host, ProviderARN: "arn:aws:iam::" + testAccount + ":oidc-provider/" + host,
		Registered: true, Audiences: []string{"openshift", "sts.amazonaws.com"}, RetireAfter: 25 * time.Hour,
	}
}

const statements = `{"apiVersion":"cloudcredential.openshift.io/v1","kind":"AWSProviderSpec","statementEntries":[{"effect":"Allow","action":["s3:GetObject"],"resource":"arn:aws:s3:::data/*"}]}`

// create makes a request of a shape.
func (m *model) create(shape byte) {
	m.uid++
	m.request = &cloudv1.CredentialsRequest{ObjectMeta: metav1.ObjectMeta{Namespace: "team", Name: "app", UID: types.UID(fmt.Sprint("uid", m.uid)), Generation: 1}}
	m.ours["team/app/"+string(m.request.UID)] = true
	m.shape(shape)
}

// shape sets what the request asks for.
func (m *model) shape(shape byte) {
	m.request.Generation++
	m.request.Annotations, m.request.Spec = nil, cloudv1.CredentialsRequestSpec{ProviderSpec: &runtime.RawExtension{Raw: []byte(statements)}}
	spec := &m.request.Spec
	switch shape {
	case 0, 1:
		name := []string{"app", "other"}[shape]
		spec.Storage = &cloudv1.Storage{ServiceAccount: &cloudv1.StorageRef{Namespace: "apps", Name: name}}
	case 2:
		spec.SecretRef, spec.ServiceAccountNames = &cloudv1.ObjectReference{Namespace: "apps", Name: "creds"}, []string{"app"}
	case 3:
		m.request.Annotations = map[string]string{credentials.ServiceAccountAnnotation: "apps/app"}
		spec.SecretRef = &cloudv1.ObjectReference{Namespace: "team", Name: "creds"}
	case 4:
		spec.SecretRef = &cloudv1.ObjectReference{Namespace: "team", Name: "creds"}
		spec.ProviderSpec.Raw = []byte(`{"kind":"AWSProviderSpec","stsIAMRoleARN":"` + givenARN + `"}`)
	case 5:
		spec.Storage = &cloudv1.Storage{ServiceAccount: &cloudv1.StorageRef{Namespace: "apps", Name: "app"}}
		spec.ProviderSpec.Raw = []byte(`{"kind":"AWSProviderSpec","stsIAMRoleARN":"` + givenARN + `"}`)
	case 6: // which the permissions boundary alone keeps from the issuer's bucket
		spec.SecretRef, spec.ServiceAccountNames = &cloudv1.ObjectReference{Namespace: "team", Name: "others"}, []string{"app", "jobs"}
		spec.ProviderSpec.Raw = []byte(strings.NewReplacer("GetObject", "PutObject", "data/*", "*").Replace(statements))
	default:
		spec.ProviderSpec = nil
	}
}

// Observe implements crash.Model.
func (m *model) Observe() credentials.World {
	w := credentials.World{
		Platform: m.platform, Now: m.now, Account: testAccount,
		Settings:        credentials.Settings{Partition: "aws", PermissionsBoundary: testBound, OwnNamespaces: []string{"tabard"}, Drift: m.drift},
		Issuers:         slices.Clone(m.issuers),
		NamespaceLabels: map[string]string{},
		Boundaries:      []v1alpha1.CredentialsBoundary{testBoundary()},
		Protected:       credentials.Protected{Buckets: []string{"keys"}},
		Policies:        map[string]credentials.PolicyInAWS{testBound: {Document: tightBound, Exists: true}},
	}
	if m.loose {
		w.Policies[testBound] = credentials.PolicyInAWS{Document: looseBound, Exists: true}
	}
	w.Boundaries[0].Spec.AWS.Ceiling = wideCeiling
	if m.boundary != nil {
		m.boundary(&w.Boundaries[0].Spec)
	}
	if m.request != nil {
		w.Request = m.request.DeepCopy()
		w.Provider = credentials.DecodeProvider(w.Request)
	}
	if m.grant != nil {
		w.Grant = m.grant.DeepCopy()
	}
	for _, target := range credentials.Observed(w.Request, w.Grant) {
		w.Targets = append(w.Targets, m.look(target))
	}
	if m.fault != nil {
		w.Account, w.AccountFault, w.Issuers = "", m.fault, nil // as AWS says which of them it knows
		return w
	}
	if role := m.roles[credentials.RoleNameOf(w)]; role != nil {
		w.Role = credentials.RoleState{Seen: true, Exists: true, Digest: credentials.Digest(*role)}
	}
	return w
}

func testBoundary() v1alpha1.CredentialsBoundary {
	return v1alpha1.CredentialsBoundary{
		ObjectMeta: metav1.ObjectMeta{Name: "team"},
		Spec: v1alpha1.CredentialsBoundarySpec{
			Namespaces: []string{"team"}, TargetNamespaces: []string{"team", "apps"},
			AWS: &v1alpha1.AWSBoundary{
				RoleARNPatterns: []string{"arn:aws:iam::" + testAccount + ":role/made/*"},
				Ceiling:         `{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Action":["s3:GetObject","s3:PutObject"],"Resource":"arn:aws:s3:::data/*"}]}`,
			},
		},
	}
}

func (m *model) look(target credentials.Target) credentials.TargetState {
	s := credentials.TargetState{Target: target, NamespaceMissing: m.gone[target.Namespace], Error: m.unread}
	if o := m.objects[target]; o != nil && m.unread == "" {
		s.Exists, s.Labels, s.Annotations, s.Extended, s.Deleting = true, maps.Clone(o.labels), maps.Clone(o.annotations), o.extended, o.deleting
		s.Digests = map[string]string{}
		for key, value := range o.data {
			s.Digests[key] = credentials.DataDigest(value)
		}
	}
	return s
}

// live is a look at the role by itself.
func (m *model) live(name string) credentials.RoleState {
	out := credentials.RoleState{Seen: true, Live: true}
	if role := m.roles[name]; role != nil {
		out.Exists, out.Role = true, *cloned(role)
	}
	return out
}

func cloned(r *credentials.Role) *credentials.Role {
	out := *r
	out.Tags, out.Policies, out.Attached = maps.Clone(r.Tags), maps.Clone(r.Policies), slices.Clone(r.Attached)
	return &out
}

// Decide implements crash.Model.
func (m *model) Decide(w credentials.World) []credentials.Step {
	m.plan = credentials.Decide(w)
	if m.plan.LookLive {
		w.Role = m.live(credentials.RoleNameOf(w))
		m.plan = credentials.Decide(w)
	}
	if m.seen = w; m.plan.LookLive {
		m.wrong = "a look at the role is asked for again after one"
	}
	if m.plan.Project != nil && (m.platform.Operator.Live || m.plan.Acting.Actor == credentials.ActorCCO) {
		m.wrong = "the status of a request is written beside a Cloud Credential Operator"
	}
	return m.plan.Steps
}

// Perform implements crash.Model.
func (m *model) Perform(step credentials.Step, fail bool) error {
	if fail {
		return fault.Fault{Class: fault.Throttled, Service: "AWS", Operation: "Step", Code: "Throttling"}
	}
	switch s := step.(type) {
	case credentials.Hold:
		m.demand(m.isTabards(), "the finalizer is put on a request that is not Tabard's")
		m.request.Finalizers = append(m.request.Finalizers, credentials.Finalizer)
	case credentials.MakeGrant:
		m.demand(m.isTabards(), "a grant is made for a request that is not Tabard's")
		if m.grant == nil {
			m.grant = &v1alpha1.CredentialsGrant{ObjectMeta: metav1.ObjectMeta{Name: s.Name}, Spec: v1alpha1.CredentialsGrantSpec{Request: s.Request}}
		}
		m.grant.Finalizers = []string{credentials.Finalizer}
	case credentials.Record:
		m.grant.Status = *m.plan.Grant.DeepCopy()
	case credentials.Release:
		if m.request == nil || string(m.request.UID) != s.UID {
			return nil
		}
		m.release(credentials.Finalizer)
		if s.CCO {
			m.demand(!m.platform.Operator.Live, "a live operator's finalizer is removed")
			m.release(cloudv1.Finalizer)
		}
	case credentials.DeleteGrant:
		m.grant = nil
		for target := range m.objects {
			m.left[target] = m.isOperators(target)
		}
	case credentials.WriteServiceAccount, credentials.WriteSecret, credentials.ClearServiceAccount, credentials.ClearSecret:
		return m.performTarget(step)
	default:
		return m.performRole(step)
	}
	return nil
}

// isTabards is the model's own and shorter rule on who acts.
func (m *model) isTabards() bool {
	account := m.request.Spec.Storage != nil || m.request.Annotations[credentials.ServiceAccountAnnotation] != ""
	theirs := slices.Contains(m.request.Finalizers, cloudv1.Finalizer)
	if m.platform.Operator.Live {
		return account && m.platform.Mode == platform.Manual
	}
	return !theirs || m.grant != nil && m.grant.Spec.Adopted
}

// release removes a finalizer; a dying request without any is gone.
func (m *model) release(finalizer string) {
	m.request.Finalizers = slices.DeleteFunc(m.request.Finalizers, func(f string) bool { return f == finalizer })
	if !m.request.DeletionTimestamp.IsZero() && len(m.request.Finalizers) == 0 {
		m.request = nil
	}
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
		m.plan = credentials.Failed(m.plan, m.plan.Steps[done], known, m.seen)
	}
	if m.grant != nil && (m.seen.Grant != nil || len(m.plan.Steps) > 0) {
		m.grant.Status = *m.plan.Grant.DeepCopy()
	}
	if m.plan.Project != nil && m.request != nil {
		m.request.Status = *m.plan.Project.DeepCopy()
	}
	return nil
}

// Die implements crash.Model.
func (m *model) Die(int) {}

// stored is a request and its grant, which are compared faster than field by field.
type stored struct {
	Request *cloudv1.CredentialsRequest
	Grant   *v1alpha1.CredentialsGrant
}

// Equal is for go-cmp.
func (s stored) Equal(other stored) bool { return reflect.DeepEqual(s, other) }

// Stored implements crash.Model.
func (m *model) Stored() any { return stored{m.request.DeepCopy(), m.grant.DeepCopy()} }

// Idle implements crash.Model: an issuer that leaves is waited for.
func (m *model) Idle() bool {
	if m.grant == nil {
		return false
	}
	for _, i := range m.grant.Status.Issuers {
		if i.RetireAfter != nil && m.now.Before(i.RetireAfter.Time) && m.grant.Status.Role != nil && m.fulfilled() {
			m.now = i.RetireAfter.Time
			return true
		}
	}
	return false
}

// Calm implements crash.Model.
func (m *model) Calm() {
	m.fault, m.gone = nil, map[string]bool{}
	if len(m.issuers) == 0 || m.issuers[len(m.issuers)-1].Deleting {
		m.issuers = append(m.issuers, testIssuer(9))
	}
}

// Patience implements crash.Model.
func (m *model) Patience() int { return 40 }
