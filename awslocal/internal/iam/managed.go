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

// listName is what lists go by: an account's policy may have the name of AWS's.
func (m *managed) listName() string { return m.name + " " + m.account }

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
func (r *request) policyARN() string {
	arn := r.text("PolicyArn", 20, 2048, nil)
	if !policyPattern.MatchString(arn) {
		call.Refuse(badARN(arn))
	}
	return arn
}

// managed reads PolicyArn, authorises the caller for that policy, and finds it.
func (r *request) managed(context contextOf) *managed {
	arn := r.policyARN()
	found := r.policy(r.account, arn)
	var own tags
	if found != nil {
		own = found.tags
	}
	r.authorizeWith(arn, own, context)
	if found == nil {
		call.Refuse(noPolicy(arn))
	}
	r.changesPolicy(arn, found)
	return found
}

// ownManaged is managed for operations that change a policy: AWS's own policies
// are nobody's to change.
func (r *request) ownManaged(context contextOf) *managed {
	found := r.managed(context)
	if found.account == ownedByAWS {
		call.Refuse(query.Denied(r.call.Caller.Principal.ARN, "iam:"+r.operation, found.arn(), iampolicy.Decision{}))
	}
	return found
}

func parseManaged(text string) document {
	if size(text) > maxManaged {
		call.Refuse(managedTooLong())
	}
	return call.Must(parse(text, iampolicy.ManagedPolicy))
}

func createPolicy(r *request) any {
	made := r.readPolicy()
	r.authorizeTagged(made.arn(), made.tags, "TagPolicy", iampolicy.Context{})
	parsed := parseManaged(r.form.Get("PolicyDocument"))
	if _, taken := r.account.policies[fold(made.name)]; taken {
		call.Refuse(policyExists(made.name))
	}
	if len(r.account.policies) >= maxPolicies {
		call.Refuse(overQuota("PoliciesPerAccount", maxPolicies))
	}
	made.add(parsed, r.call.Now, true)
	r.changesPolicy(made.arn(), nil)
	r.account.policies[fold(made.name)] = made
	return managedResult{wirePolicy(made, usage{})}
}

// readPolicy makes a policy of the parameters of CreatePolicy, all but its
// document.
func (r *request) readPolicy() *managed {
	name := r.name("PolicyName", 128)
	path := r.path("Path", "/")
	var v query.Validation
	v.Text(r.form, "PolicyDocument", 1, maxDocument, nil)
	description := v.Optional(r.form, "Description", 0, 1000, nil)
	call.Check(v.Fault())
	given := r.readTags()
	return &managed{
		home: r.account.home, name: name, path: path, description: description,
		id: r.options.Identifiers.Unique(policyID), created: r.call.Now, tags: given,
	}
}

// policyID is the prefix of managed policies' unique IDs.
const policyID = "ANPA"

func getManagedPolicy(r *request) any {
	found := r.managed(nil)
	element := wirePolicy(found, r.usages()[found])
	element.Description, element.Tags = found.description, tagList(found.tags)
	return managedResult{element}
}

// deleteManagedPolicy wants a policy that nobody holds and that has no version
// left but the default one.
func deleteManagedPolicy(r *request) any {
	found := r.ownManaged(nil)
	if r.usages()[found] != (usage{}) {
		call.Refuse(conflict(textPolicyAttached))
	}
	if len(found.versions) > 1 {
		call.Refuse(conflict(textVersionsLeft))
	}
	delete(r.account.policies, fold(found.name))
	return nil
}

// scopes are whose policies ListPolicies shows.
var scopes = pattern.New(`^(All|AWS|Local)$`)

func listManagedPolicies(r *request) any {
	prefix := r.prefix()
	var v query.Validation
	scope := v.Optional(r.form, "Scope", 1, 16, scopes)
	filter := v.Optional(r.form, "PolicyUsageFilter", 1, 32, usageFilters)
	call.Check(v.Fault())
	r.authorize("*", nil)
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
	shown, end := page(r, all, (*managed).listName, func(found *managed) managedElement { return wirePolicy(found, used[found]) })
	return managedListResult{shown, end}
}

func tagsOfPolicy(r *request, context contextOf) *tags {
	find := r.ownManaged
	if r.operation == "ListPolicyTags" {
		find = r.managed
	}
	return &find(context).tags
}
