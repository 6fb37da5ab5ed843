package installing

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/tabard-dev/tabard/internal/core/operator"
	"github.com/tabard-dev/tabard/internal/core/permission"
	"github.com/tabard-dev/tabard/internal/olm"
	"github.com/tabard-dev/tabard/internal/platform/tokenfacts"
)

// Planned is an install as it is shown to a person, before anything is written.
type Planned struct {
	Install operator.Install
	// Objects are what was seen of the cluster.
	Objects *operator.Objects
	// Changes are what is there, and what is made.
	Changes []operator.Change
	// Missing are the objects that are made, in their order.
	Missing []*unstructured.Unstructured
	// Judged is whether the role is enough.
	Judged operator.Judgement
}

// Plan says what an install makes, and whether its role is enough. Nothing is written.
func (p Planner) Plan(ctx context.Context, mode tokenfacts.Mode, c Choice) (out Planned, err error) {
	install, cloud, err := c.Install(mode)
	if err != nil {
		return out, err
	}
	out.Install = install
	if out.Objects, err = p.Client.Observe(ctx, install.Wanted); err != nil {
		return out, err
	}
	if c.Bundle.Metadata != nil && out.Objects.InstallModes == nil {
		out.Objects.InstallModes = c.Bundle.Metadata.InstallModes
	}
	asks := c.Asks
	if asks == nil {
		declared := permission.OfBundle(c.Package.Name, c.Bundle, cloud)
		asks = &declared
	}
	out.Judged, err = p.Judge(ctx, operator.Upgrade{
		CSV: c.Bundle.Name, New: *asks, Namespace: install.Namespace, Values: install.Values,
	})
	if err != nil {
		return out, err
	}
	if out.Changes, err = install.Plan(out.Objects); err != nil {
		return out, err
	}
	out.Missing = olm.Manifests(install, out.Objects, out.Changes)
	return out, nil
}

// Digest is one of all that a person decides by: what is installed, what is there, what is made, who else
// is in the namespace, and what is said of the role. A plan that is made again has the same digest if it is
// the one that was shown.
func (p Planned) Digest() (string, error) {
	text, err := json.Marshal([]any{p.Install, p.Changes, p.Missing, p.Neighbours(), Said(p.Judged)})
	if err != nil {
		return "", fmt.Errorf("the plan of %s: %w", p.Install.CSV, err)
	}
	sum := sha256.Sum256(text)
	return "sha256:" + hex.EncodeToString(sum[:]), nil
}

// Neighbours are the names of the other Subscriptions of the namespace, sorted: OLM upgrades them
// together.
func (p Planned) Neighbours() (out []string) {
	if p.Objects == nil {
		return nil
	}
	for _, s := range p.Objects.Subscriptions {
		if s.Name != p.Install.Wanted.Subscription {
			out = append(out, s.Name)
		}
	}
	slices.Sort(out)
	return out
}

// Said is what a judgement says of a role, for digests: the verdict, what is asked for, and the result of
// each part. Why a role could not be read is not in it, since AWS gives each answer another number.
func Said(j operator.Judgement) []string {
	out := []string{j.CSV, string(j.Verdict), j.Digest}
	if j.Report == nil {
		return out
	}
	for _, t := range j.Report.Trust {
		out = append(out, t.Subject, t.Audience, string(t.Result))
	}
	for _, one := range j.Report.Permissions {
		out = append(out, one.Sentence(), string(one.Result))
	}
	return out
}
