package main

import (
	"io"
	"log"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-containerregistry/pkg/name"
	registryserver "github.com/google/go-containerregistry/pkg/registry"
	"github.com/google/go-containerregistry/pkg/v1/remote"

	"github.com/tabard-dev/tabard/internal/testkit"
	"github.com/tabard-dev/tabard/internal/testkit/must"
)

// typed runs commands of a page in a checkout, for one platform.
func typed(t *testing.T, checkout, commands string) string {
	t.Helper()
	shell := exec.CommandContext(t.Context(), "bash", "-euo", "pipefail", "-c", commands)
	shell.Dir, shell.Env = checkout, append(os.Environ(), "RELEASE_PLATFORMS=linux/amd64")
	said, err := shell.CombinedOutput()
	if err != nil {
		t.Fatalf("%v of the page's\n%s\n%s", err, commands, said)
	}
	return string(said)
}

// The commands are typed in a clone, because a release is refused in a checkout with changes.
func TestLongTheCommandsOfThePageOnReleasesMakeAndPushOne(t *testing.T) {
	page := string(must.Get(os.ReadFile("../../docs/releasing.md"))(t))
	server := httptest.NewServer(registryserver.New(registryserver.Logger(log.New(io.Discard, "", 0))))
	t.Cleanup(server.Close)
	to := strings.TrimPrefix(server.URL, "http://") + "/team"
	blocks := testkit.Blocks(strings.ReplaceAll(page, "registry.example.com/team", to), "sh")
	if len(blocks) != 5 {
		t.Fatalf("docs/releasing.md has %d blocks of commands, this test types 5", len(blocks))
	}
	checkout := filepath.Join(t.TempDir(), "tabard")
	typed(t, ".", "git clone --quiet ../.. "+checkout)
	for _, commands := range blocks[:3] {
		typed(t, checkout, commands+"\n"+commands)
	}
	chart := regexp.MustCompile(`dist/\S+\.tgz`).FindString(blocks[3])
	if _, err := os.Stat(filepath.Join(checkout, chart)); err != nil {
		t.Errorf("helm install is told of a chart that is not there: %v", err)
	}
	applied := typed(t, checkout, strings.Replace(blocks[4], "kubectl apply -f -", "cat", 1))
	images := regexp.MustCompile(`(?m)^\s*(?:- )?image: (\S+)$`).FindAllStringSubmatch(applied, -1)
	if len(images) == 0 {
		t.Fatal("the manifests that are applied name no image")
	}
	for _, image := range images {
		if !strings.HasPrefix(image[1], to+"/") {
			t.Errorf("the manifests name %s, want an image in %s", image[1], to)
		} else if _, err := remote.Head(must.Get(name.ParseReference(image[1]))(t)); err != nil {
			t.Errorf("the manifests name an image that was not pushed: %v", err)
		}
	}
}
