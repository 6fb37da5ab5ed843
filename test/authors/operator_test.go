package authors

import (
	"context"
	"fmt"
	"os/exec"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	awscredentials "github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/iam"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/rest"

	"github.com/tabard-dev/tabard/internal/testkit"
)

// start runs the operator as its Deployment does: with its ServiceAccount's
// rights and tokens, and an environment that holds nothing else.
func (w *world) start(role string, flags ...string) *testkit.Process {
	w.t.Helper()
	config := rest.CopyConfig(w.operators)
	config.BearerToken = w.token("api")
	kubeconfig := w.write("kubeconfig", nil)
	testkit.WriteKubeconfig(w.t, kubeconfig, config)
	tokenFile := w.write("token", []byte(w.token(audience)))
	command := exec.CommandContext(context.WithoutCancel(w.t.Context()), program, append([]string{"-token-file", tokenFile, "-every", "200ms"}, flags...)...)
	command.Env = []string{
		"KUBECONFIG=" + kubeconfig, "POD_NAMESPACE=" + name, "ROLEARN=" + role,
		"AWS_CA_BUNDLE=" + w.dir + "/ca.pem", "AWS_ROLE_SESSION_NAME=pod",
	}
	return testkit.StartProcess(w.t, command)
}

// await waits until something is as it should be; is says how it is.
func (w *world) await(what string, is func() (string, bool)) {
	w.t.Helper()
	ctx, cancel := context.WithTimeout(w.t.Context(), 2*time.Minute)
	defer cancel()
	ticker := time.NewTicker(50 * time.Millisecond)
	defer ticker.Stop()
	for {
		seen, ok := is()
		if ok {
			return
		}
		select {
		case <-ticker.C:
		case <-ctx.Done():
			w.t.Fatalf("want %s, got %s", what, seen)
		}
	}
}

// condition is the operator's: STATUS REASON: MESSAGE, and its ARN.
func (w *world) condition() (text, arn string) {
	w.t.Helper()
	found := w.object(whoamis)
	if found == nil {
		return "", ""
	}
	arn, _, _ = unstructured.NestedString(found.Object, "status", "arn")
	conditions, _, _ := unstructured.NestedSlice(found.Object, "status", "conditions")
	for _, each := range conditions {
		c := each.(map[string]any)
		text += fmt.Sprintf("%s=%s %s: %s", c["type"], c["status"], c["reason"], c["message"])
	}
	return text, arn
}

// awaitCondition waits for a reason and a part of its message.
func (w *world) awaitCondition(reason, message string) {
	w.t.Helper()
	status := "False"
	if reason == "Assumed" {
		status = "True"
	}
	want := fmt.Sprintf("Ready=%s %s: ", status, reason)
	w.await(want+"…"+message, func() (string, bool) {
		text, arn := w.condition()
		return text + " " + arn, strings.HasPrefix(text, want) && strings.Contains(text, message) && (arn != "") == (status == "True")
	})
}

// awaitEvent waits for an event about the operator's status object.
func (w *world) awaitEvent(kind, reason, message string) {
	w.t.Helper()
	w.await("the event "+kind+" "+reason+": …"+message, func() (string, bool) {
		list, err := w.clients.EventsV1().Events(name).List(w.t.Context(), metav1.ListOptions{})
		if err != nil {
			w.t.Fatal(err)
		}
		var seen []string
		for _, e := range list.Items {
			if e.Regarding.Kind == "Whoami" && e.Regarding.Name == name && e.Type == kind && e.Reason == reason && strings.Contains(e.Note, message) {
				return "", true
			}
			seen = append(seen, e.Type+" "+e.Reason+": "+e.Note)
		}
		return strings.Join(seen, "\n"), false
	})
}

// field is a text in an object, by its path.
func (w *world) field(object *unstructured.Unstructured, path ...string) string {
	w.t.Helper()
	found, _, err := unstructured.NestedString(object.Object, path...)
	if err != nil {
		w.t.Fatal(err)
	}
	return found
}

// roleOf is the role that the CredentialsRequest asks for, empty if there is
// none.
func (w *world) roleOf() string {
	w.t.Helper()
	if found := w.object(requests); found != nil {
		return w.field(found, "spec", "providerSpec", "stsIAMRoleARN")
	}
	return ""
}

// answer does what the Cloud Credential Operator does for a request with a
// role: it writes the Secret, in its form.
func (w *world) answer() {
	w.t.Helper()
	request := w.object(requests)
	secret := &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: w.field(request, "spec", "secretRef", "namespace"), Name: w.field(request, "spec", "secretRef", "name"),
			Labels:      map[string]string{"cloudcredential.openshift.io/credentials-request": "true"},
			Annotations: map[string]string{"cloudcredential.openshift.io/credentials-request": request.GetNamespace() + "/" + request.GetName()},
		},
		Type: corev1.SecretTypeOpaque,
		Data: map[string][]byte{"credentials": []byte(content(
			w.field(request, "spec", "providerSpec", "stsIAMRoleARN"), w.field(request, "spec", "cloudTokenPath")))},
	}
	secrets := w.clients.CoreV1().Secrets(secret.Namespace)
	_, err := secrets.Create(w.t.Context(), secret, metav1.CreateOptions{})
	if apierrors.IsAlreadyExists(err) {
		_, err = secrets.Update(w.t.Context(), secret, metav1.UpdateOptions{})
	}
	if err != nil {
		w.t.Fatal(err)
	}
}

// content is what the Cloud Credential Operator writes into a Secret.
func content(role, tokenFile string) string {
	return "[default]\nsts_regional_endpoints = regional\nrole_arn = " + role + "\nweb_identity_token_file = " + tokenFile
}

// complain is the Cloud Credential Operator's condition that it cannot.
func (w *world) complain(message string) {
	w.t.Helper()
	request := w.object(requests)
	now := time.Now().UTC().Format(time.RFC3339)
	request.Object["status"] = map[string]any{
		"provisioned": false, "lastSyncGeneration": request.GetGeneration(),
		"conditions": []any{map[string]any{
			"type": "CredentialsProvisionFailure", "status": "True", "reason": "CredentialsProvisionFailure",
			"message": message, "lastProbeTime": now, "lastTransitionTime": now,
		}},
	}
	if _, err := w.client.Resource(requests).Namespace(name).UpdateStatus(w.t.Context(), request, metav1.UpdateOptions{}); err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) administrator() *iam.Client {
	key := w.aws.Administrator(account)
	return iam.New(iam.Options{
		Region: region, BaseEndpoint: aws.String(w.plainAWS()),
		Credentials: awscredentials.NewStaticCredentialsProvider(key.AccessKeyID, key.SecretAccessKey, ""),
	})
}

// plainAWS is the local AWS without TLS, which only the administrator asks.
func (w *world) plainAWS() string {
	w.t.Helper()
	if w.aws.PlainURL() == "" {
		if err := w.aws.StartPlain("127.0.0.1:0"); err != nil {
			w.t.Fatal(err)
		}
	}
	return w.aws.PlainURL()
}

// register makes the issuer's provider known to AWS.
func (w *world) register() {
	w.t.Helper()
	if _, err := w.administrator().CreateOpenIDConnectProvider(w.t.Context(), &iam.CreateOpenIDConnectProviderInput{
		Url: &w.issuer, ClientIDList: []string{"openshift", "sts.amazonaws.com"},
	}); err != nil {
		w.t.Fatal(err)
	}
}

// trust is a trust policy for tokens of the operator with an audience.
func (w *world) trust(audience string) *string {
	bare := strings.TrimPrefix(w.issuer, "https://")
	return aws.String(fmt.Sprintf(`{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Action":"sts:AssumeRoleWithWebIdentity",
		"Principal":{"Federated":"arn:aws:iam::%s:oidc-provider/%s"},
		"Condition":{"StringEquals":{"%s:sub":"system:serviceaccount:%s:%s","%s:aud":"%s"}}}]}`, account, bare, bare, name, name, bare, audience))
}

// role makes a role that trusts the operator's tokens of an audience.
func (w *world) role(name, audience string) (arn string) {
	w.t.Helper()
	made, err := w.administrator().CreateRole(w.t.Context(), &iam.CreateRoleInput{
		RoleName: &name, Path: aws.String("/operators/"), AssumeRolePolicyDocument: w.trust(audience),
	})
	if err != nil {
		w.t.Fatal(err)
	}
	return *made.Role.Arn
}

// session is the ARN by which STS knows the operator in a role.
func session(role string) string {
	return "arn:aws:sts::" + account + ":assumed-role/" + role + "/pod"
}

// calls are the journal's, as OPERATION by CALLER ERROR.
func (w *world) calls() string {
	text := ""
	for _, e := range w.aws.Admin().Journal() {
		text += fmt.Sprintf("%s by %s %s\n", e.Operation, e.Caller, e.Error)
	}
	return text
}
