package iam

import (
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/tabard-dev/tabard/awslocal/internal/call"
	"github.com/tabard-dev/tabard/awslocal/internal/pattern"
	"github.com/tabard-dev/tabard/awslocal/internal/query"
	"github.com/tabard-dev/tabard/iampolicy"
)

const maxManaged = 6144

var policyPattern = pattern.New(`^arn:aws[a-z-]*:iam::(\d{12}|aws):policy/([!-~]+)$`)

// managed is a policy with an ARN of its own. What is attached or set as a
// boundary cannot be deleted, so that pointers to one stay good.
type managed struct {
	home
	name, path, id, description string
	created, updated            time.Time
	// versions are in the order in which they were made.
	versions []policyVersion
	// current version's and the last version's number.
	standard, last int
	tags           tags
}

func (m *managed) arn() string { return m.entity("policy" + m.path + m.name) }

// current is the version that counts.
func (m *managed) current() document { return m.versions[m.index(m.standard)].document }

// policy finds a managed policy that is the account's own or AWS's.
func (s *Service) policy(of *account, arn string) *managed { return findManaged(of, s.catalog, arn) }

func findManaged(of *account, catalog map[string]*managed, arn string) *managed {
	match := policyPattern.FindStringSubmatch(arn)
	if match == nil {
		return nil
	}
	all := of.policies
	if match[1] == ownedByAWS {
		all = catalog
	}
	found := all[fold(match[2][strings.LastIndex(match[2], "/")+1:])]
	if found == nil || found.arn() != arn {
		return nil
	}
	return found
}

// policyARN reads and checks a policy's ARN.
func (r *request) policyARN() (string, *call.Fault) {
	var v query.Validation
	arn := v.Text(r.form, "PolicyArn", 20, 2048, nil)
	if fault := v.Fault(); fault != nil {
		return "", fault
	}
	if !policyPattern.MatchString(arn) {
		return "", badARN(arn)
	}
	return arn, nil
}

// managed reads PolicyArn, authorises the caller for that policy, and finds it.
func (r *request) managed(context contextOf) (*managed, *call.Fault) {
	arn, fault := r.policyARN()
	if fault != nil {
		return nil, fault
	}
	found, own := r.policy(r.account, arn), iampolicy.Context{}
	if found != nil {
		own = found.tags.context()
	}
	if context != nil {
		own = context(own)
	}
	if fault := r.authorize(arn, own); fault != nil {
		return nil, fault
	}
	if found == nil {
		return nil, noPolicy(arn)
	}
	r.changesPolicy(arn, found)
	return found, nil
}

// ownManaged is managed for operations that change a policy: AWS's own policies
// are nobody's to change.
func (r *request) ownManaged(context contextOf) (*managed, *call.Fault) {
	found, fault := r.managed(context)
	if fault == nil && found.account == ownedByAWS {
		return nil, query.Denied(r.call.Caller.Principal.ARN, "iam:"+r.operation, found.arn(), iampolicy.Decision{})
	}
	return found, fault
}

func parseManaged(text string) (document, *call.Fault) {
	if size(text) > maxManaged {
		return document{}, managedTooLong()
	}
	return parse(text, iampolicy.ManagedPolicy)
}

func createPolicy(r *request) (any, *call.Fault) {
	made, fault := r.readPolicy()
	if fault != nil {
		return nil, fault
	}
	context := withRequestTags(iampolicy.Context{}, made.tags)
	if fault := r.authorize(made.arn(), context); fault != nil {
		return nil, fault
	}
	if len(made.tags) > 0 {
		if fault := r.authorizeAction("TagPolicy", made.arn(), context); fault != nil {
			return nil, fault
		}
	}
	parsed, fault := parseManaged(r.form.Get("PolicyDocument"))
	if fault != nil {
		return nil, fault
	}
	if _, taken := r.account.policies[fold(made.name)]; taken {
		return nil, policyExists(made.name)
	}
	if len(r.account.policies) >= maxPolicies {
		return nil, overQuota("PoliciesPerAccount", maxPolicies)
	}
	made.add(parsed, r.call.Now, true)
	r.changesPolicy(made.arn(), nil)
	r.account.policies[fold(made.name)] = made
	return managedResult{wirePolicy(made, usage{})}, nil
}

// readPolicy makes a policy of the parameters of CreatePolicy, all but its
// document.
func (r *request) readPolicy() (*managed, *call.Fault) {
	name, fault := r.name("PolicyName", 128)
	if fault != nil {
		return nil, fault
	}
	path, fault := r.path("Path", "/")
	if fault != nil {
		return nil, fault
	}
	var v query.Validation
	v.Text(r.form, "PolicyDocument", 1, maxDocument, nil)
	description := v.Optional(r.form, "Description", 0, 1000, nil)
	if fault := v.Fault(); fault != nil {
		return nil, fault
	}
	given, fault := r.readTags()
	if fault != nil {
		return nil, fault
	}
	return &managed{
		home: r.account.home, name: name, path: path, description: description,
		id: r.options.Identifiers.Unique(policyID), created: r.call.Now, tags: given,
	}, nil
}

// policyID is the prefix of managed policies' unique IDs.
const policyID = "ANPA"

func getManagedPolicy(r *request) (any, *call.Fault) {
	found, fault := r.managed(nil)
	if fault != nil {
		return nil, fault
	}
	element := wirePolicy(found, r.usages()[found])
	element.Description, element.Tags = found.description, tagList(found.tags)
	return managedResult{element}, nil
}

// deleteManagedPolicy wants a policy that nobody holds and that has no version
// left but the default one.
func deleteManagedPolicy(r *request) (any, *call.Fault) {
	found, fault := r.ownManaged(nil)
	if fault != nil {
		return nil, fault
	}
	if r.usages()[found] != (usage{}) {
		return nil, conflict(textPolicyAttached)
	}
	if len(found.versions) > 1 {
		return nil, conflict(textVersionsLeft)
	}
	delete(r.account.policies, fold(found.name))
	return nil, nil
}

// scopes are whose policies ListPolicies shows.
var scopes = pattern.New(`^(All|AWS|Local)$`)

func listManagedPolicies(r *request) (any, *call.Fault) {
	prefix, fault := r.prefix()
	if fault != nil {
		return nil, fault
	}
	var v query.Validation
	scope := v.Optional(r.form, "Scope", 1, 16, scopes)
	filter := v.Optional(r.form, "PolicyUsageFilter", 1, 32, usageFilters)
	if fault := v.Fault(); fault != nil {
		return nil, fault
	}
	if fault := r.authorize("*", nil); fault != nil {
		return nil, fault
	}
	used := r.usages()
	all := []*managed{}
	if scope != "AWS" {
		all = slices.AppendSeq(all, maps.Values(r.account.policies))
	}
	if scope != "Local" {
		all = slices.AppendSeq(all, maps.Values(r.catalog))
	}
	attached := r.form.Get("OnlyAttached") == "true"
	all = slices.DeleteFunc(all, func(found *managed) bool {
		return !strings.HasPrefix(found.path, prefix) || attached && used[found].attached == 0 || !used[found].passes(filter)
	})
	shown, end, fault := page(r, all, func(found *managed) string { return found.name + " " + found.account })
	if fault != nil {
		return nil, fault
	}
	elements := []managedElement{}
	for _, found := range shown {
		elements = append(elements, wirePolicy(found, used[found]))
	}
	return managedListResult{listOf(elements), end}, nil
}

func tagsOfPolicy(r *request, context contextOf) (*tags, *call.Fault) {
	find := r.ownManaged
	if r.operation == "ListPolicyTags" {
		find = r.managed
	}
	found, fault := find(context)
	if fault != nil {
		return nil, fault
	}
	return &found.tags, nil
}
