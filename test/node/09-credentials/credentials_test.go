// Package credentials proves on a node what a CredentialsRequest is for: its pods have
// their roles in AWS, which the controller credentials made with its own pod's token, and
// nothing is left of them when it is deleted.
package credentials

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/iam"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/tabard-dev/tabard/internal/testkit/must"
	"github.com/tabard-dev/tabard/test/node/bed"
)

const (
	system = "tabard-system"
	team   = "team-a"
	// annotation is that of a ServiceAccount with a role.
	annotation = "eks.amazonaws.com/role-arn"
)

func TestNodeACredentialsRequestsPodsHaveTheirRoles(t *testing.T) {
	b := bed.Open(t)
	b.LoadWorkload()
	install(b)
	role := bed.Role{Bucket: team + strings.TrimPrefix(b.Env["TABARD_ISSUER_BUCKET"], "tabard-lab")}
	must.Do(t, b.CreateBucket(t.Context(), role.Bucket))
	b.Kubectl("create", "namespace", team)
	b.Kubectl("apply", "-n", team, "-f", filepath.Join(b.Dir, "manifests", "aws.yaml"))
	b.Kubectl("create", "rolebinding", "-n", team, "tabard-credentials-secrets",
		"--clusterrole=tabard-credentials-secrets", "--serviceaccount="+system+":tabard-credentials")
	b.Apply(team, "boundary.yaml", role)

	began := time.Now()
	b.Apply(team, "requests.yaml", role)
	role.ARN = annotated(b)
	role.Name = role.ARN[strings.LastIndex(role.ARN, "/")+1:]
	b.Since(began, "from the CredentialsRequest to the ServiceAccount's role")
	if want := "arn:aws:iam::" + b.Account + ":role/tabard/lab-app-"; !strings.HasPrefix(role.ARN, want) {
		t.Errorf("the role is %s, want %s…", role.ARN, want)
	}
	b.Apply(team, "pods.yaml", role)
	caller := b.Answer(b.AwaitLine(team, "app", "whoami", `"arn"`))["arn"]
	if want := "arn:aws:sts::" + b.Account + ":assumed-role/" + role.Name + "/"; !strings.HasPrefix(caller, want) {
		t.Errorf("the caller is %s, want %s…", caller, want)
	}
	b.AwaitLine(team, "app", "own", `"wrote":"s3://`+role.Bucket+`/own/first.txt"`)
	b.AwaitLine(team, "operator", "read", `"text":"no key was stored for this"`)
	refusal := b.AwaitLine(team, "app", "foreign", "AccessDenied")
	if want := "is not authorized to perform: s3:GetObject"; !strings.Contains(refusal, want) {
		t.Errorf("another prefix: %q, want it to say %q", refusal, want)
	}

	becomesTheRoleOfItsHandoff(t, b, role.Bucket)

	before := roles(t, b)
	b.Kubectl("delete", "credentialsrequests", "--all", "-n", team, "--timeout=180s")
	gone(t, b, before)
	b.AwaitLine(team, "app", "own", "InvalidAccessKeyId") // of the session that the pod has still
}

// install gives the controller credentials, which waits for it, its role in AWS.
func install(b *bed.Bed) {
	b.Kubectl("apply", "-f", filepath.Join(b.Root, "config", "manifests", "credentials"))
	b.Kubectl("patch", "deployment", "tabard-credentials", "-n", system, "--patch-file", filepath.Join(b.Dir, "manifests", "issuer-patch.yaml"))
	b.Run("credentials", "bootstrap", "--infrastructure-name", "lab")
	b.Kubectl("rollout", "status", "-n", system, "deployment/tabard-credentials", "--timeout=180s")
}

// annotated waits until the ServiceAccount names its role.
func annotated(b *bed.Bed) (arn string) {
	b.Eventually("the ServiceAccount app names its role", func(ctx context.Context) error {
		account, err := b.Kube.CoreV1().ServiceAccounts(team).Get(ctx, "app", metav1.GetOptions{})
		if err != nil {
			return err
		}
		if arn = account.Annotations[annotation]; arn == "" {
			said, err := b.Lab.Kubectl(ctx, "get", "credentialsrequests", "-n", team, "-o", `jsonpath={.items[*].status.conditions}`)
			return errors.Join(fmt.Errorf("the requests' conditions are %s", said), err)
		}
		return nil
	})
	return arn
}

// roles are the names of all roles of the account.
func roles(t *testing.T, b *bed.Bed) map[string]bool {
	t.Helper()
	config := must.Get(b.Config(b.Administrator()))(t)
	names := map[string]bool{}
	pages := iam.NewListRolesPaginator(iam.NewFromConfig(config), &iam.ListRolesInput{})
	for pages.HasMorePages() {
		for _, role := range must.Get(pages.NextPage(t.Context()))(t).Roles {
			names[aws.ToString(role.RoleName)] = true
		}
	}
	return names
}

// gone demands that the requests have left nothing, and that all else is as it was.
func gone(t *testing.T, b *bed.Bed, before map[string]bool) {
	t.Helper()
	after, made := roles(t, b), 0
	for name := range before {
		own := strings.HasPrefix(name, "lab-app-") || strings.HasPrefix(name, "lab-operator-")
		if own {
			made++
		}
		if after[name] == own {
			t.Errorf("the role %s is there: %t, want %t", name, after[name], !own)
		}
	}
	if made != 2 {
		t.Errorf("the requests had %d roles of %v, want 2", made, before)
	}
	account := must.Get(b.Kube.CoreV1().ServiceAccounts(team).Get(t.Context(), "app", metav1.GetOptions{}))(t)
	if account.Annotations[annotation] != "" || account.Annotations["team"] != "a" {
		t.Errorf("the ServiceAccount has the annotations %v, want the team's only", account.Annotations)
	}
	if _, err := b.Kube.CoreV1().Secrets(team).Get(t.Context(), "operator-aws", metav1.GetOptions{}); !apierrors.IsNotFound(err) {
		t.Errorf("the Secret operator-aws: %v, want it gone", err)
	}
}
