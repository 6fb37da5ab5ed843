package credentials

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/tabard-dev/tabard/awsauth/identity"
	core "github.com/tabard-dev/tabard/internal/core/credentials"
	"github.com/tabard-dev/tabard/internal/core/issuer"
)

// online reads what a role is rendered from.
func (r *rendering) online(ctx context.Context, name string) ([]core.World, error) {
	s, request, err := r.one(ctx, name)
	if err != nil {
		return nil, err
	}
	w := s.World(request)
	if err := s.readController(ctx, r.controller, &w); err != nil {
		return nil, err
	}
	if err := s.addIssuers(ctx, &w); err != nil {
		return nil, err
	}
	w.Settings.Partition = cmp.Or(w.Settings.Partition, identity.Partition("us-east-1"))
	r.tell(&w)
	return []core.World{w}, nil
}

// addIssuers adds the issuers that are in use.
func (s *seen) addIssuers(ctx context.Context, w *core.World) error {
	issuers, err := ownIssuers(ctx, s)
	if err != nil {
		return err
	}
	for _, o := range issuers {
		if !o.DeletionTimestamp.IsZero() {
			continue
		}
		known := core.Issuer{Name: o.Name, URL: o.Spec.URL, Retired: o.Annotations[core.RetiredAnnotation] == "true"}
		for _, p := range o.Spec.Providers {
			if p.AssumeRoleARN == "" {
				known.Audiences = p.Audiences
			}
		}
		w.Issuers = append(w.Issuers, known)
	}
	if url := s.Facts.Issuer; s.Facts.OpenShift && url != "" && !slices.ContainsFunc(w.Issuers, func(i core.Issuer) bool { return i.URL == url }) {
		w.Issuers = append(w.Issuers, core.Issuer{URL: url})
	}
	return nil
}

// readController reads what "tabard credentials bootstrap" told the controller: account,
// partition and boundary. Without it the flags say so. The partition stays empty if neither
// the controller nor the cluster's region tells it.
func (s *seen) readController(ctx context.Context, namespace string, w *core.World) error {
	if s.Facts.Region != "" {
		w.Settings.Partition = identity.Partition(s.Facts.Region)
	}
	if grant := core.GrantOf(*w); grant != nil && grant.Status.Role != nil {
		w.Account = grant.Status.Role.AccountID
	}
	var config corev1.ConfigMap
	err := s.Get(ctx, client.ObjectKey{Namespace: namespace, Name: configName}, &config)
	switch {
	case apierrors.IsNotFound(err) || apierrors.IsForbidden(err):
		return nil
	case err != nil:
		return fmt.Errorf("read the ConfigMap %s/%s: %w", namespace, configName, err)
	}
	if arn, ok := identity.ParseRoleARN(config.Data["roleARN"]); ok {
		w.Account, w.Settings.Partition = arn.Account, arn.Partition
	}
	w.Settings.PermissionsBoundary = config.Data["boundaryARN"]
	if w.Platform.Infrastructure == "" {
		w.Platform.Infrastructure = config.Data["infrastructure"]
	}
	return nil
}

func providerARN(w core.World, url string) string {
	return issuer.ProviderARN(w.Settings.Partition, w.Account, url)
}
