package issuer

import (
	"errors"
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/tabard-dev/tabard/api/identity/v1alpha1"
	"github.com/tabard-dev/tabard/awsauth/identity"
)

const (
	// maxURLBytes is what IAM accepts as a provider's URL.
	maxURLBytes = 255
	// maxAudienceBytes is what IAM accepts as a client ID.
	maxAudienceBytes = 255
	// shortestRetirement is the longest life of a pod's token by default.
	shortestRetirement = 24 * time.Hour
	// usualRetirement is used where the spec says nothing.
	usualRetirement = 25 * time.Hour
)

var (
	bucketName = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[a-z0-9][a-z0-9-]{1,61}[a-z0-9]$`) })
	regionName = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[a-z]{2,4}(-[a-z]+)+-[0-9]+$`) })
	prefixPath = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^([A-Za-z0-9._-]+(/[A-Za-z0-9._-]+)*)?$`) })
)

// ValidateURL says whether a text can be the URL of an issuer that Tabard publishes: as
// ValidateForeignURL, and without a slash at the end.
func ValidateURL(text string) error {
	if err := ValidateForeignURL(text); err != nil {
		return err
	}
	if strings.HasSuffix(text, "/") {
		return fmt.Errorf("url is %q, expected no slash at the end: the tokens' issuer must equal it byte for byte", text)
	}
	return nil
}

// ValidateForeignURL says whether a text can be the URL of an issuer that others publish: https, a
// host, no user, query or fragment, at most 255 bytes. OpenID Connect Discovery 3 and IAM both
// compare it byte for byte, so nothing is normalised: those of AKS end with a slash.
func ValidateForeignURL(text string) error {
	if len(text) > maxURLBytes {
		return fmt.Errorf("url has %d bytes, IAM accepts at most %d: choose a shorter one", len(text), maxURLBytes)
	}
	if !strings.HasPrefix(text, "https://") {
		return fmt.Errorf("url is %q, expected https://HOST[/PATH]: AWS fetches keys over https only", text)
	}
	for _, r := range text {
		if r <= ' ' || r > '~' {
			return fmt.Errorf("url is %q, expected printable ASCII without blanks", text)
		}
	}
	parsed, err := url.Parse(text)
	if err != nil {
		return fmt.Errorf("url is %q, expected https://HOST[/PATH]: %w", text, errors.Unwrap(err))
	}
	switch {
	case parsed.Hostname() == "":
		return fmt.Errorf("url is %q, expected a host after https://", text)
	case parsed.User != nil:
		return fmt.Errorf("url %q holds a user, expected https://HOST[/PATH]", parsed.Redacted())
	case strings.ContainsAny(text, "?#"):
		return fmt.Errorf("url is %q, expected neither query nor fragment", text)
	}
	return nil
}

// DocumentURL is where an issuer's document is, of DiscoveryPath or KeysPath. A slash that ends the
// issuer's URL is not doubled (OpenID Connect Discovery 4.1).
func DocumentURL(url, path string) string { return strings.TrimSuffix(url, "/") + "/" + path }

// Validate says what is wrong with a spec. The API server checks most of it,
// but a schema can be bypassed, and files are read without one.
func Validate(spec v1alpha1.OIDCIssuerSpec) error {
	if err := ValidateURL(spec.URL); err != nil {
		return fmt.Errorf("spec.url: %w", err)
	}
	if err := validateLocation(spec.Publication.S3); err != nil {
		return fmt.Errorf("spec.publication.s3: %w", err)
	}
	if err := validateKeys(spec.Keys); err != nil {
		return fmt.Errorf("spec.keys: %w", err)
	}
	for i, provider := range spec.Providers {
		if err := validateProvider(provider); err != nil {
			return fmt.Errorf("spec.providers[%d]: %w", i, err)
		}
	}
	if after := spec.RetireKeysAfter.Duration; after != 0 && after < shortestRetirement {
		return fmt.Errorf("spec.retireKeysAfter is %s, expected at least %s: tokens signed with the key may live that long", after, shortestRetirement)
	}
	if p := spec.DeletionPolicy; p != "" && p != v1alpha1.DeletionPolicyRetain && p != v1alpha1.DeletionPolicyDelete {
		return fmt.Errorf("spec.deletionPolicy is %q, expected Retain or Delete", p)
	}
	return nil
}

func validateLocation(s3 v1alpha1.S3Publication) error {
	switch {
	case strings.Contains(s3.Bucket, "."):
		return fmt.Errorf("bucket is %q, expected a name without dots: TLS does not cover names with dots", s3.Bucket)
	case !bucketName().MatchString(s3.Bucket):
		return fmt.Errorf("bucket is %q, expected 3 to 63 lower-case letters, digits and hyphens", s3.Bucket)
	case !regionName().MatchString(s3.Region):
		return fmt.Errorf("region is %q, expected one like eu-central-1", s3.Region)
	case !prefixPath().MatchString(s3.Prefix):
		return fmt.Errorf("prefix is %q, expected letters, digits and ._- in parts joined by single slashes, none at the ends", s3.Prefix)
	case slices.ContainsFunc(strings.Split(s3.Prefix, "/"), func(part string) bool { return part == "." || part == ".." }):
		return fmt.Errorf("prefix is %q, expected no part that is . or ..: a URL cannot hold them", s3.Prefix)
	case s3.PublicRead != "" && s3.PublicRead != v1alpha1.PublicReadBucketPolicy && s3.PublicRead != v1alpha1.PublicReadNone:
		return fmt.Errorf("publicRead is %q, expected BucketPolicy or None", s3.PublicRead)
	}
	return nil
}

func validateKeys(source v1alpha1.KeySource) error {
	switch source.Source {
	case "", v1alpha1.KeySourceAPIServer:
		return nil
	case v1alpha1.KeySourceConfigMap:
		if source.ConfigMap == nil || source.ConfigMap.Namespace == "" || source.ConfigMap.Name == "" {
			return errors.New("source is ConfigMap, expected configMap.namespace and configMap.name")
		}
		return nil
	}
	return fmt.Errorf("source is %q, expected APIServer or ConfigMap", source.Source)
}

func validateProvider(provider v1alpha1.Provider) error {
	if len(provider.Audiences) == 0 {
		return errors.New("audiences is empty, expected at least one, such as sts.amazonaws.com")
	}
	for _, audience := range provider.Audiences {
		if audience == "" || len(audience) > maxAudienceBytes || strings.ContainsAny(audience, ", \t\r\n") {
			return fmt.Errorf("audience is %q, expected 1 to %d characters without comma or blank", audience, maxAudienceBytes)
		}
	}
	if arn := provider.AssumeRoleARN; arn != "" && !identity.IsRoleARN(arn) {
		return fmt.Errorf("assumeRoleARN is %q, expected arn:aws:iam::ACCOUNT:role/NAME or nothing", arn)
	}
	return nil
}
