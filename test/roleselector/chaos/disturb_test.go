package chaos

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"

	"github.com/tabard-dev/tabard/api/services/v1alpha1"
	"github.com/tabard-dev/tabard/awslocal"
	"github.com/tabard-dev/tabard/internal/testkit"
)

var kinds = map[schema.GroupVersionResource]string{selectors: "IAMRoleSelector", choices: "IAMRoleChoice", buckets: kind}

// disturber changes the cluster at random, and counts what it does.
type disturber struct {
	*world
	dice   dice
	counts map[string]int
}

// pause waits, and says whether there is still time.
func pause(ctx context.Context, d time.Duration) bool {
	select {
	case <-time.After(d):
		return true
	case <-ctx.Done():
		return false
	}
}

// disturb changes many things at once, and then few for a while, in which roles that
// are out of date are seen.
func (d *disturber) disturb(ctx context.Context) {
	for ctx.Err() == nil {
		for range 3 + d.dice.IntN(12) {
			d.change()
			if !pause(ctx, time.Duration(20+d.dice.IntN(120))*time.Millisecond) {
				return
			}
		}
		if d.dice.one(3) {
			d.lure(ctx)
		}
		for range d.dice.IntN(12) {
			d.changeBucket()
			if !pause(ctx, time.Duration(200+d.dice.IntN(400))*time.Millisecond) {
				return
			}
		}
	}
}

func (d *disturber) change() {
	switch d.dice.IntN(10) {
	case 0, 1, 2, 3:
		d.changeSelector()
	case 4:
		d.relabel()
	case 5, 6:
		d.changeChoice()
	default:
		d.changeBucket()
	}
}

// at is where the objects of a kind are.
func (d *disturber) at(of schema.GroupVersionResource, namespace string) dynamic.ResourceInterface {
	if namespace == "" {
		return d.client.Resource(of)
	}
	return d.client.Resource(of).Namespace(namespace)
}

// get is an object, nil if there is none.
func (d *disturber) get(of schema.GroupVersionResource, k key) *unstructured.Unstructured {
	found, err := d.at(of, k.namespace).Get(d.t.Context(), k.name, metav1.GetOptions{})
	if err != nil && !apierrors.IsNotFound(err) {
		d.t.Errorf("get %s %v: %v", of.Resource, k, err)
	}
	if err != nil {
		return nil
	}
	return found
}

// put creates an object, or updates the one that was read before. The controller may
// write at the same time, and win.
func (d *disturber) put(of schema.GroupVersionResource, object *unstructured.Unstructured, counted string) {
	client, begin := d.at(of, object.GetNamespace()), time.Now()
	var stored *unstructured.Unstructured
	var err error
	before := object.GetResourceVersion()
	if before == "" {
		stored, err = client.Create(d.t.Context(), object, metav1.CreateOptions{})
	} else {
		stored, err = client.Update(d.t.Context(), object, metav1.UpdateOptions{})
	}
	switch {
	case apierrors.IsConflict(err), apierrors.IsNotFound(err):
	case err != nil:
		d.t.Errorf("%s %s: %v", counted, object.GetName(), err)
	case stored.GetResourceVersion() != before:
		d.wrote(stored, begin)
		d.counts[counted]++
	}
}

func (d *disturber) remove(of schema.GroupVersionResource, k key, counted string) {
	switch err := d.at(of, k.namespace).Delete(d.t.Context(), k.name, metav1.DeleteOptions{}); {
	case apierrors.IsNotFound(err):
	case err != nil:
		d.t.Errorf("%s %v: %v", counted, k, err)
	default:
		d.counts[counted]++
	}
}

// made is an object that is not stored yet.
func (d *disturber) made(of schema.GroupVersionResource, k key, spec any) *unstructured.Unstructured {
	object := &unstructured.Unstructured{Object: map[string]any{"spec": d.plain(spec)}}
	object.SetAPIVersion(of.GroupVersion().String())
	object.SetKind(kinds[of])
	object.SetNamespace(k.namespace)
	object.SetName(k.name)
	return object
}

// plain is a value as JSON has it.
func (d *disturber) plain(value any) (plain map[string]any) {
	text, err := json.Marshal(value)
	if err := errors.Join(err, json.Unmarshal(text, &plain)); err != nil {
		d.t.Errorf("%T: %v", value, err)
	}
	return plain
}

// changeSelector makes, rewrites or deletes a selector. What is there keeps its role.
func (d *disturber) changeSelector() {
	k := key{name: pickOf(d.dice, selectorNames...)}
	found := d.get(selectors, k)
	if found == nil {
		d.put(selectors, d.made(selectors, k, d.dice.selector(pickOf(d.dice, teamRoles...))), "selectors made")
		return
	}
	role, _, _ := unstructured.NestedString(found.Object, "spec", "arn")
	spec := d.dice.selector(role)
	if d.dice.one(3) || spec.ARN != role {
		d.remove(selectors, k, "selectors deleted")
		return
	}
	if role == "" {
		spec.Effect, spec.Selection, spec.OnAccountChange = v1alpha1.Deny, nil, ""
	}
	found.Object["spec"] = d.plain(spec)
	d.put(selectors, found, "selectors rewritten")
}

func (d *disturber) relabel() {
	if found := d.get(namespaces, key{name: pickOf(d.dice, homes...)}); found != nil {
		found.SetLabels(d.dice.homeLabels())
		d.put(namespaces, found, "namespaces relabelled")
	}
}

// changeChoice keeps choices rare: where nothing is offered they block.
func (d *disturber) changeChoice() {
	k := key{pickOf(d.dice, homes...), pickOf(d.dice, "c0", "c1")}
	if d.get(choices, k) != nil {
		d.remove(choices, k, "choices deleted")
	} else if d.dice.one(2) {
		d.put(choices, d.made(choices, k, d.dice.choice()), "choices made")
	}
}

// changeBucket makes a Bucket, or changes or deletes the one that is there. What is to
// be retained is not deleted: it would be left in AWS on purpose.
func (d *disturber) changeBucket() {
	k := key{pickOf(d.dice, homes...), fmt.Sprintf("b%d", d.dice.IntN(bucketsOfHome))}
	found := d.get(buckets, k)
	switch {
	case found == nil:
		object := d.made(buckets, k, map[string]any{"name": bucketName(k)})
		object.SetLabels(d.dice.ownLabels())
		d.put(buckets, object, "buckets made")
		return
	case found.GetDeletionTimestamp() != nil:
		return
	case d.dice.one(8) && found.GetAnnotations()[policyAnnotation] == "":
		d.remove(buckets, k, "buckets deleted")
		return
	}
	switch d.dice.IntN(6) {
	case 0:
		found.SetLabels(d.dice.ownLabels())
	case 1:
		toggle(found, v1alpha1.ChoiceAnnotation, pickOf(d.dice, selectorNames...))
	case 2:
		toggle(found, policyAnnotation, "retain")
	default:
		found.Object["spec"] = map[string]any{"name": bucketName(k), "tagging": map[string]any{
			"tagSet": []any{map[string]any{"key": "edition", "value": fmt.Sprint(d.dice.IntN(1000))}},
		}}
	}
	d.put(buckets, found, "buckets changed")
}

// toggle sets an annotation, or takes it away.
func toggle(object *unstructured.Unstructured, name, value string) {
	annotations := maps.Clone(object.GetAnnotations())
	if _, is := annotations[name]; is {
		delete(annotations, name)
	} else if annotations == nil {
		annotations = map[string]string{name: value}
	} else {
		annotations[name] = value
	}
	object.SetAnnotations(annotations)
}

// policyAnnotation says what becomes of the bucket of a deleted Bucket.
const policyAnnotation = "services.k8s.aws/deletion-policy"

// bucketsOfHome is how many Buckets a namespace has at most.
const bucketsOfHome = 12

func bucketName(k key) string { return "chaos-" + k.namespace + "-" + k.name }

// trouble is what happens to the controller and not to the cluster.
type trouble struct {
	*world
	controller *testkit.Process
	dice       dice
	counts     map[string]int
}

// make makes one trouble after the other, each kind as often as the others.
func (d *trouble) make(ctx context.Context) {
	kinds := []func(context.Context, time.Duration){d.kill, d.deny, d.cut, d.silence}
	for {
		for _, which := range d.dice.Perm(len(kinds)) {
			if !pause(ctx, time.Duration(500+d.dice.IntN(3000))*time.Millisecond) {
				return
			}
			if d.controller.Ended() { // it could not reach the API server at its start
				d.controller.Restart()
			}
			d.collect()
			kinds[which](ctx, time.Duration(300+d.dice.IntN(3500))*time.Millisecond)
		}
	}
}

func (d *trouble) kill(context.Context, time.Duration) {
	d.count("kills")
	d.controller.Restart()
}

func (d *trouble) deny(ctx context.Context, lasts time.Duration) {
	d.count("denials by STS")
	d.AWS.Admin().Inject(awslocal.Fault{Service: "sts", Operation: "AssumeRole", Code: "AccessDenied"})
	pause(ctx, lasts)
	d.AWS.Admin().ClearFaults()
	d.note("end of denials")
}

func (d *trouble) cut(ctx context.Context, lasts time.Duration) {
	d.count("cuts from the API server")
	d.wire.cut()
	pause(ctx, lasts)
	d.wire.mend()
	d.note("end of cut")
}

// silence lasts longer than the controller may go by what it knows.
func (d *trouble) silence(ctx context.Context, lasts time.Duration) {
	d.count("silences of the API server")
	end := d.wire.fallSilent()
	pause(ctx, allowance+lasts)
	end()
	d.note("end of silence")
}

func (d *trouble) count(what string) {
	d.note(what)
	d.counts[what]++
}
