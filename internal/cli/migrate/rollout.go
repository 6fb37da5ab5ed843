package migrate

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// values are the Helm values of an ACK controller's chart that change over. Both
// have to change in one upgrade: a controller does not start with both on.
func values(selectors, carm bool) map[string]any {
	return map[string]any{"featureGates": map[string]any{gateSelectors: selectors}, "enableCARM": carm}
}

// fileName makes a file's name of a controller's.
func fileName(controller string) string {
	return strings.ReplaceAll(controller, "/", "_") + ".yaml"
}

// order is that of changing over: those with the fewest resources first, so that
// a surprise is small.
func (p *planned) order() []description {
	count := map[string]int{}
	for _, r := range p.cluster.Resources {
		count[r.Kind.Group]++
	}
	ordered := slices.Clone(p.described)
	slices.SortStableFunc(ordered, func(a, b description) int {
		return cmp.Or(cmp.Compare(count[a.Group], count[b.Group]), strings.Compare(a.Name, b.Name))
	})
	return ordered
}

// plan is how to roll out, and back, in commands.
func (p *planned) plan(folder string) string {
	if folder == "" {
		folder = "MIGRATION" // stands for the folder of --out
	}
	var out strings.Builder
	step := 0
	say := func(text string, commands ...string) {
		step++
		fmt.Fprintf(&out, "%d. %s\n", step, text)
		for _, command := range commands {
			fmt.Fprintf(&out, "\n       %s\n", command)
		}
		out.WriteString("\n")
	}
	out.WriteString("# From CARM to IAMRoleSelectors\n\n## Roll out\n\n")
	if len(p.migration.NamespaceLabels) > 0 {
		say("Label the namespaces. From now on only an administrator may write these labels.",
			"kubectl apply --server-side --field-manager=tabard-migrate -f "+folder+"/namespace-labels.yaml")
	}
	say("Apply the selectors. They do nothing while no controller has the gate IAMRoleSelector on.", p.apply("apply", folder)...)
	say("Compare once more, now with what the cluster has. Exit code 0 is needed to go on.",
		p.verify+" --live=false --controllers-file "+folder+"/controllers.yaml")
	for _, d := range p.order() {
		say(fmt.Sprintf("Change %s over: both values in one upgrade. The controller restarts; until it runs again its resources wait.", d.Name),
			helm(d, folder, "values"), "kubectl rollout status"+deployment(d))
	}
	say("Watch until each resource has recorded its selector; a controller looks at all of them when it starts.",
		p.verify+" --controllers-file "+folder+"/controllers.yaml")
	say("Keep the config maps and annotations until verify has found nothing for as long as you may want to go back.")
	out.WriteString("## Roll back\n\n")
	step = 0
	reversed := p.order()
	slices.Reverse(reversed)
	for _, d := range reversed {
		say(fmt.Sprintf("Change %s back, again both values in one upgrade.", d.Name), helm(d, folder, "rollback"), "kubectl rollout status"+deployment(d))
	}
	say("When no controller has the gate on, delete the selectors.", p.apply("delete", folder)...)
	return out.String()
}

// apply is the command for the selectors; none if there are none.
func (p *planned) apply(verb, folder string) []string {
	if len(p.migration.Selectors) == 0 {
		return nil
	}
	return []string{"kubectl " + verb + " -f " + folder + "/selectors"}
}

func helm(d description, folder, kind string) string {
	namespace, _, found := strings.Cut(d.Name, "/")
	if !found {
		namespace = d.SystemNamespace
	}
	return fmt.Sprintf("helm upgrade RELEASE CHART --namespace %s --reuse-values -f %s/%s/%s", namespace, folder, kind, fileName(d.Name))
}

func deployment(d description) string {
	namespace, name, found := strings.Cut(d.Name, "/")
	if !found {
		namespace, name = d.SystemNamespace, "DEPLOYMENT"
	}
	return fmt.Sprintf(" --namespace %s deployment/%s", namespace, name)
}
