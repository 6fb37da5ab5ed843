package inject_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/yaml"

	"github.com/tabard-dev/tabard/internal/testkit/must"
)

// TestEnvFromIsWarnedOf: what a container takes by envFrom is not seen, and in Kubernetes
// its env takes precedence.
func TestEnvFromIsWarnedOf(t *testing.T) {
	t.Parallel()
	const (
		source = "[{configMapRef: {name: own}}]"
		advice = ", which does not replace what the webhook injects; to choose a variable yourself, set it in env: "
		aws    = "AWS_STS_REGIONAL_ENDPOINTS, AWS_DEFAULT_REGION, AWS_REGION, AWS_ROLE_ARN, AWS_WEB_IDENTITY_TOKEN_FILE"
		azure  = "AZURE_CLIENT_ID, AZURE_TENANT_ID, AZURE_FEDERATED_TOKEN_FILE, AZURE_AUTHORITY_HOST"
		google = "GOOGLE_APPLICATION_CREDENTIALS, CLOUDSDK_COMPUTE_REGION"
	)
	app := func(names string) string { return `container "app" has envFrom` + advice + names }
	tests := map[string]struct {
		clouds      string
		annotations string
		containers  string
		want        []string
	}{
		"no envFrom":                    {"[aws, azure, gcp]", "", "[{name: app}]", nil},
		"a config map":                  {"[aws]", "", "[{name: app, envFrom: " + source + "}]", []string{app(aws)}},
		"a Secret":                      {"[aws]", "", "[{name: app, envFrom: [{secretRef: {name: own}}]}]", []string{app(aws)}},
		"each cloud":                    {"[aws, azure, gcp]", "", "[{name: app, envFrom: " + source + "}]", []string{app(aws), app(azure), app(google)}},
		"an empty list":                 {"[aws]", "", "[{name: app, envFrom: []}]", nil},
		"null":                          {"[aws]", "", "[{name: app, envFrom: null}]", nil},
		"a prefix of other variables":   {"[aws]", "", "[{name: app, envFrom: [{prefix: DB_, configMapRef: {name: own}}]}]", nil},
		"a prefix of some of them":      {"[aws]", "", "[{name: app, envFrom: [{prefix: AWS_R, configMapRef: {name: own}}]}]", []string{app("AWS_REGION, AWS_ROLE_ARN")}},
		"a prefix that is a whole name": {"[aws]", "", "[{name: app, envFrom: [{prefix: AWS_REGION, configMapRef: {name: own}}]}]", nil},
		"one of two sources":            {"[aws]", "", "[{name: app, envFrom: [{prefix: DB_, secretRef: {name: own}}, {prefix: AWS_REG, configMapRef: {name: own}}]}]", []string{app("AWS_REGION")}},
		"a region of its own in env":    {"[aws]", "", "[{name: app, env: [{name: AWS_REGION, value: eu-west-1}], envFrom: [{prefix: AWS_, configMapRef: {name: own}}]}]", []string{app("AWS_STS_REGIONAL_ENDPOINTS, AWS_ROLE_ARN, AWS_WEB_IDENTITY_TOKEN_FILE")}},
		"a region from a key in env":    {"[aws]", "", "[{name: app, env: [{name: AWS_REGION, valueFrom: {configMapKeyRef: {name: own, key: region}}}], envFrom: [{prefix: AWS_REG, configMapRef: {name: own}}]}]", nil},
		"a container that has all":      {"[aws]", "", "[{name: app, env: [{name: AWS_STS_REGIONAL_ENDPOINTS, value: regional}, {name: AWS_REGION, value: r}, {name: AWS_ROLE_ARN, value: r}], envFrom: " + source + "}]", nil},
		"a container that is left out":  {"[aws]", "eks.amazonaws.com/skip-containers: out", "[{name: app}, {name: out, envFrom: " + source + "}]", nil},
		"an init container":             {"[aws]", "", "[{name: app}]\n  initContainers: [{name: init, envFrom: [{prefix: AWS_REG, configMapRef: {name: own}}]}]", []string{`container "init" has envFrom` + advice + "AWS_REGION"}},
		"two containers":                {"[aws]", "", "[{name: app, envFrom: [{prefix: AWS_REG, configMapRef: {name: own}}]}, {name: side, envFrom: [{prefix: AWS_REG, configMapRef: {name: own}}]}]", []string{`container "app" and 1 more have envFrom` + advice + "AWS_REGION"}},
		"a container that lacks its token, which is worse": {"[aws]", "", "[{name: app, envFrom: " + source + ", volumeMounts: [{name: own, mountPath: /var/run/secrets/eks.amazonaws.com/serviceaccount}]}]",
			[]string{`container "app" mounts volume "own" at /var/run/secrets/eks.amazonaws.com/serviceaccount, where the AWS identity belongs; it is not mounted`}},
		"two containers, one is settled": {"[aws]", "", "[{name: app, env: [{name: AWS_REGION, value: r}], envFrom: [{prefix: AWS_REG, configMapRef: {name: own}}]}, {name: side, envFrom: [{prefix: AWS_REG, configMapRef: {name: own}}]}]", []string{`container "side" has envFrom` + advice + "AWS_REGION"}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			given := newSetup()
			must.Do(t, yaml.UnmarshalStrict(fmt.Appendf(nil, envFromBinding, test.clouds), &given))
			pod := must.Get(yaml.YAMLToJSON(fmt.Appendf(nil, envFromPod, test.annotations, test.containers)))(t)
			var said, again []string
			for _, each := range given.clouds(t) {
				result := must.Get(each.decide(given, pod))(t)
				said = append(said, result.Warnings...)
				pod = apply(t, pod, result.Patch)
			}
			if diff := cmp.Diff(test.want, said); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			for _, each := range given.clouds(t) {
				again = append(again, must.Get(each.decide(given, pod))(t).Warnings...)
			}
			if strings.Contains(strings.Join(again, "\n"), "envFrom") {
				t.Errorf("asked again about the pod as it is now: %q", again)
			}
		})
	}
}

const (
	envFromBinding = `
clouds: %s
settings: {Region: us-west-2, RegionalSTS: true}
gcp: {Region: europe-west1}
annotations:
  eks.amazonaws.com/role-arn: arn:aws:iam::111122223333:role/app
  azure.workload.identity/client-id: 11111111-0000-0000-0000-000000000000
  cloud.google.com/workload-identity-provider: projects/123456/locations/global/workloadIdentityPools/tabard/providers/cluster
`
	envFromPod = `
metadata:
  name: app
  labels: {azure.workload.identity/use: "true"}
  annotations: {%s}
spec:
  serviceAccountName: app
  containers: %s
`
)
