package attack

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tabard-dev/tabard/internal/testkit"
	"github.com/tabard-dev/tabard/internal/testkit/must"
)

// TestTheAPIServerShowsACertificate gives the files of docs/webhook.md to an API server,
// and lets nobody else in; then it lets others in, who take all places of theirs.
func TestTheAPIServerShowsACertificate(t *testing.T) {
	c := shared(t)
	dir, ca := t.TempDir(), newAuthority(t)
	write(t, filepath.Join(dir, "ca.crt"), ca.chain)
	chain, key := ca.client(t, dir, "kube-apiserver")
	files := []string{"--client-ca-file=" + filepath.Join(dir, "ca.crt"), "--client-names=kube-apiserver"}
	shut := start(t, c.Kubeconfig(c.Config), append(files, "--require-client-certificate")...)
	open := start(t, c.Kubeconfig(c.Config), files...)

	shows := c.StartAnother(t, "--admission-control-config-file="+admission(t, dir, chain, key, shut.address, open.address))
	certified := c.In(t)
	certified.WithWatch = c.ClientFor(shows.Config)
	hook(certified, shut)
	if lost, _ := createPods(certified, "certified", 10, 2, 0); lost > 0 {
		t.Errorf("%d of 10 pods lost their identity through an API server that shows its certificate", lost)
	}
	if lost, _ := createPods(c, "uncertified", 3, 1, 0); lost != 3 {
		t.Errorf("%d of 3 pods lost their identity through an API server that shows none, want all: nobody else is let in", lost)
	}
	unhook(c)
	hook(certified, open)
	a := begin(t, "-address", open.address, "-kind", "idle", "-connections", "2000", "-for", "2m")
	a.await(t, "that more have come than there are places for", func(opened, _ int64) bool { return opened >= 2000 })
	lost, longest := createPods(certified, "flooded", 100, 4, 0)
	known := open.value(t, "tabard_webhook_connections_known")
	t.Logf("100 pods: %d without identity, the slowest took %v; %v connections with a certificate; the flood: %s", lost, longest, known, quote(&a.said))
	if lost > 0 || known < 1 {
		t.Errorf("%d of 100 pods lost their identity, %v connections have shown a certificate", lost, known)
	}
}

// admission writes what docs/webhook.md shows, for these addresses.
func admission(t *testing.T, dir, chain, key string, addresses ...string) string {
	t.Helper()
	page := must.Get(os.ReadFile(filepath.Join(testkit.Root(), "docs", "webhook.md")))(t)
	var configuration, access string
	for _, block := range testkit.Blocks(string(page), "yml") {
		switch {
		case strings.Contains(block, "kind: AdmissionConfiguration"):
			configuration = block
		case strings.Contains(block, "tabard-webhook.tabard-system.svc"):
			access = block
		}
	}
	if configuration == "" || access == "" {
		t.Fatal("docs/webhook.md shows no AdmissionConfiguration, or no kubeconfig of it")
	}
	head, user, _ := strings.Cut(access, "- name: tabard-webhook.tabard-system.svc")
	for _, address := range addresses {
		head += fmt.Sprintf("- name: %q%s\n", address, user)
	}
	head = strings.ReplaceAll(strings.ReplaceAll(head, "/etc/kubernetes/webhook/client.crt", chain), "/etc/kubernetes/webhook/client.key", key)
	accessFile, file := filepath.Join(dir, "access.yaml"), filepath.Join(dir, "admission.yaml")
	write(t, accessFile, []byte(head))
	write(t, file, []byte(strings.ReplaceAll(configuration, "/etc/kubernetes/webhook/kubeconfig.yaml", accessFile)))
	return file
}
