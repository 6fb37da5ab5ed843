package cluster

import (
	"errors"
	"fmt"

	"github.com/tabard-dev/tabard/internal/core/line"
)

var (
	// ErrNoOLM is a cluster that has no catalogues of OLM v0.
	ErrNoOLM = errors.New("this cluster has no OLM: it serves neither packages.operators.coreos.com/v1 nor operators.coreos.com; read a catalogue from files instead")
	// ErrNoPackageServer is a cluster with OLM whose package server does not answer.
	ErrNoPackageServer = errors.New("this cluster has OLM, and its package server does not answer; " +
		"look at it: kubectl get apiservice v1.packages.operators.coreos.com")
)

// Forbidden says that the person may not list PackageManifests.
type Forbidden struct {
	// Namespace is where they were asked for; empty is everywhere.
	Namespace string
	err       error
}

// Error names the right that is missing, and what grants it.
func (f *Forbidden) Error() string {
	place, role, in, hint := "in namespace "+f.Namespace, "role", " -n "+f.Namespace, ""
	if f.Namespace == "" {
		place, role, in, hint = "in all namespaces", "clusterrole", "", "; or name one namespace"
	}
	return fmt.Sprintf("the right to list %s %s is missing: the API server says: %s. Who administers the cluster can grant it: "+
		"kubectl%s create %s packagemanifests-view --verb=get,list --resource=%s && kubectl%s create %sbinding packagemanifests-view --%s=packagemanifests-view --user=NAME%s",
		packages.GroupResource(), place, line.Of(f.err.Error()), in, role, packages.GroupResource(), in, role, role, hint)
}

// Unwrap is the API server's refusal.
func (f *Forbidden) Unwrap() error { return f.err }

// told is an error in whose text others have a part: it is one harmless line.
type told struct {
	before string
	err    error
}

func (t told) Error() string { return t.before + line.Of(t.err.Error()) }

func (t told) Unwrap() error { return t.err }
