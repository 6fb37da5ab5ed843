package main

import (
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"helm.sh/helm/v3/pkg/chart"
	"helm.sh/helm/v3/pkg/chart/loader"
	"helm.sh/helm/v3/pkg/chartutil"
	"helm.sh/helm/v3/pkg/lint"
	"helm.sh/helm/v3/pkg/lint/support"
	"sigs.k8s.io/yaml"
)

const root = "../.."

func load(t *testing.T) *chart.Chart {
	t.Helper()
	out, err := loader.LoadDir(filepath.Join(root, chartFolder))
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func TestTheChartLintsStrictly(t *testing.T) {
	version := chartutil.KubeVersion{Version: "v1.35.0", Major: "1", Minor: "35"}
	result := lint.AllWithKubeVersion(filepath.Join(root, chartFolder), nil, system, &version)
	for _, message := range result.Messages {
		if message.Severity > support.InfoSev {
			t.Error(message)
		}
	}
}

func TestThePlainManifestsAreWhatTheChartSays(t *testing.T) {
	files, err := plainManifests(filepath.Join(root, chartFolder))
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range files {
		if got, err := os.ReadFile(filepath.Join(root, name)); err != nil || string(got) != want {
			t.Errorf("%s is not what the chart renders (%v): run make generate", name, err)
		}
	}
	stored, err := filepath.Glob(filepath.Join(root, "config/manifests/*.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	below, err := filepath.Glob(filepath.Join(root, "config/manifests/*/*.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range append(stored, below...) {
		if name, err := filepath.Rel(root, file); err != nil || files[name] == "" {
			t.Errorf("the chart does not render %s: delete it, or add it to plains", file)
		}
	}
}

func TestWrongValuesAreRefusedByName(t *testing.T) {
	tests := map[string]string{
		"a value that the chart does not know":        "isuer: {enabled: true} # isuer",
		"a field that a component does not have":      "webhook: {replica: 3} # /webhook",
		"a field that no component has":               "roleSelectors: {report: {colour: red}} # /roleSelectors/report",
		"replicas that are a word":                    "issuer: {replicas: two} # /issuer/replicas",
		"replicas below zero":                         "issuer: {replicas: -1} # /issuer/replicas",
		"enabled that is a word":                      "capacity: {enabled: \"yes\"} # /capacity/enabled",
		"a cloud that the webhook does not know":      "webhook: {clouds: [aws, gpc]} # /webhook/clouds/1",
		"no cloud":                                    "webhook: {clouds: []} # /webhook/clouds",
		"a cloud twice":                               "webhook: {clouds: [aws, aws]} # /webhook/clouds",
		"clouds as a text":                            "webhook: {clouds: aws} # /webhook/clouds",
		"a timeout that Kubernetes does not take":     "webhook: {timeoutSeconds: 31} # /webhook/timeoutSeconds",
		"a namespace in capitals":                     "webhook: {excludedNamespaces: [Kube-System]} # /webhook/excludedNamespaces/0",
		"a namespace that ends the list":              "webhook: {excludedNamespaces: [\"a], operator: Exists}\"]} # /webhook/excludedNamespaces/0",
		"a registry with a scheme":                    "image: {registry: \"https://example.com\"} # /image/registry",
		"a registry with a tag":                       "image: {registry: \"example.com/x:1\"} # /image/registry",
		"a tag with a blank":                          "image: {tag: \"v1 0\"} # /image/tag",
		"a digest that is none":                       "image: {digests: {tabard: \"sha256:1\"}} # /image/digests/tabard",
		"a digest of another image":                   "image: {digests: {operator: \"\"}} # /image/digests",
		"a pull policy that Kubernetes does not have": "image: {pullPolicy: Sometimes} # /image/pullPolicy",
		"pull secrets as names":                       "imagePullSecrets: [registry] # /imagePullSecrets/0",
		"a label with a blank":                        "commonLabels: {team: \"a b\"} # /commonLabels/team",
		"a label's key with a blank":                  "commonLabels: {\"a b\": x} # /commonLabels",
		"an annotation that is no text":               "issuer: {podAnnotations: {x: 1}} # /issuer/podAnnotations/x",
		"a quantity that is none":                     "issuer: {resources: {limits: {memory: 1x}}} # /issuer/resources/limits/memory",
		"resources without requests and limits":       "issuer: {resources: {memory: 1Gi}} # /issuer/resources",
		"an argument that is no flag":                 "issuer: {extraArgs: [operator]} # /issuer/extraArgs/0",
		"a variable without a name":                   "issuer: {extraEnv: [{value: x}]} # /issuer/extraEnv/0",
		"a variable with a name that is none":         "issuer: {extraEnv: [{name: 1x}]} # /issuer/extraEnv/0/name",
		"a stored key":                                "issuer: {extraEnv: [{name: AWS_ACCESS_KEY_ID, value: x}]} # issuer.extraEnv",
		"another role":                                "credentials: {enabled: true, extraEnv: [{name: AWS_ROLE_ARN, value: x}]} # credentials.extraEnv",
		"replicas that cannot be drained, of OCM":     "ocm: {enabled: true, minAvailable: 2} # ocm.minAvailable",
		"a role for the webhook of OCM":               "ocm: {enabled: true, extraEnv: [{name: AWS_ROLE_ARN, value: x}]} # ocm.extraEnv",
		"a word for managed IAM":                      "hub: {managedIAM: Maybe} # /hub/managedIAM",
		"a tag without a value":                       "hub: {awsResourceTags: [env]} # /hub/awsResourceTags/0",
		"a tag that names a variable of the pod":      "hub: {awsResourceTags: [\"env=$(HUB_ARN)\"]} # /hub/awsResourceTags/0",
		"a tag twice":                                 "hub: {awsResourceTags: [a=b, a=b]} # /hub/awsResourceTags",
		"another role for the hub":                    "hub: {enabled: true, managedIAM: Off, extraEnv: [{name: AWS_ROLE_ARN, value: x}]} # hub.extraEnv",
		"a toleration with an operator of its own":    "issuer: {tolerations: [{operator: Like}]} # /issuer/tolerations/0/operator",
		"a spread constraint that lacks a field":      "webhook: {topologySpreadConstraints: [{maxSkew: 1}]} # /webhook/topologySpreadConstraints/0",
		"a word for ACK's controllers":                "roleSelectors: {ackControllers: \"no\"} # /roleSelectors/ackControllers",
		"a prefix of labels without a slash":          "roleSelectors: {protectedLabelPrefixes: [team]} # /roleSelectors/protectedLabelPrefixes/0",
		"a prefix of labels with a line break":        "roleSelectors: {protectedLabelPrefixes: [\"a/\\n  ackControllers: Absent\"]} # /roleSelectors/protectedLabelPrefixes/0",
		"an API server that is no network":            "networkPolicy: {enabled: true, apiServers: [kubernetes.default]} # /networkPolicy/apiServers/0",
		"a network policy without API servers":        "networkPolicy: {enabled: true} # networkPolicy.apiServers",
		"an interval without a unit":                  "metrics: {serviceMonitor: {interval: \"30\"}} # /metrics/serviceMonitor/interval",
		"a ServiceMonitor of no Service":              "metrics: {serviceMonitor: {enabled: true}} # metrics.service.enabled",
		"alerts of nothing":                           "{issuer: {enabled: false}, webhook: {enabled: false}, injection: {enabled: false}, metrics: {prometheusRule: {enabled: true}}} # metrics.prometheusRule.enabled",
		"two that keep the webhook":                   "webhookDeployment: {enabled: true} # webhookDeployment.enabled",
		"warnings without the webhook":                "{webhook: {enabled: false}, roleSelectors: {enabled: true, warnings: true}} # roleSelectors.warnings",
		"a disruption that may take no replica":       "webhook: {replicas: 1} # webhook.minAvailable",
	}
	if len(tests) < 30 {
		t.Errorf("%d wrong values, want at least 30", len(tests))
	}
	c := load(t)
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			text, want, _ := strings.Cut(test, " # ")
			var with values
			if err := yaml.Unmarshal([]byte(text), &with); err != nil {
				t.Fatal(err)
			}
			if _, err := render(c, with, "Helm"); err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%s is refused with %v, want an error that names %s", text, err, want)
			}
		})
	}
}

var metric = regexp.MustCompile(`tabard_[a-z_]+`)

// TestTheDashboardNamesMetricsThatExist compares it with the names in the code.
func TestTheDashboardNamesMetricsThatExist(t *testing.T) {
	text, err := os.ReadFile(filepath.Join(root, "config/dashboards/tabard.json"))
	if err != nil {
		t.Fatal(err)
	}
	var sources strings.Builder
	err = filepath.WalkDir(filepath.Join(root, "internal"), func(path string, _ fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return err
		}
		source, err := os.ReadFile(path)
		sources.Write(source)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	names := metric.FindAllString(string(text), -1)
	if len(names) < 10 {
		t.Errorf("the dashboard names %d metrics", len(names))
	}
	for _, name := range names {
		if !strings.Contains(sources.String(), `"`+strings.TrimSuffix(name, "_bucket")+`"`) {
			t.Errorf("no program serves %s", name)
		}
	}
}

// TestComponentsComeWithTheirRights: a component that is off leaves nothing of itself
// behind, and one that is on has what its code asks for.
func TestComponentsComeWithTheirRights(t *testing.T) {
	components := map[string]string{
		"issuer": "issuer", "webhook": "webhook", "injection": "injection", "credentials": "credentials", "hub": "hubaccess", "capacity": "capacity", "webhookDeployment": "webhookdeployment",
		"operators": "operators",
	}
	c := load(t)
	none := values{}
	for component := range components {
		none[component] = values{"enabled": false}
	}
	for component, rights := range components {
		with := maps.Clone(none)
		with[component] = values{"enabled": true}
		rendered, err := render(c, with, "Helm")
		if err != nil {
			t.Fatal(err)
		}
		text := strings.Join(slices.Collect(maps.Values(rendered)), "\n")
		for other, named := range components {
			has := strings.Contains(text, "kind: ClusterRole\nmetadata:\n  name: tabard-"+named+"\n") ||
				strings.Contains(text, "kind: Role\nmetadata:\n  name: tabard-"+named+"\n")
			if has != (other == component) {
				t.Errorf("with %s (%s) alone there are rights of %s: %t", component, rights, other, has)
			}
		}
		deployments := strings.Count(text, "\nkind: Deployment\n")
		if want := map[bool]int{true: 2, false: 1}[strings.HasPrefix(component, "webhook")]; deployments != want {
			t.Errorf("with %s alone there are %d Deployments, want %d (the webhook's certificate has one)", component, deployments, want)
		}
	}
}

// componentOfAlerts is the value that turns on what a file of config/alerts is about.
func componentOfAlerts(file string) string {
	if file == "hubaccess" {
		return "hub"
	}
	return file
}

// TestAlertsComeWithTheirComponents: the rule has the alerts of each file of config/alerts if
// its component is on, and not otherwise.
func TestAlertsComeWithTheirComponents(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(root, "config/alerts/*.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	names := make([]string, 0, len(files))
	none := values{"metrics": values{"prometheusRule": values{"enabled": true}}}
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), ".yaml")
		names = append(names, name)
		none[componentOfAlerts(name)] = values{"enabled": false}
	}
	c := load(t)
	ruled := func(on ...string) []string {
		with := maps.Clone(none)
		for _, name := range on {
			with[componentOfAlerts(name)] = values{"enabled": true}
		}
		rendered, err := render(c, with, "Helm")
		if err != nil {
			t.Fatal(err)
		}
		var found []string
		for _, name := range names {
			if strings.Contains(rendered["tabard/templates/metrics.yaml"], "- name: tabard-"+name+"\n") {
				found = append(found, name)
			}
		}
		return found
	}
	for _, name := range names {
		on := []string{name}
		if name == "certificate" { // only where the webhook is
			on = append(on, "webhook")
		}
		if got := ruled(on...); !slices.Equal(got, on) {
			t.Errorf("with %v the rule has the alerts of %v", on, got)
		}
	}
	if got := ruled("certificate", "webhookDeployment"); !slices.Equal(got, []string{"certificate", "webhook"}) {
		t.Errorf("where the webhook is kept by its controller, the rule has the alerts of %v", got)
	}
	if len(names) < 7 {
		t.Errorf("there are alerts of %v only", names)
	}
}
