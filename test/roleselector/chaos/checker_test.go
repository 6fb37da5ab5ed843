package chaos

import (
	"fmt"
	"slices"
	"strings"
	"time"

	identityv1alpha1 "github.com/tabard-dev/tabard/api/identity/v1alpha1"
	"github.com/tabard-dev/tabard/api/services/v1alpha1"
	"github.com/tabard-dev/tabard/awslocal"
)

// allowance is how old the state may be by which a role was used.
const allowance = 2 * time.Second

// violation is a call for which no state of the cluster accounts.
type violation struct {
	call awslocal.Entry
	// of is the object, or what the call was about if it was about none.
	of, why string
}

// String is one line.
func (v violation) String() string {
	return fmt.Sprintf("%s %s:%s by %s about %s (%s): %s",
		v.call.Time.Format("15:04:05.000"), v.call.Service, v.call.Operation, v.call.Caller, v.of, v.call.Error, v.why)
}

// checker holds a journal against a history: for each call with a role for an object
// there must be a state, stored in the time allowed before the call, that gives the
// role to the object. The kinds are followed each by a stream of its own, so a call
// may rest on selectors of one moment and on a namespace of another, both in time.
type checker struct {
	// own is the role that the controller has by itself.
	own string
	// administrators are the callers who are not the controller.
	administrators []string
	// late is what the machine may add to the allowance.
	late time.Duration

	selectors []state[v1alpha1.IAMRoleSelector]
	// choices, namespaces and resources are by the name of a namespace or by an
	// object's key.
	choices    map[string][]state[identityv1alpha1.IAMRoleChoice]
	namespaces map[string][]state[namespace]
	resources  map[key][]state[resource]
	// owners are the objects that have asked for a bucket of a name.
	owners map[string][]key
}

func newChecker(own string, administrators []string, h *history) *checker {
	h.settle()
	c := &checker{
		own: own, administrators: administrators,
		selectors: statesOf(h.selectors), choices: map[string][]state[identityv1alpha1.IAMRoleChoice]{},
		namespaces: map[string][]state[namespace]{}, resources: map[key][]state[resource]{}, owners: map[string][]key{},
	}
	for _, v := range h.resources {
		if v.object != nil && !slices.Contains(c.owners[v.object.bucket], v.key) {
			c.owners[v.object.bucket] = append(c.owners[v.object.bucket], v.key)
		}
		if c.resources[v.key] == nil {
			c.resources[v.key] = statesOf(only(h.resources, func(k key) bool { return k == v.key }))
		}
		if c.namespaces[v.key.namespace] == nil {
			c.namespaces[v.key.namespace] = statesOf(only(h.namespaces, func(k key) bool { return k.name == v.key.namespace }))
			c.choices[v.key.namespace] = statesOf(only(h.choices, func(k key) bool { return k.namespace == v.key.namespace }))
		}
	}
	return c
}

// check returns the violations of a journal, and how many calls were the
// controller's.
func (c *checker) check(journal []awslocal.Entry) (found []violation, checked int) {
	for _, call := range journal {
		if slices.Contains(c.administrators, call.Caller) {
			continue
		}
		checked++
		if of, why := c.judge(call); why != "" {
			found = append(found, violation{call, of, why})
		}
	}
	return found, checked
}

// judge says why a call is not accounted for, empty if it is.
func (c *checker) judge(call awslocal.Entry) (of, why string) {
	caller := roleOf(call.Caller)
	bucket, isBucket := strings.CutPrefix(call.Resource, "arn:aws:s3:::")
	switch {
	case call.Service == "sts" && call.Operation == "AssumeRoleWithWebIdentity":
		if call.Resource != c.own {
			return call.Resource, "the controller's token is for its own role"
		}
		return "", ""
	case call.Service == "sts" && call.Operation == "AssumeRole":
		if caller != c.own {
			return call.Resource, "roles are assumed from the controller's own"
		}
		if call.Resource == "" && call.Error != "" {
			return "", "" // denied before the role was read
		}
		return call.Resource, c.judgeAssumed(call)
	case call.Service == "s3" && isBucket && bucket != "":
		bucket, _, _ = strings.Cut(bucket, "/")
		return bucket, c.judgeBucket(call, caller, bucket)
	}
	return call.Resource, "not a call that the controller makes"
}

// judgeAssumed wants some object that has the role.
func (c *checker) judgeAssumed(call awslocal.Entry) (why string) {
	for of := range c.resources {
		if c.reasons(of, call.Resource, call.Operation, call.Time) == nil {
			return ""
		}
	}
	return "no object has the role"
}

// judgeBucket wants an object that asks for the bucket, has the role, and may do with
// it what was done.
func (c *checker) judgeBucket(call awslocal.Entry, role, bucket string) (why string) {
	owners := c.owners[bucket]
	if len(owners) == 0 {
		return "no object has ever asked for it"
	}
	var all []string
	for _, of := range owners {
		reasons := c.reasons(of, role, call.Operation, call.Time)
		if reasons == nil {
			return ""
		}
		all = append(all, fmt.Sprintf("%s/%s %s", of.namespace, of.name, strings.Join(reasons, ", ")))
	}
	return strings.Join(all, "; ")
}

// reasons are nil if some state gives a role to an object in the time allowed before
// a call, and lets the call be made, and else what the states say, sorted.
func (c *checker) reasons(of key, role, operation string, at time.Time) []string {
	begin := at.Add(-allowance - c.late)
	said := map[string]bool{}
	choices, homes := within(c.choices[of.namespace], begin, at), within(c.namespaces[of.namespace], begin, at)
	objects := within(c.resources[of], begin, at)
	for _, selectors := range within(c.selectors, begin, at) {
		for _, object := range objects {
			for _, home := range homes {
				for _, choice := range choices {
					m := moment{selectors.objects, choice.objects, home.objects[key{name: of.namespace}], object.objects[of]}
					given, why := m.role(c.own)
					if why == "" && given == role {
						if why = m.forbids(c.own, operation); why == "" {
							return nil
						}
					}
					said[given+why] = true
				}
			}
		}
	}
	reasons := make([]string, 0, len(said))
	for each := range said {
		reasons = append(reasons, each)
	}
	slices.Sort(reasons)
	return reasons
}

// roleOf is the role of a session's ARN; roles with paths are not used here. Of
// whoever is no session it is the ARN itself.
func roleOf(caller string) string {
	fields := strings.SplitN(caller, ":", 6)
	if len(fields) != 6 {
		return caller
	}
	name, isRole := strings.CutPrefix(fields[5], "assumed-role/")
	if !isRole {
		return caller
	}
	name, _, _ = strings.Cut(name, "/")
	return "arn:aws:iam::" + fields[4] + ":role/" + name
}
