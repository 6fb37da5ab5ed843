package credentials_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/tabard-dev/tabard/api/identity/v1alpha1"
	"github.com/tabard-dev/tabard/internal/controller/credentials"
	core "github.com/tabard-dev/tabard/internal/core/credentials"
	"github.com/tabard-dev/tabard/internal/testkit/must"
)

// TestNoRequestReachesWhatTabardIs: whatever its CredentialsBoundary says, which here is all
// that a ceiling can, where the permissions boundary denies nothing. "keys" is the bucket of the
// issuer.
func TestNoRequestReachesWhatTabardIs(t *testing.T) {
	const publisher = "arn:aws:iam::" + testAccount + ":role/tabard/publisher"
	f := newFixture(t)
	f.bound(document("*", "*"))
	f.options = func(o *credentials.Options) {
		o.Own = credentials.OwnConfigs{Reader: f.Cluster, Namespace: f.namespace, Names: []string{"tabard-issuer", "tabard-credentials"}}
	}
	f.start(t)
	config := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: f.namespace, Name: "tabard-issuer"}, Data: map[string]string{"roleARN": publisher}}
	must.Do(t, f.Create(t.Context(), config))
	boundary := &v1alpha1.CredentialsBoundary{ObjectMeta: metav1.ObjectMeta{Name: f.namespace}}
	f.Merge(boundary, fmt.Sprintf(`{"spec":{"aws":{"ceiling":%q}}}`, `{"Version":"2012-10-17","Statement":[
		{"Effect":"Allow","Action":["s3:PutObject","s3:GetObject"],"Resource":"*"},{"Effect":"Allow","Action":["iam:PutRolePolicy","iam:GetRole","sts:AssumeRole"],"Resource":"*"}]}`))
	tests := map[string]struct{ action, resource, reason string }{
		"keys of the issuer":          {"s3:PutObject", "arn:aws:s3:::keys/keys.json", "ReachesProtected"},
		"buckets of a prefix":         {"s3:PutObject", "arn:aws:s3:::k*", "ReachesProtected"},
		"policies of the publisher":   {"iam:PutRolePolicy", publisher, "ReachesProtected"},
		"all that is like it":         {"iam:PutRolePolicy", "arn:aws:iam::*:role/tabard/pub?isher", "ReachesProtected"},
		"to become the publisher":     {"sts:AssumeRole", publisher, "ReachesProtected"},
		"a role of somebody else":     {"iam:GetRole", "arn:aws:iam::" + testAccount + ":role/theirs", "Ready"},
		"an object of another bucket": {"s3:PutObject", "arn:aws:s3:::data/keys.json", "Ready"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			request := f.request(strings.ReplaceAll(strings.ToLower(name), " ", "-"), strings.ReplaceAll(name, " ", "-"))
			request.Spec.ProviderSpec = &runtime.RawExtension{Raw: []byte(`{"apiVersion":"cloudcredential.openshift.io/v1","kind":"AWSProviderSpec","statementEntries":[{"effect":"Allow","action":["` + test.action + `"],"resource":"` + test.resource + `"}]}`)}
			f.Make(request)
			status := metav1.ConditionFalse
			if test.reason == "Ready" {
				status = metav1.ConditionTrue
			}
			f.until(request, has(core.TypeReady, status, test.reason))
		})
	}
}

// TestWithoutItsConfigMapsNothingIsDecided: whether a request reaches the publisher cannot
// be told.
func TestWithoutItsConfigMapsNothingIsDecided(t *testing.T) {
	f := newFixture(t)
	f.options = func(o *credentials.Options) {
		o.Own = credentials.OwnConfigs{Reader: unreadable{f.Cluster}, Namespace: ownNamespace, Names: []string{"tabard-issuer"}}
	}
	f.start(t)
	request := f.request("undecided", "app")
	f.Make(request)
	_, err := f.controller.Reconcile(t.Context(), keyOf(request))
	if err == nil || !strings.Contains(err.Error(), "ConfigMap "+ownNamespace+"/tabard-issuer") {
		t.Errorf("the pass says %v, want that the ConfigMap cannot be read", err)
	}
	if f.role(core.RoleName(core.Settings{}, infra, f.namespace, "undecided")) != nil {
		t.Error("a role was made")
	}
}

// unreadable refuses all reading.
type unreadable struct{ client.Reader }

func (unreadable) Get(_ context.Context, name client.ObjectKey, _ client.Object, _ ...client.GetOption) error {
	return apierrors.NewForbidden(schema.GroupResource{Resource: "configmaps"}, name.Name, nil)
}
