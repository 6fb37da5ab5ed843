package rights

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	authenticationv1 "k8s.io/api/authentication/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/yaml"

	"github.com/tabard-dev/tabard/internal/testkit"
	"github.com/tabard-dev/tabard/internal/testkit/must"
)

// planted is a right that an account gets besides its own.
type planted struct {
	of         target
	verb       string
	named      bool
	namespaced bool
	aggregated bool
}

func (p planted) String() string {
	text := p.verb + " " + strings.TrimSuffix(p.of.resource+"."+p.of.group, ".")
	if p.named {
		text += " by name"
	}
	switch {
	case p.namespaced:
		text += " in a namespace"
	case p.aggregated:
		text += " by aggregation"
	}
	return text
}

// generated are the rights on each target: each verb, with the target's name and without, in its
// namespace and everywhere, and by aggregation.
func generated() (out []planted) {
	for _, of := range targets {
		for _, verb := range of.verbs() {
			for _, named := range []bool{false, true} {
				out = append(out, planted{of: of, verb: verb, named: named})
				if !named {
					out = append(out, planted{of: of, verb: verb, aggregated: true})
				}
				if of.namespace != "" {
					out = append(out, planted{of: of, verb: verb, named: named, namespaced: true})
				}
			}
		}
	}
	return out
}

// manifest gives an account the right, under a name.
func (p planted) manifest(t testing.TB, name, namespace, account string) []byte {
	t.Helper()
	rule := rbacv1.PolicyRule{APIGroups: []string{p.of.group}, Resources: []string{p.of.resource}, Verbs: []string{p.verb}}
	if p.named {
		rule.ResourceNames = []string{p.of.name}
	}
	kind, meta, in := "ClusterRole", map[string]any{"name": name}, map[string]any{"name": name}
	if p.namespaced {
		kind = "Role"
		meta["namespace"], in["namespace"] = p.of.namespace, p.of.namespace
	}
	role := map[string]any{"apiVersion": "rbac.authorization.k8s.io/v1", "kind": kind, "metadata": meta, "rules": []any{rule}}
	objects := []map[string]any{role}
	if p.aggregated {
		meta["name"], meta["labels"] = name+"-part", map[string]string{"planted": name}
		objects = append(objects, map[string]any{
			"apiVersion": "rbac.authorization.k8s.io/v1", "kind": kind, "metadata": map[string]any{"name": name},
			"aggregationRule": map[string]any{"clusterRoleSelectors": []any{map[string]any{"matchLabels": map[string]string{"planted": name}}}},
		})
	}
	objects = append(objects, map[string]any{
		"apiVersion": "rbac.authorization.k8s.io/v1", "kind": kind + "Binding", "metadata": in,
		"roleRef":  rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: kind, Name: name},
		"subjects": []any{rbacv1.Subject{Kind: rbacv1.ServiceAccountKind, Namespace: namespace, Name: account}},
	})
	var text []byte
	for _, object := range objects {
		text = append(append(text, "---\n"...), must.Get(yaml.Marshal(object))(t)...)
	}
	return text
}

// TestTheSearchFindsWhatTheAPIServerLetsThrough plants one right at a time. Of each the API server says
// what its holder gets by one request, and the search has to call a way whatever gives a token, a Secret
// or an identity of somebody else, or lets rights, admission or kinds be written. What it calls a way
// besides is in a table, with the reason.
func TestTheSearchFindsWhatTheAPIServerLetsThrough(t *testing.T) {
	w := install(t)
	w.prepareVictims()
	all := generated()
	if len(all) < 60 {
		t.Fatalf("%d rights are planted", len(all))
	}
	found := search(t, all)
	taken := w.judge(all)
	used := map[string]bool{}
	for i, p := range all {
		reason := cautious[p.verb+" "+p.of.key()]
		switch {
		case taken[i] != "" && found[i] == "":
			t.Errorf("%s: the API server gives %s, and the search finds no way", p, taken[i])
		case taken[i] == "" && strings.HasPrefix(found[i], "what nobody has judged: "):
		case taken[i] == "" && found[i] != "" && reason == "":
			t.Errorf("%s: the search says %q, and the API server gives nothing for it", p, found[i])
		case taken[i] == "" && found[i] != "":
			used[p.verb+" "+p.of.key()] = true
		}
	}
	for right, reason := range cautious {
		if !used[right] {
			t.Errorf("%s is called a way with the reason %q, and is none, or one that the API server confirms: take the line out", right, reason)
		}
	}
	t.Logf("%d rights: %d give something", len(all), len(slices.DeleteFunc(slices.Clone(taken), func(text string) bool { return text == "" })))
}

// search is what the page's command says of each right: a way, or nothing.
func search(t *testing.T, all []planted) []string {
	t.Helper()
	folder := t.TempDir()
	for i, p := range all {
		must.Do(t, os.WriteFile(filepath.Join(folder, fmt.Sprintf("%d.yaml", i)), p.manifest(t, "planted", "tabard-system", "tabard-operator"), 0o600))
	}
	page := string(must.Get(os.ReadFile(filepath.Join(testkit.Root(), "docs", "security.md")))(t))
	_, command, ok := strings.Cut(page, "\n```\ncd hack/rights && go run . --planted FOLDER")
	command, _, _ = strings.Cut(command, "\n")
	if !ok {
		t.Fatal("docs/security.md has no such command")
	}
	run := exec.CommandContext(t.Context(), "bash", "-c", "cd hack/rights && go run . --planted "+folder+command)
	run.Dir = testkit.Root()
	said, err := run.Output()
	if err != nil {
		t.Fatalf("%v\n%s", err, said)
	}
	out := make([]string, len(all))
	for line := range strings.Lines(string(said)) {
		var i int
		if _, err := fmt.Sscanf(line, "%d.yaml:", &i); err != nil {
			t.Fatalf("%q: %v", line, err)
		}
		_, way, _ := strings.Cut(strings.TrimSpace(line), ": ")
		if out[i] == "" {
			out[i] = way
		}
	}
	return out
}

// judge is what the API server gives for each right; nothing where it refuses, or where what it gives is
// nobody else's.
func (w world) judge(all []planted) []string {
	w.Helper()
	const attackers = "attackers"
	var text bytes.Buffer
	for i, p := range all {
		name := fmt.Sprintf("planted-%d", i)
		if p.verb == "impersonate" { // who is impersonated can impersonate nobody
			fmt.Fprintf(&text, "---\napiVersion: v1\nkind: ServiceAccount\nmetadata: {name: %s, namespace: %s}\n", name, attackers)
		}
		text.Write(p.manifest(w, name, attackers, name))
	}
	w.MakeNamespaces(attackers)
	path := filepath.Join(w.TempDir(), "planted.yaml")
	must.Do(w, os.WriteFile(path, text.Bytes(), 0o600))
	w.Shell("kubectl create -f " + path + " > /dev/null")
	w.rightsAreIn(attackers, len(all))
	out := make([]string, len(all))
	for i, p := range all {
		name := fmt.Sprintf("planted-%d", i)
		config := w.As("system:serviceaccount:" + attackers + ":" + name)
		if p.verb == "impersonate" {
			config = w.Account(attackers, name)
		}
		out[i] = p.attack(w.Context(), must.Get(rest.HTTPClientFor(config))(w), w)
	}
	return out
}

// rightsAreIn waits until the API server knows all that was planted: of each kind of right one that was
// planted last is known, and the aggregated roles have their rules.
func (w world) rightsAreIn(namespace string, count int) {
	w.Helper()
	w.Await(func() error {
		var list rbacv1.ClusterRoleList
		if err := w.List(w.Context(), &list); err != nil {
			return err
		}
		for _, role := range list.Items {
			if role.AggregationRule != nil && strings.HasPrefix(role.Name, "planted-") && len(role.Rules) == 0 {
				return fmt.Errorf("%s of %d has no rules yet", role.Name, count)
			}
		}
		return nil
	})
	rule := rbacv1.PolicyRule{APIGroups: []string{"example.com"}, Resources: []string{"last"}, Verbs: []string{"get"}}
	last := "system:serviceaccount:" + namespace + ":last"
	w.Grant(last, &rbacv1.ClusterRole{ObjectMeta: named("last"), Rules: []rbacv1.PolicyRule{rule}})
	testkit.AwaitRights(w, w.Config, last, "", rule)
	for _, in := range []string{"default", "kube-system"} {
		other := last + "-" + in
		w.Make(
			&rbacv1.Role{ObjectMeta: namedIn(in, "last"), Rules: []rbacv1.PolicyRule{rule}},
			&rbacv1.RoleBinding{ObjectMeta: namedIn(in, "last"), RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: "last"}, Subjects: []rbacv1.Subject{{Kind: rbacv1.UserKind, APIGroup: rbacv1.GroupName, Name: other}}},
		)
		testkit.AwaitRights(w, w.Config, other, in, rule)
	}
}

// attack makes the one request that the right allows, and says what it gives of somebody else's.
func (p planted) attack(ctx context.Context, as *http.Client, w world) string {
	w.Helper()
	status, body := p.send(ctx, as, w)
	switch {
	case status == http.StatusForbidden || status == http.StatusUnauthorized:
		return ""
	case p.verb == "impersonate":
		var who authenticationv1.SelfSubjectReview
		must.Do(w, json.Unmarshal(body, &who))
		return "the name " + who.Status.UserInfo.Username
	case strings.Contains(string(body), hidden):
		return "a Secret"
	case p.of.resource == "serviceaccounts/token":
		return "a token"
	case slices.Contains(p.of.gives, p.verb):
		return fmt.Sprintf("the right to do it (%d)", status)
	}
	return ""
}
