package credentials

import (
	"context"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/util/retry"

	"golang.org/x/sync/errgroup"

	cloudv1 "github.com/tabard-dev/tabard/api/cloudcredential/v1"
	"github.com/tabard-dev/tabard/api/identity/v1alpha1"
)

// makers is how many requests are made at once.
const makers = 8

var (
	requests = cloudv1.GroupVersion.WithResource("credentialsrequests")
	grants   = v1alpha1.GroupVersion.WithResource("credentialsgrants")
	accounts = schema.GroupVersionResource{Version: "v1", Resource: "serviceaccounts"}
)

func namespace(i int) string { return fmt.Sprintf("team-%04d", i) }

// fill makes the namespaces with a boundary each, the issuer, and the requests.
func (b *bed) fill(ctx context.Context) error {
	issuer := fmt.Sprintf(`
apiVersion: identity.tabard.dev/v1alpha1
kind: OIDCIssuer
metadata: {name: cluster}
spec: {url: %q, publication: {s3: {bucket: load-keys, region: %s}}, providers: [{audiences: [sts.amazonaws.com]}]}
`, b.served.IssuerURL(), region)
	if err := apply(ctx, b.served, issuer); err != nil {
		return err
	}
	teams := ""
	for i := range b.settings.namespaces {
		teams += fmt.Sprintf(`---
{apiVersion: v1, kind: Namespace, metadata: {name: %[1]s}}
---
apiVersion: identity.tabard.dev/v1alpha1
kind: CredentialsBoundary
metadata: {name: %[1]s}
spec:
  namespaces: [%[1]s]
  maxRequests: 5000
  aws:
    permissionsBoundary: %[2]s
    ceiling: '{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Action":["s3:GetObject","s3:PutObject"],"Resource":"arn:aws:s3:::%[1]s/*"}]}'
`, namespace(i), boundaryARN)
	}
	if err := apply(ctx, b.served, teams); err != nil {
		return err
	}
	cluster, err := dynamic.NewForConfig(b.config)
	if err != nil {
		return err
	}
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(makers)
	for i := range b.settings.requests {
		group.Go(func() error {
			one := request(namespace(i%b.settings.namespaces), fmt.Sprintf("app-%05d", i))
			return retry.OnError(retry.DefaultBackoff, func(error) bool { return ctx.Err() == nil }, func() error {
				_, err := cluster.Resource(requests).Namespace(one.GetNamespace()).Create(ctx, one, metav1.CreateOptions{})
				return err
			})
		})
	}
	return group.Wait()
}

func request(namespace, name string) *unstructured.Unstructured {
	return &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": cloudv1.GroupVersion.String(), "kind": "CredentialsRequest",
		"metadata": map[string]any{"namespace": namespace, "name": name},
		"spec": map[string]any{
			"storage": map[string]any{"serviceAccount": map[string]any{"namespace": namespace, "name": name}},
			"providerSpec": map[string]any{
				"apiVersion": cloudv1.GroupVersion.String(), "kind": "AWSProviderSpec",
				"statementEntries": []any{map[string]any{
					"effect": "Allow", "action": []any{"s3:GetObject", "s3:PutObject"}, "resource": "arn:aws:s3:::" + namespace + "/" + name + "/*",
				}},
			},
		},
	}}
}

// each hands the metadata of all objects of a kind over, page by page.
func (b *bed) each(ctx context.Context, kind schema.GroupVersionResource, use func(*metav1.PartialObjectMetadata)) error {
	next := ""
	for {
		page, err := b.objects.Resource(kind).List(ctx, metav1.ListOptions{Limit: 500, Continue: next})
		if err != nil {
			return err
		}
		for i := range page.Items {
			use(&page.Items[i])
		}
		if next = page.Continue; next == "" {
			return nil
		}
	}
}

// versions are the resource versions of what the program writes.
func (b *bed) versions(ctx context.Context) (map[string]string, error) {
	out := map[string]string{}
	for _, kind := range []schema.GroupVersionResource{requests, grants, accounts} {
		err := b.each(ctx, kind, func(o *metav1.PartialObjectMetadata) {
			out[kind.Resource+" "+o.Namespace+"/"+o.Name] = o.ResourceVersion
		})
		if err != nil {
			return nil, err
		}
	}
	return out, nil
}

// check counts what the program was to make: its metrics may be wrong.
func (b *bed) check(ctx context.Context) error {
	annotated, granted := 0, 0
	err := b.each(ctx, accounts, func(o *metav1.PartialObjectMetadata) {
		if o.Annotations["eks.amazonaws.com/role-arn"] != "" {
			annotated++
		}
	})
	if err != nil {
		return err
	}
	if err := b.each(ctx, grants, func(*metav1.PartialObjectMetadata) { granted++ }); err != nil {
		return err
	}
	if want := b.settings.requests; annotated != want || granted != want {
		return fmt.Errorf("of %d requests %d have a grant and %d a ServiceAccount with a role", want, granted, annotated)
	}
	return nil
}
