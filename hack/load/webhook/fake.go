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

// fake serves ServiceAccounts as an API server does: one; all of them, in one piece or in
// pages; and watches, from a version or with all of them to begin with. It writes
// protobuf or JSON, whole objects or their metadata. Nothing ever changes: the
// ServiceAccounts have the versions from 1 on, and all is at that of the last.
type fake struct {
	accounts []*corev1.ServiceAccount
	byPath   map[string]*corev1.ServiceAccount
	listOnly bool
}

func openFake(_ context.Context, s settings, folder string) (kubeconfig string, closed func(), err error) {
	one := &fake{byPath: map[string]*corev1.ServiceAccount{}, listOnly: s.listOnly}
	long := strings.Repeat("x", s.annotation)
	for i := range s.accounts {
		made := stored(i)
		if long != "" {
			made.Annotations["example.com/long"] = long
		}
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
	accept := r.Header.Get("Accept")
	wanted := format{strings.HasPrefix(accept, runtime.ContentTypeProtobuf), strings.Contains(accept, "as=PartialObjectMetadata")}
	if r.URL.Path != "/api/v1/serviceaccounts" {
		one, ok := f.byPath[r.URL.Path]
		if !ok {
			http.NotFound(w, r)
			return
		}
		wanted.header(w, "")
		_ = wanted.write(w, one) // who hung up needs no answer
		return
	}
	asked, err := readQuestion(r.URL.Query(), len(f.accounts), f.listOnly)
	switch {
	case err != nil:
		http.Error(w, err.Error(), err.code)
	case asked.watch:
		f.watch(w, r, wanted, asked)
	default:
		wanted.header(w, "")
		_ = wanted.write(w, f.page(asked))
	}
}

// page is the part of the list that is asked for.
func (f *fake) page(asked question) *corev1.ServiceAccountList {
	end := len(f.accounts)
	list := &corev1.ServiceAccountList{ListMeta: metav1.ListMeta{ResourceVersion: fmt.Sprint(end)}}
	if asked.limit > 0 && asked.from+asked.limit < end {
		rest := int64(end - asked.from - asked.limit)
		end = asked.from + asked.limit
		list.Continue, list.RemainingItemCount = token(end), &rest
	}
	for _, one := range f.accounts[asked.from:end] {
		list.Items = append(list.Items, *one)
	}
	return list
}

// watch tells of what is newer than a version, and of nothing more until its time is over.
func (f *fake) watch(w http.ResponseWriter, r *http.Request, wanted format, asked question) {
	wanted.header(w, ";stream=watch")
	for _, one := range f.accounts[asked.from:] {
		if wanted.event(w, "ADDED", one) != nil {
			return // it hung up
		}
	}
	if asked.initial && wanted.event(w, "BOOKMARK", &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{
		ResourceVersion: fmt.Sprint(len(f.accounts)), Annotations: map[string]string{metav1.InitialEventsAnnotationKey: "true"}}}) != nil {
		return
	}
	w.(http.Flusher).Flush() //nolint:forcetypeassert // net/http's can
	select {
	case <-r.Context().Done():
	case <-time.After(asked.lasts):
	}
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
