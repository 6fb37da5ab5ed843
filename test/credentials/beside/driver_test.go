package beside

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	cloudv1 "github.com/tabard-dev/tabard/api/cloudcredential/v1"
	"github.com/tabard-dev/tabard/api/identity/v1alpha1"
	core "github.com/tabard-dev/tabard/internal/core/credentials"
	standin "github.com/tabard-dev/tabard/test/credentials/cco"
)

// names are so few that requests of one name follow each other.
const names = 8

// driver is all people of the cluster: a seed says what they do.
type driver struct {
	*recorder
	random *rand.Rand
	// probe is a request that shows when Tabard has seen the mode; empty is none.
	probe, mode string
	probes      int
	drained     bool
	// did counts what was done, by what it is.
	did map[string]int
}

func (r *recorder) driver(seed uint64) *driver {
	return &driver{recorder: r, random: rand.New(rand.NewPCG(seed, seed)), mode: "Manual", did: map[string]int{}} //nolint:gosec // repeatable, not secret
}

// drive changes requests for a time, and modes now and then.
func (d *driver) drive(t *testing.T, length time.Duration) {
	t.Helper()
	ticks := time.NewTicker(150 * time.Millisecond)
	defer ticks.Stop()
	for begin, i := time.Now(), 1; time.Since(begin) < length; i++ {
		<-ticks.C
		switch {
		case i%30 == 0:
			d.another(t)
		case i%70 == 40:
			d.drain(t)
		case i%70 == 65:
			d.resume(t)
		default:
			d.touch()
		}
		d.settle()
	}
	d.resume(t)
	if d.mode != "Manual" {
		d.switchTo("Manual")
	}
}

// another mode comes: each second time Manual, else each of the others in turn.
func (d *driver) another(t *testing.T) {
	t.Helper()
	mode := "Manual"
	if d.mode == mode {
		mode = []string{"", "Mint", "Passthrough"}[d.did["mode Manual"]%3]
	}
	d.switchTo(mode)
}

// switchTo changes the mode, and asks by a request whether Tabard has seen it.
func (d *driver) switchTo(mode string) {
	d.forget()
	object := &unstructured.Unstructured{Object: map[string]any{"metadata": map[string]any{"name": "cluster"}}}
	object.SetGroupVersionKind(schema.GroupVersionKind{Group: "operator.openshift.io", Version: "v1", Kind: kindMode})
	d.Merge(object, fmt.Sprintf(`{"spec":{"credentialsMode":%q}}`, mode))
	d.operator.Switch(map[string]standin.Mode{"Manual": standin.Manual, "Passthrough": standin.Passthrough, "Mint": standin.Mint, "": standin.Mint}[mode])
	d.mode = mode
	d.did["mode "+mode]++
	if mode != "Manual" {
		d.probes++
		d.probe = fmt.Sprintf("probe%d", d.probes)
		d.Make(d.request(d.probe, annotate("a")))
	}
}

// settle marks the moment from which on Tabard is known to have seen the mode.
func (d *driver) settle() {
	if d.probe == "" {
		return
	}
	revision, err := d.seen(d.probe)
	if err != nil {
		return
	}
	mark := Version{Kind: kindMode, Mode: d.mode, Known: true}
	_, _ = fmt.Sscan(revision, &mark.Revision)
	d.recorder.mark(mark)
	d.did["settled"]++
	d.forget()
}

func (d *driver) forget() {
	if d.probe != "" {
		_ = d.Delete(d.Context(), d.request(d.probe))
	}
	d.probe = ""
}

func (d *driver) drain(t *testing.T) {
	t.Helper()
	if !d.drained {
		d.Merge(deployment(), `{"spec":{"replicas":0}}`)
		d.operator.Drain()
		d.drained = true
		d.did["drained"]++
	}
}

func (d *driver) resume(t *testing.T) {
	t.Helper()
	if d.drained {
		d.operator.Resume(t)
		d.Merge(deployment(), `{"spec":{"replicas":1}}`)
		d.drained = false
	}
}

func deployment() client.Object {
	o := &unstructured.Unstructured{Object: map[string]any{"metadata": map[string]any{"namespace": operators, "name": deployed}}}
	o.SetGroupVersionKind(schema.GroupVersionKind{Group: "apps", Version: "v1", Kind: "Deployment"})
	return o
}

// request asks for a Secret, changed by what follows.
func (d *driver) request(name string, changes ...func(*cloudv1.CredentialsRequest)) *cloudv1.CredentialsRequest {
	out := &cloudv1.CredentialsRequest{
		ObjectMeta: metav1.ObjectMeta{Namespace: shop, Name: name},
		Spec:       cloudv1.CredentialsRequestSpec{SecretRef: &cloudv1.ObjectReference{Namespace: shop, Name: name + "--creds"}},
	}
	provide("s3:GetObject", "arn:aws:s3:::shop/a/*", "")(out)
	for _, change := range changes {
		change(out)
	}
	return out
}

func provide(action, resource, role string) func(*cloudv1.CredentialsRequest) {
	return func(r *cloudv1.CredentialsRequest) {
		r.Spec.ProviderSpec = &runtime.RawExtension{Raw: fmt.Appendf(nil, `{"apiVersion":"cloudcredential.openshift.io/v1","kind":"AWSProviderSpec",
			"statementEntries":[{"effect":"Allow","action":[%q],"resource":%q}],"stsIAMRoleARN":%q}`, action, resource, role)}
	}
}

func say(annotation string) func(*cloudv1.CredentialsRequest) {
	return func(r *cloudv1.CredentialsRequest) {
		r.Annotations = map[string]string{core.ServiceAccountAnnotation: annotation}
	}
}

func annotate(which string) func(*cloudv1.CredentialsRequest) {
	return func(r *cloudv1.CredentialsRequest) { say(shop + "/" + r.Name + "--" + which)(r) }
}

func differ(r *cloudv1.CredentialsRequest) {
	r.Spec.Storage = &cloudv1.Storage{ServiceAccount: &cloudv1.StorageRef{Namespace: shop, Name: r.Name + "--b"}}
}

func path(value string) func(*cloudv1.CredentialsRequest) {
	return func(r *cloudv1.CredentialsRequest) { r.Spec.CloudTokenPath = value }
}

func quiet(r *cloudv1.CredentialsRequest) { r.Annotations = nil }

// shape is what a request asks for.
type shape struct {
	name    string
	changes []func(*cloudv1.CredentialsRequest)
}

// shapes are what requests are made as; most of them are Tabard's in the mode Manual.
var shapes = []shape{
	{"a ServiceAccount", []func(*cloudv1.CredentialsRequest){annotate("a")}},
	{"another ServiceAccount", []func(*cloudv1.CredentialsRequest){annotate("b"), path("/tmp/token")}},
	{"a Secret of a role", []func(*cloudv1.CredentialsRequest){provide("s3:GetObject", "*", givenRole)}},
	{"a Secret without a role", []func(*cloudv1.CredentialsRequest){}},
	{"a ServiceAccount of a role", []func(*cloudv1.CredentialsRequest){annotate("a"), provide("s3:GetObject", "*", givenRole)}},
	{"a ServiceAccount elsewhere", []func(*cloudv1.CredentialsRequest){say("kube-system/default")}},
	{"no ServiceAccount by annotation", []func(*cloudv1.CredentialsRequest){say("app")}},
	{"a ServiceAccount and more than it may", []func(*cloudv1.CredentialsRequest){annotate("a"), provide("iam:CreateUser", "*", "")}},
	{"two ServiceAccounts", []func(*cloudv1.CredentialsRequest){annotate("a"), differ}},
}

// edits are what becomes of requests.
var edits = []shape{
	{"moves to one ServiceAccount", []func(*cloudv1.CredentialsRequest){annotate("a")}},
	{"moves to the other", []func(*cloudv1.CredentialsRequest){annotate("b")}},
	{"names no ServiceAccount any more", []func(*cloudv1.CredentialsRequest){quiet}},
	{"may do more", []func(*cloudv1.CredentialsRequest){provide("s3:GetObject", "arn:aws:s3:::shop/*", "")}},
	{"may do less", []func(*cloudv1.CredentialsRequest){provide("s3:GetObject", "arn:aws:s3:::shop/a/*", "")}},
	{"has a role", []func(*cloudv1.CredentialsRequest){provide("s3:GetObject", "*", givenRole)}},
	{"has another path", []func(*cloudv1.CredentialsRequest){path("/elsewhere/token")}},
}

// touch changes one request, or what was made for it. What fails because somebody else was
// quicker is left.
func (d *driver) touch() {
	name := fmt.Sprintf("r%d", d.random.IntN(names))
	var found cloudv1.CredentialsRequest
	err := d.Get(d.Context(), client.ObjectKey{Namespace: shop, Name: name}, &found)
	switch chosen := d.random.IntN(20); {
	case apierrors.IsNotFound(err):
		made := shapes[d.random.IntN(len(shapes))]
		if d.Create(d.Context(), d.request(name, made.changes...)) == nil {
			d.did[made.name]++
		}
	case err != nil || found.DeletionTimestamp != nil:
	case chosen < 5:
		d.count("deleted", d.Delete(d.Context(), &found))
	case chosen < 7 && d.drained:
		d.count("adopted", d.adopt(&found))
	case chosen < 9:
		secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: shop, Name: name + "--creds"}}
		d.count("Secret deleted", d.Delete(d.Context(), secret))
	case chosen < 10:
		account := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: shop, Name: name + "--a"}}
		d.count("ServiceAccount robbed", d.Patch(d.Context(), account, client.RawPatch("application/merge-patch+json",
			[]byte(`{"metadata":{"annotations":{"`+core.RoleAnnotation+`":null}}}`))))
	default:
		edit := edits[d.random.IntN(len(edits))]
		for _, change := range edit.changes {
			change(&found)
		}
		d.count(edit.name, d.Update(d.Context(), &found))
	}
}

func (d *driver) count(what string, err error) {
	if err == nil {
		d.did[what]++
	}
}

// adopt is what tabard credentials adopt does.
func (d *driver) adopt(request *cloudv1.CredentialsRequest) error {
	name := core.GrantName(request.Namespace, request.Name)
	grant := &v1alpha1.CredentialsGrant{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: v1alpha1.CredentialsGrantSpec{
		Request: v1alpha1.RequestRef{Namespace: request.Namespace, Name: request.Name, UID: request.UID}, Adopted: true,
	}}
	err := d.Create(d.Context(), grant)
	if apierrors.IsAlreadyExists(err) {
		err = d.Patch(d.Context(), grant, client.RawPatch("application/merge-patch+json", []byte(`{"spec":{"adopted":true}}`)))
	}
	return err
}
