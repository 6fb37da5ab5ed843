package webhook

import (
	"context"
	"crypto/rand"
	"encoding/pem"
	"fmt"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	corev1 "k8s.io/api/core/v1"

	"github.com/tabard-dev/tabard/internal/controller"
	controlled "github.com/tabard-dev/tabard/internal/controller/certificate"
	"github.com/tabard-dev/tabard/internal/core/certificate"
)

// TestANewCAIsProvedWithEachCloud: the operator's dry-run pod gets an identity of
// whichever cloud is on, with the hooks of its manifest.
func TestANewCAIsProvedWithEachCloud(t *testing.T) {
	shared(t).MakeNamespaces(probe)
	for manifest, args := range map[string][]string{
		"webhook.yaml":              nil,
		"clouds/webhook-azure.yaml": {"--clouds=azure", "--azure-tenant-id=22222222-0000-0000-0000-000000000000"},
		"clouds/webhook-gcp.yaml":   {"--clouds=gcp"},
		"clouds/webhook-all.yaml":   {"--clouds=aws,azure,gcp", "--azure-tenant-id=22222222-0000-0000-0000-000000000000"},
	} {
		t.Run(manifest, func(t *testing.T) {
			server := shared(t)
			c := newCluster(t, server, manifest, probe)
			account := shipped[corev1.ServiceAccount](t, manifest, "ServiceAccount", probe)
			c.create(account)
			defer server.Remove(account)
			fingerprint := c.putProbe()
			c.awaitReady(c.replica("webhook", args...))
			runs := controlled.DryRuns{
				Servers: func(context.Context) ([]controller.APIServer, error) {
					return []controller.APIServer{{Address: "it", Config: c.config}}, nil
				},
				Metrics: controlled.NewMetrics(prometheus.NewRegistry()), Now: time.Now,
			}
			labels, last := controlled.LabelsFor(hooks(t, manifest, c.balancer.address, nil).Webhooks), ""
			defer func() { t.Log(last) }()
			c.await("the proof", func(ctx context.Context) bool {
				found := runs.Look(ctx, fingerprint, labels)
				last = fmt.Sprintf("%+v", found)
				return len(found) == 1 && found[0].Verdict == certificate.Trusted
			})
		})
	}
}

// putProbe stores a certificate whose authority is about to be exchanged, with the
// probe certificate of the new one, of which it answers the fingerprint.
func (c *cluster) putProbe() string {
	c.t.Helper()
	var data map[string][]byte
	var err error
	for _, step := range []certificate.Step{
		certificate.IssueAll{Names: "127.0.0.1"}, certificate.IssueAuthority{}, certificate.IssueProbe{Names: "localhost"},
	} {
		if data, err = certificate.Apply(step, data, time.Now(), rand.Reader); err != nil {
			c.t.Fatal(err)
		}
	}
	c.serve(data)
	block, _ := pem.Decode(data[certificate.ProbeKey])
	return certificate.Fingerprint(block.Bytes)
}
