package attack

import (
	"bytes"
	"context"
	"encoding/binary"
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

	"github.com/tabard-dev/tabard/internal/testkit"
	"github.com/tabard-dev/tabard/internal/testkit/must"
)

// Of the attack that the row of long annotations describes.
const (
	fatAccounts   = 5000
	fatAnnotation = 250 << 10
)

// fatCluster is an API server with ServiceAccounts whose annotations are as long as may
// be, more than a gigabyte in all: etcd would not hold them beside anything else. It
// sends a list as API servers do, and a watch in which all change, one after the other.
type fatCluster struct {
	t *testing.T
	// changed is called when a watch has told that all have changed.
	changed func()
}

// send writes all of them, one after the other, each as wrap has it.
func (c fatCluster) send(w io.Writer, wrap func(account []byte) []byte) {
	text := wrap(encoded(c.t, "fat", "fat-00000", "100000", role+strings.Repeat("x", fatAnnotation)))
	name, version := bytes.Index(text, []byte("00000")), bytes.Index(text, []byte("100000"))
	for i := range fatAccounts {
		copy(text[name:], fmt.Appendf(nil, "%05d", i))
		copy(text[version:], fmt.Appendf(nil, "%06d", 100_000+i))
		if _, err := w.Write(text); err != nil {
			return // it hung up
		}
	}
}

// encoded is a ServiceAccount with a role, in protobuf.
func encoded(t *testing.T, namespace, name, version, role string) []byte {
	return must.Get((&corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{
		Namespace: namespace, Name: name, ResourceVersion: version, Annotations: map[string]string{"eks.amazonaws.com/role-arn": role},
	}}).Marshal())(t)
}

// field is one of a message in protobuf.
func field(number protowire.Number, content []byte) []byte {
	return protowire.AppendBytes(protowire.AppendTag(nil, number, protowire.BytesType), content)
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

// list begins with the one of which a pod is asked about.
func (c fatCluster) list(w io.Writer) {
	item := func(account []byte) []byte { return field(2, account) }
	begin := append(field(1, field(2, []byte("200000"))), item(encoded(c.t, "default", "app", "1", role))...)
	size := counter(len(begin))
	c.send(&size, item)
	head := protowire.AppendVarint(protowire.AppendTag([]byte("k8s\x00"), 2, protowire.BytesType), uint64(size)) //nolint:gosec // it counts up
	if _, err := w.Write(append(head, begin...)); err == nil {
		c.send(w, item)
	}
}

// counter counts what is written.
type counter int

func (c *counter) Write(text []byte) (int, error) {
	*c += counter(len(text))
	return len(text), nil
}

func (c fatCluster) watch(w http.ResponseWriter, r *http.Request) {
	c.send(w, func(account []byte) []byte {
		object := append([]byte("k8s\x00"), field(2, account)...)
		event := append(field(1, []byte("MODIFIED")), field(2, field(1, object))...)
		return append(binary.BigEndian.AppendUint32(nil, uint32(len(event))), event...) //nolint:gosec // four bytes of a size
	})
	w.(http.Flusher).Flush() //nolint:forcetypeassert // net/http's can
	c.changed()
	<-r.Context().Done()
}

// TestLongAnnotationsTakeNoMemory: five thousand ServiceAccounts with annotations of 250
// KiB are listed, and all change; meanwhile and afterwards, pods of another have their
// identity, and those of one of them none, with a warning.
func TestLongAnnotationsTakeNoMemory(t *testing.T) {
	changed, tell := context.WithCancel(t.Context())
	server := httptest.NewTLSServer(fatCluster{t, tell})
	defer server.Close()
	defer server.CloseClientConnections()
	ca := filepath.Join(t.TempDir(), "ca.crt")
	write(t, ca, encodeCertificate(server.Certificate().Raw))
	config := &rest.Config{Host: server.URL, BearerToken: "none", TLSClientConfig: rest.TLSClientConfig{CAFile: ca}}
	began := time.Now()
	path := filepath.Join(t.TempDir(), "kubeconfig")
	testkit.WriteKubeconfig(t, path, config)
	w := start(t, path)
	listed := w.peak(t)
	took := time.Since(began)
	client := &http.Client{Transport: trusting(t, w.chain)}
	testkit.Await(t, func() error {
		if is := w.value(t, "tabard_webhook_service_accounts_too_long"); is != fatAccounts {
			return fmt.Errorf("%v are known to be too long", is)
		}
		return nil
	})
	<-changed.Done()
	if answer := ask(t, client, w, "default", "app"); !strings.Contains(answer, `"patch"`) {
		t.Errorf("a pod of another ServiceAccount is answered %s", answer)
	}
	if answer := ask(t, client, w, "fat", "fat-00001"); strings.Contains(answer, `"patch"`) || !strings.Contains(answer, "more than 4096 bytes of annotations") {
		t.Errorf("a pod of one with long annotations is answered %s", answer)
	}
	after := w.peak(t)
	t.Logf("%d ServiceAccounts with %d bytes of annotations: ready after %v with %d MiB, %d MiB at the peak", fatAccounts, fatAnnotation, took, listed, after)
	if after > mostMemory {
		t.Errorf("the webhook took %d MiB, want at most %d", after, mostMemory)
	}
}

// ask asks about a pod of a ServiceAccount.
func ask(t *testing.T, client *http.Client, w *webhook, namespace, account string) string {
	t.Helper()
	question := must.Get(json.Marshal(map[string]any{"kind": "AdmissionReview", "apiVersion": "admission.k8s.io/v1", "request": map[string]any{
		"uid": "1", "namespace": namespace, "object": podOf("x", account, 0)}}))(t)
	request := must.Get(http.NewRequestWithContext(t.Context(), http.MethodPost, "https://"+w.address+"/mutate", bytes.NewReader(question)))(t)
	request.Header.Set("Content-Type", "application/json")
	response, err := client.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close() //nolint:errcheck // it is only read
	text := must.Get(io.ReadAll(response.Body))(t)
	return string(text)
}
