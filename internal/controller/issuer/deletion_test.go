package issuer_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/tabard-dev/tabard/api/identity/v1alpha1"
	"github.com/tabard-dev/tabard/awsauth/identity"
	core "github.com/tabard-dev/tabard/internal/core/issuer"
)

func noProviders(o *v1alpha1.OIDCIssuer) { o.Spec.Providers = nil }

func retained(o *v1alpha1.OIDCIssuer) { o.Spec.DeletionPolicy = v1alpha1.DeletionPolicyRetain }

// leaveSpec takes all providers out of the spec, and has deletion delete at the
// last moment.
func (s *stage) leaveSpec(t *testing.T) {
	t.Helper()
	s.edit(t, s.bucket, func(o *v1alpha1.OIDCIssuerSpec) { o.Providers = nil })
	s.update(t, s.bucket, func(o *v1alpha1.OIDCIssuerSpec) { o.DeletionPolicy = v1alpha1.DeletionPolicyDelete })
}

// hidden are ways in which a role trusts an issuer by a provider that the
// object's spec does not tell of. Each says whose account the role is in, and
// whether a person made the provider.
var hidden = map[string]struct {
	account string
	byHand  bool
	prepare func(*testing.T, *stage)
}{
	"registered by hand": {testAccount, true, func(t *testing.T, s *stage) {
		s.publish(t, s.bucket, noProviders)
		s.register(t, testAccount, "")
	}},
	"registered by bootstrap and not by the object": {testAccount, false, func(t *testing.T, s *stage) {
		s.publish(t, s.bucket, noProviders)
		s.register(t, testAccount, s.url)
	}},
	"left the spec under Retain": {testAccount, false, func(t *testing.T, s *stage) {
		s.publish(t, s.bucket, retained)
		s.leaveSpec(t)
	}},
	"left the spec under Retain, in another account": {otherAccount, false, func(t *testing.T, s *stage) {
		s.publish(t, s.bucket, func(o *v1alpha1.OIDCIssuer) {
			retained(o)
			o.Spec.Providers[0].AssumeRoleARN = registrar
		})
		s.leaveSpec(t)
	}},
	"deleted and made anew": {testAccount, false, func(t *testing.T, s *stage) {
		s.publish(t, s.bucket, retained)
		s.delete(t, s.bucket)
		s.publish(t, s.bucket, noProviders)
	}},
}

// TestNobodyTakesADeletedIssuersNameOver deletes issuers that a role still
// trusts, and has another account try to make the bucket: while the role keeps
// the deletion waiting, also where the name is to be given up; and when a person
// has let go.
func TestNobodyTakesADeletedIssuersNameOver(t *testing.T) {
	f := newFixture(t)
	f.stage("").letRegister(t)
	number := 0
	for name, variant := range hidden {
		for _, release := range []bool{false, true} {
			number++
			s := f.stage(fmt.Sprintf("takeover-%06d", number))
			t.Run(fmt.Sprintf("%s, releaseName %t", name, release), func(t *testing.T) {
				variant.prepare(t, s)
				role := s.trust(t, variant.account)
				s.delete(t, s.bucket)
				s.edit(t, s.bucket, func(o *v1alpha1.OIDCIssuerSpec) { o.Publication.S3.ReleaseName = release })
				stored, _ := s.pass(t, s.bucket)
				message := wantCondition(t, stored, "DeletionBlocked", metav1.ConditionTrue, core.ReasonProviderTrusted)
				if !strings.Contains(message, "till-"+s.bucket) {
					t.Errorf("the condition says %q, expected it to name the role", message)
				}
				s.wantSafe(t, role)

				s.distrust(t, variant.account)
				if stored = s.goOn(t, s.bucket); variant.byHand {
					message = wantCondition(t, stored, "DeletionBlocked", metav1.ConditionTrue, core.ReasonProviderNotOurs)
					if !strings.Contains(message, "--open-id-connect-provider-arn "+s.provider(testAccount)) {
						t.Errorf("the condition says %q, expected the command", message)
					}
					s.wantSafe(t, role)
					s.unregister(t, testAccount)
					stored = s.goOn(t, s.bucket)
				}
				if stored.Name != "" {
					t.Fatalf("the object is still there: %+v", stored.Status.Conditions)
				}
				switch left := s.look(t); {
				case release && left.Exists:
					t.Errorf("the bucket is %+v, expected its name to be given up", left)
				case release: // and the name is of no use
					if err := s.takeOver(t, role); err == nil || errors.Is(err, errSafe) {
						t.Errorf("the attack ended with %v, expected no role to let the attacker in", err)
					}
				default:
					s.wantSafe(t, role)
				}
			})
		}
	}
}

// wantSafe demands that the attack ends at the bucket's name.
func (s *stage) wantSafe(t *testing.T, role string) {
	t.Helper()
	if err := s.takeOver(t, role); !errors.Is(err, errSafe) {
		t.Errorf("the attack ended with %v, expected it to end at the bucket's name", err)
	}
}

// look is the bucket as its owner sees it.
func (s *stage) look(t *testing.T) core.Bucket {
	t.Helper()
	ref := core.BucketRef{Name: s.bucket, Region: testRegion, AccountID: testAccount}
	seen := s.controller.Observer.AWS.Bucket(t.Context(), identity.Identity{Base: identity.Session, Region: testRegion}, ref, "", false)
	if seen.Fault != nil {
		t.Fatal(seen.Fault)
	}
	return seen
}

// TestATombstoneKeepsTheNameUntilItsIssuerReturns follows a bucket: an account
// that registered the issuer by itself is safe after the deletion; an issuer of
// another URL does not get the bucket; one of the same URL does; and then a
// person gives the name up.
func TestATombstoneKeepsTheNameUntilItsIssuerReturns(t *testing.T) {
	f := newFixture(t)
	s := f.stage("tombstone-4f1c")
	s.publish(t, "first", func(*v1alpha1.OIDCIssuer) {})
	s.register(t, unseenAccount, "")
	role := s.trust(t, unseenAccount)
	if stored := s.delete(t, "first"); stored.Name != "" {
		t.Fatalf("the object is still there: %+v", stored.Status.Conditions)
	}
	left := s.look(t)
	if !left.Tombstone || left.Owner != s.url || left.Keys.Exists || left.Discovery.Exists || left.Policy != nil ||
		left.Access != (core.PublicAccessBlock{BlockPublicACLs: true, IgnorePublicACLs: true, BlockPublicPolicy: true, RestrictPublicBuckets: true}) {
		t.Errorf("the bucket is %+v, expected it closed, empty and marked", left)
	}
	s.wantSafe(t, role)

	s.create(t, "another-url", func(o *v1alpha1.OIDCIssuer) {
		o.Spec.URL, o.Spec.Publication.S3.Bucket, o.Spec.Publication.S3.Prefix = s.url+"/b", s.bucket, "b"
	})
	wantCondition(t, s.settle(t, "another-url"), "IssuerPublished", metav1.ConditionFalse, core.ReasonBucketOfAnotherIssuer)
	if seen := s.look(t); !seen.Tombstone || seen.Owner != s.url {
		t.Errorf("the bucket is %+v, expected it as it was", seen)
	}

	s.publish(t, "second", func(*v1alpha1.OIDCIssuer) {})
	if seen := s.look(t); seen.Tombstone || seen.Owner != s.url {
		t.Errorf("the bucket is %+v, expected it in use", seen)
	}
	s.delete(t, "another-url") // while it waits for the bucket, the name is kept
	s.edit(t, "second", func(o *v1alpha1.OIDCIssuerSpec) { o.Publication.S3.ReleaseName = true })
	s.delete(t, "second")
	if seen := s.look(t); seen.Exists {
		t.Errorf("the bucket is %+v, expected its name to be given up", seen)
	}
	if err := f.client.Get(t.Context(), client.ObjectKey{Name: "second"}, &v1alpha1.OIDCIssuer{}); client.IgnoreNotFound(err) != nil || err == nil {
		t.Errorf("the object is still there (%v)", err)
	}
}
