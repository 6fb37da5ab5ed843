package migrate

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
)

// controllerImage is the last part of the name of an ACK controller's image.
var controllerImage = regexp.MustCompile(`(?:^|/)([a-z0-9-]+)-controller(?:[:@].*)?$`)

// variable is a reference in an argument of a container.
var variable = regexp.MustCompile(`\$\(([A-Za-z_][A-Za-z0-9_]*)\)`)

// controllerContainer finds the container of an ACK controller in a Deployment,
// and the service's alias. ACK's controllers are told apart from others by their
// argument for the region.
func controllerContainer(o *unstructured.Unstructured) (*appsv1.Deployment, *corev1.Container, string, error) {
	var d appsv1.Deployment
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(o.Object, &d); err != nil {
		return nil, nil, "", err
	}
	for i := range d.Spec.Template.Spec.Containers {
		c := &d.Spec.Template.Spec.Containers[i]
		found := controllerImage.FindStringSubmatch(c.Image)
		if found != nil && slices.ContainsFunc(c.Args, func(a string) bool { return a == "--aws-region" || strings.HasPrefix(a, "--aws-region=") }) {
			return &d, c, found[1], nil
		}
	}
	return &d, nil, "", nil
}

// discover describes the controllers that Deployments run.
func (b *bundle) discover() ([]description, error) {
	var all []description
	for i := range b.deployments {
		d, container, alias, err := controllerContainer(&b.deployments[i])
		if err != nil {
			return nil, fmt.Errorf("the Deployment %s/%s: %w", b.deployments[i].GetNamespace(), b.deployments[i].GetName(), err)
		}
		if container == nil {
			continue
		}
		one, err := describe(d, container, alias)
		if err != nil {
			return nil, fmt.Errorf("the Deployment %s/%s: %w; describe it with --controllers-file", d.Namespace, d.Name, err)
		}
		if slices.Contains(b.Groups, alias+groupSuffix) {
			one.Group = alias + groupSuffix
		}
		account := d.Spec.Template.Spec.ServiceAccountName
		if account == "" {
			account = "default"
		}
		one.Account = b.accounts[d.Namespace+"/"+account]
		all = append(all, one)
	}
	if len(all) == 0 {
		return nil, fmt.Errorf("no Deployment of an ACK controller was found: describe the controllers with --controllers-file or --controller")
	}
	slices.SortFunc(all, func(x, y description) int { return strings.Compare(x.Name, y.Name) })
	return all, nil
}

// describe reads a container's arguments and environment.
func describe(d *appsv1.Deployment, container *corev1.Container, alias string) (description, error) {
	environment := environmentOf(d, container)
	flags, err := flagsOf(container.Args, environment)
	if err != nil {
		return description{}, err
	}
	one := description{
		Name: d.Namespace + "/" + d.Name, Alias: alias, SystemNamespace: systemNamespaceOf(environment),
		Region: flags["aws-region"], Endpoint: flags["aws-endpoint-url"], DeletionPolicy: flags["deletion-policy"],
	}
	for _, name := range strings.Split(flags["watch-namespace"], ",") {
		if name = strings.TrimSpace(name); name != "" {
			one.WatchNamespaces = append(one.WatchNamespaces, name)
		}
	}
	if text, there := flags["enable-carm"]; there {
		on, err := strconv.ParseBool(text)
		if err != nil {
			return one, fmt.Errorf("--enable-carm is %q", text)
		}
		one.EnableCARM = &on
	}
	if one.FeatureGates, err = gatesOf(flags["feature-gates"]); err != nil {
		return one, err
	}
	return one, one.check()
}

// environmentOf are the variables whose values stand in the Deployment.
func environmentOf(d *appsv1.Deployment, container *corev1.Container) map[string]string {
	known := map[string]string{}
	for _, v := range container.Env {
		switch from := v.ValueFrom; {
		case from == nil:
			known[v.Name] = v.Value
		case from.FieldRef != nil && from.FieldRef.FieldPath == "metadata.namespace":
			known[v.Name] = d.Namespace
		}
	}
	return known
}

// systemNamespaceOf is where a controller looks for the config maps; empty for
// ACK's default.
func systemNamespaceOf(environment map[string]string) string {
	if own := environment["ACK_SYSTEM_NAMESPACE"]; own != "" {
		return own
	}
	return environment["K8S_NAMESPACE"]
}

// flagsOf reads --NAME=VALUE and --NAME VALUE, with variables in them. The last
// one of a name holds.
func flagsOf(args []string, environment map[string]string) (map[string]string, error) {
	flags := map[string]string{}
	for i := 0; i < len(args); i++ {
		name, found := strings.CutPrefix(args[i], "--")
		if !found {
			continue
		}
		name, value, given := strings.Cut(name, "=")
		if !given {
			value = "true"
			if i+1 < len(args) && !strings.HasPrefix(args[i+1], "--") {
				i++
				value = args[i]
			}
		}
		for _, reference := range variable.FindAllStringSubmatch(value, -1) {
			text, known := environment[reference[1]]
			if !known && slices.Contains(readFlags, name) {
				return nil, fmt.Errorf("--%s has the value %s, which does not stand in the Deployment", name, reference[0])
			}
			value = strings.ReplaceAll(value, reference[0], text)
		}
		flags[name] = value
	}
	return flags, nil
}

// readFlags are the flags that say something here.
var readFlags = []string{"aws-region", "aws-endpoint-url", "deletion-policy", "watch-namespace", "enable-carm", "feature-gates"}

// gatesOf reads NAME=BOOL,... and keeps the gates that matter here.
func gatesOf(text string) (map[string]bool, error) {
	var gates map[string]bool
	for _, part := range strings.Split(text, ",") {
		if part == "" {
			continue
		}
		name, value, _ := strings.Cut(part, "=")
		on, err := strconv.ParseBool(value)
		if err != nil {
			return nil, fmt.Errorf("--feature-gates has %q; expected NAME=true or NAME=false", part)
		}
		if !slices.Contains([]string{gateSelectors, gateTeam, gateService}, name) {
			continue
		}
		if gates == nil {
			gates = map[string]bool{}
		}
		gates[name] = on
	}
	return gates, nil
}
