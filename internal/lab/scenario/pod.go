package scenario

import (
	"context"
	"slices"

	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/tabard-dev/tabard/internal/core/chain"
)

const (
	tokenVariable = "AWS_WEB_IDENTITY_TOKEN_FILE" //nolint:gosec // a name, and no secret
	// copied is the Secret of the scenario in which a token was copied.
	copied = "aws-token" //nolint:gosec // a name, and no secret
	// mounted is where that scenario, and the one of a file's mode, have the token.
	mounted = "/var/run/secrets/aws"
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
		{Name: "p10", Title: "the token's volume was written by hand, with a mode for its owner alone", Code: chain.CodeTokenUnreadable, plant: (*shop).hiddenToken},
		{Name: "p12", Title: "a token was copied into a Secret, sixteen minutes ago", Code: chain.CodeTokenFixed, plant: (*shop).copiedToken},
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

// copiedToken mounts a copy of a token, which nobody renews, and lets so much time pass that it is over.
func (s *shop) copiedToken(ctx context.Context) error {
	made, err := s.kube.CoreV1().ServiceAccounts(Namespace).CreateToken(ctx, Workload, &authenticationv1.TokenRequest{
		Spec: authenticationv1.TokenRequestSpec{Audiences: []string{audience}, ExpirationSeconds: new(int64(600))},
	}, metav1.CreateOptions{})
	if err != nil {
		return err
	}
	if _, err := s.kube.CoreV1().Secrets(Namespace).Create(ctx, &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Name: copied}, StringData: map[string]string{"token": made.Status.Token},
	}, metav1.CreateOptions{}); err != nil {
		return err
	}
	if err := s.mount(ctx, corev1.VolumeSource{Secret: &corev1.SecretVolumeSource{SecretName: copied}}); err != nil {
		return err
	}
	s.Say("the local AWS takes the time for 16 minutes later when it judges tokens, until the scenario ends or another one begins")
	return s.tokensAge(ctx, "16m")
}

// mount gives the container a token from a volume, and its role by hand.
func (s *shop) mount(ctx context.Context, source corev1.VolumeSource, more ...func(*corev1.PodSpec)) error {
	return s.change(ctx, func(template *corev1.PodTemplateSpec) {
		spec := &template.Spec
		spec.Volumes = append(spec.Volumes, corev1.Volume{Name: copied, VolumeSource: source})
		app := &spec.Containers[0]
		app.VolumeMounts = append(app.VolumeMounts, corev1.VolumeMount{Name: copied, MountPath: mounted, ReadOnly: true})
		app.Env = append(app.Env, corev1.EnvVar{Name: roleVariable, Value: s.role}, corev1.EnvVar{Name: tokenVariable, Value: mounted + "/token"})
		for _, each := range more {
			each(spec)
		}
	})
}

// hiddenToken mounts a token that its owner alone may read, for a container of another user. The other
// container has no user, so that the kubelet cannot know whose the file is to be
// (https://kubernetes.io/docs/concepts/storage/projected-volumes/#securitycontext-interactions).
func (s *shop) hiddenToken(ctx context.Context) error {
	projected := &corev1.ProjectedVolumeSource{DefaultMode: new(int32(0o400)), Sources: []corev1.VolumeProjection{{
		ServiceAccountToken: &corev1.ServiceAccountTokenProjection{Audience: audience, ExpirationSeconds: new(int64(3600)), Path: "token"},
	}}}
	return s.mount(ctx, corev1.VolumeSource{Projected: projected}, func(spec *corev1.PodSpec) {
		spec.Containers[0].SecurityContext = &corev1.SecurityContext{RunAsUser: new(int64(1000))}
		spec.Containers = append(spec.Containers, corev1.Container{Name: "beside", Image: spec.Containers[0].Image})
	})
}
