package issuer_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/tabard-dev/tabard/api/identity/v1alpha1"
	"github.com/tabard-dev/tabard/awsauth/identity"
	"github.com/tabard-dev/tabard/internal/core/fault"
	"github.com/tabard-dev/tabard/internal/core/issuer"
	"github.com/tabard-dev/tabard/internal/testkit/crash"
)

const (
	testURL     = "https://tabard-demo.s3.eu-central-1.amazonaws.com"
	testBucket  = "tabard-demo"
	testAccount = "111122223333"
	testRole    = "arn:aws:iam::444455556666:role/registrar"
)

var testTime = time.Date(2026, 3, 14, 15, 9, 26, 0, time.UTC)

// pair is a public key in the two forms in which it comes.
type pair struct {
	issuer.Key
	pem string
}

// pairs are the keys of the tests, made once.
var pairs = makePairs(9)

func makePairs(count int) []pair {
	out := make([]pair, 0, count)
	for range count {
		private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
		if err != nil {
			panic(err)
		}
		der, err := x509.MarshalPKIXPublicKey(&private.PublicKey)
		if err != nil {
			panic(err)
		}
		text := string(pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: der}))
		keys, err := issuer.ReadPEM(map[string]string{"key.pub": text})
		if err != nil {
			panic(err)
		}
		out = append(out, pair{keys[0], text})
	}
	slices.SortFunc(out, func(a, b pair) int { return strings.Compare(a.ID, b.ID) })
	return out
}

// model is a cluster and an AWS account in memory, with one issuer.
type model struct {
	crash.Plain
	stored *v1alpha1.OIDCIssuer
	// seen and plan are what the last pass observed and decided.
	seen issuer.World
	plan issuer.Plan
	now  time.Time // the true time
	// ahead is by how much the operator's clock is wrong, cluster that of the API
	// server.
	ahead, cluster time.Duration
	signers        []int // pairs that the API servers show; the last signs
	// ownToken is the ID of the key that signed the operator's token for AWS.
	ownToken  string
	silent    bool // one more API server does not answer
	refused   bool // the API server shows a private key
	tokenless bool // no token can be had
	bucket    *modelBucket
	// providers by account, and the roles whose trust policies mention them.
	providers map[string]*modelProvider
	roles     map[string][]string
	trust     issuer.Trust
	// gaveUp says what was wrong when the bucket's name was given up.
	gaveUp string
	// throttled makes AWS's reads fail.
	throttled bool
	// published are the signers that some reader has seen.
	published map[int]bool
	// out are the revoked pairs that the document was seen to lack.
	out map[int]bool
	// lastLook is when a pass last ended that could see the whole cluster, looked
	// since when there was one at least every half an hour.
	lastLook, looked time.Time
	// foreign says that somebody else's key was in the document.
	foreign bool
	// lost says that the status was lost once.
	lost bool
	// signed is when a pair last signed a token, read whether anybody has read it.
	signed map[int]time.Time
	read   map[int]bool
	// release says that the deletion is to give up the bucket's name, heldBy what
	// holds the deletion up, and free that nothing does any more.
	release bool
	heldBy  string
	free    bool
}

type modelBucket struct {
	owner     string
	tombstone bool
	access    issuer.PublicAccessBlock
	policy    string
	objects   map[string]issuer.Document
	version   int // of the last write
}

type modelProvider struct {
	owner     string
	audiences []string
}

func newModel() *model {
	return &model{
		stored:    testIssuer(),
		now:       testTime,
		signers:   []int{0},
		providers: map[string]*modelProvider{},
		roles:     map[string][]string{},
		published: map[int]bool{},
		out:       map[int]bool{},
		signed:    map[int]time.Time{},
		read:      map[int]bool{},
	}
}

func testIssuer() *v1alpha1.OIDCIssuer {
	return &v1alpha1.OIDCIssuer{
		ObjectMeta: metav1.ObjectMeta{Name: "demo", Generation: 1, CreationTimestamp: metav1.NewTime(testTime.Add(-time.Hour))},
		Spec: v1alpha1.OIDCIssuerSpec{
			URL:             testURL,
			Keys:            v1alpha1.KeySource{Source: v1alpha1.KeySourceAPIServer},
			Publication:     v1alpha1.Publication{S3: v1alpha1.S3Publication{Bucket: testBucket, Region: "eu-central-1", Create: true, PublicRead: v1alpha1.PublicReadBucketPolicy}},
			Providers:       []v1alpha1.Provider{{Audiences: []string{"sts.amazonaws.com"}}, {Audiences: []string{"sts.amazonaws.com", "vault"}, AssumeRoleARN: testRole}},
			RetireKeysAfter: metav1.Duration{Duration: 25 * time.Hour},
			DeletionPolicy:  v1alpha1.DeletionPolicyDelete,
		},
	}
}

// keySet is a keys document of some of the pairs.
func keySet(indexes ...int) []byte {
	var keys []issuer.Key
	for _, i := range indexes {
		keys = append(keys, pairs[i].Key)
	}
	return issuer.JWKS(keys)
}

// Observe is what the shell would read.
func (m *model) Observe() issuer.World {
	w := issuer.World{Issuer: m.stored.DeepCopy(), Now: m.now.Add(m.ahead)}
	dying := !m.stored.DeletionTimestamp.IsZero()
	if dying && m.stored.Spec.DeletionPolicy != v1alpha1.DeletionPolicyDelete {
		return w
	}
	if !dying {
		m.observeCluster(&w)
	}
	w.Caller.Identity = identity.Identity{Base: identity.WebIdentity, Region: m.stored.Spec.Publication.S3.Region}
	if m.throttled {
		w.Caller.Fault = &fault.Fault{Class: fault.Throttled, Service: "STS", Operation: "GetCallerIdentity", Code: "Throttling"}
		return w
	}
	w.Caller.TokenKeyID = m.ownToken
	w.Caller.AccountID, w.Caller.ARN = testAccount, "arn:aws:sts::"+testAccount+":assumed-role/tabard-issuer-demo/tabard"
	m.observeBucket(&w)
	for _, target := range issuer.ProviderTargets(w) {
		if p := m.providers[target.AccountID]; p != nil {
			target.Exists, target.Owner, target.Audiences = true, p.owner, slices.Clone(p.audiences)
		}
		if target.NeedsTrust(w.Issuer) {
			target.TrustedBy = slices.Clone(m.roles[target.AccountID])
		}
		w.Providers = append(w.Providers, target)
	}
	return w
}

func (m *model) observeCluster(w *issuer.World) {
	w.Public = issuer.Public{Keys: m.fetch(issuer.KeysPath), Discovery: m.fetch(issuer.DiscoveryPath)}
	signer := pairs[m.signer()].ID
	m.signed[m.signer()] = m.now
	token := issuer.Token{Issuer: testURL, KeyID: signer, IssuedAt: m.now.Add(m.cluster)}
	if w.Public.Keys.Status == 200 && !strings.Contains(string(w.Public.Keys.Body), signer) {
		token.PublicError = "the key is not there"
	}
	w.Cluster.APIServers = []issuer.APIServer{{Address: "10.0.0.1:6443", JWKS: keySet(m.signers...), Token: token}}
	if m.refused {
		w.Cluster.APIServers[0].JWKS = []byte(strings.Replace(string(keySet(m.signers...)), `{"use"`, `{"d":"AA","use"`, 1))
	}
	if m.tokenless {
		w.Cluster.APIServers[0].Token = issuer.Token{Error: "forbidden"}
	}
	if m.silent {
		w.Cluster.APIServers = append(w.Cluster.APIServers, issuer.APIServer{
			Address: "10.0.0.2:6443", Error: "connection refused", Token: issuer.Token{Error: "connection refused"},
		})
	}
}

func (m *model) observeBucket(w *issuer.World) {
	if m.bucket == nil {
		return
	}
	keys, discovery := issuer.DocumentKeys(m.stored.Spec.Publication.S3.Prefix)
	w.Bucket = issuer.Bucket{
		Exists: true, Region: m.stored.Spec.Publication.S3.Region, Access: m.bucket.access,
		Owner: m.bucket.owner, Tombstone: m.bucket.tombstone, Others: m.bucket.holdsOthers(),
		Policy: []byte(m.bucket.policy), Keys: m.bucket.objects[keys], Discovery: m.bucket.objects[discovery],
	}
}

// fetch is what anybody sees.
func (m *model) fetch(path string) issuer.Fetch {
	if m.bucket == nil {
		return issuer.Fetch{Status: 404}
	}
	object, found := m.bucket.objects[path]
	open := strings.Contains(m.bucket.policy, "TabardPublicRead") && !m.bucket.access.BlockPublicPolicy
	if !found || !open {
		return issuer.Fetch{Status: 403}
	}
	return issuer.Fetch{Status: 200, Body: object.Body}
}

// perform is what the shell would do. Each step is as idempotent as its
// adapter.
func (m *model) perform(plan issuer.Plan, step issuer.Step) error {
	switch s := step.(type) {
	case issuer.HoldFinalizer:
		m.stored.Finalizers = []string{issuer.Finalizer}
	case issuer.Record:
		m.stored.Status = *plan.Status.DeepCopy()
	case issuer.ReleaseFinalizer:
		m.stored.Finalizers = nil
	default:
		return m.performAWS(s)
	}
	return nil
}

func (m *model) performAWS(step issuer.Step) error {
	switch s := step.(type) {
	case issuer.CreateBucket:
		if m.bucket == nil {
			m.bucket = newBucket()
		}
		m.bucket.owner = s.Owner
	case issuer.SetPublicAccess:
		m.bucket.access = s.Access
	case issuer.PutDocument:
		return m.put(s)
	case issuer.PutBucketPolicy:
		m.bucket.policy = s.Policy
	case issuer.DeleteDocument:
		delete(m.bucket.objects, s.Key)
	case issuer.SetTombstone:
		m.bucket.tombstone = s.On
	case issuer.DeleteBucket:
		return m.giveUp()
	default:
		return m.performIAM(step)
	}
	return nil
}

func (m *model) put(s issuer.PutDocument) error {
	if m.bucket.objects[s.Key].ETag != s.IfMatch {
		return fault.Fault{Class: fault.Changed, Service: "S3", Operation: "PutObject", Code: "PreconditionFailed"}
	}
	m.bucket.version++
	m.bucket.objects[s.Key] = issuer.Document{Exists: true, Body: []byte(s.Body), ETag: fmt.Sprintf("v%d", m.bucket.version)}
	return nil
}

func (m *model) performIAM(step issuer.Step) error {
	switch s := step.(type) {
	case issuer.CreateProvider:
		account := testAccount
		if s.Identity.RoleARN() != "" {
			account = strings.Split(s.Identity.RoleARN(), ":")[4]
		}
		if m.providers[account] == nil {
			m.providers[account] = &modelProvider{owner: s.Owner, audiences: strings.Split(s.Audiences, ",")}
		}
	case issuer.AddAudience:
		p := m.providers[strings.Split(s.ARN, ":")[4]]
		if !slices.Contains(p.audiences, s.Audience) {
			p.audiences = append(p.audiences, s.Audience)
		}
	case issuer.RemoveAudience:
		p := m.providers[strings.Split(s.ARN, ":")[4]]
		p.audiences = slices.DeleteFunc(p.audiences, func(a string) bool { return a == s.Audience })
	case issuer.DeleteProvider:
		delete(m.providers, strings.Split(s.ARN, ":")[4])
	default:
		return fmt.Errorf("step %T is not known to the model", step)
	}
	return nil
}

// Decide implements crash.Model.
func (m *model) Decide(w issuer.World) []issuer.Step {
	unseen, known := w, false
	unseen.Providers = slices.Clone(w.Providers)
	for i := range unseen.Providers {
		unseen.Providers[i].TrustedBy = nil
	}
	m.seen = w
	if m.plan, known = m.trust.Decide(unseen); !known {
		m.trust.Remember(w)
		m.plan = issuer.Decide(w)
	}
	return m.plan.Steps
}

// Perform does a step, or fails it as AWS does when it is asked too often.
func (m *model) Perform(step issuer.Step, fail bool) error {
	switch step.(type) {
	case issuer.HoldFinalizer, issuer.ReleaseFinalizer:
		fail = false // the API server's faults end a pass without a condition
	case issuer.Record:
		if fail {
			return errUnwritable
		}
	}
	if fail {
		return fault.Fault{Class: fault.Throttled, Service: "AWS", Operation: "Step", Code: "Throttling"}
	}
	return m.perform(m.plan, step)
}

// errUnwritable says that the API server stores no status in this pass.
var errUnwritable = errors.New("the status cannot be written")

// Report writes the status, or goes on without if it cannot be written.
func (m *model) Report(done int, failed error) error {
	if errors.Is(failed, errUnwritable) {
		for _, step := range m.plan.Unrecorded(m.plan.Steps[done]) {
			if err := m.perform(m.plan, step); err != nil {
				return err
			}
			if broken := m.Violation(); broken != "" {
				return errors.New(broken)
			}
		}
		return nil
	}
	if failed != nil {
		known, is := errors.AsType[fault.Fault](failed)
		if !is {
			return failed
		}
		m.plan.Status = issuer.Failed(m.plan, m.plan.Steps[done], known, m.seen)
	}
	m.stored.Status = *m.plan.Status.DeepCopy()
	m.noteLook()
	return nil
}

// Die ends the process in the middle of a step that has two halves.
func (m *model) Die(done int) {
	m.trust = issuer.Trust{}
	if done == len(m.plan.Steps) {
		return
	}
	if _, creating := m.plan.Steps[done].(issuer.CreateBucket); creating && m.bucket == nil {
		m.bucket = newBucket() // and no tag
	}
}

// Stored implements crash.Model.
func (m *model) Stored() any { return m.stored.DeepCopy() }

// Calm implements crash.Model.
func (m *model) Calm() { m.throttled, m.silent, m.ahead, m.cluster = false, false, 0, 0 }

func newBucket() *modelBucket {
	return &modelBucket{
		objects: map[string]issuer.Document{},
		access:  issuer.PublicAccessBlock{BlockPublicACLs: true, IgnorePublicACLs: true, BlockPublicPolicy: true, RestrictPublicBuckets: true},
	}
}
