package credentials

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// OwnConfigs are the ConfigMaps in which the bootstraps of Tabard's programs write the
// roles that they made.
type OwnConfigs struct {
	// Reader reads the cluster in which Tabard runs, past any cache.
	Reader    client.Reader
	Namespace string
	Names     []string
}

// ownRoles are the roles of Tabard's programs. It is safe for concurrent use; however many
// ask, each ConfigMap is read once a while.
type ownRoles struct {
	configs OwnConfigs
	now     func() time.Time

	mu    sync.Mutex
	roles []string
	until time.Time
}

// get is their ARNs, sorted. Without an answer nothing is decided: who could become the
// role that publishes the issuer's keys could become anybody.
func (o *ownRoles) get(ctx context.Context) ([]string, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	now := o.now()
	if now.Before(o.until) {
		return o.roles, nil
	}
	var roles []string
	for _, name := range o.configs.Names {
		var config corev1.ConfigMap
		err := o.configs.Reader.Get(ctx, types.NamespacedName{Namespace: o.configs.Namespace, Name: name}, &config)
		if apierrors.IsNotFound(err) {
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("read which role the program of ConfigMap %s/%s has: %w", o.configs.Namespace, name, err)
		}
		if arn := config.Data["roleARN"]; arn != "" {
			roles = append(roles, arn)
		}
	}
	slices.Sort(roles)
	o.roles, o.until = slices.Compact(roles), now.Add(ownFor)
	return o.roles, nil
}

// ownFor is how long the roles of Tabard's programs count as known.
const ownFor = time.Minute
