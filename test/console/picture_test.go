package console

import (
	"image/png"
	"os"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/tabard-dev/tabard/internal/testkit/must"
)

// The pictures of docs/console.md are of pages as they are: UPDATE=1 writes those that this test makes.
// Each browser draws letters in its own way, so that they are not compared dot by dot.
func TestBrowserMakesThePicturesOfThePage(t *testing.T) {
	const namespace = "pictures"
	w := begin(t, namespace)
	arn := w.role("object-keeper", namespace, "object-keeper", "s3:GetObject", "s3:PutObject", "iam:PassRole")
	w.operates(namespace, "object-keeper")
	images := must.Get(filepath.Abs(filepath.Join(root, "docs", "images")))(t)
	folder := t.TempDir()
	if os.Getenv("UPDATE") != "" {
		folder = images
	}
	start(t, "--kubeconfig", w.Kubeconfig(w.Config)).plays("pictures", map[string]string{"arn": arn, "namespace": namespace, "folder": folder})
	page := must.Get(os.ReadFile(filepath.Join(root, "docs", "console.md")))(t)
	linked := regexp.MustCompile(`\]\(images/(console-[a-z]+\.png)\)`).FindAllSubmatch(page, -1)
	made := must.Get(filepath.Glob(filepath.Join(folder, "console-*.png")))(t)
	if len(linked) == 0 || len(linked) != len(made) {
		t.Errorf("the page has %d pictures, and the scenario makes %d", len(linked), len(made))
	}
	for _, one := range linked {
		name := string(one[1])
		if width(t, filepath.Join(folder, name)) != width(t, filepath.Join(images, name)) {
			t.Errorf("docs/images/%s has another width than the page now: UPDATE=1 writes it", name)
		}
	}
}

func width(t *testing.T, path string) int {
	t.Helper()
	file := must.Get(os.Open(path))(t)
	defer func() { _ = file.Close() }()
	return must.Get(png.DecodeConfig(file))(t).Width
}
