package console

import (
	"context"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/tabard-dev/tabard/internal/console/api"
	"github.com/tabard-dev/tabard/internal/core/chain"
)

// workloadEvery is how often workloads are looked at. A list is read no more often than it is kept for.
const workloadEvery = 2 * time.Second

// changesOf is the topic of a value of the parameter "of", which sends the version of what a page shows. One
// that is no topic has no look.
func (s *Server) changesOf(of string) topic {
	kind, rest, _ := strings.Cut(of, "/")
	namespace, name, _ := strings.Cut(rest, "/")
	subject := chain.Subject{Namespace: namespace}
	switch {
	case of == "workloads":
		return s.changed(s.versionOfWorkloads)
	case of == "overview":
		return s.changed(s.versionOfOverview)
	case kind == "pods":
		subject.Pod = name
	case kind == "serviceaccounts":
		subject.Account = name
	}
	if checkSubject(subject) != nil {
		return topic{}
	}
	return s.changed(func(ctx context.Context) (string, error) {
		version, err := s.versionOf(ctx, subject)
		if apierrors.IsNotFound(err) {
			return gone, nil
		}
		return version, err
	})
}

// changed is a topic that sends a version. Why there is none is sent as a problem, and the stream goes on.
func (s *Server) changed(version func(context.Context) (string, error)) topic {
	return topic{every: workloadEvery, look: func(ctx context.Context) (string, any) {
		if !s.World.HasCluster() {
			return "problem", api.Problem(*noCluster())
		}
		seen, err := version(ctx)
		if err != nil {
			return "problem", api.Problem(*problemOf(err))
		}
		return "changed", api.Changed{Version: seen}
	}}
}

func (s *Server) versionOfWorkloads(ctx context.Context) (string, error) {
	read, _, err := s.workloads.get(ctx)
	if err != nil {
		return "", err
	}
	return read.version, nil
}
