package webhook

import (
	"bytes"
	"context"
	"crypto/tls"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer/protobuf"
	"k8s.io/client-go/kubernetes/scheme"
)

// fake serves ServiceAccounts as an API server does: one, all of them, and
// watches, with or without all of them to begin with; in protobuf or JSON, whole
// or only their metadata. Nothing ever changes.
type fake struct {
	accounts []*corev1.ServiceAccount
	byPath   map[string]*corev1.ServiceAccount
	listOnly bool
}

func openFake(_ context.Context, s settings, folder string) (kubeconfig string, closed func(), err error) {
	one := &fake{byPath: map[string]*corev1.ServiceAccount{}, listOnly: s.listOnly}
	for i := range s.accounts {
		made := stored(i)
		one.accounts = append(one.accounts, made)
		one.byPath["/api/v1/namespaces/"+made.Namespace+"/serviceaccounts/"+made.Name] = made
	}
	chain, key, err := certificate()
	if err != nil {
		return "", nil, err
	}
	pair, err := tls.X509KeyPair(chain, key)
	if err != nil {
		return "", nil, err
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", nil, err
	}
	server := &http.Server{Handler: one, ReadHeaderTimeout: time.Second, TLSConfig: &tls.Config{MinVersion: tls.VersionTLS12, Certificates: []tls.Certificate{pair}}}
	go func() { _ = server.ServeTLS(listener, "", "") }() // it ends with Close
	ca := filepath.Join(folder, "ca.crt")
	if err = os.WriteFile(ca, chain, 0o600); err == nil {
		kubeconfig, err = writeKubeconfig(folder, "https://"+listener.Addr().String(), ca)
	}
	return kubeconfig, func() { _ = server.Close() }, err
}

// format is how a client wants its objects.
type format struct{ protobuf, metadata bool }

func (f *fake) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	accept, query := r.Header.Get("Accept"), r.URL.Query()
	wanted := format{strings.HasPrefix(accept, runtime.ContentTypeProtobuf), strings.Contains(accept, "as=PartialObjectMetadata")}
	switch {
	case r.URL.Path != "/api/v1/serviceaccounts":
		one, ok := f.byPath[r.URL.Path]
		if !ok {
			http.NotFound(w, r)
			return
		}
		wanted.header(w, "")
		_ = wanted.write(w, one) // who hung up needs no answer
	case query.Get("watch") == "":
		wanted.header(w, "")
		_ = wanted.write(w, f.list())
	case query.Get("sendInitialEvents") == "true" && f.listOnly:
		http.Error(w, "sendInitialEvents is forbidden", http.StatusUnprocessableEntity)
	default:
		wanted.header(w, ";stream=watch")
		if query.Get("sendInitialEvents") == "true" && f.stream(w, wanted) != nil {
			return
		}
		w.(http.Flusher).Flush() //nolint:forcetypeassert // net/http's can
		<-r.Context().Done()
	}
}

func (f *fake) version() string { return fmt.Sprint(len(f.accounts)) }

func (f *fake) list() *corev1.ServiceAccountList {
	list := &corev1.ServiceAccountList{ListMeta: metav1.ListMeta{ResourceVersion: f.version()}, Items: make([]corev1.ServiceAccount, len(f.accounts))}
	for i, one := range f.accounts {
		list.Items[i] = *one
	}
	return list
}

// stream sends all ServiceAccounts as events, and the bookmark that ends them.
func (f *fake) stream(w io.Writer, wanted format) error {
	for _, one := range f.accounts {
		if err := wanted.event(w, "ADDED", one); err != nil {
			return err
		}
	}
	return wanted.event(w, "BOOKMARK", &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{
		ResourceVersion: f.version(), Annotations: map[string]string{metav1.InitialEventsAnnotationKey: "true"}}})
}

func (f format) header(w http.ResponseWriter, parameters string) {
	kind := runtime.ContentTypeJSON
	if f.protobuf {
		kind = runtime.ContentTypeProtobuf
	}
	w.Header().Set("Content-Type", kind+parameters)
}

// event is one frame of a watch.
func (f format) event(w io.Writer, kind string, one *corev1.ServiceAccount) error {
	var object bytes.Buffer
	if err := f.write(&object, one); err != nil {
		return err
	}
	event := &metav1.WatchEvent{Type: kind, Object: runtime.RawExtension{Raw: object.Bytes()}}
	if !f.protobuf {
		return json.NewEncoder(w).Encode(event)
	}
	return protobuf.NewRawSerializer(scheme.Scheme, scheme.Scheme).Encode(event, protobuf.LengthDelimitedFramer.NewFrameWriter(w))
}

func (f format) write(w io.Writer, object runtime.Object) error {
	object = f.shape(object)
	if f.protobuf {
		options := protobuf.SerializerOptions{StreamingCollectionsEncoding: true}
		return protobuf.NewSerializerWithOptions(scheme.Scheme, scheme.Scheme, options).Encode(object, w)
	}
	return json.NewEncoder(w).Encode(object)
}

// shape leaves of objects what the client wants, and says what they are.
func (f format) shape(object runtime.Object) runtime.Object {
	switch full := object.(type) {
	case *corev1.ServiceAccount:
		if f.metadata {
			return &metav1.PartialObjectMetadata{TypeMeta: metav1.TypeMeta{APIVersion: "meta.k8s.io/v1", Kind: "PartialObjectMetadata"}, ObjectMeta: full.ObjectMeta}
		}
		typed := *full
		typed.TypeMeta = metav1.TypeMeta{APIVersion: "v1", Kind: "ServiceAccount"}
		return &typed
	case *corev1.ServiceAccountList:
		if !f.metadata {
			full.TypeMeta = metav1.TypeMeta{APIVersion: "v1", Kind: "ServiceAccountList"}
			return full
		}
		list := &metav1.PartialObjectMetadataList{TypeMeta: metav1.TypeMeta{APIVersion: "meta.k8s.io/v1", Kind: "PartialObjectMetadataList"}, ListMeta: full.ListMeta}
		for i := range full.Items {
			list.Items = append(list.Items, metav1.PartialObjectMetadata{ObjectMeta: full.Items[i].ObjectMeta})
		}
		return list
	}
	return object
}

// writeKubeconfig writes one for anybody: this program's API server asks nobody.
func writeKubeconfig(folder, host, ca string) (string, error) {
	path := filepath.Join(folder, "kubeconfig")
	return path, os.WriteFile(path, fmt.Appendf(nil, `apiVersion: v1
kind: Config
current-context: load
contexts: [{name: load, context: {cluster: load, user: load}}]
clusters: [{name: load, cluster: {server: %q, certificate-authority: %q}}]
users: [{name: load, user: {token: load}}]
`, host, ca), 0o600)
}
