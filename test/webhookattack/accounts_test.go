package webhookattack

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"google.golang.org/protobuf/encoding/protowire"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
)

// Of the attack that the row of long annotations describes.
const (
	fatAccounts   = 5000
	fatAnnotation = 250 << 10
)

// fatCluster is an API server with ServiceAccounts whose annotations are as long as may
// be, more than a gigabyte in all: etcd would not hold them beside anything else. It
// sends a list as API servers do, and a watch in which all change, one after the other.
type fatCluster struct{ t *testing.T }

// item is one ServiceAccount. All have the same size.
func (c fatCluster) item(i int) []byte {
	made := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{
		Namespace: "fat", Name: fmt.Sprintf("fat-%05d", i), ResourceVersion: fmt.Sprint(100_000 + i),
		Annotations: map[string]string{"eks.amazonaws.com/role-arn": role + strings.Repeat("x", fatAnnotation)},
	}}
	text, err := made.Marshal()
	if err != nil {
		c.t.Error(err)
	}
	return text
}

// thin is the one of which a pod is asked about.
func (c fatCluster) thin() []byte {
	text, err := (&corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{
		Namespace: "default", Name: "app", ResourceVersion: "1", Annotations: map[string]string{"eks.amazonaws.com/role-arn": role},
	}}).Marshal()
	if err != nil {
		c.t.Error(err)
	}
	return text
}

func (c fatCluster) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	const kind = "application/vnd.kubernetes.protobuf"
	switch {
	case r.URL.Path != "/api/v1/serviceaccounts":
		http.NotFound(w, r)
	case r.URL.Query().Get("watch") != "":
		w.Header().Set("Content-Type", kind+";stream=watch")
		c.watch(w, r)
	default:
		w.Header().Set("Content-Type", kind)
		c.list(w)
	}
}

func (c fatCluster) list(w io.Writer) {
	field := func(number protowire.Number, content []byte) []byte {
		return protowire.AppendBytes(protowire.AppendTag(nil, number, protowire.BytesType), content)
	}
	begin := append(field(1, field(2, []byte("200000"))), field(2, c.thin())...)
	size := len(begin) + fatAccounts*len(field(2, c.item(0)))
	head := protowire.AppendVarint(protowire.AppendTag([]byte("k8s\x00"), 2, protowire.BytesType), uint64(size))
	if _, err := w.Write(append(head, begin...)); err != nil {
		return
	}
	for i := range fatAccounts {
		if _, err := w.Write(field(2, c.item(i))); err != nil {
			return
		}
	}
}

func (c fatCluster) watch(w http.ResponseWriter, r *http.Request) {
	field := func(number protowire.Number, content []byte) []byte {
		return protowire.AppendBytes(protowire.AppendTag(nil, number, protowire.BytesType), content)
	}
	for i := range fatAccounts {
		object := append([]byte("k8s\x00"), field(2, c.item(i))...)
		event := append(field(1, []byte("MODIFIED")), field(2, field(1, object))...)
		size := len(event)
		frame := []byte{byte(size >> 24), byte(size >> 16), byte(size >> 8), byte(size)} //nolint:gosec // four bytes of a size
		if _, err := w.Write(append(frame, event...)); err != nil {
			return
		}
	}
	w.(http.Flusher).Flush() //nolint:forcetypeassert // net/http's can
	<-r.Context().Done()
}

// TestLongAnnotationsTakeNoMemory: five thousand ServiceAccounts with annotations of 250
// KiB are listed, and all change; meanwhile and afterwards, pods of another have their
// identity, and those of one of them none, with a warning.
func TestLongAnnotationsTakeNoMemory(t *testing.T) {
	server := httptest.NewTLSServer(fatCluster{t})
	defer server.Close()
	defer server.CloseClientConnections()
	ca := filepath.Join(t.TempDir(), "ca.crt")
	write(t, ca, encodeCertificate(server.Certificate().Raw))
	config := &rest.Config{Host: server.URL, BearerToken: "none", TLSClientConfig: rest.TLSClientConfig{CAFile: ca}}
	began := time.Now()
	w := start(t, kubeconfig(t, config), "--memory-limit=256Mi")
	listed := peak(t, w.command.Process.Pid)
	took := time.Since(began)
	client := &http.Client{Transport: trusting(t, w.chain)}
	testEventually(t, "all are known to be too long", func(context.Context) error {
		if is := w.value(t, "tabard_webhook_service_accounts_too_long"); is != fatAccounts {
			return fmt.Errorf("there are %v", is)
		}
		return nil
	})
	<-time.After(5 * time.Second) // while all of them change
	if answer := ask(t, client, w, "default", "app"); !strings.Contains(answer, `"patch"`) {
		t.Errorf("a pod of another ServiceAccount is answered %s", answer)
	}
	if answer := ask(t, client, w, "fat", "fat-00001"); strings.Contains(answer, `"patch"`) || !strings.Contains(answer, "more than 4096 bytes of annotations") {
		t.Errorf("a pod of one with long annotations is answered %s", answer)
	}
	after := peak(t, w.command.Process.Pid)
	t.Logf("%d ServiceAccounts with %d bytes of annotations: ready after %v with %d MiB, %d MiB at the peak", fatAccounts, fatAnnotation, took, listed, after)
	if after > mostMemory {
		t.Errorf("the webhook took %d MiB, want at most %d", after, mostMemory)
	}
}

// ask asks about a pod of a ServiceAccount.
func ask(t *testing.T, client *http.Client, w *webhook, namespace, account string) string {
	t.Helper()
	question, err := json.Marshal(map[string]any{"kind": "AdmissionReview", "apiVersion": "admission.k8s.io/v1", "request": map[string]any{
		"uid": "1", "namespace": namespace, "object": podOf("x", account, 0)}})
	if err != nil {
		t.Fatal(err)
	}
	request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "https://"+w.address+"/mutate", bytes.NewReader(question))
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Content-Type", "application/json")
	response, err := client.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close() //nolint:errcheck // it is only read
	text, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
