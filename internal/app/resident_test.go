package app

import (
	"bytes"
	"context"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/serializer/protobuf"
	"k8s.io/apimachinery/pkg/util/wait"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"

	"github.com/tabard-dev/tabard/internal/testkit"
	"github.com/tabard-dev/tabard/internal/testkit/must"
)

// maxResident is what a replica of the webhook may have in memory at rest, in bytes,
// in a cluster of 20,000 ServiceAccounts.
const maxResident = 30e6

// accountsOf answers as an API server with so many ServiceAccounts, one in ten with a
// role, of which no more is told.
func accountsOf(t *testing.T, count int) http.Handler {
	t.Helper()
	list := &corev1.ServiceAccountList{ListMeta: metav1.ListMeta{ResourceVersion: "1"}}
	for i := range count {
		account := corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: fmt.Sprint("team-", i/100), Name: fmt.Sprint("app-", i), ResourceVersion: "1"}}
		if i%10 == 0 {
			account.Annotations = map[string]string{"eks.amazonaws.com/role-arn": fmt.Sprintf("arn:aws:iam::111122223333:role/app-%d", i)}
		}
		list.Items = append(list.Items, account)
	}
	list.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind("ServiceAccountList"))
	var text bytes.Buffer
	must.Do(t, protobuf.NewSerializer(clientgoscheme.Scheme, clientgoscheme.Scheme).Encode(list, &text))
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Query().Get("watch") != "" {
			w.WriteHeader(http.StatusOK)
			_ = http.NewResponseController(w).Flush()
			<-r.Context().Done()
			return
		}
		w.Header().Set("Content-Type", "application/vnd.kubernetes.protobuf")
		_, _ = w.Write(text.Bytes())
	})
}

// TestAReplicaOfTheWebhookIsSmall is about the program that the webhook's image runs.
func TestAReplicaOfTheWebhookIsSmall(t *testing.T) {
	tabard := os.Getenv("TABARD_BIN")
	if tabard == "" {
		t.Fatal("TABARD_BIN is not set: run make test, or make build and set it to bin/tabard")
	}
	cluster := httptest.NewServer(accountsOf(t, 20_000))
	t.Cleanup(func() { cluster.CloseClientConnections(); cluster.Close() })
	folder, port := t.TempDir(), testkit.FreePort(t)
	writeCertificate(t, folder)
	command := exec.CommandContext(t.Context(), tabard+"-webhook", "webhook", "--bind-address=127.0.0.1", "--port=0",
		fmt.Sprintf("--metrics-port=%d", port), "--kube-api="+cluster.URL, "--memory-limit=256Mi", "--drain-time=0s",
		"--tls-cert="+filepath.Join(folder, "tls.crt"), "--tls-key="+filepath.Join(folder, "tls.key"))
	var log bytes.Buffer
	command.Stderr = &log
	must.Do(t, command.Start())
	t.Cleanup(func() { _ = command.Process.Kill(); _ = command.Wait() })
	err := wait.PollUntilContextTimeout(t.Context(), 50*time.Millisecond, testkit.Patience, true, func(ctx context.Context) (bool, error) {
		request, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+net.JoinHostPort("127.0.0.1", strconv.Itoa(port))+"/readyz", nil)
		if err != nil {
			return false, err
		}
		answer, err := http.DefaultClient.Do(request)
		if err != nil {
			return false, nil //nolint:nilerr // it does not listen yet
		}
		return answer.StatusCode == http.StatusOK, answer.Body.Close()
	})
	if err != nil {
		t.Fatalf("it does not get ready: %v\n%s", err, log.String())
	}
	if got := resident(t, command.Process.Pid); got > maxResident {
		t.Errorf("%.1f MB are resident, want at most %.1f", float64(got)/1e6, maxResident/1e6)
	} else {
		t.Logf("%.1f MB are resident", float64(got)/1e6)
	}
}

// resident is how much of a process is in memory, in bytes.
func resident(t *testing.T, pid int) int {
	t.Helper()
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		t.Fatalf("only Linux tells what is resident: %v", err)
	}
	found := regexp.MustCompile(`VmRSS:\s+(\d+) kB`).FindSubmatch(status)
	if found == nil {
		t.Fatalf("no VmRSS in %s", status)
	}
	kilobytes := must.Get(strconv.Atoi(string(found[1])))(t)
	return kilobytes * 1024
}
