package olm

import (
	"context"
	"fmt"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/tabard-dev/tabard/internal/core/catalogue"
	"github.com/tabard-dev/tabard/internal/core/operator"
	"github.com/tabard-dev/tabard/internal/core/permission"
)

// Upgrade is what is known of one operator of a plan, beside its role and the cluster's issuer:
// what a version asks for, and what the installed one does, by the Subscription that goes to it. The
// warning is empty where there is none. An error is one of reading the installed version.
func (c Client) Upgrade(ctx context.Context, namespace string, all []operator.Subscription, next catalogue.Bundle) (u operator.Upgrade, warning string, err error) {
	u = operator.Upgrade{CSV: next.Name, Namespace: namespace, Orphan: true, TakesTokens: slices.Contains(next.Features.Tokens[:], catalogue.Yes)}
	pkg := next.Name
	for _, s := range all {
		if s.CurrentCSV == next.Name {
			pkg, u.From = s.Package, s.InstalledCSV
			u.Values, _ = operator.ValuesOf(s)
			u.References, u.Orphan = s.References, false
		}
	}
	cloud := operator.CloudOf(u.Values)
	old, phase, err := c.Installed(ctx, namespace, u.From)
	if err != nil {
		return u, "", err
	}
	if u.From != "" && phase != phaseSucceeded {
		if phase == "" {
			phase = "-"
		}
		warning = fmt.Sprintf("the installed %s is %s: OLM upgrades it when it is Succeeded", u.From, phase)
	}
	u.Old, u.New = permission.OfBundle(pkg, old, cloud), permission.OfBundle(pkg, next, cloud)
	return u, warning, nil
}

// phaseSucceeded is the phase of a ClusterServiceVersion that is installed.
const phaseSucceeded = "Succeeded"

// Live is what is known of an operator that is installed, beside its role and the cluster's issuer:
// what its version asks for. There is none where the version is not installed to its end.
func (c Client) Live(ctx context.Context, s operator.Subscription) (u operator.Upgrade, is bool, err error) {
	installed, phase, err := c.Installed(ctx, s.Namespace, s.InstalledCSV)
	if err != nil || phase != phaseSucceeded {
		return u, false, err
	}
	u = operator.Upgrade{CSV: s.InstalledCSV, Namespace: s.Namespace}
	u.Values, _ = operator.ValuesOf(s)
	u.New = permission.OfBundle(s.Package, installed, operator.CloudOf(u.Values))
	return u, true, nil
}

// Issuer is that of the cluster's tokens, by OpenShift's Authentication, and where that has none by the
// API server's discovery document. It is empty where neither can be read.
func (c Client) Issuer(ctx context.Context) (string, error) {
	found, err := c.Objects.Resource(authentications).Get(ctx, "cluster", metav1.GetOptions{})
	switch {
	case apierrors.IsNotFound(err), apierrors.IsForbidden(err):
		return c.discovered(ctx)
	case err != nil:
		return "", fmt.Errorf("read the Authentication of the cluster: %w", err)
	}
	issuer, _, err := unstructured.NestedString(found.Object, "spec", "serviceAccountIssuer")
	if err != nil || issuer != "" {
		return issuer, err
	}
	return c.discovered(ctx)
}

// discovered is the issuer of the discovery document, which not everybody may read.
func (c Client) discovered(ctx context.Context) (string, error) {
	if c.Discovered == nil {
		return "", nil
	}
	issuer, err := c.Discovered(ctx)
	if err != nil {
		return "", ctx.Err()
	}
	return issuer, nil
}

// Waiting reads a plan and, where it waits for an approval, the ClusterServiceVersions that it
// installs, by name, as a catalogue would have them. One of which nothing can be read has no metadata,
// and whys says why, by name. A plan that is gone does not wait.
func (c Client) Waiting(ctx context.Context, namespace, name string) (plan operator.Plan, bundles map[string]catalogue.Bundle, whys map[string]string, err error) {
	found, err := c.Objects.Resource(plans).Namespace(namespace).Get(ctx, name, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return plan, nil, nil, nil
	}
	if err != nil {
		return plan, nil, nil, fmt.Errorf("read the InstallPlan %s/%s: %w", namespace, name, err)
	}
	if plan, err = toPlan(found); err != nil || !plan.Waits() {
		return plan, nil, nil, err
	}
	read, err := as[planObject](found)
	if err != nil {
		return plan, nil, nil, err
	}
	bundles, whys = c.planned(ctx, read, plan.CSVs)
	return plan, bundles, whys, nil
}
