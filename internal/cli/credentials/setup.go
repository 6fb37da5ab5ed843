package credentials

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/tabard-dev/tabard/api/identity/v1alpha1"
	"github.com/tabard-dev/tabard/awsauth/identity"
	"github.com/tabard-dev/tabard/internal/cli/command"
	core "github.com/tabard-dev/tabard/internal/core/credentials"
	"github.com/tabard-dev/tabard/internal/core/iamname"
	"github.com/tabard-dev/tabard/internal/core/issuer"
	"github.com/tabard-dev/tabard/internal/core/platform"
	"github.com/tabard-dev/tabard/internal/credentials"
)

// issuerConfig is the ConfigMap in which the issuer's operator is told its role.
const issuerConfig = "tabard-issuer"

// setup is what a bootstrap makes, and for whom.
type setup struct {
	minter core.Minter
	// region is where the controller calls AWS.
	region string
	// openShift says that the cluster itself has its name in the cloud.
	openShift bool
	// trusted are the ARNs of the providers whose tokens the controller comes with.
	trusted []string
	// boundary, trust and policy are the documents.
	boundary, trust, policy string
	// warnings are on what the cluster has and AWS will not allow.
	warnings []string
}

// wishes are what the flags of a bootstrap say.
type wishes struct {
	namespace, serviceAccount string
	files                     []string
	paths, boundaries         []string
	print, account            string
}

// check says what of the flags cannot be used.
func (w wishes) check() error {
	var errs []error
	if len(w.paths) == 0 {
		errs = append(errs, errors.New("--role-path is empty, expected a path such as "+core.DefaultPath))
	}
	for _, path := range w.paths {
		if !iamname.IsPath(path) || path == "/" {
			errs = append(errs, fmt.Errorf("--role-path is %.80q, expected a path of its own that begins and ends with a slash, such as %s", path, core.DefaultPath))
		}
	}
	for _, arn := range w.boundaries {
		if !iamname.IsPolicyARN(arn) {
			errs = append(errs, fmt.Errorf("--permissions-boundary is %.200q, expected the ARN of a managed policy, such as arn:aws:iam::123456789012:policy/NAME", arn))
		}
	}
	if w.account != "" && !identity.IsAccountID(w.account) {
		errs = append(errs, fmt.Errorf("--account is %.80q, expected the twelve digits of an AWS account", w.account))
	}
	return errors.Join(errs...)
}

// known is what a bootstrap is told of a cluster, by itself or by files.
type known struct {
	facts      platform.Facts
	issuers    []v1alpha1.OIDCIssuer
	boundaries []v1alpha1.CredentialsBoundary
	// issuerRole is the ARN of the role that the issuer's operator is told, which may have
	// another name than bootstrap gives by itself; empty for none.
	issuerRole string
}

// knownOf reads the cluster, and the ConfigMap of "tabard issuer bootstrap" in a namespace.
func knownOf(ctx context.Context, cluster Cluster, namespace string) (known, error) {
	facts, err := cluster.Facts(ctx)
	if err != nil {
		return known{}, err
	}
	out := known{facts: facts}
	if out.issuers, err = ownIssuers(ctx, cluster); err != nil {
		return known{}, err
	}
	if out.boundaries, err = allBoundaries(ctx, cluster); err != nil {
		return known{}, err
	}
	var config corev1.ConfigMap
	if err := cluster.Get(ctx, client.ObjectKey{Namespace: namespace, Name: issuerConfig}, &config); client.IgnoreNotFound(err) != nil {
		return known{}, &credentials.Unlisted{Kind: "ConfigMaps", Err: err}
	}
	out.issuerRole = config.Data["roleARN"]
	return out, nil
}

// knownFrom reads OIDCIssuers from files; what else there is to know is in the flags.
func knownFrom(read func(string) ([]byte, error), files []string, override platform.Override) (known, error) {
	out := known{facts: platform.Facts{Infrastructure: override.Infrastructure, Region: override.Region}}
	for _, file := range files {
		text, err := read(file)
		if err != nil {
			return known{}, err
		}
		var o v1alpha1.OIDCIssuer
		if err := yaml.UnmarshalStrict(text, &o); err != nil || o.Kind != "OIDCIssuer" || o.Name == "" {
			return known{}, fmt.Errorf("%s is no OIDCIssuer with a name (kind %.80q): %s", file, o.Kind, command.Cause(cmp.Or(err, errors.New("it holds something else"))))
		}
		if err := issuer.Validate(o.Spec); err != nil {
			return known{}, fmt.Errorf("%s: %w", file, err)
		}
		out.issuers = append(out.issuers, o)
	}
	return out, nil
}

// setupOf is what is to be made in an account, or what is missing for that.
func setupOf(k known, w wishes, account, sessionRegion string) (*setup, error) {
	var missing []string
	if k.facts.Infrastructure == "" {
		missing = append(missing, "the cluster's name in the cloud: set --infrastructure-name, to a name that no other cluster of the account has")
	}
	region := cmp.Or(k.facts.Region, sessionRegion)
	for _, o := range k.issuers {
		region = cmp.Or(region, o.Spec.Publication.S3.Region)
	}
	if region == "" {
		missing = append(missing, "the region: set --region")
	}
	if account == "" {
		missing = append(missing, "the AWS account: set --account, or sign in")
	}
	if len(missing) > 0 {
		return nil, fmt.Errorf("these are missing:\n  - %s", strings.Join(missing, "\n  - "))
	}
	out := &setup{
		region: region, openShift: k.facts.OpenShift,
		minter: core.Minter{Partition: identity.Partition(region), Account: account, Infrastructure: k.facts.Infrastructure, Paths: w.paths, Boundaries: w.boundaries},
	}
	out.issuers(k)
	if len(out.trusted) == 0 {
		return nil, fmt.Errorf("there is no issuer with a provider in account %s, whose tokens the controller could come with: run tabard issuer bootstrap first", account)
	}
	out.warn(k)
	return out, out.documents(w)
}

// issuers are kept from the roles that are made: buckets, providers and roles.
func (s *setup) issuers(k known) {
	m := &s.minter
	add := func(to *[]string, text string) {
		if text != "" && !slices.Contains(*to, text) {
			*to = append(*to, text)
		}
	}
	if _, ok := identity.ParseRoleARN(k.issuerRole); ok {
		add(&m.Roles, k.issuerRole)
	}
	for _, o := range k.issuers {
		add(&m.Buckets, o.Spec.Publication.S3.Bucket)
		add(&m.Buckets, o.Status.Publication.Bucket)
		arn := issuer.ProviderARN(m.Partition, m.Account, o.Spec.URL)
		add(&m.Providers, arn)
		add(&m.Roles, identity.ARN{Partition: m.Partition, Service: "iam", Account: m.Account, Resource: "role/" + issuer.RoleName(o.Name, o.Spec.URL)}.String())
		own := slices.ContainsFunc(o.Spec.Providers, func(p v1alpha1.Provider) bool { return p.AssumeRoleARN == "" })
		if own && o.DeletionTimestamp.IsZero() {
			add(&s.trusted, arn)
		}
	}
	if url := k.facts.Issuer; url != "" {
		arn := issuer.ProviderARN(m.Partition, m.Account, url)
		add(&m.Providers, arn)
		if k.facts.OpenShift { // elsewhere an OIDCIssuer says which providers are registered
			add(&s.trusted, arn)
		}
	}
}

// warn tells of CredentialsBoundaries that ask for what AWS will refuse the controller.
func (s *setup) warn(k known) {
	for _, b := range k.boundaries {
		if b.Spec.AWS == nil {
			continue
		}
		if path := b.Spec.AWS.PathPrefix; path != "" && !slices.Contains(s.minter.Paths, path) {
			s.warnings = append(s.warnings, fmt.Sprintf("the CredentialsBoundary %s wants roles at the path %s, which the role may not make: add --role-path %s if it shall", b.Name, path, path))
		}
		if arn := b.Spec.AWS.PermissionsBoundary; arn != "" && arn != s.minter.BoundaryARN() && !slices.Contains(s.minter.Boundaries, arn) {
			s.warnings = append(s.warnings, fmt.Sprintf("the CredentialsBoundary %s wants the permissions boundary %s, under which the role may make none: add --permissions-boundary %s if it shall", b.Name, arn, arn))
		}
	}
}

func (s *setup) documents(w wishes) error {
	var errs [3]error
	s.boundary, errs[0] = s.minter.BoundaryPolicy()
	s.policy, errs[1] = s.minter.PermissionPolicy()
	s.trust, errs[2] = core.MinterTrust(s.trusted, w.namespace, w.serviceAccount)
	return errors.Join(errs[:]...)
}

// ownIssuers lists the issuers of a cluster; one without the kind has none.
func ownIssuers(ctx context.Context, from client.Reader) ([]v1alpha1.OIDCIssuer, error) {
	var list v1alpha1.OIDCIssuerList
	if err := from.List(ctx, &list); err != nil && !meta.IsNoMatchError(err) {
		return nil, &credentials.Unlisted{Kind: "OIDCIssuers", Err: err}
	}
	slices.SortFunc(list.Items, func(a, b v1alpha1.OIDCIssuer) int { return strings.Compare(a.Name, b.Name) })
	return list.Items, nil
}

// allBoundaries lists the CredentialsBoundaries of a cluster. The error of a cluster without the
// kind is a no-match still.
func allBoundaries(ctx context.Context, from client.Reader) ([]v1alpha1.CredentialsBoundary, error) {
	var list v1alpha1.CredentialsBoundaryList
	if err := from.List(ctx, &list); err != nil {
		return nil, &credentials.Unlisted{Kind: "CredentialsBoundaries", Err: err}
	}
	return list.Items, nil
}
