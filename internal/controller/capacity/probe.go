package capacity

import (
	"context"
	"encoding/json"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/openapi"
)

// prober finds out what a cluster serves.
type prober struct {
	metadata metadata.Interface
	schemas  openapi.ClientWithContext
	// namespace is the one that is watched, empty for all.
	namespace string
	// migration is what the administrator says of it; nil to find out.
	migration *bool

	// schema is where the schema of the Machine API was read, found what it says.
	schema string
	found  bool
}

// probe reads one object of each kind. A kind that cannot be read is as good as
// none: it must not keep the others from being watched.
func (p *prober) probe(ctx context.Context) (served, error) {
	out := served{versions: map[*kind]string{}, refused: []string{}}
	for _, k := range kinds {
		version, err := p.version(ctx, k)
		switch {
		case apierrors.IsForbidden(err):
			out.refused = append(out.refused, k.String())
		case err != nil:
			return served{}, fmt.Errorf("see whether %s is served: %w", k.GroupKind, err)
		case version != "":
			out.versions[k] = version
		}
	}
	if !out.has(machineAPISet) {
		return out, nil
	}
	var err error
	out.migration, err = p.migrates(ctx)
	return out, err
}

// version is the best version in which a kind can be read, empty for none.
func (p *prober) version(ctx context.Context, k *kind) (string, error) {
	options := metav1.ListOptions{Limit: 1}
	if k.only != "" {
		options.FieldSelector = fields.OneTermEqualSelector(metav1.ObjectNameField, k.only).String()
	}
	for _, version := range k.versions {
		access := p.metadata.Resource(k.WithVersion(version).GroupVersion().WithResource(k.resource))
		var err error
		if k.only == "" && p.namespace != "" {
			_, err = access.Namespace(p.namespace).List(ctx, options)
		} else {
			_, err = access.List(ctx, options)
		}
		if err == nil {
			return version, nil
		}
		if !apierrors.IsNotFound(err) {
			return "", err
		}
	}
	return "", nil
}

// migrates says whether the Machine API's MachineSet can say which machine API
// has authority. The field is in the CRD of clusters with the feature gate
// MachineAPIMigration alone; without it nothing would ever have authority.
func (p *prober) migrates(ctx context.Context) (bool, error) {
	if p.migration != nil {
		return *p.migration, nil
	}
	paths, err := p.schemas.PathsWithContext(ctx)
	if err != nil {
		return false, fmt.Errorf("list the schemas: %w", err)
	}
	at, ok := paths["apis/"+machineAPIGroup+"/"+machineAPISet.versions[0]]
	if !ok {
		return false, nil
	}
	if at.ServerRelativeURL() == p.schema && p.schema != "" { // it holds a hash of the schema
		return p.found, nil
	}
	text, err := at.SchemaWithContext(ctx, "application/json")
	if err != nil {
		return false, fmt.Errorf("read the schema of %s: %w", machineAPIGroup, err)
	}
	found, err := hasAuthority(text)
	if err != nil {
		return false, fmt.Errorf("read the schema of %s: %w", machineAPIGroup, err)
	}
	p.schema, p.found = at.ServerRelativeURL(), found
	return found, nil
}

// hasAuthority looks into an OpenAPI document for status.authoritativeAPI of the
// MachineSet.
func hasAuthority(document []byte) (bool, error) {
	type properties struct {
		Properties map[string]json.RawMessage `json:"properties"`
	}
	var schemas struct {
		Components struct {
			Schemas map[string]struct {
				Kinds []struct {
					Kind string `json:"kind"`
				} `json:"x-kubernetes-group-version-kind"`
				Properties struct {
					Status properties `json:"status"`
				} `json:"properties"`
			} `json:"schemas"`
		} `json:"components"`
	}
	if err := json.Unmarshal(document, &schemas); err != nil {
		return false, err
	}
	for _, one := range schemas.Components.Schemas {
		for _, k := range one.Kinds {
			if _, found := one.Properties.Status.Properties["authoritativeAPI"]; k.Kind == machineAPISet.Kind && found {
				return true, nil
			}
		}
	}
	return false, nil
}
