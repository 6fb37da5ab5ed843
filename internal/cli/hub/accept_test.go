package hub

import (
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"strings"
	"testing"

	certificatesv1 "k8s.io/api/certificates/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/tabard-dev/tabard/internal/cli/command"
	core "github.com/tabard-dev/tabard/internal/core/hub"
	"github.com/tabard-dev/tabard/internal/testkit/must"
	"github.com/tabard-dev/tabard/internal/testkit/ocm"
)

// asks makes a ManagedCluster that waits for its acceptance.
func (s spoke) asks(name string, annotations map[string]string) {
	s.Helper()
	cluster := ocm.New(ocm.ManagedCluster, "", name)
	cluster.SetAnnotations(annotations)
	cluster.Object["spec"] = map[string]any{"hubAcceptsClient": false}
	s.Make(cluster)
}

func (s spoke) isAccepted(name string) bool {
	s.Helper()
	cluster := ocm.New(ocm.ManagedCluster, "", name)
	must.Do(s, s.Get(s.Context(), client.ObjectKeyFromObject(cluster), cluster))
	accepted, _, _ := unstructured.NestedBool(cluster.Object, "spec", "hubAcceptsClient")
	return accepted
}

// requests has the agent ask for a certificate, as whom the hub's administrators let it.
func (s spoke) requests(name, cluster, user string) {
	s.Helper()
	agent := s.ClientFor(s.Account(ocm.OperatorNamespace, "agent-registration-bootstrap"))
	must.Do(s, agent.Create(s.Context(), signingRequest(s, name, cluster, user)))
}

// signingRequest is an agent's.
func signingRequest(t testing.TB, name, cluster, user string) *certificatesv1.CertificateSigningRequest {
	t.Helper()
	key := must.Get(ecdsa.GenerateKey(elliptic.P256(), rand.Reader))(t)
	text := must.Get(x509.CreateCertificateRequest(rand.Reader, &x509.CertificateRequest{
		Subject: pkix.Name{CommonName: user, Organization: []string{"system:open-cluster-management:" + cluster, "system:open-cluster-management:managed-clusters"}},
	}, key))(t)
	return &certificatesv1.CertificateSigningRequest{
		ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{core.RequestLabel: cluster}},
		Spec: certificatesv1.CertificateSigningRequestSpec{
			SignerName: "kubernetes.io/kube-apiserver-client", Usages: []certificatesv1.KeyUsage{certificatesv1.UsageClientAuth},
			Request: pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE REQUEST", Bytes: text}),
		},
	}
}

// The hub's own controllers write to certificate signing requests too.
func TestAnApprovalIsMadeAnewWhereAControllerWroteMeanwhile(t *testing.T) {
	times, scheme := 0, runtime.NewScheme()
	must.Do(t, certificatesv1.AddToScheme(scheme))
	cluster := fake.NewClientBuilder().WithScheme(scheme).
		WithObjects(signingRequest(t, "csr-1", "onprem-1", "system:open-cluster-management:onprem-1:agent1")).
		WithInterceptorFuncs(interceptor.Funcs{SubResourceUpdate: func(_ context.Context, _ client.Client, _ string, o client.Object, _ ...client.SubResourceUpdateOption) error {
			if times++; times < 3 {
				return apierrors.NewConflict(certificatesv1.Resource("certificatesigningrequests"), o.GetName(), errors.New("it has been modified"))
			}
			return nil
		}}).Build()
	var out bytes.Buffer
	a := acceptance{streams: command.Streams{Out: &out, Err: &out}, cluster: Cluster{Client: cluster}, unchecked: true}
	if missing, err := a.approve(t.Context(), "onprem-1"); missing != "" || err != nil || times != 3 || strings.Count(out.String(), "csr-1 is approved") != 1 {
		t.Errorf("after %d tries it says %q, %q, %v; want csr-1 approved by the third", times, out.String(), missing, err)
	}
}

func (s spoke) isApproved(name string) bool {
	s.Helper()
	var request certificatesv1.CertificateSigningRequest
	must.Do(s, s.Get(s.Context(), client.ObjectKey{Name: name}, &request))
	return requestOf(&request).Approved
}

// TestAcceptGoesByWhatAClusterSays: those with AWS identity need no certificate, and all others one.
func TestAcceptGoesByWhatAClusterSays(t *testing.T) {
	s := startSpoke(t, "hub")
	s.want(2, "--clusters is missing", "accept")
	s.want(1, "kubectl get managedclusters", "accept", "--clusters", "onprem-1")

	s.asks("onprem-1", map[string]string{core.SuffixAnnotation: suffixB})
	s.asks("eks-1", map[string]string{core.ARNAnnotation: spokeARN, core.SuffixAnnotation: "141fc72f17164e5a28c2b4e384694bae"})
	s.want(0, "onprem-1, which joins with AWS identity and says that it is not in EKS, would be accepted", "accept", "--clusters", "onprem-1", "--dry-run")
	if s.isAccepted("onprem-1") {
		t.Error("a dry run has accepted it")
	}
	s.want(0, "eks-1, which says that it is "+spokeARN+", is accepted", "accept", "--clusters", "onprem-1,eks-1")
	if !s.isAccepted("onprem-1") || !s.isAccepted("eks-1") {
		t.Error("they are not accepted")
	}
	s.want(0, "is accepted already", "accept", "--clusters", "onprem-1")
	s.asks("odd", map[string]string{core.ARNAnnotation: spokeARN})
	s.want(1, core.SuffixAnnotation, "accept", "--clusters", "odd")
	if s.isAccepted("odd") {
		t.Error("a cluster whose annotations nobody understands is accepted")
	}
	s.approves()
	s.waitsToJoin()
}

// approves has clusters that join by certificate.
func (s spoke) approves() {
	s.Helper()
	s.asks("cluster1", nil)
	s.want(1, "kubectl get csr -l open-cluster-management.io/cluster-name=cluster1", "accept", "--clusters", "cluster1")
	s.requests("for-another", "cluster1", "system:open-cluster-management:cluster2:agent1")
	s.want(1, "for-another is left", "accept", "--clusters", "cluster1")
	s.requests("of-cluster1", "cluster1", "system:open-cluster-management:cluster1:agent1")
	s.want(0, "of-cluster1 would be approved", "accept", "--clusters", "cluster1", "--dry-run")
	if s.isApproved("of-cluster1") {
		s.Error("a dry run has approved it")
	}
	s.want(0, "of-cluster1 is approved", "accept", "--clusters", "cluster1")
	if !s.isApproved("of-cluster1") || s.isApproved("for-another") || !s.isAccepted("cluster1") {
		s.Error("what is approved or accepted is not the cluster's own")
	}
	s.want(0, "is accepted already", "accept", "--clusters", "cluster1")
}

// waitsToJoin has a cluster that joins step by step.
func (s spoke) waitsToJoin() {
	s.Helper()
	wait := []string{"accept", "--clusters", "onprem-1", "--wait", "--timeout", "0"}
	s.want(1, "its agent has not joined yet", wait...)
	condition := func(kind, status string) string {
		return `{"type":"` + kind + `","status":"` + status + `","reason":"a","message":"said so","lastTransitionTime":"2026-01-01T00:00:00Z"}`
	}
	cluster := ocm.New(ocm.ManagedCluster, "", "onprem-1")
	s.MergeStatus(cluster, `{"status":{"conditions":[`+condition(core.ClusterAccepted, "True")+`,`+condition(core.ClusterJoined, "True")+`,`+condition(core.ClusterAvailable, "Unknown")+`]}}`)
	s.want(1, "ManagedClusterConditionAvailable is Unknown (a: said so)", wait...)
	s.MergeStatus(cluster, `{"status":{"conditions":[`+condition(core.ClusterAccepted, "True")+`,`+condition(core.ClusterJoined, "True")+`,`+condition(core.ClusterAvailable, "True")+`]}}`)
	if said := s.want(0, "onprem-1 has joined", wait...); strings.Contains(said, "waiting") {
		s.Errorf("it says:\n%s", said)
	}
	s.InstallCRDs(s)
	access := &unstructured.Unstructured{}
	access.SetGroupVersionKind(hubAccesses)
	access.SetName("onprem-1")
	access.Object["spec"] = map[string]any{"clusterUID": "1"}
	s.Make(access)
	s.want(1, "its HubAccess is not ready yet", wait...)
	for _, state := range []struct {
		code                 int
		status, reason, says string
	}{
		{1, "False", "RoleNotOurs", "its HubAccess is not ready: RoleNotOurs: said so"},
		{0, "False", "ManagedIAMDisabled", "onprem-1 has joined"},
		{0, "True", "External", "onprem-1 has joined"},
	} {
		s.MergeStatus(access, `{"status":{"conditions":[`+strings.Replace(condition("Ready", state.status), `"reason":"a"`, `"reason":"`+state.reason+`"`, 1)+`]}}`)
		s.want(state.code, state.says, wait...)
	}
}
