package eks

import (
	"errors"
	"strings"

	"github.com/tabard-dev/tabard/awslocal/internal/call"
	"github.com/tabard-dev/tabard/awslocal/internal/pattern"
	"github.com/tabard-dev/tabard/iampolicy"
)

const (
	// maxAssociations is how many associations a cluster may have (EKS: "Service
	// quotas").
	maxAssociations = 5000
	// idPrefix is before the random part of an ID.
	idPrefix = "a-"
	// maxPolicy is the size of a session policy that STS takes.
	maxPolicy = 2048
)

var (
	namespacePattern = pattern.New(`^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$`)
	accountPattern   = pattern.New(`^[a-z0-9]([a-z0-9.-]{0,251}[a-z0-9])?$`)
)

func (h home) associationARN(cluster, id string) string {
	return h.arn("podidentityassociation/" + cluster + "/" + id)
}

// association authorises the caller for the association that the path names,
// then finds it.
func (r *request) association() (*cluster, *association) {
	name, id := r.path["name"], r.path["associationId"]
	found := r.clusters[r.home][name]
	var one *association
	context := iampolicy.Context{}
	if found != nil && found.associations[id] != nil {
		one = found.associations[id]
		context = one.tags.context()
	}
	r.authorize(r.associationARN(name, id), context)
	if found == nil {
		call.Refuse(noCluster(name))
	}
	if one == nil {
		call.Refuse(notFound(textNoAssociation, id, name))
	}
	return found, one
}

type associationInput struct {
	Namespace      string            `json:"namespace"`
	ServiceAccount string            `json:"serviceAccount"`
	RoleARN        string            `json:"roleArn"`
	Request        string            `json:"clientRequestToken"`
	Tags           map[string]string `json:"tags"`
	Untagged       bool              `json:"disableSessionTags"`
	TargetRoleARN  string            `json:"targetRoleArn"`
	Policy         string            `json:"policy"`
}

func (in *associationInput) check() {
	switch {
	case in.Namespace == "":
		call.Refuse(invalidParameter(textRequired, "namespace"))
	case !namespacePattern.MatchString(in.Namespace):
		call.Refuse(invalidParameter(textNamespace, in.Namespace))
	case in.ServiceAccount == "":
		call.Refuse(invalidParameter(textRequired, "serviceAccount"))
	case !accountPattern.MatchString(in.ServiceAccount):
		call.Refuse(invalidParameter(textServiceAccount, in.ServiceAccount))
	case in.RoleARN == "":
		call.Refuse(invalidParameter(textRequired, "roleArn"))
	}
	checkTags(in.Tags, invalidParameter)
}

// checkForm checks what a caller sees without knowing what exists. A target role
// may be in an account that this AWS knows nothing of: that shows when a pod
// asks.
func (h home) checkForm(a *association) *call.Fault {
	role, good := readPrincipal(a.role)
	switch target, isTarget := readPrincipal(a.target); {
	case !good || role.kind != "role":
		return invalidParameter(textRoleForm, "roleArn", a.role)
	case role.account != h.account:
		return invalidParameter(textRoleAccount, a.role, h.account)
	case a.target != "" && (!isTarget || target.kind != "role"):
		return invalidParameter(textRoleForm, "targetRoleArn", a.target)
	case a.policy != "" && !a.untagged:
		return invalidParameter(textPolicyWithTags)
	}
	return checkPolicy(a.policy)
}

func checkPolicy(text string) *call.Fault {
	if text == "" {
		return nil
	}
	if len(text) > maxPolicy {
		return invalidParameter(textPolicyForm, "it is longer than 2048 characters")
	}
	policy, err := iampolicy.Parse([]byte(text))
	if err == nil {
		err = policy.Validate(iampolicy.SessionPolicy)
	}
	var all iampolicy.Errors
	if errors.As(err, &all) {
		return invalidParameter(textPolicyForm, all.Text(iampolicy.SessionPolicy))
	}
	if err != nil {
		return invalidParameter(textPolicyForm, err.Error())
	}
	return nil
}

func (r *request) createAssociation() any {
	in := input[associationInput](r)
	in.check()
	now, name := r.options.Now(), r.path["name"]
	id := idPrefix + strings.ToLower(r.options.Identifiers.Unique(""))
	made := &association{
		arn: r.associationARN(name, id), id: id, namespace: in.Namespace, serviceAccount: in.ServiceAccount, role: in.RoleARN, target: in.TargetRoleARN,
		untagged: in.Untagged, policy: in.Policy, created: now, modified: now, request: in.Request, tags: newTags(in.Tags),
	}
	call.Check(r.checkForm(made))
	found := r.cluster(made.tags.request())
	r.authorizeTags(made.arn, made.tags)
	r.authorizePass(made.role, podService)
	if old := found.find(made.namespace, made.serviceAccount); old != nil {
		if old.request != "" && old.request == in.Request {
			return old.answer(name)
		}
		call.Refuse(inUse(textAssociationExists, old.id))
	}
	if r.options.Directory.UniqueID(made.role) == "" {
		call.Refuse(invalidParameter(textRoleMissing))
	}
	if len(found.associations) >= maxAssociations {
		call.Refuse(limitExceeded(textTooManyAssociated, maxAssociations))
	}
	r.identify(made)
	found.associations[id] = made
	return made.answer(name)
}

// identify gives an association with a target role the external ID by which the
// target can tell it from others. It stays the same.
func (r *request) identify(a *association) {
	if a.target != "" && a.externalID == "" {
		a.externalID = r.options.Identifiers.Request()
	}
	if a.target == "" {
		a.externalID = ""
	}
}

type updateAssociationInput struct {
	RoleARN       *string `json:"roleArn"`
	Request       string  `json:"clientRequestToken"`
	Untagged      *bool   `json:"disableSessionTags"`
	TargetRoleARN *string `json:"targetRoleArn"`
	Policy        *string `json:"policy"`
}

// change writes what is given; an empty target role or policy is taken away.
func (in *updateAssociationInput) change(a *association) {
	if in.RoleARN != nil {
		a.role = *in.RoleARN
	}
	if in.TargetRoleARN != nil {
		a.target = *in.TargetRoleARN
	}
	if in.Policy != nil {
		a.policy = *in.Policy
	}
	if in.Untagged != nil {
		a.untagged = *in.Untagged
	}
}

func (r *request) updateAssociation() any {
	in := input[updateAssociationInput](r)
	found, one := r.association()
	changed := *one
	in.change(&changed)
	call.Check(r.checkForm(&changed))
	if in.RoleARN != nil {
		r.authorizePass(changed.role, podService)
		if r.options.Directory.UniqueID(changed.role) == "" {
			call.Refuse(invalidParameter(textRoleMissing))
		}
	}
	r.identify(&changed)
	changed.modified = r.options.Now()
	*one = changed
	return one.answer(found.name)
}

func (r *request) describeAssociation() any {
	found, one := r.association()
	return one.answer(found.name)
}

func (r *request) deleteAssociation() any {
	found, one := r.association()
	delete(found.associations, one.id)
	return one.answer(found.name)
}

func (r *request) listAssociations() any {
	found := r.cluster(nil)
	namespace, account := r.query.Get("namespace"), r.query.Get("serviceAccount")
	all := []*association{}
	for _, one := range found.associations {
		if (namespace == "" || one.namespace == namespace) && (account == "" || one.serviceAccount == account) {
			all = append(all, one)
		}
	}
	shown, next := page(r, all, func(a *association) string { return a.id })
	answer := associationsAnswer{Associations: []associationSummary{}, NextToken: next}
	for _, one := range shown {
		answer.Associations = append(answer.Associations, associationSummary{found.name, one.namespace, one.serviceAccount, one.arn, one.id})
	}
	return answer
}
