package chart

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/tabard-dev/tabard/internal/testkit"
	"github.com/tabard-dev/tabard/internal/testkit/must"
	"github.com/tabard-dev/tabard/test/node/bed"
)

// excused are rights that this life of an installation has no use for, "ACCOUNT VERB RESOURCE"
// with patterns, and where they are used.
var excused = map[string]string{
	"* patch events":                                                   "an event that is told again, after ten minutes",
	"* patch events.k8s.io:events":                                     "an event that is told again, after six minutes",
	"certificate create events.k8s.io:events":                          "test/webhook: it tells of a CA that is not trusted yet",
	"operator create events.k8s.io:events":                             "test/injection: it tells of a pod without its identity",
	"certificate list discovery.k8s.io:endpointslices":                 "test/webhook: a new CA is put into use when each API server trusts it",
	"certificate create pods":                                          "the same",
	"certificate update secrets":                                       "test/webhook: certificates are renewed after two thirds of their life",
	"webhook get,list,watch configmaps":                                "test/webhook: the option --watch-config-map",
	"webhook get,list,watch namespaces":                                "the same",
	"webhook get secrets":                                              "it is not asked for where Secrets are watched",
	"capacity get,list,watch config.openshift.io:infrastructures":      "test/capacity: on OpenShift",
	"capacity patch cluster.x-k8s.io:machinesets":                      "test/capacity: of a MachineSet that no MachineDeployment owns",
	"credentials get,list,watch config.openshift.io:*":                 "test/credentials/beside: on OpenShift",
	"credentials get,list,watch operator.openshift.io:*":               "the same",
	"credentials list pods":                                            "test/credentials: which pods hold a Secret that is to go",
	"credentials patch serviceaccounts":                                "test/credentials: of a ServiceAccount that is there already",
	"credentials patch secrets":                                        "test/credentials: of a Secret whose role has changed",
	"selectorreport delete identity.tabard.dev:iamroleselectorreports": "test/roleselector/api: of a controller that is gone",
}

// refused is what the API server may forbid, in the same form.
var refused = map[string]string{
	"credentials list secrets": "it follows Secrets if it is let, and looks at each namespace that a RoleBinding opens",
}

// TestNodeTheChartsRightsAreThoseThatAreAskedFor installs all components that run side by side,
// has each do its work, and compares the API server's audit log with the rights in the cluster.
func TestNodeTheChartsRightsAreThoseThatAreAskedFor(t *testing.T) {
	b := bed.Bare(t)
	dir := checkout(t, b)
	everything(t, b, dir)
	live(t, b, dir)

	log := must.Get(os.Open(filepath.Join(b.Dir, "logs", "audit.log")))(t)
	defer log.Close() //nolint:errcheck // it was read
	allowed, forbidden, err := asked(log)
	must.Do(t, err)
	for _, each := range forbidden {
		if _, ok := excuse(each, refused); !ok {
			t.Errorf("not among the rights, but asked for: %s", each)
		}
	}
	given := granted(t, b)
	idle, stale := unused(given, allowed, excused)
	for _, each := range idle {
		t.Errorf("among the rights, but never asked for: %s", each)
	}
	for _, line := range stale {
		t.Errorf("excused, but nobody has the right: %s (%s)", line, excused[line])
	}
	t.Logf("%d rights, %d requests", len(given), len(allowed))
}

// granted are the rights of Tabard's accounts in the cluster.
func granted(t *testing.T, b *bed.Bed) []right {
	t.Helper()
	api, all := b.Kube.RbacV1(), metav1.ListOptions{}
	rules := map[string][]rbacv1.PolicyRule{}
	for _, role := range must.Get(api.ClusterRoles().List(t.Context(), all))(t).Items {
		rules[roleKey("ClusterRole", "", role.Name)] = role.Rules
	}
	for _, role := range must.Get(api.Roles("").List(t.Context(), all))(t).Items {
		rules[roleKey("Role", role.Namespace, role.Name)] = role.Rules
	}
	bindings := must.Get(api.RoleBindings("").List(t.Context(), all))(t).Items
	for _, binding := range must.Get(api.ClusterRoleBindings().List(t.Context(), all))(t).Items {
		bindings = append(bindings, rbacv1.RoleBinding{RoleRef: binding.RoleRef, Subjects: binding.Subjects})
	}
	return rights(rules, bindings)
}

// everything installs the chart with all that can be on at once, with kinds of others that
// its controllers watch.
func everything(t *testing.T, b *bed.Bed, dir string) {
	t.Helper()
	for _, kinds := range []testkit.ForeignKinds{testkit.ClusterAPI, testkit.ClusterAPIAWS, testkit.MachineAPI} {
		for _, file := range kinds.Files(t) {
			b.Kubectl("apply", "--server-side", "-f", file)
		}
	}
	b.Shell(dir, `
		helm install tabard charts/tabard --namespace tabard-system --create-namespace --set credentials.enabled=true,capacity.enabled=true \
			--set roleSelectors.enabled=true,roleSelectors.warnings=true,roleSelectors.report.enabled=true
		kubectl apply -n tabard-system -f "$LAB/manifests/aws.yaml"
		for name in issuer credentials; do
			kubectl patch deployment tabard-$name -n tabard-system --patch-file "$LAB/manifests/issuer-patch.yaml"
		done
		kubectl patch deployment tabard-capacity -n tabard-system --patch "$(sed "s/name: operator$/name: capacity/" "$LAB/manifests/issuer-patch.yaml")"
		tabard issuer init
		tabard issuer bootstrap -f issuer.yaml
		kubectl apply -f issuer.yaml
		tabard credentials bootstrap --infrastructure-name lab
		kubectl wait oidcissuer/cluster --for=condition=Ready --timeout=180s`)
	arn := must.Get(b.CreateRole(t.Context(), "tabard-capacity", b.Trust(b.Account, "tabard-system", "tabard-capacity"), map[string]any{
		"Effect": "Allow", "Action": []string{"ec2:DescribeInstanceTypes", "ec2:DescribeRegions"}, "Resource": "*",
	}))(t)
	b.Shell(dir, `kubectl -n tabard-system create configmap tabard-capacity --from-literal=AWS_ROLE_ARN=`+arn+` \
			--from-literal=AWS_WEB_IDENTITY_TOKEN_FILE=/var/run/secrets/eks.amazonaws.com/serviceaccount/token
		kubectl -n tabard-system rollout restart deployment/tabard-capacity
		for name in $(kubectl get deployments -n tabard-system -o name); do kubectl rollout status -n tabard-system $name --timeout=180s; done
		kubectl rollout status -n tabard-certificate deployment/tabard-certificate --timeout=180s
		until kubectl get mutatingwebhookconfiguration tabard-webhook -o jsonpath='{.webhooks[0].clientConfig.caBundle}' | grep -q .; do sleep 1; done`)
}

// live has each controller do what it is there for.
func live(t *testing.T, b *bed.Bed, dir string) {
	t.Helper()
	b.LoadWorkload()
	role := b.Team(team, nil)
	b.Apply(team, "deployment.yaml", role)
	b.AwaitLine(team, "deployment/app", "app", wrote)
	b.Kubectl("create", "rolebinding", "-n", team, "tabard-credentials-secrets",
		"--clusterrole=tabard-credentials-secrets", "--serviceaccount=tabard-system:tabard-credentials")
	b.Apply(team, "life.yaml", role)
	for what, command := range map[string]string{
		"the request's role is named":   `kubectl get --ignore-not-found serviceaccount -n team-c asks -o jsonpath='{.metadata.annotations.eks\.amazonaws\.com/role-arn}'`,
		"the MachineSet has its sizes":  `kubectl get machinesets.machine.openshift.io -n team-c workers -o jsonpath='{.metadata.annotations.machine\.openshift\.io/vCPU}'`,
		"the MachineDeployment has its": `kubectl get machinedeployments -n team-c workers -o jsonpath='{.metadata.annotations.capacity\.cluster-autoscaler\.kubernetes\.io/cpu}'`,
		"the selector has its report":   `kubectl get iamroleselectorreports -o name`,
	} {
		b.Eventually(what, func(context.Context) error {
			if strings.TrimSpace(b.Shell(dir, command)) == "" {
				return errors.New("not yet")
			}
			return nil
		})
	}
	b.Kubectl("delete", "credentialsrequests,iamroleselectors", "--all", "-A", "--timeout=120s")
	b.Kubectl("delete", "oidcissuer", "--all", "--timeout=120s")
}
