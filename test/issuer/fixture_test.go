// Package issuer tests the issuer's controller on a lab, as its users run it: what
// befalls a cluster, what is said of it then, and how it is mended.
package issuer

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/iam"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/tabard-dev/tabard/api/identity/v1alpha1"
	"github.com/tabard-dev/tabard/internal/testkit"
	"github.com/tabard-dev/tabard/internal/testkit/must"
	"github.com/tabard-dev/tabard/internal/testkit/onlab"
	"github.com/tabard-dev/tabard/test/e2e"
)

// Steps of the story up to which a lab is brought.
const (
	beforeBootstrap = 2
	afterBootstrap  = 3
	afterOperator   = 4
	afterRole       = 5
)

// scenario is a lab in which the story was told up to a step.
type scenario struct {
	*testing.T
	*e2e.Story
}

// open starts one, which the end of the test takes down.
func open(t *testing.T, upTo int) scenario {
	t.Helper()
	story := must.Get(e2e.Programs(testkit.Root(), t.TempDir(), t.Output()))(t)
	t.Cleanup(func() {
		if err := story.Down(context.WithoutCancel(t.Context()), false); err != nil {
			t.Errorf("take the lab down: %v", err)
		}
	})
	s := scenario{t, story}
	t.Cleanup(s.wantDiscreet)
	s.tell(0, upTo)
	return s
}

// secret is what no log and no object tells: the payload of a token, and a private key.
var secret = regexp.MustCompile(`eyJ[\w-]{8,}\.eyJ[\w-]{8,}|BEGIN [A-Z ]*PRIVATE KEY`)

// wantDiscreet looks for secrets in what Tabard said, at the lab's end: the log of the
// publisher, its events, and the issuers with their conditions.
func (s scenario) wantDiscreet() {
	ctx := context.WithoutCancel(s.Context())
	objects, err := s.Kubectl(ctx, "get", "oidcissuers,events", "-A", "-o", "yaml")
	if err != nil {
		s.Logf("no objects are looked at for secrets: %v", err) // the lab has not come so far
	}
	said := map[string]string{"the objects": objects}
	for _, path := range must.Get(filepath.Glob(filepath.Join(s.Dir, "logs", "tabard*.log")))(s) {
		said[path] = string(must.Get(os.ReadFile(path))(s))
	}
	for where, text := range said {
		if at := secret.FindStringIndex(text); at != nil {
			s.Errorf("a secret is told by %s: %.60s", where, text[at[0]:])
		}
	}
}

// tell goes on with the story.
func (s scenario) tell(after, upTo int) {
	s.Helper()
	for _, step := range e2e.Steps()[after:upTo] {
		if err := step.Run(s.Story, s.Context()); err != nil {
			s.Fatalf("%s: %v", step.Title, err)
		}
	}
}

// must ends the test on an error. What a program printed is shown.
func (s scenario) must(out string, err error) {
	s.Helper()
	if err != nil {
		s.Fatalf("%v\n%s", err, out)
	}
}

// install applies Tabard's manifests, in a lab in which no step of the story has.
func (s scenario) install() {
	s.Helper()
	for _, folder := range []string{"crd", "manifests", "rbac"} {
		s.must(s.Kubectl(s.Context(), "apply", "-f", filepath.Join(testkit.Root(), "config", folder)))
	}
}

func (s scenario) bootstrap() (string, error) {
	return s.RunTabard(s.Context(), "issuer", "bootstrap", "-f", s.IssuerManifest())
}

// repair starts what does not run of the lab.
func (s scenario) repair() {
	s.Helper()
	s.must("", s.Up(s.Context()))
}

func (s scenario) stopOperator() {
	s.Helper()
	s.must("", s.Stop(s.Context(), "tabard-issuer"))
}

func (s scenario) startOperator() {
	s.Helper()
	s.must("", s.DetachIssuer(s.Context()))
}

// look has the operator look at once, which it otherwise does twice a minute.
func (s scenario) look() {
	s.Helper()
	s.must(s.Kubectl(s.Context(), "annotate", "--overwrite", "oidcissuer", e2e.IssuerName, "tabard.dev/look="+fmt.Sprint(time.Now().UnixNano())))
}

// until waits until the OIDCIssuer is as wanted; nil says so.
func (s scenario) until(want func(v1alpha1.OIDCIssuer) error) error {
	return onlab.Eventually(s.Context(), testkit.Patience, func(ctx context.Context) error {
		issuer, err := s.Issuer(ctx)
		if err != nil {
			return err
		}
		return want(issuer)
	})
}

// condition waits until a condition is as wanted and says a text.
func (s scenario) condition(kind, says string, is func(metav1.Condition) bool) {
	s.Helper()
	message, err := s.awaitCondition(kind, says, is)
	s.must(message, err)
}

// awaitCondition is condition for another goroutine. It returns what the condition says.
func (s scenario) awaitCondition(kind, says string, is func(metav1.Condition) bool) (message string, err error) {
	return message, s.until(func(issuer v1alpha1.OIDCIssuer) error {
		c := meta.FindStatusCondition(issuer.Status.Conditions, kind)
		if c == nil || !is(*c) || !strings.Contains(c.Message, says) {
			return fmt.Errorf("%s is %+v, want it otherwise, and saying %q", kind, c, says)
		}
		s.Logf("%s=%s %s: %s", kind, c.Status, c.Reason, c.Message)
		message = c.Message
		return nil
	})
}

func (s scenario) ready() {
	s.Helper()
	s.must("", s.IssuerReady(s.Context()))
}

// gone waits until the OIDCIssuer is.
func (s scenario) gone() {
	s.Helper()
	s.must("", onlab.Eventually(s.Context(), testkit.Patience, func(ctx context.Context) error {
		_, err := s.Issuer(ctx)
		switch {
		case apierrors.IsNotFound(err):
			return nil
		case err != nil:
			return err
		}
		return errors.New("the OIDCIssuer is still there")
	}))
}

// keyIDs are the keys in the issuer's status.
func (s scenario) keyIDs() map[string]bool {
	s.Helper()
	issuer, err := s.Issuer(s.Context())
	s.must("", err)
	out := map[string]bool{}
	for _, key := range issuer.Status.Keys {
		out[key.KeyID] = true
	}
	return out
}

// wantProviders demands that the account has so many.
func (s scenario) wantProviders(want int) {
	s.Helper()
	list, err := iam.NewFromConfig(s.Admin).ListOpenIDConnectProviders(s.Context(), &iam.ListOpenIDConnectProvidersInput{})
	s.must("", err)
	if got := len(list.OpenIDConnectProviderList); got != want {
		s.Fatalf("there are %d providers, want %d", got, want)
	}
}
