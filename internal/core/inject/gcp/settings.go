package gcp

import (
	"errors"
	"fmt"

	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/tabard-dev/tabard/internal/core/inject"
)

// Mode is what the credentials are arranged for.
type Mode string

// The modes.
const (
	// Direct is for Google's client libraries, which need no more than the
	// credential file.
	Direct Mode = "direct"
	// Gcloud is for the gcloud command as well: it is told of the credential file,
	// and has a folder to write to.
	Gcloud Mode = "gcloud"
)

// The domain of Google Cloud for everybody. Others are of sovereign clouds.
const defaultUniverse = "googleapis.com"

// Limits, in seconds.
const (
	// maxTokenExpiration is how long a token may live that Google's STS takes.
	// Google Cloud: Workload Identity Federation, "Configure ... with other
	// identity providers": exp is at most 24 hours after iat.
	maxTokenExpiration = 86400
	// Limits of an access token of a service account. Google Cloud: AIP-4117,
	// token_lifetime_seconds.
	minAccessTokenLifetime, maxAccessTokenLifetime = 600, 43200
)

// Settings are what holds for all pods of a cluster unless a ServiceAccount or a
// pod says otherwise. Defaults fills them.
type Settings struct {
	// AnnotationPrefix is the part before the slash of every annotation.
	AnnotationPrefix string
	// Audience is the "aud" of the token. The workload identity provider must
	// allow it.
	Audience string
	// TokenExpiration is the life of a token in seconds, from 600 to 86400.
	TokenExpiration int64
	// TokenFileMode is the mode of the token's file, such as 0o440; 0 leaves it
	// to Kubernetes. The kubelet has the last word, as for inject.Settings. It
	// writes the file as root's, so a user of the image's own that is not root
	// cannot read one of the mode 0o440.
	TokenFileMode int32
	// Region is put into CLOUDSDK_COMPUTE_REGION; empty puts nothing there.
	Region string
	// Mode is that of ServiceAccounts that name none.
	Mode Mode
	// UniverseDomain is that of Google Cloud's services.
	UniverseDomain string
	// AccessTokenLifetime is the life of a service account's access tokens in
	// seconds, from 600 to 43200; 0 leaves it to Google.
	AccessTokenLifetime int64
}

// Defaults are the settings without any flag.
func Defaults() Settings {
	return Settings{
		AnnotationPrefix: "cloud.google.com",
		Audience:         "sts.googleapis.com",
		TokenExpiration:  maxTokenExpiration,
		Mode:             Direct,
		UniverseDomain:   defaultUniverse,
	}
}

// check names the setting that is wrong, by the flag of tabard webhook.
func (s Settings) check() error {
	switch {
	case len(validation.IsDNS1123Subdomain(s.AnnotationPrefix)) > 0:
		return fmt.Errorf("--gcp-annotation-prefix is %q, expected a DNS name such as cloud.google.com", s.AnnotationPrefix)
	case s.Audience == "":
		return errors.New("--gcp-token-audience is empty, expected one such as sts.googleapis.com: a token without an audience is one for the API server")
	case s.TokenExpiration < inject.MinTokenExpiration || s.TokenExpiration > maxTokenExpiration:
		return fmt.Errorf("--gcp-token-expiration is %d, expected seconds from %d to %d", s.TokenExpiration, inject.MinTokenExpiration, maxTokenExpiration)
	case s.TokenFileMode < 0 || s.TokenFileMode > 0o777:
		return fmt.Errorf("--gcp-token-default-mode is %#o, expected 0 to 0777", s.TokenFileMode)
	case !s.Mode.known():
		return fmt.Errorf("--gcp-default-injection-mode is %q, expected direct or gcloud", s.Mode)
	case len(validation.IsDNS1123Subdomain(s.UniverseDomain)) > 0:
		return fmt.Errorf("--gcp-universe-domain is %q, expected a DNS name such as googleapis.com", s.UniverseDomain)
	case s.AccessTokenLifetime != 0 && (s.AccessTokenLifetime < minAccessTokenLifetime || s.AccessTokenLifetime > maxAccessTokenLifetime):
		return fmt.Errorf("--gcp-access-token-lifetime is %d, expected seconds from %d to %d, or 0", s.AccessTokenLifetime, minAccessTokenLifetime, maxAccessTokenLifetime)
	}
	return nil
}

func (m Mode) known() bool { return m == Direct || m == Gcloud }
