package lab

import (
	"crypto/x509"
	"encoding/pem"
	"net/netip"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/tabard-dev/tabard/internal/lab/node"
	"github.com/tabard-dev/tabard/internal/testkit/must"
)

// withNode is the example with a node.
func withNode(dir string) Lab {
	lab := example(dir)
	lab.Ports.Scheduler = 20007
	lab.Node = &node.Node{
		Name: "lab-node", Cgroup: "tabard-lab-1", Link: "tabard-1", Host: netip.MustParseAddr("10.128.2.1"),
		Address: netip.MustParseAddr("10.128.2.2"), Pods: netip.MustParsePrefix("10.128.3.0/24"),
	}
	return lab
}

func TestPodsReachTheAPIServerAndTheLocalAWSOnly(t *testing.T) {
	lab := withNode("/d")
	var exposed []string
	for _, name := range lab.Components() {
		command := strings.Join(lab.command(name), " ")
		if strings.Contains(command, "0.0.0.0") {
			t.Errorf("%s listens everywhere: %s", name, command)
		}
		if strings.Contains(command, "10.128.2.1") {
			exposed = append(exposed, name)
		}
	}
	// The API server names the issuer, the local AWS and itself.
	if diff := cmp.Diff([]string{LocalAWS, APIServer}, exposed); diff != "" {
		t.Errorf("at the machine's address on the cable (-want +got):\n%s", diff)
	}
	for what, got := range map[string]string{"issuer": lab.IssuerURL(), "AWS": lab.AWSURL(), "API server": lab.APIServerURL()} {
		if !strings.HasPrefix(got, "https://10.128.2.1:") {
			t.Errorf("the %s is at %s", what, got)
		}
	}
}

func TestWhoRunsOnTheNode(t *testing.T) {
	lab := withNode("/d")
	var inside []string
	for _, name := range lab.Components() {
		if slices.Contains(lab.command(name), NodeExec) {
			inside = append(inside, name)
		}
	}
	if diff := cmp.Diff([]string{Containerd, Kubelet, Proxy}, inside); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if first := lab.Components()[0]; first != Holder {
		t.Errorf("%s starts first, want the holder: the others listen at an address that it makes", first)
	}
}

func TestANodesCertificatesNameItsAddresses(t *testing.T) {
	lab := withNode(t.TempDir())
	must.Do(t, lab.makeFolders())
	must.Do(t, lab.ensureKeys(time.Now()))
	for _, test := range []struct{ file, name, group, address string }{
		{"kube-apiserver", "kube-apiserver", "", node.ServiceAddress},
		{"kube-apiserver", "kube-apiserver", "", "10.128.2.1"},
		{Kubelet, "system:node:lab-node", "system:nodes", "10.128.2.2"},
		{Proxy, "system:kube-proxy", "", "127.0.0.1"},
	} {
		text := must.Get(os.ReadFile(lab.pki(test.file + ".crt")))(t)
		block, _ := pem.Decode(text)
		certificate := must.Get(x509.ParseCertificate(block.Bytes))(t)
		if certificate.Subject.CommonName != test.name || strings.Join(certificate.Subject.Organization, " ") != test.group {
			t.Errorf("%s is %s, want %s in %q", test.file, certificate.Subject, test.name, test.group)
		}
		if err := certificate.VerifyHostname(test.address); err != nil {
			t.Errorf("%s: %v", test.file, err)
		}
	}
}

func TestTheHolderIsKnownByItsCommand(t *testing.T) {
	for line, want := range map[string]bool{
		"/bin/tabard\x00lab\x00pause\x00":                    true,
		"/bin/tabard\x00lab\x00node-init\x00--dir\x00/d\x00": false,
		"": false,
	} {
		if got := isPause([]byte(line)); got != want {
			t.Errorf("%q: got %v, want %v", line, got, want)
		}
	}
}
