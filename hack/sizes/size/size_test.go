package size_test

import (
	"archive/tar"
	"bytes"
	"io"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/static"
	"github.com/google/go-containerregistry/pkg/v1/types"

	"github.com/tabard-dev/tabard/hack/sizes/size"
	"github.com/tabard-dev/tabard/internal/image"
	"github.com/tabard-dev/tabard/internal/testkit/must"
)

// of is an image of a platform, whose layers have this many bytes.
func of(t *testing.T, architecture string, layers ...int) v1.Image {
	t.Helper()
	made := must.Get(mutate.ConfigFile(mutate.MediaType(empty.Image, types.OCIManifestSchema1), &v1.ConfigFile{OS: "linux", Architecture: architecture}))(t)
	for _, bytes := range layers {
		made = must.Get(mutate.AppendLayers(made, static.NewLayer([]byte(strings.Repeat(architecture[:1], bytes)), types.OCILayer)))(t)
	}
	return made
}

// archived is the archive of images, with a document about the first.
func archived(t *testing.T, images ...v1.Image) []byte {
	t.Helper()
	document := must.Get(image.Attach(images[0], image.Document{Type: "application/json", Content: []byte(`{"long":"` + strings.Repeat("d", 5000) + `"}`)}))(t)
	var archive bytes.Buffer
	must.Get(image.ArchiveAll(&archive, image.Named{Reference: "example.com/tabard:v1", Images: images, Documents: []v1.Image{document}}))(t)
	return archive.Bytes()
}

func TestLayersAreCountedByPlatformAndDocumentsAreNot(t *testing.T) {
	for name, test := range map[string]struct {
		archive []byte
		want    map[string]int64
	}{
		"one image":   {archived(t, of(t, "amd64", 1000, 2_000_000)), map[string]int64{"linux/amd64": 2_001_000}},
		"an index":    {archived(t, of(t, "amd64", 1000), of(t, "arm64", 70, 1)), map[string]int64{"linux/amd64": 1000, "linux/arm64": 71}},
		"empty image": {archived(t, of(t, "amd64")), map[string]int64{}},
	} {
		t.Run(name, func(t *testing.T) {
			got := must.Get(size.Pulled(bytes.NewReader(test.archive)))(t)
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("bytes (-want +got):\n%s", diff)
			}
		})
	}
}

func TestAnArchiveThatIsNoneIsAnError(t *testing.T) {
	whole := archived(t, of(t, "amd64", 10))
	var lacking bytes.Buffer
	out := tar.NewWriter(&lacking)
	for in := tar.NewReader(bytes.NewReader(whole)); ; {
		header, err := in.Next()
		if err != nil {
			break
		}
		if header.Name == "index.json" {
			must.Do(t, out.WriteHeader(header))
			must.Get(io.Copy(out, in))(t)
		}
	}
	must.Do(t, out.Close())
	for name, test := range map[string]struct {
		archive []byte
		says    string
	}{
		"nothing":         {nil, "read an index"},
		"cut":             {whole[:515], "read the image's archive"},
		"without content": {lacking.Bytes(), "lacks the manifest"},
	} {
		if _, err := size.Pulled(bytes.NewReader(test.archive)); err == nil || !strings.Contains(err.Error(), test.says) {
			t.Errorf("%s: got error %v, want one that says %q", name, err, test.says)
		}
	}
}

func TestTheTableOfImagesIsReadAsItWasWritten(t *testing.T) {
	images := map[string]map[string]int64{
		"tabard":         {"linux/amd64": 20_500_000, "linux/arm64": 19_000_000},
		"tabard-webhook": {"linux/amd64": 7_240_000, "linux/arm64": 6_999_000},
	}
	table := size.Images(images)
	want := "| image | linux/amd64 | linux/arm64 |\n| --- | --- | --- |\n" +
		"| `tabard` | 20.5 MB | 19.0 MB |\n| `tabard-webhook` | 7.2 MB | 7.0 MB |\n"
	if diff := cmp.Diff(want, table); diff != "" {
		t.Errorf("the table (-want +got):\n%s", diff)
	}
	images["tabard-webhook"] = map[string]int64{"linux/amd64": 7_200_000, "linux/arm64": 7_000_000} // as rounded
	read := must.Get(size.ReadImages("text\n\n" + table + "\n| `other` | 1.0 MB | 2.0 MB |\n"))(t)
	if diff := cmp.Diff(images, read); diff != "" {
		t.Errorf("what was read (-want +got):\n%s", diff)
	}
	for page, says := range map[string]string{
		"no table": "no table of images",
		"\n" + strings.Replace(table, " 7.2 MB |", "", 1):      "1 sizes of the image tabard-webhook, and of 2 platforms",
		"\n" + strings.Replace(table, "7.2 MB", "7.2.1 MB", 1): "read the size of the image tabard-webhook",
	} {
		if _, err := size.ReadImages(page); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("got error %v, want one that says %q", err, says)
		}
	}
}

func TestAllComponentsAreInTheTableThoseThatAreOnFirst(t *testing.T) {
	got := must.Get(size.Requests([]byte(`
image: {tag: ""}
capacity: {enabled: false, replicas: 1, resources: {requests: {cpu: 20m, memory: 64Mi}, limits: {memory: 256Mi}}}
selectors:
  report: {enabled: false, replicas: 3, resources: {requests: {cpu: 1, memory: 1Gi}, limits: {memory: 2Gi}}}
webhook: {enabled: true, replicas: 2, resources: {requests: {cpu: 50m, memory: 32Mi}, limits: {memory: 128Mi}}}
`)))(t)
	want := `| component | on by default | replicas | memory requested | memory limit | CPU requested |
| --- | --- | --- | --- | --- | --- |
| ` + "`webhook`" + ` | yes | 2 | 32Mi | 128Mi | 50m |
| ` + "`capacity`" + ` | no | 1 | 64Mi | 256Mi | 20m |
| ` + "`selectors.report`" + ` | no | 3 | 1Gi | 2Gi | 1 |
`
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("the table (-want +got):\n%s", diff)
	}
	if _, err := size.Requests([]byte("a: {resources: 7, replicas: x}")); err == nil || !strings.Contains(err.Error(), "values of a") {
		t.Errorf("got error %v, want one that names the component", err)
	}
}
