package console

import (
	"image/png"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"
	kube "sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/tabard-dev/tabard/internal/testkit/awstest"
	"github.com/tabard-dev/tabard/internal/testkit/consoletest"
	"github.com/tabard-dev/tabard/internal/testkit/must"
)

// The pictures of docs/console.md are of pages as they are: UPDATE=1 writes those that this test makes.
// Each browser draws letters in its own way, so that they are not compared dot by dot.
func TestBrowserMakesThePicturesOfThePage(t *testing.T) {
	images := must.Get(filepath.Abs(filepath.Join(root, "docs", "images")))(t)
	folder := t.TempDir()
	if os.Getenv("UPDATE") != "" {
		folder = images
	}
	t.Run("an install", func(t *testing.T) { picturesOfAnInstall(t, folder) })
	t.Run("workloads", func(t *testing.T) { picturesOfWorkloads(t, folder) })
	page := must.Get(os.ReadFile(filepath.Join(root, "docs", "console.md")))(t)
	var linked []string
	for _, found := range regexp.MustCompile(`\]\(images/(console-[a-z]+\.png)\)`).FindAllSubmatch(page, -1) {
		linked = append(linked, string(found[1]))
	}
	var made []string
	for _, path := range must.Get(filepath.Glob(filepath.Join(folder, "console-*.png")))(t) {
		made = append(made, filepath.Base(path))
	}
	slices.Sort(linked)
	if len(linked) == 0 || !slices.Equal(linked, made) {
		t.Fatalf("the page has the pictures %v, and the scenarios make %v", linked, made)
	}
	for _, name := range linked {
		if width(t, filepath.Join(folder, name)) != width(t, filepath.Join(images, name)) {
			t.Errorf("docs/images/%s has another width than the page now: UPDATE=1 writes it", name)
		}
	}
}

// picturesOfAnInstall are those of a person who installs an operator.
func picturesOfAnInstall(t *testing.T, folder string) {
	t.Helper()
	const namespace = "pictures"
	w := begin(t, namespace)
	arn := w.role("object-keeper", namespace, "object-keeper", "s3:GetObject", "s3:PutObject", "iam:PassRole")
	w.operates(namespace, "object-keeper")
	start(t, "--kubeconfig", w.Kubeconfig(w.Config)).plays("pictures", map[string]string{"arn": arn, "namespace": namespace, "folder": folder})
}

// picturesOfWorkloads are those of a person who looks for the pod that is refused. Its role's trust policy
// misspells the ServiceAccount, as in docs/explain.md.
func picturesOfWorkloads(t *testing.T, folder string) {
	t.Helper()
	const namespace = "shop"
	c, aws := withAWS(t)
	provider := aws.Provider(account, c.Issuer(), "sts.amazonaws.com")
	aws.Role(account, "checkout", awstest.Trust(provider, "system:serviceaccount:"+namespace+":check-out", "sts.amazonaws.com"),
		`{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Action":"s3:GetObject","Resource":"arn:aws:s3:::orders/*"}]}`)
	c.MakeNamespaces(namespace)
	for _, account := range []*corev1.ServiceAccount{
		serviceAccount(namespace, "checkout", checkoutRole), serviceAccount(namespace, "reports", "arn:aws:iam::"+account+":role/reports"), serviceAccount(namespace, "web", ""),
	} {
		must.Do(t, c.Create(t.Context(), account, kube.FieldOwner("kubectl-create")))
	}
	for _, pod := range []*corev1.Pod{
		withToken(namespace, "checkout-6d9c", "checkout", checkoutRole), pod(namespace, "reports-0", "reports"), pod(namespace, "web-7f4b", "web"),
		pod(namespace, "legacy-55c8", "web", corev1.EnvVar{Name: "AWS_CONFIG_FILE", Value: "/etc/aws/config"}),
	} {
		c.Make(pod)
		c.MergeStatus(pod, `{"status":{"phase":"Running"}}`)
	}
	// Commands name the kubeconfig, unless it is the person's own: pictures have no file of this machine.
	home := t.TempDir()
	must.Do(t, os.Mkdir(filepath.Join(home, ".kube"), 0o700))
	must.Do(t, os.Rename(c.Kubeconfig(c.Config), filepath.Join(home, ".kube", "config")))
	consoletest.Start(t, []string{"HOME=" + home, "KUBECONFIG="}).Plays("pictures-workloads", map[string]string{"folder": folder})
}

func width(t *testing.T, path string) int {
	t.Helper()
	file := must.Get(os.Open(path))(t)
	defer func() { _ = file.Close() }()
	return must.Get(png.DecodeConfig(file))(t).Width
}
