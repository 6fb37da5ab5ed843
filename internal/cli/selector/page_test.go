package selector

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"sigs.k8s.io/yaml"

	services "github.com/tabard-dev/tabard/api/services/v1alpha1"
	"github.com/tabard-dev/tabard/internal/testkit"
	"github.com/tabard-dev/tabard/internal/testkit/must"
	"github.com/tabard-dev/tabard/roleselector"
)

// readPage is docs/role-selectors.md.
func readPage(t *testing.T) string {
	t.Helper()
	return readFile(t, "docs", "role-selectors.md")
}

// readFile is a file of the repository.
func readFile(t *testing.T, path ...string) string {
	t.Helper()
	text := must.Get(os.ReadFile(filepath.Join(append([]string{testkit.Root()}, path...)...)))(t)
	return string(text)
}

// TestLongThePagesCommandsAgain: all of them can be typed once more.
func TestLongThePagesCommandsAgain(t *testing.T) { typeThePage(t, startCluster(t), 2) }

// typeThePage runs the commands of docs/role-selectors.md in order, so many times, on a
// cluster that has AWS's kinds alone; the text behind a command is what it prints,
// but for the lines that it leaves out.
func typeThePage(t *testing.T, c cluster, times int) {
	t.Helper()
	page := readPage(t)
	testkit.LinkSelf(t, "tabard")
	commands, compared := testkit.Blocks(page, "sh"), 0
	if len(commands) != 12 {
		t.Fatalf("the page has %d commands; the test knows 12", len(commands))
	}
	for i, line := range slices.Repeat(commands, times) {
		printed := c.Shell(line)
		// The API server learns of policies and of their ConfigMap by watches. The second time
		// the ConfigMap has the patch already, and no selector is refused.
		switch {
		case i < len(commands) && strings.Contains(line, "kubectl apply -f config/manifests/role-selectors"):
			c.Shell("timeout 60 bash -c 'while kubectl apply --dry-run=server -f examples/role-selectors/deny.yaml; do sleep 0.1; done'")
		case strings.Contains(line, `"ackControllers": "Absent"`):
			c.Shell("timeout 60 bash -c 'until kubectl apply --dry-run=server -f examples/role-selectors/deny.yaml; do sleep 0.1; done'")
		}
		_, behind, _ := strings.Cut(page, "\n```sh\n"+line+"\n```\n")
		said, isText := strings.CutPrefix(strings.TrimLeft(behind, "\n"), "```text\n")
		if !isText {
			continue
		}
		compared++
		said, _, _ = strings.Cut(said, "\n```")
		for _, part := range strings.Split(said, "\n...\n") {
			if !strings.Contains(printed, part) {
				t.Errorf("printed:\n%s\nthe page says:\n%s", printed, part)
			}
		}
	}
	if compared != 3*times {
		t.Errorf("%d outputs are compared; the test knows 3, %d times", compared, times)
	}
	if got := c.Shell("kubectl get validatingadmissionpolicies -o name"); strings.Contains(got, "validatingadmissionpolicy") {
		t.Errorf("the page leaves policies behind:\n%s", got)
	}
}

// TestThePagesObjects finds each object of the page among the examples, which the
// page's commands apply.
func TestThePagesObjects(t *testing.T) {
	objects := testkit.Blocks(readPage(t), "yaml")
	if len(objects) != 6 {
		t.Fatalf("the page has %d objects; the test knows 6", len(objects))
	}
	files := must.Get(filepath.Glob(filepath.Join(examples(), "*.yaml")))(t)
	shown := ""
	for _, file := range files {
		text := must.Get(os.ReadFile(file))(t)
		shown += string(text)
	}
	for _, object := range objects {
		if !strings.Contains(shown, object+"\n") {
			t.Errorf("no example is\n%s", object)
		}
	}
}

// tableOf are the rows of the table whose header begins so.
func tableOf(t *testing.T, page, header string) [][]string {
	t.Helper()
	_, rest, found := strings.Cut(page, "\n"+header)
	if !found {
		t.Fatalf("the page has no table %q", header)
	}
	var rows [][]string
	for _, line := range strings.Split(rest, "\n")[2:] { // behind the header and the line below
		if !strings.HasPrefix(line, "| ") {
			break
		}
		var cells []string
		for _, cell := range strings.Split(strings.Trim(line, "| "), " | ") {
			cells = append(cells, strings.TrimSpace(cell))
		}
		rows = append(rows, cells)
	}
	return rows
}

// TestThePagesWarnings finds each warning in the policy that gives it, and sees
// that none is left out.
func TestThePagesWarnings(t *testing.T) {
	_, advice, _ := strings.Cut(readFile(t, "config", "manifests", "role-selectors", "policies.yaml"), "name: tabard-role-selectors-advice")
	advice, _, _ = strings.Cut(advice, "kind: ValidatingAdmissionPolicyBinding")
	rows := tableOf(t, readPage(t), "| warning |")
	if want := strings.Count(advice, " message: "); len(rows) != want {
		t.Errorf("%d warnings are on the page, %d in the policy", len(rows), want)
	}
	for _, row := range rows {
		if !strings.Contains(advice, strings.Trim(row[0], "`")) {
			t.Errorf("the policy does not say %s", row[0])
		}
	}
}

// TestThePagesLimits compares the numbers with those of the schema.
func TestThePagesLimits(t *testing.T) {
	page := strings.Join(strings.Fields(readPage(t)), " ")
	const sentence = "A selector has at most 1024 names, 64 types, 64 labels in each label selector, 32 expressions of 128 values each, 50 session tags and 10 policies."
	if !strings.Contains(page, sentence) {
		t.Fatalf("the page does not say %q", sentence)
	}
	var definition apiextensionsv1.CustomResourceDefinition
	must.Do(t, yaml.Unmarshal([]byte(readFile(t, "config", "crd", "services.k8s.aws_iamroleselectors.yaml")), &definition))
	want := map[string]int64{
		"names": 1024, "resourceTypeSelector": 64, "matchLabels": 64, "matchExpressions": 32, "values": 128, "sessionTags": 50, "policyARNs": 10,
	}
	got := map[string]int64{}
	collectLimits(definition.Spec.Versions[0].Schema.OpenAPIV3Schema, "", got)
	for field, most := range want {
		if got[field] != most {
			t.Errorf("the schema lets %s have %d, the page says %d", field, got[field], most)
		}
	}
}

// collectLimits finds how many items or properties each field may have.
func collectLimits(schema *apiextensionsv1.JSONSchemaProps, field string, into map[string]int64) {
	for _, most := range []*int64{schema.MaxItems, schema.MaxProperties} {
		if most != nil {
			into[field] = *most
		}
	}
	for name, property := range schema.Properties {
		collectLimits(&property, name, into)
	}
	if schema.Items != nil && schema.Items.Schema != nil {
		collectLimits(schema.Items.Schema, "", into)
	}
}

// templateFields are the texts that a template can stand in, by their names on the
// page.
var templateFields = map[string]func(*services.AssumeRole, services.Text){
	"externalID":     func(a *services.AssumeRole, text services.Text) { a.ExternalID = &text },
	"sourceIdentity": func(a *services.AssumeRole, text services.Text) { a.SourceIdentity = &text },
	"sessionName":    func(a *services.AssumeRole, text services.Text) { a.SessionName = &text },
	"tags `ack-…": func(a *services.AssumeRole, text services.Text) {
		a.SessionTags = []services.SessionTag{{Key: "ack-x", Text: text}}
	},
	"tags `ack-user-…": func(a *services.AssumeRole, text services.Text) {
		a.SessionTags = []services.SessionTag{{Key: "ack-user-x", Text: text}}
	},
}

// TestThePagesVariables puts every variable of the page into every field: those of
// its row and of the rows above are taken, those below are not.
func TestThePagesVariables(t *testing.T) {
	rows := tableOf(t, readPage(t), "| field | variables |")
	var all, taken []string
	for _, row := range rows {
		all = append(all, variablesOf(row[1])...)
	}
	if len(all) != 12 {
		t.Fatalf("the page has the variables %q; the test knows 12", all)
	}
	fields := 0
	for _, row := range rows {
		taken = append(taken, variablesOf(row[1])...)
		for _, name := range strings.Split(row[0], ", ") {
			set := templateFields[strings.Trim(name, "`")]
			if set == nil {
				t.Fatalf("the test does not know the field %q", name)
			}
			fields++
			for _, variable := range all {
				a := &services.AssumeRole{}
				set(a, services.Text{Template: "%" + variable + "%"})
				problems := roleselector.Compile(&services.IAMRoleSelector{Spec: &services.IAMRoleSelectorSpec{
					ARN: "arn:aws:iam::111111111111:role/a", AssumeRole: a,
				}}).Problems()
				if want := slices.Contains(taken, variable); (len(problems) == 0) != want {
					t.Errorf("%s with %s: %v, the page says %v", name, variable, problems, want)
				}
			}
		}
	}
	if fields != len(templateFields) {
		t.Errorf("%d fields are on the page, the test knows %d", fields, len(templateFields))
	}
}

// variablesOf are the variables of a cell, without the words that name the row
// above.
func variablesOf(cell string) []string {
	return slices.DeleteFunc(strings.Split(cell, ", "), func(word string) bool { return word == "those" })
}
