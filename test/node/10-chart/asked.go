package chart

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"path"
	"slices"
	"strings"

	rbacv1 "k8s.io/api/rbac/v1"
)

// right is one verb on one resource that a rule gives an account. Without a namespace it
// holds in all of them, without a name for all objects.
type right struct{ account, namespace, verb, resource, name string }

func (r right) String() string {
	return strings.TrimRight(fmt.Sprintf("%s: %s %s %s %s", r.account, r.verb, r.resource, r.name, r.namespace), " ")
}

// gives says whether the right allows what was asked. A client that watches lists, too, on API
// servers that cannot stream what there is; and who may list may get, which adds nothing.
func (r right) gives(a right) bool {
	reads := a.verb == "watch" && (r.verb == "list" || r.verb == "get") || a.verb == "list" && r.verb == "get"
	return r.account == a.account && (r.verb == a.verb || reads) && r.resource == a.resource &&
		(r.namespace == "" || r.namespace == a.namespace) && (r.name == "" || r.name == a.name)
}

// rights are those that bindings give the ServiceAccounts of Tabard's namespaces.
func rights(roles map[string][]rbacv1.PolicyRule, bindings []rbacv1.RoleBinding) (out []right) {
	for _, binding := range bindings {
		rules := roles[roleKey(binding.RoleRef.Kind, binding.Namespace, binding.RoleRef.Name)]
		for _, subject := range binding.Subjects {
			if subject.Kind != rbacv1.ServiceAccountKind || !strings.HasPrefix(subject.Namespace, "tabard-") {
				continue
			}
			for _, rule := range rules {
				out = append(out, ofRule(subject.Namespace+"/"+subject.Name, binding.Namespace, rule)...)
			}
		}
	}
	return out
}

// roleKey names a Role by its namespace, and a ClusterRole without one.
func roleKey(kind, namespace, name string) string {
	if kind == "ClusterRole" {
		namespace = ""
	}
	return namespace + "/" + name
}

func ofRule(account, namespace string, rule rbacv1.PolicyRule) (out []right) {
	names := rule.ResourceNames
	if len(names) == 0 {
		names = []string{""}
	}
	for _, verb := range rule.Verbs {
		for _, url := range rule.NonResourceURLs {
			out = append(out, right{account: account, verb: verb, resource: url})
		}
		for _, group := range rule.APIGroups {
			for _, resource := range rule.Resources {
				for _, name := range names {
					out = append(out, right{account, namespace, verb, path.Join(group, resource), name})
				}
			}
		}
	}
	return out
}

// event is what counts of a line of the audit log (audit.k8s.io/v1 Event).
type event struct {
	User   struct{ Username string }
	Verb   string
	URI    string `json:"requestURI"`
	Object struct {
		Group                                  string `json:"apiGroup"`
		Resource, Subresource, Namespace, Name string
	} `json:"objectRef"`
	Status      struct{ Code int } `json:"responseStatus"`
	Annotations map[string]string
}

// asked reads an audit log: what Tabard's accounts were allowed, and what they were forbidden.
func asked(log io.Reader) (allowed, forbidden []right, err error) {
	lines := bufio.NewScanner(log)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var event event
		if err := json.Unmarshal(lines.Bytes(), &event); err != nil {
			return nil, nil, fmt.Errorf("the audit log has a line that is no event: %w", err)
		}
		account, ok := strings.CutPrefix(event.User.Username, "system:serviceaccount:tabard-")
		if !ok {
			continue
		}
		a := right{account: "tabard-" + strings.Replace(account, ":", "/", 1), verb: event.Verb, resource: event.URI}
		if of := event.Object; of.Resource != "" {
			a.resource, a.namespace, a.name = path.Join(of.Group, of.Resource, of.Subresource), of.Namespace, of.Name
		}
		if event.Annotations["authorization.k8s.io/decision"] == "forbid" || event.Status.Code == http.StatusForbidden {
			forbidden = append(forbidden, a)
			continue
		}
		allowed = append(allowed, a)
		if a.verb == "patch" && event.Status.Code == http.StatusCreated {
			a.verb = "create" // which an apply of what is not there needs as well
			allowed = append(allowed, a)
		}
	}
	return allowed, forbidden, lines.Err()
}

// unused are the rights that nothing asked for, and that no line of the table excuses; stale
// are the lines about rights that nobody has.
func unused(given, allowed []right, excused map[string]string) (idle []right, stale []string) {
	lines := map[string]bool{}
	for _, r := range given {
		line, ok := excuse(r, excused)
		lines[line] = true
		if !ok && !slices.ContainsFunc(allowed, r.gives) {
			idle = append(idle, r)
		}
	}
	for line := range excused {
		if !lines[line] {
			stale = append(stale, line)
		}
	}
	slices.Sort(stale)
	return idle, stale
}

// excuse is the line of the table for a right: "ACCOUNT VERB RESOURCE", each a pattern.
func excuse(r right, excused map[string]string) (string, bool) {
	for line := range excused {
		if part := strings.Fields(line); match(part[0], strings.TrimPrefix(path.Base(r.account), "tabard-")) && match(part[1], r.verb) && match(part[2], strings.ReplaceAll(r.resource, "/", ":")) {
			return line, true
		}
	}
	return "", false
}

func match(pattern, text string) bool {
	for each := range strings.SplitSeq(pattern, ",") {
		if ok, err := path.Match(each, text); ok && err == nil {
			return true
		}
	}
	return false
}
