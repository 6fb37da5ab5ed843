// Package fakeolm is a fake of the Operator Lifecycle Manager (OLM, version 0), for tests. It acts on a
// real API server with OLM's real kinds (testkit.OLM), and writes what OLM writes to them, in OLM's
// order: compared with OLM v0.45.0. It plays on demand what a real OLM cannot be made to show: see
// Failure. Nothing of it runs pods, pulls bundles or gives rights: Deployments are available because the
// fake says so.
//
// It differs from OLM in that each CatalogSource has all packages and is seen from all namespaces, each
// package has one channel, each version replaces the one before, and none depends on another.
package fakeolm

import (
	"context"
	"maps"
	"slices"
	"sync"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
)

// manager is by what name the fake writes to the API server.
const manager = "fakeolm"

// interval is how often the fake looks at all objects. An object takes one step each time, so that
// whoever watches it sees all of them.
const interval = 50 * time.Millisecond

// Package is what the catalogues have of one package.
type Package struct {
	Name, Channel string
	// CSVs are its versions, the oldest first. Each replaces the one before.
	CSVs []CSV
}

// CSV is a version of a package.
type CSV struct {
	Name        string
	Annotations map[string]string
	// Deployments are those of the operator, by name.
	Deployments map[string]appsv1.DeploymentSpec
	// Spec is more of the ClusterServiceVersion's spec, such as its version. It wins.
	Spec map[string]any
}

// Script is what a fake begins with.
type Script struct {
	Packages []Package
	// Namespaces are those in which the fake acts; none for all. Two fakes on one API server need
	// namespaces of their own.
	Namespaces []string
	// Faults are as those of Fail.
	Faults map[string]Fault
}

// OLM is a fake of it that runs. Its methods may be called at any time.
type OLM struct {
	t      testing.TB
	client dynamic.Interface
	kube   kubernetes.Interface
	only   []string
	// said are the errors that were logged.
	said map[string]bool

	mu       sync.Mutex
	packages []Package
	faults   map[string]Fault
}

// Start starts a fake. It ends with the test, which fails if the API server finds that the fake has
// written what OLM could not have written.
func Start(t testing.TB, client dynamic.Interface, kube kubernetes.Interface, script Script) *OLM {
	t.Helper()
	o := &OLM{t: t, client: client, kube: kube, only: script.Namespaces, said: map[string]bool{}, packages: slices.Clone(script.Packages), faults: map[string]Fault{}}
	maps.Copy(o.faults, script.Faults)
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() { defer close(ended); o.run(ctx) }()
	t.Cleanup(func() { cancel(); <-ended })
	return o
}

// Publish adds a version to a package of the script, as its newest.
func (o *OLM) Publish(name string, csv CSV) {
	o.t.Helper()
	o.mu.Lock()
	defer o.mu.Unlock()
	at := slices.IndexFunc(o.packages, func(p Package) bool { return p.Name == name })
	if at < 0 {
		o.t.Errorf("fakeolm: publish %s: the script has no package %s", csv.Name, name)
		return
	}
	o.packages[at].CSVs = append(slices.Clone(o.packages[at].CSVs), csv) // those that look now keep theirs
}

// Fail makes something fail until it is mended: a version by the name of its ClusterServiceVersion, and
// with CatalogueStops a CatalogSource by NAMESPACE/NAME. It takes the place of an earlier fault.
func (o *OLM) Fail(of string, fault Fault) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.faults[of] = fault
}

// Mend ends the fault of something. What OLM does not try again stays as it is, but for a bundle: it is
// unpacked, as if somebody had deleted its failed Job.
func (o *OLM) Mend(of string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	delete(o.faults, of)
}

// fault is how something fails now, if it fails in one of these ways.
func (o *OLM) fault(of string, ways ...Failure) (Fault, bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	fault, ok := o.faults[of]
	for _, way := range ways {
		if ok && fault.How == way {
			return fault, true
		}
	}
	return Fault{}, false
}

// published are the packages as they are now.
func (o *OLM) published() []Package {
	o.mu.Lock()
	defer o.mu.Unlock()
	return slices.Clone(o.packages)
}

// version is a version, and the name of the one that it replaces.
func (o *OLM) version(name string) (found CSV, replaces string, ok bool) {
	for _, p := range o.published() {
		for i, csv := range p.CSVs {
			if csv.Name != name {
				continue
			}
			if i > 0 {
				replaces = p.CSVs[i-1].Name
			}
			return csv, replaces, true
		}
	}
	return CSV{}, "", false
}

func (o *OLM) run(ctx context.Context) {
	ticker := time.NewTicker(interval)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
			o.look(ctx)
		}
	}
}

// look looks at everything once.
func (o *OLM) look(ctx context.Context) {
	seen, err := o.read(ctx)
	if err != nil {
		o.say(ctx, err)
		return
	}
	for i := range seen.catalogues {
		o.say(ctx, o.catalogue(ctx, &seen.catalogues[i]))
	}
	for _, ns := range seen.namespaces {
		for i := range ns.groups {
			o.say(ctx, o.group(ctx, &ns.groups[i]))
		}
		for i := range ns.csvs {
			o.say(ctx, o.csv(ctx, ns, &ns.csvs[i]))
		}
		for i := range ns.plans {
			o.say(ctx, o.plan(ctx, ns, &ns.plans[i]))
		}
		o.say(ctx, o.subscriptions(ctx, seen, ns))
	}
}

// say says what went wrong. Objects that changed or went meanwhile are looked at again.
func (o *OLM) say(ctx context.Context, err error) {
	switch {
	case err == nil, ctx.Err() != nil, apierrors.IsConflict(err), apierrors.IsNotFound(err):
	case o.said[err.Error()]:
	default:
		o.said[err.Error()] = true
		if apierrors.IsInvalid(err) || apierrors.IsBadRequest(err) {
			o.t.Errorf("fakeolm: %v", err)
			return
		}
		o.t.Logf("fakeolm: %v", err)
	}
}
