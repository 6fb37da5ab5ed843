package webhook

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer/protobuf"
	"k8s.io/client-go/kubernetes/scheme"

	"github.com/tabard-dev/tabard/internal/testkit/must"
)

// account is a ServiceAccount as an API server keeps it.
func account(namespace, name, version string, annotations map[string]string) *corev1.ServiceAccount {
	return &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{
		Namespace: namespace, Name: name, ResourceVersion: version, Annotations: annotations,
		UID: "705ab4f5-6393-11e8-b7cc-42010a800002", Generation: 1 << 40, Labels: map[string]string{"a": "b"},
		CreationTimestamp: metav1.Unix(900_000_000, 0), Finalizers: []string{"f"},
		ManagedFields: []metav1.ManagedFieldsEntry{{Manager: "kubectl", FieldsV1: metav1.NewFieldsV1(`{"f:metadata":{}}`)}},
	}, Secrets: []corev1.ObjectReference{{Name: "token"}}}
}

// encode writes an object as an API server does.
func encode(t testing.TB, written runtime.Object) []byte {
	t.Helper()
	var text bytes.Buffer
	serializer := protobuf.NewSerializerWithOptions(scheme.Scheme, scheme.Scheme, protobuf.SerializerOptions{StreamingCollectionsEncoding: true})
	must.Do(t, serializer.Encode(written, &text))
	return text.Bytes()
}

// frame writes an event of a watch as an API server does.
func frame(t testing.TB, kind string, written runtime.Object) []byte {
	t.Helper()
	var text bytes.Buffer
	event := &metav1.WatchEvent{Type: kind, Object: runtime.RawExtension{Raw: encode(t, written)}}
	writer := protobuf.LengthDelimitedFramer.NewFrameWriter(&text)
	must.Do(t, protobuf.NewRawSerializer(scheme.Scheme, scheme.Scheme).Encode(event, writer))
	return text.Bytes()
}

// told is what is read of an object, as texts.
type told struct {
	Kind, Namespace, Name, Version string
	Created                        int64
	Annotations                    map[string]string
}

func tell(t testing.TB, kind string, seen object) told {
	t.Helper()
	got := told{Kind: kind, Namespace: string(seen.namespace), Name: string(seen.name), Version: string(seen.version), Created: seen.created}
	err := seen.eachAnnotation(func(name, value []byte) {
		if got.Annotations == nil {
			got.Annotations = map[string]string{}
		}
		got.Annotations[string(name)] = string(value)
	})
	if err != nil {
		t.Error(err)
	}
	return got
}

func wanted(kind string, of *corev1.ServiceAccount) told {
	return told{kind, of.Namespace, of.Name, of.ResourceVersion, of.CreationTimestamp.Unix(), of.Annotations}
}

func TestListsAreReadAsTheyArrive(t *testing.T) {
	t.Parallel()
	list := &corev1.ServiceAccountList{ListMeta: metav1.ListMeta{ResourceVersion: "77"}, Items: []corev1.ServiceAccount{
		*account("shop", "app", "5", map[string]string{"eks.amazonaws.com/role-arn": role, "x": ""}),
		*account("shop", "bare", "6", nil),
		*account("big", "one", "7", map[string]string{"x": strings.Repeat("y", 300<<10)}),
	}}
	text := encode(t, list)
	for name, source := range map[string]io.Reader{"at once": bytes.NewReader(text), "byte by byte": &slowly{text}} {
		var got, want []told
		version, err := readList(source, func(seen object) error {
			got = append(got, tell(t, "", seen))
			return nil
		})
		if err != nil || version != "77" {
			t.Errorf("%s: version %q, error %v", name, version, err)
		}
		for i := range list.Items {
			want = append(want, wanted("", &list.Items[i]))
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
	for cut := range 2000 { // no part of a list is taken for a whole one
		if _, err := readList(bytes.NewReader(text[:cut]), func(object) error { return nil }); err == nil {
			t.Errorf("a list cut after %d of %d bytes was read without error", cut, len(text))
		}
	}
}

// slowly gives one byte at a time.
type slowly struct{ text []byte }

func (s *slowly) Read(into []byte) (int, error) {
	if len(s.text) == 0 {
		return 0, io.EOF
	}
	into[0], s.text = s.text[0], s.text[1:]
	return 1, nil
}

func TestAnEmptyListIsAList(t *testing.T) {
	t.Parallel()
	text := encode(t, &corev1.ServiceAccountList{ListMeta: metav1.ListMeta{ResourceVersion: "1"}})
	version, err := readList(bytes.NewReader(text), func(object) error { return errors.New("an item") })
	if err != nil || version != "1" {
		t.Errorf("version %q, error %v", version, err)
	}
}

func TestEventsAreRead(t *testing.T) {
	t.Parallel()
	added := account("shop", "app", "5", map[string]string{"eks.amazonaws.com/role-arn": role})
	gone := account("shop", "bare", "6", nil)
	text := append(frame(t, "ADDED", added), frame(t, "DELETED", gone)...)
	var got []told
	err := readEvents(bytes.NewReader(text), func(kind string, message []byte) error {
		seen, err := readObject(message)
		if err != nil {
			return err
		}
		got = append(got, tell(t, kind, seen))
		return nil
	})
	if err != nil {
		t.Error(err)
	}
	if diff := cmp.Diff([]told{wanted("ADDED", added), wanted("DELETED", gone)}, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if err := readEvents(bytes.NewReader(text[:len(text)-1]), func(string, []byte) error { return nil }); err == nil {
		t.Error("an event cut short was no error")
	}
	huge := []byte{0x7f, 0, 0, 0}
	if err := readEvents(bytes.NewReader(huge), func(string, []byte) error { return nil }); err == nil || !strings.Contains(err.Error(), "expected at most") {
		t.Errorf("an event of 2 GB: %v", err)
	}
}

// FuzzReadObject compares with Kubernetes' own reader: where that reads a
// ServiceAccount, this one reads the same; and no bytes stop either.
func FuzzReadObject(f *testing.F) {
	for _, seed := range []*corev1.ServiceAccount{account("shop", "app", "5", map[string]string{"a": "b", "": "c"}), {}} {
		text := must.Get(seed.Marshal())(f)
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		var want corev1.ServiceAccount
		ours, err := readObject(text)
		if want.Unmarshal(text) != nil || err != nil {
			return
		}
		again, err := want.Marshal()
		if err != nil || !bytes.Equal(again, text) {
			return // written in a way that no API server writes
		}
		got, expected := tell(t, "", ours), wanted("", &want)
		if want.CreationTimestamp.IsZero() {
			expected.Created = got.Created
		}
		if len(expected.Annotations) == 0 {
			expected.Annotations = nil
		}
		if diff := cmp.Diff(expected, got); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	})
}

// FuzzReadList demands that no bytes stop the reader of lists or watches.
func FuzzReadList(f *testing.F) {
	f.Add(encode(f, &corev1.ServiceAccountList{Items: []corev1.ServiceAccount{*account("shop", "app", "5", nil)}}))
	f.Add(frame(f, "ADDED", account("shop", "app", "5", nil)))
	f.Fuzz(func(_ *testing.T, text []byte) {
		known := newStore(newInterest("eks.amazonaws.com/role-arn"))
		_, _ = readList(bytes.NewReader(text), known.put) // only that they end
		_ = readEvents(bytes.NewReader(text), func(_ string, message []byte) error {
			_, err := readObject(message)
			return err
		})
	})
}

func TestOfASecretOnlyThePairIsRead(t *testing.T) {
	t.Parallel()
	secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: "cert"}, Data: map[string][]byte{
		"ca.crt": []byte("authority"), "ca.key": []byte("secret"), "tls.crt": []byte("chain"), "tls.key": []byte("key")}}
	message := must.Get(opened(encode(t, secret)))(t)
	chain, key, err := readPair(message, "tls.crt", "tls.key")
	if err != nil || string(chain) != "chain" || string(key) != "key" {
		t.Errorf("chain %q, key %q, error %v", chain, key, err)
	}
}

func TestASecretIsTakenOver(t *testing.T) {
	t.Parallel()
	chain, key := pair(t, time.Now().Add(time.Hour))
	secretOf := func(data map[string][]byte) object {
		message := must.Get(opened(encode(t, &corev1.Secret{Data: data})))(t)
		return object{message: message}
	}
	s := testServer(t, fakeAccounts{}, nil)
	sink := secretSink{s.serving, s.log}
	steps := []struct {
		name   string
		data   map[string][]byte
		loaded bool
	}{
		{"an empty one is waited for", nil, false},
		{"a full one is loaded", map[string][]byte{"tls.crt": chain, "tls.key": key}, true},
		{"a broken one leaves what there was", map[string][]byte{"tls.crt": []byte("x"), "tls.key": key}, true},
		{"one that is emptied does, too", nil, true},
	}
	for _, step := range steps {
		if err := sink.put(secretOf(step.data)); err != nil {
			t.Errorf("%s: %v", step.name, err)
		}
		if loaded := s.serving.current.Load() != nil; loaded != step.loaded {
			t.Errorf("%s: loaded is %t", step.name, loaded)
		}
	}
}
