package docs

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/eks"
	"github.com/aws/aws-sdk-go-v2/service/iam"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/tabard-dev/tabard/awslocal"
	"github.com/tabard-dev/tabard/internal/core/inject"
	"github.com/tabard-dev/tabard/internal/core/inject/raw"
	"github.com/tabard-dev/tabard/internal/testkit"
	"github.com/tabard-dev/tabard/internal/testkit/must"
)

// The page's headings under which there is something to run.
const (
	what      = "## What it annotates"
	web       = "## Set up with a web identity"
	byWebhook = "### By the webhook"
	check     = "### See that it works"
	openshift = "### OpenShift"
	pods      = "### EKS Pod Identity"
	operator  = "## Alone, or in the operator"
	replaced  = "## In the place of capa-annotator"
	gitops    = "## GitOps"
)

// TestLongThePagesStory goes through the page as an administrator does who tries all
// of its ways, one after the other. What aws does there is done by the SDK, with
// the page's documents; TestCommandLineMakesThePagesRoles runs aws itself.
func TestLongThePagesStory(t *testing.T) {
	b := newBench(t)
	b.withWebIdentity()
	b.withWebhook()
	b.withSecrets()
	b.withPodIdentity()
	b.inOperator()
	b.inPlaceOfAnnotator()
	b.gitOps()
}

func (b *bench) withWebIdentity() {
	b.Helper()
	documents := blocks(b, web, "json", 2)
	scripts := blocks(b, web, "sh", 2)
	example := blocks(b, what, "yaml", 2)
	admin := iam.NewFromConfig(administratorOf(b.aws))
	must.Get(admin.CreateOpenIDConnectProvider(b.Context(), &iam.CreateOpenIDConnectProviderInput{
		Url: aws.String(b.Issuer()), ClientIDList: []string{"sts.amazonaws.com"},
	}))(b)
	b.makeRole(name, strings.ReplaceAll(documents[1], pagesName, strings.TrimPrefix(b.Issuer(), "https://")))
	b.typed(scripts[1])
	running := b.startAlone()
	b.apply(example[0])
	var want map[string]string
	must.Do(b, yaml.Unmarshal([]byte(example[1]), &want))
	b.awaitAnnotations(machineSet(machines, "workers", "", ""), want)
	b.wantCallers("arn:aws:sts::" + account + ":assumed-role/" + name)
	b.withAnothersValue(want)

	b.makeClusterAPI()
	b.awaitAnnotations(machineDeployment("web"), map[string]string{
		"capacity.cluster-autoscaler.kubernetes.io/cpu": "2", "capacity.cluster-autoscaler.kubernetes.io/memory": "8192Mi",
	})
	b.Make(machineSet(machines, "odd", "m5.tiny", region))
	b.Make(b.template("web", "orphan", "absent"))
	b.Await(func() error {
		told := b.typed(blocks(b, check, "sh", 1)[0])
		for _, want := range []string{
			"workers 16 65536 kubernetes.io/arch=arm64", "web 2 8192Mi", "CapacityAnnotated machineset/workers", "CapacityAnnotated machinedeployment/web",
			"FailedUpdate machineset/odd", "FailedUpdate machinedeployment/orphan",
		} {
			if !strings.Contains(strings.Join(strings.Fields(told), " "), want) {
				return fmt.Errorf("the commands do not show %q:\n%s", want, told)
			}
		}
		return nil
	})
	running.End()
	b.withHalfAWebIdentity()
}

// withAnothersValue: what a person writes stays until they take it away.
func (b *bench) withAnothersValue(want map[string]string) {
	b.Helper()
	b.Shell("kubectl -n openshift-machine-api annotate --overwrite machinesets.machine.openshift.io workers machine.openshift.io/vCPU=7")
	set := machineSet(machines, "workers", "", "")
	b.awaitAnnotations(set, map[string]string{"machine.openshift.io/vCPU": "7"})
	b.awaitEvent(set, "Left as set by others, ", `machine.openshift.io/vCPU is "7" by kubectl-annotate`)
	b.awaitAnnotations(set, map[string]string{"machine.openshift.io/vCPU": "7"})
	b.typed(blocks(b, "### Values of others", "sh", 1)[0])
	b.awaitAnnotations(set, want)
}

// withHalfAWebIdentity: the process lives, is not ready, and says why.
func (b *bench) withHalfAWebIdentity() {
	b.Helper()
	b.Shell(`kubectl -n tabard-system patch configmap tabard-capacity -p '{"data": {"AWS_WEB_IDENTITY_TOKEN_FILE": null}}'`)
	health := fmt.Sprintf("127.0.0.1:%d", testkit.FreePort(b))
	running := b.start(name, []string{"--health-addr=" + health, "--leader-elect-resource-namespace=" + system})
	answer := func(path string) (int, string) {
		response, err := http.Get("http://" + health + path) //nolint:noctx // it is answered at once, or nobody is there
		if err != nil {
			return 0, err.Error()
		}
		defer response.Body.Close() //nolint:errcheck // it is only read
		text, err := io.ReadAll(response.Body)
		if err != nil {
			return 0, err.Error()
		}
		return response.StatusCode, string(text)
	}
	b.Await(func() error {
		lives, _ := answer("/healthz")
		ready, _ := answer("/readyz")
		_, why := answer("/readyz/capacity-identity")
		if lives != http.StatusOK || ready != http.StatusInternalServerError || !strings.Contains(why, "AWS_WEB_IDENTITY_TOKEN_FILE is missing") {
			return fmt.Errorf("/healthz answers %d, /readyz %d and %q, want a process that lives, is not ready and says why", lives, ready, why)
		}
		return nil
	})
	set := machineSet(machines, "by-half", "m5.large", region)
	b.Make(set)
	b.awaitEvent(set, "AWS_ROLE_ARN is set but AWS_WEB_IDENTITY_TOKEN_FILE is missing", "")
	if !strings.Contains(running.Log(), "AWS_WEB_IDENTITY_TOKEN_FILE is missing") {
		b.Error("the log does not say what is missing")
	}
	running.End()
	b.Shell("kubectl -n openshift-machine-api delete machinesets.machine.openshift.io by-half")
}

// makeRole makes a role of the page that may do what the page's types.json says.
func (b *bench) makeRole(role, trust string) {
	b.Helper()
	admin := iam.NewFromConfig(administratorOf(b.aws))
	must.Get(admin.CreateRole(b.Context(), &iam.CreateRoleInput{RoleName: &role, AssumeRolePolicyDocument: &trust}))(b)
	must.Get(admin.PutRolePolicy(b.Context(), &iam.PutRolePolicyInput{
		RoleName: &role, PolicyName: aws.String("instance-types"), PolicyDocument: &blocks(b, web, "json", 2)[0],
	}))(b)
	b.aws.Admin().ClearJournal()
}

// withWebhook lets the webhook's decision look at the pod that the page's commands
// leave behind.
func (b *bench) withWebhook() {
	b.Helper()
	b.typed(blocks(b, byWebhook, "sh", 1)[0])
	var who corev1.ServiceAccount
	must.Do(b, b.Get(b.Context(), client.ObjectKey{Namespace: system, Name: name}, &who))
	template := b.deployment(name).Spec.Template
	if label := "eks.amazonaws.com/skip-pod-identity-webhook"; template.Labels[label] != "" {
		b.Errorf("the pod still has the label %s", label)
	}
	if mounts := template.Spec.Containers[0].VolumeMounts; len(mounts) != 1 || mounts[0].Name != "openshift-token" {
		b.Errorf("the pod mounts %+v, want the token for OpenShift alone", mounts)
	}
	text := must.Get(json.Marshal(corev1.Pod{ObjectMeta: template.ObjectMeta, Spec: template.Spec}))(b)
	value := must.Get(raw.Parse(text))(b)
	pod := must.Get(inject.Read(value))(b)
	injector := must.Get(inject.New(inject.Defaults()))(b)
	got, err := injector.Inject(pod, inject.Subject{Namespace: system, Account: &inject.ServiceAccount{Annotations: who.Annotations}})
	// The Deployment's ConfigMap, which the page's other way fills, would have the same variables.
	const wanted = `container "capacity" has envFrom, which does not replace what the webhook injects; to choose a variable yourself, set it in env: AWS_ROLE_ARN, AWS_WEB_IDENTITY_TOKEN_FILE`
	if err != nil || !slices.Equal(got.Warnings, []string{wanted}) || got.Reason != inject.Injected {
		b.Errorf("the webhook says %s with warnings %q, want %s with %q: %v", got.Reason, got.Warnings, inject.Injected, wanted, err)
	}
	for _, want := range []string{roleARN, "AWS_WEB_IDENTITY_TOKEN_FILE", `"audience":"sts.amazonaws.com"`} {
		if !strings.Contains(string(got.Patch), want) {
			b.Errorf("the webhook's patch has no %s: %s", want, got.Patch)
		}
	}
}

func (b *bench) withSecrets() {
	b.Helper()
	b.Shell("kubectl -n tabard-system delete configmap tabard-capacity")
	scripts, secrets := blocks(b, openshift, "sh", 2), blocks(b, openshift, "yaml", 2)
	b.typed(scripts[0] + "\n" + scripts[1])
	var role rbacv1.Role
	must.Do(b, b.Get(b.Context(), client.ObjectKey{Namespace: machines, Name: name}, &role))
	if want := []string{"aws-cloud-credentials", "aws-team-a"}; !slices.Equal(role.Rules[0].ResourceNames, want) {
		b.Errorf("the controller may read %q, want %q", role.Rules[0].ResourceNames, want)
	}

	admin, user := iam.NewFromConfig(administratorOf(b.aws)), aws.String("machines")
	must.Get(admin.CreateUser(b.Context(), &iam.CreateUserInput{UserName: user}))(b)
	must.Get(admin.PutUserPolicy(b.Context(), &iam.PutUserPolicyInput{
		UserName: user, PolicyName: aws.String("instance-types"), PolicyDocument: &blocks(b, web, "json", 2)[0],
	}))(b)
	key := must.Get(admin.CreateAccessKey(b.Context(), &iam.CreateAccessKeyInput{UserName: user}))(b)
	keys := strings.NewReplacer("AKIAIOSFODNN7EXAMPLE", *key.AccessKey.AccessKeyId,
		"wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY", *key.AccessKey.SecretAccessKey).Replace(secrets[0])
	b.aws.Admin().ClearJournal()
	running := b.startAlone()
	for secret, in := range map[string]string{"aws-cloud-credentials": "us-east-1", "aws-team-a": "us-west-2"} {
		b.apply(strings.ReplaceAll(keys, "aws-cloud-credentials", secret))
		set := machineSet(machines, "by-"+secret, "m5.large", in)
		setField(b, set, map[string]any{"name": secret}, "spec", "template", "spec", "providerSpec", "value", "credentialsSecret")
		b.Make(set)
		b.awaitAnnotations(set, map[string]string{"machine.openshift.io/vCPU": "2"})
	}
	b.wantCallers("arn:aws:iam::" + account + ":user/machines")
	// There is no kubelet, and so no token for the other form; that it was looked
	// for says that the form was taken.
	b.Shell("kubectl -n openshift-machine-api delete secret aws-cloud-credentials")
	b.apply(secrets[1])
	set := machineSet(machines, "by-role", "m5.large", "eu-west-1")
	b.Make(set)
	b.awaitEvent(set, "AWS credentials not available: Secret openshift-machine-api/aws-cloud-credentials: ", "/var/run/secrets/openshift/serviceaccount/token")
	running.End()
}

func (b *bench) withPodIdentity() {
	b.Helper()
	scripts := blocks(b, pods, "sh", 2)
	keys := must.Get(b.Keys(b.Context()))(b)
	must.Do(b, b.aws.Admin().AddCluster(awslocal.Cluster{Account: account, Name: "prod", Issuer: b.Issuer(), JWKS: keys}))
	b.makeRole(name+"-pods", blocks(b, pods, "json", 1)[0])
	must.Get(eks.NewFromConfig(administratorOf(b.aws)).CreatePodIdentityAssociation(b.Context(), &eks.CreatePodIdentityAssociationInput{
		ClusterName: aws.String("prod"), Namespace: aws.String(system), ServiceAccount: aws.String(name), RoleArn: aws.String(roleARN + "-pods"),
	}))(b)
	b.aws.Admin().ClearJournal()
	b.typed(scripts[1])
	template := b.deployment(name).Spec.Template
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: system, Name: name + "-7d9f"}, Spec: template.Spec}
	b.Make(pod)
	running := b.startAlone("AWS_CONTAINER_CREDENTIALS_FULL_URI="+b.aws.PlainURL()+"/v1/credentials",
		"AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE="+b.write("association", b.token(name, "pods.eks.amazonaws.com", pod)))
	set := machineSet(machines, "by-association", "m5.large", "eu-west-2")
	unstructured.RemoveNestedField(set.Object, "spec", "template", "spec", "providerSpec", "value", "credentialsSecret")
	b.Make(set)
	b.awaitAnnotations(set, map[string]string{"machine.openshift.io/vCPU": "2"})
	if callers := b.callers(); !slices.Contains(callers, "arn:aws:sts::"+account+":assumed-role/"+name+"-pods") {
		b.Errorf("EC2 was asked by %s, and not by the association's role", callers)
	}
	running.End()
}

func (b *bench) inOperator() {
	b.Helper()
	b.typed(blocks(b, operator, "sh", 1)[0])
	key := b.aws.Administrator(account)
	running := b.start("tabard-operator", []string{"--health-probe-bind-address=0"})
	b.Shell("kubectl -n openshift-machine-api create rolebinding operator --role=tabard-capacity --serviceaccount=tabard-system:tabard-operator\n" +
		"kubectl -n openshift-machine-api delete secret aws-cloud-credentials\n" +
		"kubectl -n openshift-machine-api create secret generic aws-cloud-credentials --from-literal=aws_access_key_id=" + key.AccessKeyID +
		" --from-literal=aws_secret_access_key=" + key.SecretAccessKey)
	set := machineSet(machines, "by-operator", "m5.large", "ca-central-1")
	b.Make(set)
	b.awaitAnnotations(set, map[string]string{"machine.openshift.io/vCPU": "2"})
	for _, name := range []string{"tabard-operator-capacity-injection", "tabard-operator-capacity", "tabard-operator-injection", "capa-annotator-leader"} {
		b.Await(func() error {
			var lease coordinationv1.Lease
			return b.Get(b.Context(), client.ObjectKey{Namespace: system, Name: name}, &lease)
		})
	}
	running.End()
}

// inPlaceOfAnnotator puts Tabard in the place of a program that has the lease in a
// namespace of its own, and has written as somebody else.
func (b *bench) inPlaceOfAnnotator() {
	b.Helper()
	scripts := blocks(b, replaced, "sh", 2)
	now := metav1.NowMicro()
	lease := &coordinationv1.Lease{
		ObjectMeta: metav1.ObjectMeta{Namespace: "capa-annotator", Name: "capa-annotator-leader"},
		Spec: coordinationv1.LeaseSpec{
			HolderIdentity: aws.String("capa-annotator-7d9f"), LeaseDurationSeconds: aws.Int32(3600), AcquireTime: &now, RenewTime: &now,
		},
	}
	b.Make(lease)
	set := machineSet(machines, "before", "m5.large", region)
	set.SetAnnotations(map[string]string{"machine.openshift.io/vCPU": "96"})
	must.Do(b, b.Create(b.Context(), set, client.FieldOwner("manager")))
	told := b.typed(scripts[0])
	for _, want := range []string{"capa-annotator-leader", "manager: manager"} {
		if !strings.Contains(told, want) {
			b.Errorf("the commands do not show %s:\n%s", want, told)
		}
	}
	b.Shell("kubectl -n tabard-system delete deployment tabard-capacity")
	b.typed(blocks(b, openshift, "sh", 2)[0] + "\n" + scripts[1])
	b.addArgument("--predecessor-field-managers=manager")
	running := b.startAlone()
	b.Await(func() error {
		if !strings.Contains(running.Log(), "capa-annotator/capa-annotator-leader") {
			return errors.New("it does not wait for the lease")
		}
		return nil
	})
	if err := b.Get(b.Context(), client.ObjectKeyFromObject(set), set); err != nil || set.GetAnnotations()["machine.openshift.io/vCPU"] != "96" {
		b.Errorf("it did not wait: %v %v", set.GetAnnotations(), err)
	}
	must.Do(b, b.Delete(b.Context(), lease))
	b.awaitAnnotations(set, map[string]string{"machine.openshift.io/vCPU": "2"})
	running.End()
}

// gitOps compares what the page says of fields and of the labels' order with what
// stands on the page's MachineSet.
func (b *bench) gitOps() {
	b.Helper()
	var ignored struct {
		Differences []struct {
			Managers []string `json:"managedFieldsManagers"`
		} `json:"ignoreDifferences"`
	}
	if err := yaml.Unmarshal([]byte(blocks(b, gitops, "yaml", 1)[0]), &ignored); err != nil || len(ignored.Differences) != 2 {
		b.Fatalf("the page ignores %+v: %v", ignored, err)
	}
	set := machineSet(machines, "workers", "", "")
	must.Do(b, b.Get(b.Context(), client.ObjectKeyFromObject(set), set))
	owned := ""
	for _, entry := range set.GetManagedFields() {
		if slices.Contains(ignored.Differences[0].Managers, entry.Manager) {
			owned += string(entry.FieldsV1.GetRawBytes())
		}
	}
	for _, key := range []string{"machine.openshift.io/vCPU", "machine.openshift.io/memoryMb", "machine.openshift.io/GPU", "capacity.cluster-autoscaler.kubernetes.io/labels"} {
		if !strings.Contains(owned, "f:"+key) {
			b.Errorf("%s is not owned by %q: %s", key, ignored.Differences[0].Managers, owned)
		}
	}
	if labels := set.GetAnnotations()["capacity.cluster-autoscaler.kubernetes.io/labels"]; !slices.Contains(quoted(part(b, gitops)), labels) {
		b.Errorf("the page does not have the labels as they are written: %s", labels)
	}
}

// addArgument gives the Deployment one more.
func (b *bench) addArgument(argument string) {
	b.Helper()
	found := b.deployment(name)
	found.Spec.Template.Spec.Containers[0].Args = append(found.Spec.Template.Spec.Containers[0].Args, argument)
	must.Do(b, b.Update(b.Context(), found))
}
