package chaos

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/tabard-dev/tabard/awslocal"
	"github.com/tabard-dev/tabard/internal/testkit"
	"github.com/tabard-dev/tabard/internal/testkit/must"
)

// patience is how long the cluster is given to come to rest.
const patience = testkit.Patience

// settle waits until each Bucket is as the selectors that are stored now want it.
func (w *world) settle(foreign map[string]inAWS) {
	w.Helper()
	ctx, cancel := context.WithTimeout(w.Context(), patience)
	defer cancel()
	for {
		w.collect()
		unsettled := w.unsettled(foreign)
		if len(unsettled) == 0 {
			return
		}
		if !pause(ctx, 300*time.Millisecond) {
			w.Errorf("not settled after %s:\n%s", patience, strings.Join(unsettled, "\n"))
			return
		}
	}
}

// unsettled says of each Bucket that is not as it should be why not.
func (w *world) unsettled(foreign map[string]inAWS) (all []string) {
	w.Helper()
	if !w.hasAll() {
		return []string{"the recorder has not seen all yet"}
	}
	list := must.Get(w.Dynamic.Resource(buckets).List(w.Context(), metav1.ListOptions{}))(w)
	history, stock := w.tell(), w.stock()
	checker := newChecker(ownRole, nil, history)
	for i := range list.Items {
		object := &list.Items[i]
		of := resourceOf(object)
		role, why := checker.now(of.key)
		fault := faultOf(of, object, role, stock, foreign)
		if why == "AccountChangePending" {
			fault = "its account is still to change"
		}
		if fault != "" {
			all = append(all, fmt.Sprintf("%s/%s, with the role %q %s: %s\n  %+v\n  %v", of.namespace, of.name, role, why, fault, *of, sayings(object)))
		}
	}
	return all
}

// now is the role that an object has at the end of the history.
func (c *checker) now(of key) (role, why string) {
	selectors, choices := c.selectors[len(c.selectors)-1], c.choices[of.namespace]
	homes, objects := c.namespaces[of.namespace], c.resources[of]
	return moment{
		selectors.objects, choices[len(choices)-1].objects,
		homes[len(homes)-1].objects[key{name: of.namespace}], objects[len(objects)-1].objects[of],
	}.role(c.own)
}

// faultOf says what is wrong with a Bucket, empty for nothing: it has its bucket in
// the account of its role, or says why not.
func faultOf(of *resource, object *unstructured.Unstructured, role string, stock, foreign map[string]inAWS) string {
	bucket, exists := stock[of.bucket]
	_, isForeign := foreign[of.bucket]
	isOurs := exists && bucket.tags[ownerTag] == string(of.uid)
	inPlace := isOurs && bucket.account == accountOf(role)
	ready, reasons := readiness(object)
	switch {
	case of.deleting && role != "" && (inPlace || !exists):
		return "it is to be deleted, and could be"
	case of.deleting, role == "", isForeign, exists && !inPlace:
		if ready || reasons == "" {
			return "it cannot be looked after, and does not say why"
		}
	case !inPlace:
		return "it has no bucket"
	case !ready:
		return "it has its bucket, and is not ready"
	}
	return ""
}

// readiness says whether a Bucket is ready, and the reasons why not, if it tells.
func readiness(object *unstructured.Unstructured) (ready bool, reasons string) {
	for _, c := range sayings(object) {
		if c["type"] == "Ready" {
			ready = c["status"] == "True"
		}
		if message, _ := c["message"].(string); message != "" && c["type"] != "ACK.IAMRoleSelected" || c["status"] == "False" && message != "" {
			reasons += message
		}
	}
	return ready, reasons
}

func sayings(object *unstructured.Unstructured) (conditions []map[string]any) {
	list, _, _ := unstructured.NestedSlice(object.Object, "status", "conditions")
	for _, each := range list {
		c, _ := each.(map[string]any)
		conditions = append(conditions, c)
	}
	return conditions
}

// inspect looks at what is left in AWS.
func (w *world) inspect(foreign map[string]inAWS) {
	w.Helper()
	list := must.Get(w.Dynamic.Resource(buckets).List(w.Context(), metav1.ListOptions{}))(w)
	owners := map[string]*resource{}
	for i := range list.Items {
		of := resourceOf(&list.Items[i])
		owners[of.bucket] = of
	}
	w.collect()
	for _, fault := range leftovers(w.stock(), foreign, w.journal, owners) {
		w.Error(fault)
	}
}

// leftovers are what is wrong with the buckets in AWS: foreign ones are as they were,
// each other one was made in its account by a call of the journal, which the checker
// judges, and is that of an object.
func leftovers(stock, foreign map[string]inAWS, journal []awslocal.Entry, owners map[string]*resource) (faults []string) {
	for name, was := range foreign {
		if is, exists := stock[name]; !exists || is.String() != was.String() {
			faults = append(faults, fmt.Sprintf("the foreign bucket %s was %s and is %s, %t", name, was, is, exists))
		}
	}
	made := map[string][]string{}
	for _, call := range journal {
		if call.Operation == "CreateBucket" && call.Error == "" {
			name := strings.TrimPrefix(call.Resource, "arn:aws:s3:::")
			made[name] = append(made[name], accountOf(call.Caller))
		}
	}
	for name, is := range stock {
		if _, isForeign := foreign[name]; isForeign {
			continue
		}
		if !slices.Contains(made[name], is.account) {
			faults = append(faults, fmt.Sprintf("the bucket %s is in the account %s, and was made in %v", name, is.account, made[name]))
		}
		switch owner := owners[name]; {
		case owner == nil:
			faults = append(faults, fmt.Sprintf("the bucket %s %s is orphaned", name, is))
		case len(is.tags) > 0 && is.tags[ownerTag] != string(owner.uid):
			faults = append(faults, fmt.Sprintf("the bucket %s %s is not that of its object, whose UID is %s", name, is, owner.uid))
		case owner.recorded.account != is.account:
			faults = append(faults, fmt.Sprintf("the bucket %s %s is left behind: its object is on record in the account %q", name, is, owner.recorded.account))
		}
	}
	return faults
}
