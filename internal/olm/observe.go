package olm

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	cloudv1 "github.com/tabard-dev/tabard/api/cloudcredential/v1"
	"github.com/tabard-dev/tabard/internal/core/catalogue"
	"github.com/tabard-dev/tabard/internal/core/operator"
	"github.com/tabard-dev/tabard/internal/core/permission"
)

// Observe reads what the stages of an install are decided by. An error is one of the connection, or
// ErrNoOLM.
func (c Client) Observe(ctx context.Context, wanted operator.Wanted) (*operator.Objects, error) {
	o := &observation{Client: c, Objects: operator.Objects{Wanted: wanted, Unread: map[operator.Kind]error{}}}
	for _, look := range []func(context.Context) error{o.catalogue, o.namespaced, o.version, o.requests} {
		if err := look(ctx); err != nil {
			return nil, err
		}
	}
	return &o.Objects, nil
}

type observation struct {
	Client
	operator.Objects
	// bundle is that of the version that is followed.
	bundle catalogue.Bundle
}

// read says whether an object was read. One that may not be read is noted.
func (o *observation) read(kind operator.Kind, err error) (bool, error) {
	switch {
	case err == nil:
		return true, nil
	case apierrors.IsNotFound(err):
		return false, nil
	case apierrors.IsForbidden(err):
		o.Unread[kind] = err
		return false, nil
	}
	return false, fmt.Errorf("read the %s: %w", kind, err)
}

func (o *observation) catalogue(ctx context.Context) error {
	if o.Source == "" || o.SourceNamespace == "" {
		return nil
	}
	found, err := remembered(ctx, o.Client, "catalogue "+o.SourceNamespace+"/"+o.Source, func() (*unstructured.Unstructured, error) {
		return o.Client.Objects.Resource(catalogues).Namespace(o.SourceNamespace).Get(ctx, o.Source, metav1.GetOptions{})
	})
	ok, err := o.read(operator.KindCatalogue, err)
	if ok {
		o.Catalogue, err = toCatalogue(found)
	}
	return err
}

// each reads all objects of a kind in a namespace, a page at a time. absent says that the cluster
// does not serve the kind.
func (c Client) each(ctx context.Context, of schema.GroupVersionResource, namespace string, take func(*unstructured.Unstructured) error) (err error) {
	options := metav1.ListOptions{Limit: 500}
	if of == plans || of == versions {
		options.Limit = 20 // One may have a megabyte of manifests.
	}
	for {
		list, err := c.Objects.Resource(of).Namespace(namespace).List(ctx, options)
		if err != nil {
			return err
		}
		for i := range list.Items {
			if err := take(&list.Items[i]); err != nil {
				return err
			}
		}
		if options.Continue = list.GetContinue(); options.Continue == "" {
			return nil
		}
	}
}

// collect decodes all objects of a kind in the namespace.
func collect[T any](ctx context.Context, o *observation, kind operator.Kind, of schema.GroupVersionResource, decode func(*unstructured.Unstructured) (T, error)) (out []T, served bool, err error) {
	out, err = remembered(ctx, o.Client, of.Resource+" of "+o.Namespace, func() (out []T, err error) {
		err = o.each(ctx, of, o.Namespace, func(object *unstructured.Unstructured) error {
			one, err := decode(object)
			out = append(out, one)
			return err
		})
		return out, err
	})
	served = !apierrors.IsNotFound(err)
	_, err = o.read(kind, err)
	return slices.Clone(out), served, err
}

func (o *observation) namespaced(ctx context.Context) error {
	_, err := remembered(ctx, o.Client, "namespace "+o.Namespace, func() (*unstructured.Unstructured, error) {
		return o.Client.Objects.Resource(namespaces).Get(ctx, o.Namespace, metav1.GetOptions{})
	})
	if o.NamespaceExists, err = o.read(operator.KindNamespace, err); err != nil {
		return err
	}
	var served bool
	if o.Subscriptions, served, err = collect(ctx, o, operator.KindSubscription, subscriptions, toSubscription); err != nil {
		return err
	} else if !served {
		return ErrNoOLM
	}
	if o.Groups, _, err = collect(ctx, o, operator.KindGroup, groups, toGroup); err != nil {
		return err
	}
	o.Plans, _, err = collect(ctx, o, operator.KindPlan, plans, toPlan)
	return err
}

// version reads the ClusterServiceVersion that is wanted, and its Deployments.
func (o *observation) version(ctx context.Context) error {
	name := o.Target()
	if name == "" {
		return nil
	}
	found, err := o.Client.Objects.Resource(versions).Namespace(o.Namespace).Get(ctx, name, metav1.GetOptions{})
	if ok, err := o.read(operator.KindCSV, err); !ok {
		return err
	}
	read, err := as[versionObject](found)
	if err != nil {
		return err
	}
	o.CSV, o.bundle = toVersion(name, read), read.bundle(name)
	if o.InstallModes == nil {
		o.InstallModes = read.modes()
	}
	for _, name := range read.deploymentNames() {
		found, err := o.Client.Objects.Resource(deployments).Namespace(o.Namespace).Get(ctx, name, metav1.GetOptions{})
		ok, err := o.read(operator.KindDeployment, err)
		if err != nil {
			return err
		}
		if ok {
			one, err := toDeployment(found)
			if err != nil {
				return err
			}
			o.Deployments = append(o.Deployments, one)
		}
	}
	return nil
}

// requests reads the CredentialsRequests of the operator, where there is a role to be found in them.
// They may be in another namespace than the operator, such as that of the Cloud Credential Operator.
func (o *observation) requests(ctx context.Context) error {
	if len(o.Values) == 0 {
		return nil
	}
	all, err := o.all(ctx)
	if _, err := o.read(operator.KindRequest, err); err != nil {
		return err
	}
	var found []operator.Request
	for i := range all {
		if o.isOwn(&all[i]) {
			one := toRequest(&all[i])
			one.Beyond = o.beyond(all[i])
			found = append(found, one)
		}
	}
	for i := range found {
		namespace, name, _ := strings.Cut(found[i].Secret, "/")
		_, err := o.Metadata.Resource(secrets).Namespace(namespace).Get(ctx, name, metav1.GetOptions{})
		if found[i].SecretExists, err = o.read(operator.KindSecret, err); err != nil {
			return err
		}
	}
	o.Requests = found
	return nil
}

// all are the CredentialsRequests of the cluster, or where these may not be listed those of the
// namespace. One that cannot be read is nobody's that can be told.
func (o *observation) all(ctx context.Context) ([]cloudv1.CredentialsRequest, error) {
	of := func(namespace string) ([]cloudv1.CredentialsRequest, error) {
		return remembered(ctx, o.Client, "requests of "+namespace, func() (out []cloudv1.CredentialsRequest, err error) {
			err = o.each(ctx, requests, namespace, func(object *unstructured.Unstructured) error {
				if one, err := as[cloudv1.CredentialsRequest](object); err == nil {
					out = append(out, one)
				}
				return nil
			})
			return out, err
		})
	}
	out, err := of("")
	if apierrors.IsForbidden(err) {
		return of(o.Namespace)
	}
	return out, err
}

// isOwn says whether a CredentialsRequest is the operator's: it is for one of its ServiceAccounts,
// and it or its Secret is in the operator's namespace. One that names no ServiceAccount is judged by
// the namespace alone.
func (o *observation) isOwn(r *cloudv1.CredentialsRequest) bool {
	if r.Namespace != o.Namespace && r.Spec.SecretRef.Namespace != o.Namespace {
		return false
	}
	names := r.Spec.ServiceAccountNames
	if o.bundle.Workload == nil {
		return false
	}
	return len(names) == 0 || slices.ContainsFunc(names, func(name string) bool { return slices.Contains(o.bundle.Workload.ServiceAccounts, name) })
}

// List are the Subscriptions of a namespace; without one, of all.
func (c Client) List(ctx context.Context, namespace string) (out []operator.Subscription, err error) {
	err = c.each(ctx, subscriptions, namespace, func(object *unstructured.Unstructured) error {
		one, err := toSubscription(object)
		out = append(out, one)
		return err
	})
	switch {
	case apierrors.IsNotFound(err):
		return nil, ErrNoOLM
	case err != nil:
		return nil, fmt.Errorf("list the Subscriptions: %w", err)
	}
	return out, nil
}

// errEnough ends a listing.
var errEnough = errors.New("enough was read")

// First are the Subscriptions of a namespace, a number of them at most.
func (c Client) First(ctx context.Context, namespace string, most int) (out []operator.Subscription, err error) {
	err = c.each(ctx, subscriptions, namespace, func(object *unstructured.Unstructured) error {
		if len(out) == most {
			return errEnough
		}
		one, err := toSubscription(object)
		out = append(out, one)
		return err
	})
	if err != nil && !errors.Is(err, errEnough) {
		return nil, fmt.Errorf("list the Subscriptions of %s: %w", namespace, err)
	}
	return out, nil
}

// mostBeyond bounds the sentences about one request.
const mostBeyond = 10

// beyond are sentences about what a request asks for and the version does not declare. Of a version that
// declares nothing there are none.
func (o *observation) beyond(r cloudv1.CredentialsRequest) (out []string) {
	cloud := operator.CloudOf(o.Values)
	declared := permission.OfBundle(o.Package, o.bundle, cloud).In(o.Namespace)
	if _, known := declared.Requests(); !known {
		return nil
	}
	live := permission.ReadRequests(permission.SubjectOf(o.Package, o.bundle, cloud), permission.Source{Kind: permission.SourceLive}, []cloudv1.CredentialsRequest{r}).In(o.Namespace)
	for _, change := range permission.Diff(declared, live).Changes {
		switch change.Class {
		case permission.ClassAdded, permission.ClassWidened, permission.ClassChanged:
			if out = append(out, change.Text); len(out) == mostBeyond {
				return out
			}
		case permission.ClassRemoved, permission.ClassNarrowed, permission.ClassSubject, permission.ClassSecret, permission.ClassTokenPath, permission.ClassSupport, permission.ClassUnknown:
		}
	}
	return out
}
