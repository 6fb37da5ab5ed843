package eks

import (
	"strings"

	"github.com/tabard-dev/tabard/awslocal/internal/call"
	"github.com/tabard-dev/tabard/awslocal/internal/pattern"
	"github.com/tabard-dev/tabard/iampolicy"
)

const standard = "STANDARD"

var principalPattern = pattern.New(`^arn:aws[a-z-]*:iam::(\d{12}):(role|user)/(.+)$`)

// principal takes an ARN of a role or user apart.
type principal struct{ arn, account, kind, name string }

func readPrincipal(arn string) (principal, bool) {
	m := principalPattern.FindStringSubmatch(arn)
	if m == nil {
		return principal{}, false
	}
	return principal{arn: arn, account: m[1], kind: m[2], name: m[3][strings.LastIndex(m[3], "/")+1:]}, true
}

// entryARN is the ARN of an access entry; its last part is random.
func (h home) entryARN(cluster string, p principal, id string) string {
	return h.arn("access-entry/" + cluster + "/" + p.kind + "/" + p.account + "/" + p.name + "/" + id)
}

// entry authorises the caller for the access entry that the path names, then
// finds it.
func (r *request) entry(extra iampolicy.Context) (*cluster, *entry) {
	name, arn := r.path["name"], r.path["principalArn"]
	p, good := readPrincipal(arn)
	resource, context := r.entryARN(name, p, "*"), iampolicy.Context{}
	found := r.clusters[r.home][name]
	var one *entry
	if found != nil {
		one = found.entries[arn]
	}
	if one != nil {
		resource, context = one.arn, one.tags.context()
	}
	context.Set("eks:clusterName", name)
	context.Set("eks:principalArn", arn)
	r.authorize(resource, merge(context, extra))
	switch {
	case found == nil:
		call.Refuse(noCluster(name))
	case found.mode == modeConfigMap:
		call.Refuse(invalidRequest(textAuthentication))
	case !good:
		call.Refuse(invalidParameter(textPrincipalForm))
	case one == nil:
		call.Refuse(notFound(textNoEntry, arn))
	}
	return found, one
}

type entryInput struct {
	PrincipalARN string            `json:"principalArn"`
	Groups       *[]string         `json:"kubernetesGroups"`
	Username     *string           `json:"username"`
	Type         string            `json:"type"`
	Tags         map[string]string `json:"tags"`
	Request      string            `json:"clientRequestToken"`
}

// context has the condition keys of what the call says. What EKS fills in for the rest
// is in none: each key is of what is "present in the access entry requests" (Service
// Authorization Reference, "Condition keys for Amazon EKS").
func (in *entryInput) context() iampolicy.Context {
	context := iampolicy.Context{}
	if in.Type != "" {
		context.Set("eks:accessEntryType", in.Type)
	}
	if in.Username != nil {
		context.Set("eks:username", *in.Username)
	}
	if in.Groups != nil {
		context.Set("eks:kubernetesGroups", *in.Groups...)
	}
	return context
}

func (r *request) createAccessEntry() any {
	in := input[entryInput](r)
	if in.PrincipalARN == "" {
		call.Refuse(invalidParameter(textRequired, "principalArn"))
	}
	p, good := readPrincipal(in.PrincipalARN)
	if !good {
		call.Refuse(invalidParameter(textPrincipalForm))
	}
	made := r.newEntry(r.path["name"], p, in.Type)
	made.tags, made.request = newTags(in.Tags), in.Request
	checkTags(in.Tags, invalidParameter)
	call.Check(r.names(&in, made, p))
	context := merge(in.context(), made.tags.request())
	context.Set("eks:principalArn", p.arn)
	found := r.cluster(context)
	r.authorizeTags(made.arn, made.tags)
	if old := found.entries[p.arn]; old != nil && old.request != "" && old.request == in.Request {
		return old.answer(found.name)
	}
	switch {
	case found.mode == modeConfigMap:
		call.Refuse(invalidRequest(textAuthentication))
	case found.entries[p.arn] != nil:
		call.Refuse(inUse(textEntryExists))
	case made.principalID == "":
		call.Refuse(invalidParameter(textPrincipal))
	}
	found.entries[p.arn] = made
	return made.answer(found.name)
}

func (r *request) newEntry(cluster string, p principal, kind string) *entry {
	if kind == "" {
		kind = standard
	}
	now := r.options.Now()
	return &entry{
		arn: r.entryARN(cluster, p, r.options.Identifiers.Request()), principal: p.arn, principalID: r.options.Directory.UniqueID(p.arn),
		kind: kind, groups: []string{}, created: now, modified: now, tags: tags{}, policies: map[string]*grant{},
	}
}

// admitCreator makes whoever made a cluster its administrator: a user, or the
// role of a session.
func (r *request) admitCreator(made *cluster) {
	caller := r.call.Caller.Principal
	arn := caller.ARN
	if caller.Kind == iampolicy.RoleSession {
		arn = caller.RoleARN
	}
	p, good := readPrincipal(arn)
	if !good {
		return
	}
	one := r.newEntry(made.name, p, standard)
	one.username = r.username(p)
	administrator := r.accessPolicyARN("AmazonEKSClusterAdminPolicy")
	one.policies[administrator] = &grant{administrator, accessScope{Type: "cluster", Namespaces: []string{}}, one.created, one.created}
	made.entries[p.arn] = one
}

func (r *request) describeAccessEntry() any {
	found, one := r.entry(nil)
	return one.answer(found.name)
}

func (r *request) deleteAccessEntry() any {
	found, one := r.entry(nil)
	delete(found.entries, one.principal)
	return empty{}
}

type updateEntryInput struct {
	Groups   *[]string `json:"kubernetesGroups"`
	Username *string   `json:"username"`
	Request  string    `json:"clientRequestToken"`
}

func (r *request) updateAccessEntry() any {
	in := input[updateEntryInput](r)
	names := entryInput{Groups: in.Groups, Username: in.Username}
	found, one := r.entry(names.context())
	changed := *one
	p, _ := readPrincipal(one.principal)
	call.Check(r.names(&names, &changed, p))
	changed.modified = r.options.Now()
	*one = changed
	return one.answer(found.name)
}

func (r *request) listAccessEntries() any {
	found := r.cluster(nil)
	if found.mode == modeConfigMap {
		call.Refuse(invalidRequest(textAuthentication))
	}
	principals := []string{}
	for arn, one := range found.entries {
		if policy := r.query.Get("associatedPolicyArn"); policy == "" || one.policies[policy] != nil {
			principals = append(principals, arn)
		}
	}
	shown, next := page(r, principals, func(arn string) string { return arn })
	return entriesAnswer{shown, next}
}
