package inject

import (
	"cmp"
	"errors"
	"fmt"
	"path"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/tabard-dev/tabard/awsauth/identity"
)

// Limits of a projected token's life, in seconds, as Kubernetes validates them.
const (
	MinTokenExpiration = 600
	MaxTokenExpiration = 1 << 32
)

// Settings are what holds for all pods of a cluster unless a ServiceAccount or
// a pod says otherwise. Defaults has those of EKS's pod identity webhook.
type Settings struct {
	// AnnotationPrefix is the part before the slash of every annotation.
	AnnotationPrefix string
	// Audience is the "aud" of the token.
	Audience string
	// MountPath is where the token's volume is mounted, a path of Unix style
	// also for Windows.
	MountPath string
	// TokenExpiration is the life of a token in seconds, brought into the
	// limits.
	TokenExpiration int64
	// Region is put into the environment; empty puts none there.
	Region string
	// RegionalSTS puts AWS_STS_REGIONAL_ENDPOINTS=regional there.
	RegionalSTS bool
	// ContainerCredentials are the settings of the method of that name.
	ContainerCredentials ContainerCredentialsSettings

	// Partition is the AWS partition of the cluster's roles: a role of another
	// one is warned of. Empty accepts all of them.
	Partition string
	// ComposeAccount makes the ARNs of roles of this account, 12 digits, of
	// names in annotations that are no ARNs. It needs Partition. Empty takes all
	// values as they are.
	ComposeAccount string
	// AnyRoleARN injects also what does not look like the ARN of an IAM role, as
	// EKS's webhook does, with a warning: there are services that speak STS and
	// have ARNs of their own. Profiles are only of IAM roles all the same.
	AnyRoleARN bool

	// SessionName puts AWS_ROLE_SESSION_NAME there, made of namespace and pod.
	SessionName bool
	// TokenFileMode is the mode of the token's file, such as 0o440; 0 leaves it
	// to Kubernetes. The kubelet has the last word: with an fsGroup, or one
	// runAsUser for all containers, it makes the file 0600 for that owner, and
	// readable by the group.
	TokenFileMode int32
	// FSGroup is given to pods that ask not to run as root and name no fsGroup,
	// so that they can read the token; 0 gives none. All volumes of such a pod
	// that support it change their group, not only the token's.
	FSGroup int64

	// Jitter is a uniform random number in [0,n), safe for concurrent use. It
	// spreads the renewals of container credentials' tokens; nil leaves all of
	// them at the same life.
	Jitter func(n int64) int64 `json:"-"`
}

// ContainerCredentialsSettings are what pods with container credentials get.
type ContainerCredentialsSettings struct {
	// Audience, MountPath and VolumeName are those of the token.
	Audience, MountPath, VolumeName string
	// TokenPath is the token's file within the volume.
	TokenPath string
	// FullURI is where the SDK asks for credentials.
	FullURI string
}

// Defaults are the settings of EKS's pod identity webhook without any flag.
func Defaults() Settings {
	return Settings{
		AnnotationPrefix: defaultPrefix,
		Audience:         "sts.amazonaws.com",
		MountPath:        "/var/run/secrets/eks.amazonaws.com/serviceaccount",
		TokenExpiration:  86400,
		ContainerCredentials: ContainerCredentialsSettings{
			Audience:   "pods.eks.amazonaws.com",
			MountPath:  "/var/run/secrets/pods.eks.amazonaws.com/serviceaccount",
			VolumeName: "eks-pod-identity-token",
			TokenPath:  "eks-pod-identity-token",
			FullURI:    "http://169.254.170.23/v1/credentials",
		},
	}
}

// ComposeIn makes role ARNs of roles of an account, in the partition of a region
// unless another is set.
func (s *Settings) ComposeIn(account, region string) {
	s.ComposeAccount, s.Partition = account, cmp.Or(s.Partition, identity.Partition(region))
}

// check names the setting that is wrong, by the flag of tabard webhook.
func (s Settings) check() error {
	switch {
	case len(validation.IsDNS1123Subdomain(s.AnnotationPrefix)) > 0:
		return fmt.Errorf("--annotation-prefix is %q, expected a DNS name such as eks.amazonaws.com", s.AnnotationPrefix)
	case s.Audience == "":
		return errors.New("--token-audience is empty, expected one such as sts.amazonaws.com: a token without an audience is one for the API server")
	case s.MountPath == "" || strings.Contains(s.MountPath, ":"):
		return fmt.Errorf("--token-mount-path is %q, expected a path without a colon", s.MountPath)
	case s.ComposeAccount != "" && !identity.IsAccountID(s.ComposeAccount):
		return fmt.Errorf("--account-id is %q, expected the 12 digits of an AWS account", s.ComposeAccount)
	case s.ComposeAccount != "" && s.Partition == "":
		return errors.New("--partition is empty, expected one such as aws: role ARNs are to be composed with it")
	case s.TokenFileMode < 0 || s.TokenFileMode > 0o777:
		return fmt.Errorf("--token-file-mode is %#o, expected 0 to 0777", s.TokenFileMode)
	case s.FSGroup < 0:
		return fmt.Errorf("--fs-group is %d, expected a group ID", s.FSGroup)
	}
	return s.ContainerCredentials.check()
}

func (s ContainerCredentialsSettings) check() error {
	switch {
	case s.Audience == "":
		return errors.New("--container-credentials-audience is empty, expected one such as pods.eks.amazonaws.com")
	case s.MountPath == "" || strings.Contains(s.MountPath, ":"):
		return fmt.Errorf("--container-credentials-token-mount-path is %q, expected a path without a colon", s.MountPath)
	case len(validation.IsDNS1123Label(s.VolumeName)) > 0:
		return fmt.Errorf("--container-credentials-token-volume-name is %q, expected a DNS label", s.VolumeName)
	case !isWithin(s.TokenPath):
		return fmt.Errorf("--container-credentials-token-path is %q, expected a relative path within the volume", s.TokenPath)
	case s.FullURI == "":
		return errors.New("--container-credentials-full-uri is empty, expected one such as http://169.254.170.23/v1/credentials")
	}
	return nil
}

// isWithin says that a path stays in its folder, as Kubernetes demands of files
// in projected volumes.
func isWithin(name string) bool {
	clean := path.Clean(name)
	return name != "" && clean != "." && !path.IsAbs(name) && clean != ".." && !strings.HasPrefix(clean, "../")
}
