package authors

import (
	"os/exec"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/tabard-dev/tabard/api/identity/v1alpha1"
	"github.com/tabard-dev/tabard/internal/testkit"
	"github.com/tabard-dev/tabard/internal/testkit/must"
)

// Where the controller credentials is.
const (
	system = "tabard-system"
	minter = "tabard-credentials"
)

// install installs the controller credentials from the manifests, and bootstraps it as an
// administrator of the cluster and of the account does. Where the cluster is not
// OpenShift, the bootstrap goes by the OIDCIssuer.
func (w *world) install(flags ...string) {
	w.Helper()
	w.Shell(`
		kubectl apply -f config/manifests/00-namespace.yaml
		kubectl apply -f config/crd/identity.tabard.dev_credentialsboundaries.yaml -f config/crd/identity.tabard.dev_credentialsgrants.yaml
		kubectl apply -f config/crd/identity.tabard.dev_oidcissuers.yaml
		kubectl apply -f config/rbac/credentials.yaml -f config/manifests/credentials/controller.yaml -f config/manifests/policies.yaml`)
	w.Make(&v1alpha1.OIDCIssuer{ObjectMeta: metav1.ObjectMeta{Name: "main"}, Spec: v1alpha1.OIDCIssuerSpec{
		URL: w.Issuer(), Providers: []v1alpha1.Provider{{Audiences: []string{"sts.amazonaws.com", audience}}},
		Publication: v1alpha1.Publication{S3: v1alpha1.S3Publication{Bucket: "issuer-bucket", Region: region}},
	}})
	if said, err := w.credentials(append([]string{"bootstrap"}, flags...)...); err != nil {
		w.Fatalf("tabard credentials bootstrap: %v\n%s", err, said)
	}
}

// credentials runs "tabard credentials" as an administrator of the cluster and of the
// account.
func (w *world) credentials(args ...string) (said string, err error) {
	w.Helper()
	command := exec.CommandContext(w.Context(), testkit.Tabard(w), append([]string{"credentials"}, args...)...)
	command.Env = w.asAdministrator()
	text, err := command.CombinedOutput()
	return string(text), err
}

// inAWS are the variables that lead a process to the local AWS.
func (w *world) inAWS() []string {
	return []string{"AWS_ENDPOINT_URL=" + w.aws.URL(), "AWS_ENDPOINT_URL_STS=" + w.aws.URL(), "AWS_CA_BUNDLE=" + w.dir + "/ca.pem"}
}

// fulfil runs the controller credentials as its Deployment does: with the Deployment's
// arguments, and the rights and the token of its ServiceAccount.
func (w *world) fulfil() *testkit.Process {
	w.Helper()
	deployment := must.Get(w.Kube.AppsV1().Deployments(system).Get(w.Context(), minter, metav1.GetOptions{}))(w)
	told := must.Get(w.Kube.CoreV1().ConfigMaps(system).Get(w.Context(), minter, metav1.GetOptions{}))(w)
	container := deployment.Spec.Template.Spec.Containers[0]
	token := w.write("minter-token", []byte(w.Token(system, minter, 0, "sts.amazonaws.com")))
	environment := append(w.inAWS(), "KUBECONFIG="+w.Kubeconfig(w.Account(system, minter)))
	var variables []string // as the kubelet expands them in arguments
	for _, variable := range container.Env {
		value := variable.Value
		if from := variable.ValueFrom; from != nil {
			value = told.Data[from.ConfigMapKeyRef.Key]
		}
		if variable.Name == "AWS_WEB_IDENTITY_TOKEN_FILE" {
			value = token
		}
		environment = append(environment, variable.Name+"="+value)
		variables = append(variables, "$("+variable.Name+")", value)
	}
	var args []string
	for _, arg := range container.Args {
		args = append(args, strings.NewReplacer(variables...).Replace(arg))
	}
	return testkit.StartTabard(w, environment, append(args, "--metrics-bind-address=0", "--health-probe-bind-address=0")...)
}

// allow lets the operator's namespace name roles, by the page's commands; the roles are
// those of a pattern instead of the page's.
func (w *world) allow(pattern string) {
	w.Helper()
	text := readAll(w, page)
	for _, boundary := range testkit.Blocks(text, "yaml") {
		if strings.Contains(boundary, "kind: CredentialsBoundary") {
			w.Shell("kubectl apply -f - <<'END'\n" + strings.ReplaceAll(boundary, pagesPattern, pattern) + "\nEND\n")
		}
	}
}

// bindSecrets lets the controller write Secrets of the operator's namespace, by the page's
// command.
func (w *world) bindSecrets() {
	w.Helper()
	for _, command := range testkit.Blocks(readAll(w, page), "sh") {
		if strings.Contains(command, "create rolebinding") {
			w.Shell(command)
		}
	}
}
