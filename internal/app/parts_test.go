package app

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/pflag"
	appsv1 "k8s.io/api/apps/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	"sigs.k8s.io/yaml"

	"github.com/tabard-dev/tabard/internal/testkit/must"
)

// partNames are the parts that a controller has besides its code, in the order in which
// docs/development.md adds them, with what finds out what is missing of each.
var partNames = []struct {
	part part
	find func(*testing.T, *declaration) (missing string)
}{
	{rightsPart, missingRights},
	{completionPart, missingCompletion},
	{kindsPart, missingKinds},
	{componentPart, missingComponent},
	{leasePart, missingLease},
	{valuesPart, missingValues},
	{alertsPart, missingAlerts},
	{pagePart, missingPage},
	{referencePart, missingReference},
}

// TestEachControllerHasAllItsParts, or its declaration says why it lacks one. A reason for a
// part that is there is refused.
func TestEachControllerHasAllItsParts(t *testing.T) {
	for _, c := range declared() {
		for _, problem := range lackingOf(t, c) {
			t.Errorf("%s: %s", c.name, problem)
		}
	}
}

func lackingOf(t *testing.T, c *declaration) (problems []string) {
	t.Helper()
	known := map[part]bool{}
	for _, each := range partNames {
		known[each.part] = true
		missing := each.find(t, c)
		reason, said := c.lacks[each.part]
		switch {
		case missing != "" && !said:
			problems = append(problems, fmt.Sprintf("it has no %s: %s. Add it, or say in its declaration why it lacks it", each.part, missing))
		case missing != "" && len(strings.Fields(reason)) < 5:
			problems = append(problems, fmt.Sprintf("the declaration does not say why it lacks its %s", each.part))
		case missing == "" && said:
			problems = append(problems, fmt.Sprintf("its declaration says why it lacks its %s, and they are there", each.part))
		}
	}
	for lacked := range c.lacks {
		if !known[lacked] {
			problems = append(problems, fmt.Sprintf("its declaration lacks %q, which is no part", lacked))
		}
	}
	return problems
}

// TestAMissingPartIsFound: a controller that is in the list alone has nothing but its completion.
// A reason that says nothing does not count, nor one for a part that is there.
func TestAMissingPartIsFound(t *testing.T) {
	before := controllers
	t.Cleanup(func() { controllers = before })
	ninth := &declaration{name: "ninth", page: "ninth.md"}
	controllers = append(slices.Clone(before), func() *declaration { return ninth })
	if found := lackingOf(t, ninth); len(found) != len(partNames)-1 {
		t.Errorf("of a controller that is in the list alone is missing %q", found)
	}
	ninth.lacks = map[part]string{alertsPart: "none", "colour": "it has none in any light"}
	text := strings.Join(lackingOf(t, ninth), "\n")
	if !strings.Contains(text, "does not say why it lacks its alerts") || !strings.Contains(text, `"colour", which is no part`) {
		t.Errorf("empty reasons pass: %s", text)
	}
	for _, c := range declared() {
		if c.name == "issuer" {
			c.lacks = map[part]string{alertsPart: "they are there, and this says that they are not"}
			if found := lackingOf(t, c); len(found) != 1 || !strings.Contains(found[0], "they are there") {
				t.Errorf("a reason for what is there: %q", found)
			}
		}
	}
}

const toRoot = "../.."

// missingFile says that there is no such file, or which of the texts it does not have.
func missingFile(path string, texts ...string) string {
	content, err := os.ReadFile(filepath.Join(toRoot, path))
	if err != nil {
		return "there is no " + path
	}
	for _, text := range texts {
		if !strings.Contains(string(content), text) {
			return path + " does not have " + text
		}
	}
	return ""
}

func missingRights(_ *testing.T, c *declaration) string {
	return missingFile("config/rbac/"+c.name+".yaml", "name: tabard-"+c.name)
}

// componentOf is the chart's template that runs a controller, its path and its text.
func componentOf(t *testing.T, c *declaration) (path, text string) {
	t.Helper()
	runs := regexp.MustCompile(`--controllers=` + c.name + `\b|args: \[` + c.name + `,`)
	for _, path := range must.Get(filepath.Glob(toRoot + "/charts/tabard/templates/*.yaml"))(t) {
		text := must.Get(os.ReadFile(path))(t)
		if runs.Match(text) && strings.Contains(string(text), "\nkind: Deployment\n") {
			return path, string(text)
		}
	}
	return "", ""
}

func missingComponent(t *testing.T, c *declaration) string {
	t.Helper()
	if path, _ := componentOf(t, c); path == "" {
		return "no template in charts/tabard/templates runs it"
	}
	if deploymentOf(t, c) == nil {
		return "no Deployment of config/manifests runs it"
	}
	return missingFile("charts/tabard/templates/rbac.yaml", `"tabard.rights" (list $ "`+c.name+`")`)
}

// missingValues: the component is on or off by a value, that the schema knows.
func missingValues(t *testing.T, c *declaration) string {
	t.Helper()
	_, text := componentOf(t, c)
	found := regexp.MustCompile(`replicas: \{\{ \.Values\.([\w.]+)\.replicas \}\}`).FindStringSubmatch(text)
	if found == nil {
		return "no template asks for its replicas"
	}
	var values, schema map[string]any
	must.Do(t, yaml.Unmarshal(must.Get(os.ReadFile(toRoot+"/charts/tabard/values.yaml"))(t), &values))
	must.Do(t, yaml.Unmarshal(must.Get(os.ReadFile(toRoot+"/charts/tabard/values.schema.json"))(t), &schema))
	for key := range strings.SplitSeq(found[1], ".") {
		values, _ = values[key].(map[string]any)
		properties, _ := schema["properties"].(map[string]any)
		schema, _ = properties[key].(map[string]any)
	}
	known, _ := schema["properties"].(map[string]any)
	for _, key := range []string{"enabled", "replicas", "resources", "extraArgs"} {
		if values[key] == nil || known[key] == nil {
			return fmt.Sprintf("%s.%s is not in values.yaml or not in values.schema.json", found[1], key)
		}
	}
	return ""
}

// deploymentOf is the one of config/manifests that runs a controller, nil for none.
func deploymentOf(t *testing.T, c *declaration) *appsv1.Deployment {
	t.Helper()
	for _, d := range readLeaseManifests(t).deployments {
		if slices.Contains(leasesOf(t, d.Spec.Template.Spec.Containers[0].Args), leasePrefix+c.name) {
			return &d
		}
	}
	return nil
}

func missingLease(t *testing.T, c *declaration) string {
	t.Helper()
	lets := func(rule rbacv1.PolicyRule) bool { return slices.Contains(rule.ResourceNames, leasePrefix+c.name) }
	if !slices.ContainsFunc(readLeaseManifests(t).roles, func(role rbacv1.Role) bool { return slices.ContainsFunc(role.Rules, lets) }) {
		return "no Role of config/manifests lets it take its lease"
	}
	return ""
}

// missingAlerts: there is a file of them, which the chart installs with the component.
func missingAlerts(_ *testing.T, c *declaration) string {
	if missing := missingFile("config/alerts/"+c.name+".yaml", "- alert: "); missing != "" {
		return missing
	}
	return missingFile("charts/tabard/templates/_helpers.tpl", `"`+c.name+`"`)
}

// missingPage: a page describes it, and the list of pages has the page.
func missingPage(_ *testing.T, c *declaration) string {
	if c.page == "" {
		return "its declaration names no page"
	}
	if missing := missingFile("docs/"+c.page, c.name); missing != "" {
		return missing
	}
	return missingFile("docs/index.md", "]("+c.page+")")
}

// missingReference: the reference has its line of help, its flags, and the rights of its account.
func missingReference(t *testing.T, c *declaration) string {
	t.Helper()
	texts := []string{"\n- `" + c.name + "`: "}
	if c.flags != nil {
		flags := pflag.NewFlagSet("", pflag.ContinueOnError)
		c.flags(flags, c.name+"-")
		flags.VisitAll(func(flag *pflag.Flag) { texts = append(texts, "`--"+flag.Name) })
	}
	if missing := missingFile("docs/reference/cli/operator.md", texts...); missing != "" {
		return missing
	}
	if d := deploymentOf(t, c); d != nil {
		return missingFile("docs/reference/rights.md", d.Spec.Template.Spec.ServiceAccountName)
	}
	return ""
}

func missingCompletion(_ *testing.T, c *declaration) string {
	operator := operatorCommand()
	complete, _ := operator.GetFlagCompletionFunc("controllers")
	if complete == nil {
		return "--controllers is not completed"
	}
	for typed, want := range map[string]string{"": c.name, "x,": "x," + c.name} {
		if offered, _ := complete(operator, nil, typed); !slices.Contains(offered, want) {
			return fmt.Sprintf("--controllers=%s is not completed to %s", typed, want)
		}
	}
	return ""
}

// missingKinds: "tabard version" knows each kind of Tabard's groups that it has rights for.
func missingKinds(t *testing.T, c *declaration) string {
	t.Helper()
	content, err := os.ReadFile(filepath.Join(toRoot, "config/rbac", c.name+".yaml"))
	if err != nil {
		return "its rights name no kinds"
	}
	for document := range strings.SplitSeq(string(content), "\n---\n") {
		var role rbacv1.ClusterRole
		must.Do(t, yaml.Unmarshal([]byte(document), &role))
		for _, rule := range role.Rules {
			for version, known := range kinds {
				group, _, _ := strings.Cut(version, "/")
				if !slices.Contains(rule.APIGroups, group) {
					continue
				}
				for _, resource := range rule.Resources {
					if name, _, _ := strings.Cut(resource, "/"); !slices.Contains(known, name) {
						return `"tabard version" does not know ` + name + "." + group
					}
				}
			}
		}
	}
	return ""
}
