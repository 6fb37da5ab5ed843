package instancetype_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"

	"github.com/tabard-dev/tabard/awsauth"
	"github.com/tabard-dev/tabard/awsauth/identity"
	source "github.com/tabard-dev/tabard/internal/cloud/instancetype"
	"github.com/tabard-dev/tabard/internal/core/fault"
	"github.com/tabard-dev/tabard/internal/core/instancetype"
)

// secrets is a cluster with one Secret.
type secrets struct {
	mu   sync.Mutex
	data map[string][]byte
	err  error
}

func (s *secrets) set(data map[string][]byte, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.data, s.err = data, err
}

func (s *secrets) Secret(context.Context, identity.SecretRef) (awsauth.SecretContent, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return awsauth.SecretContent{Version: fmt.Sprint(s.data), Data: s.data}, s.err
}

func (s *secrets) Bundle(context.Context, identity.BundleRef) ([]byte, error) {
	return nil, awsauth.ErrNotFound
}

// TestASecretThatIsGoneIsToldWhileTheListIsKept: AWS is not asked for a day, and the
// Secret is amiss before.
func TestASecretThatIsGoneIsToldWhileTheListIsKept(t *testing.T) {
	l := newLab(t, "us-east-1")
	pages, key := l.pages(t), l.aws.Administrator(account)
	good := map[string][]byte{"aws_access_key_id": []byte(key.AccessKeyID), "aws_secret_access_key": []byte(key.SecretAccessKey)}
	cluster := &secrets{data: good}
	l.follow(t, cluster)
	types := l.with(source.Options{})
	who := identity.Identity{Base: identity.Secret, Secret: identity.SecretRef{Namespace: "machines", Name: "keys"}}
	for _, step := range []struct {
		what string
		data map[string][]byte
		err  error
		code string
	}{
		{"there", good, nil, ""},
		{"gone", nil, fmt.Errorf("secrets %w", awsauth.ErrNotFound), "SecretNotFound"},
		{"there again", good, nil, ""},
		{"broken", map[string][]byte{"aws_access_key_id": []byte("AKIA")}, nil, "SecretInvalid"},
		{"not to be read just now", nil, errors.New("the API server is busy"), ""},
	} {
		cluster.set(step.data, step.err)
		got, err := types.Get(t.Context(), who, ask("m5.large", "us-east-1"))
		known, _ := errors.AsType[fault.Fault](err)
		if want := map[bool]instancetype.Answer{true: large}[step.code == ""]; got != want || known.Code != step.code {
			t.Errorf("while the Secret is %s: got %+v, %v; want the code %q", step.what, got, err, step.code)
		}
	}
	if calls := l.calls(); len(calls) != pages {
		t.Errorf("AWS was asked anew: %v", calls)
	}
}

// follow has the adapter know who to be from a cluster.
func (l *lab) follow(t *testing.T, cluster awsauth.Source) {
	t.Helper()
	var err error
	if l.auth, err = awsauth.New(awsauth.Options{Source: cluster}); err != nil {
		t.Fatal(err)
	}
}

func TestTheBundleIsNamedToWhichAnAuthorityIsToBeAdded(t *testing.T) {
	l := newLab(t, "us-east-1")
	stranger := httptest.NewUnstartedServer(http.NotFoundHandler())
	stranger.Config.ErrorLog = log.New(io.Discard, "", 0) // of handshakes that end
	stranger.StartTLS()
	t.Cleanup(stranger.Close)
	t.Setenv("AWS_ENDPOINT_URL", stranger.URL)
	l.follow(t, &secrets{})
	bundle := identity.BundleRef{Namespace: "openshift-config-managed", Name: "kube-cloud-config", Key: "ca-bundle.pem"}
	const unknown = "the endpoint's certificate is signed by an unknown authority; add that authority to "
	for want, who := range map[string]identity.Identity{
		unknown + "AWS_CA_BUNDLE": person,
		unknown + "ca-bundle.pem of the ConfigMap openshift-config-managed/kube-cloud-config": {Base: person.Base, CABundle: bundle},
	} {
		for _, region := range []string{"us-east-1", "us-foo-9"} { // the list of types, and that of regions
			_, err := l.with(source.Options{}).Get(t.Context(), who, ask("m5.large", region))
			if known, _ := errors.AsType[fault.Fault](err); known.Message != want {
				t.Errorf("in %s: %v, want %q", region, err, want)
			}
		}
	}
}
