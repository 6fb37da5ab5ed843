package scenario

import (
	"context"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/tabard-dev/tabard/internal/core/chain"
)

const (
	tokenVariable = "AWS_WEB_IDENTITY_TOKEN_FILE" //nolint:gosec // a name, and no secret
	// copied is the Secret of the scenario in which a token was copied.
	copied = "aws-token" //nolint:gosec // a name, and no secret
)

// ofPod are the scenarios in which the pod's template is wrong.
func ofPod() []Scenario {
	return []Scenario{
		{Name: "p04-token", Title: "the role was set by hand, with the token that every pod has", Code: chain.CodeAPIToken, plant: func(s *shop, ctx context.Context) error {
			return s.byHand(ctx, roleVariable, s.role, tokenVariable, "/var/run/secrets/kubernetes.io/serviceaccount/token")
		}},
		{Name: "p08", Title: "access keys of former days are in the Deployment", Code: chain.CodeStaticKeys, plant: func(s *shop, ctx context.Context) error {
			return s.variables(ctx, "AWS_ACCESS_KEY_ID", "AKIAIOSFODNN7EXAMPLE", "AWS_SECRET_ACCESS_KEY", "of-former-days")
		}},
		{Name: "p08-role", Title: "the role was set by hand, and nothing else", Code: chain.CodeNoToken, plant: func(s *shop, ctx context.Context) error {
			return s.byHand(ctx, roleVariable, s.role)
		}},
	}
}

// variables sets variables of the container, which are names and values in turn.
func (s *shop) variables(ctx context.Context, pairs ...string) error {
	return s.change(ctx, func(template *corev1.PodTemplateSpec) {
		env := &template.Spec.Containers[0].Env
		for pair := range slices.Chunk(pairs, 2) {
			*env = append(*env, corev1.EnvVar{Name: pair[0], Value: pair[1]})
		}
	})
}

// byHand does so where the ServiceAccount names no role.
func (s *shop) byHand(ctx context.Context, pairs ...string) error {
	if err := s.annotate(ctx, "helm", nil); err != nil {
		return err
	}
	return s.variables(ctx, pairs...)
}
