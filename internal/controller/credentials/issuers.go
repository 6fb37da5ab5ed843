package credentials

import (
	"cmp"
	"context"
	"fmt"
	"path"
	"reflect"
	"slices"
	"strings"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/tabard-dev/tabard/api/identity/v1alpha1"
	"github.com/tabard-dev/tabard/awsauth/identity"
	"github.com/tabard-dev/tabard/internal/cloud"
	"github.com/tabard-dev/tabard/internal/controller"
	core "github.com/tabard-dev/tabard/internal/core/credentials"
	"github.com/tabard-dev/tabard/internal/core/fault"
	"github.com/tabard-dev/tabard/internal/core/issuer"
)

// sameIssuer says that an OIDCIssuer means the same for roles as it did before.
func sameIssuer(a, b *v1alpha1.OIDCIssuer) bool {
	return !hasComeToAgree(a, b) && a.UID == b.UID && a.Generation == b.Generation && a.Annotations[core.RetiredAnnotation] == b.Annotations[core.RetiredAnnotation] &&
		reflect.DeepEqual(a.Status.Providers, b.Status.Providers)
}

// hasComeToAgree says that the issuer's providers in AWS have become as its OIDCIssuer wants them,
// their audiences among that.
func hasComeToAgree(before, now *v1alpha1.OIDCIssuer) bool {
	was, is := meta.FindStatusCondition(before.Status.Conditions, issuer.TypeProviderReady), meta.FindStatusCondition(now.Status.Conditions, issuer.TypeProviderReady)
	return is != nil && is.Status == metav1.ConditionTrue && (was == nil || was.Status != metav1.ConditionTrue || was.ObservedGeneration != is.ObservedGeneration)
}

// issuers are those of the cluster: the one of which its tokens are first, if that is known,
// then those in use, the youngest first.
func (c *Controller) issuers(ctx context.Context, world core.World) ([]core.Issuer, *fault.Fault) {
	stored := c.known.issuers.All()
	slices.SortFunc(stored, func(a, b *v1alpha1.OIDCIssuer) int {
		return cmp.Or(b.CreationTimestamp.Compare(a.CreationTimestamp.Time), strings.Compare(a.Name, b.Name))
	})
	var out []core.Issuer
	for _, o := range stored {
		out = append(out, core.Issuer{
			Name: o.Name, URL: o.Spec.URL, Deleting: !o.DeletionTimestamp.IsZero(),
			Retired: o.Annotations[core.RetiredAnnotation] == "true", RetireAfter: o.Spec.RetireKeysAfter.Duration,
		})
	}
	if url := world.Platform.Issuer; url != "" && !slices.ContainsFunc(out, func(i core.Issuer) bool { return i.URL == url }) {
		out = append(out, core.Issuer{URL: url})
	}
	leaves := func(i core.Issuer) int {
		switch {
		case i.Deleting || i.Retired:
			return 2
		case world.Platform.Issuer != "" && i.URL == world.Platform.Issuer:
			return 0
		}
		return 1
	}
	slices.SortStableFunc(out, func(a, b core.Issuer) int { return leaves(a) - leaves(b) })
	for i := range out {
		out[i].ProviderARN = issuer.ProviderARN(cmp.Or(world.Settings.Partition, "aws"), world.Account, out[i].URL)
		provider, err := c.providers.get(ctx, out[i].ProviderARN, askedAt(world.Grant))
		if err != nil {
			return nil, controller.FaultOf(err)
		}
		out[i].Registered, out[i].Audiences = provider.Exists, provider.Audiences
		at := slices.IndexFunc(stored, func(o *v1alpha1.OIDCIssuer) bool { return o.Name == out[i].Name })
		if at >= 0 && provider.Tags[issuer.OwnerTag] == out[i].URL { // the controller "issuer" changes no other provider
			out[i].AudiencesField, out[i].Wanted = wantedAudiences(stored[at], world.Account)
		}
	}
	return out, nil
}

// wantedAudiences are those that an OIDCIssuer wants its provider in an account to know, and the
// JSON pointer to them; empty where it names no provider there.
func wantedAudiences(o *v1alpha1.OIDCIssuer, account string) (field string, audiences []string) {
	own := slices.ContainsFunc(o.Status.Providers, func(p v1alpha1.ProviderStatus) bool { return p.AssumeRoleARN == "" && p.AccountID == account })
	unseen := !slices.ContainsFunc(o.Status.Providers, func(p v1alpha1.ProviderStatus) bool { return p.AssumeRoleARN == "" })
	for i, p := range o.Spec.Providers {
		role, _ := identity.ParseARN(p.AssumeRoleARN)
		if role.Account == account || p.AssumeRoleARN == "" && (own || unseen) {
			return fmt.Sprintf("/spec/providers/%d/audiences", i), p.Audiences
		}
	}
	return "", nil
}

// protected is what no request may reach: the issuers' buckets, and what Tabard itself is
// in AWS.
func (c *Controller) protected(world core.World, own []string, caller string) core.Protected {
	out := core.Protected{Roles: slices.Clone(own)}
	for _, o := range c.known.issuers.All() {
		out.Buckets = append(out.Buckets, bucketsOf(o)...)
	}
	slices.Sort(out.Buckets)
	out.Buckets = slices.Compact(out.Buckets)
	if role := roleOfCaller(caller); role != "" && !slices.ContainsFunc(own, func(arn string) bool { return isAtPath(arn, role) }) {
		out.Roles = append(out.Roles, role)
	}
	for _, i := range world.Issuers {
		if i.Registered {
			out.Providers = append(out.Providers, i.ProviderARN)
		}
	}
	policies := []string{world.Settings.PermissionsBoundary}
	for _, b := range world.Boundaries {
		if b.Spec.AWS != nil {
			policies = append(policies, b.Spec.AWS.PermissionsBoundary)
		}
	}
	slices.Sort(policies)
	for _, arn := range slices.Compact(policies) {
		if arn != "" {
			out.Policies = append(out.Policies, arn)
		}
	}
	return out
}

// bucketsOf are the buckets of an issuer: the wanted one, and the one that it has.
func bucketsOf(o *v1alpha1.OIDCIssuer) (out []string) {
	for _, bucket := range []string{o.Spec.Publication.S3.Bucket, o.Status.Publication.Bucket} {
		if bucket != "" && !slices.Contains(out, bucket) {
			out = append(out, bucket)
		}
	}
	return out
}

// roleOfCaller is the role of a session, whatever its path, which a session's ARN does
// not have; empty for who has no role.
func roleOfCaller(caller string) string {
	arn, ok := identity.ParseARN(caller)
	name, is := strings.CutPrefix(arn.Resource, "assumed-role/")
	if !ok || !is {
		return ""
	}
	name, _, _ = strings.Cut(name, "/")
	arn.Service, arn.Resource = "iam", "role/*"+name
	return arn.String()
}

// isAtPath says that an ARN is a role's of which roleOfCaller does not know the path: names of
// roles are unique in an account, whatever their paths (IAM: CreateRole).
func isAtPath(arn, role string) bool {
	a, isARN := identity.ParseARN(arn)
	r, _ := identity.ParseARN(role)
	name := strings.TrimPrefix(r.Resource, "role/*")
	return isARN && a.Partition == r.Partition && a.Service == r.Service && a.Account == r.Account && strings.HasPrefix(a.Resource, "role/") && path.Base(a.Resource) == name
}

// providers remembers what IAM says of the issuers' providers. It is safe for concurrent
// use; however many ask, one call is made.
type providers struct {
	options Options

	mu    sync.Mutex
	known map[string]answer
}

type answer struct {
	provider cloud.Provider
	err      error
	at       time.Time
	until    time.Time
}

// forget has all read anew: what the OIDCIssuers want, or have come to, is another.
func (p *providers) forget() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for arn, a := range p.known {
		a.until = time.Time{}
		p.known[arn] = a
	}
}

// get is the provider of an ARN, by a reading that is no older than since where that is past.
func (p *providers) get(ctx context.Context, arn string, since time.Time) (cloud.Provider, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	now := p.options.Now()
	if a, has := p.known[arn]; has && now.Before(a.until) && !isOutdated(a.at, since, now) {
		return a.provider, a.err
	}
	before := p.known[arn]
	provider, err := p.options.AWS.Providers.Get(ctx, p.options.Operator, arn)
	a := answer{provider, err, now, now.Add(knownFor)}
	if err != nil || !provider.Exists {
		a.until = now.Add(unknownFor)
	}
	if err != nil && before.err == nil && before.provider.Exists { // what was true lately counts for more than a call that failed
		a.provider, a.err = before.provider, nil
	}
	p.known[arn] = a
	return a.provider, a.err
}
