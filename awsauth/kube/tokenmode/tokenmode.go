// Package tokenmode tells whether a cluster gives operators short-lived tokens
// in place of stored keys. It is OpenShift's test of three parts, all of which
// must hold:
//
//   - the platform is AWS, Azure or GCP: Infrastructure "cluster",
//     status.platformStatus.type, or the deprecated status.platform where that
//     is not set;
//   - the effective credentials mode is Manual: CloudCredential "cluster",
//     spec.credentialsMode, where the key "disabled" of the legacy ConfigMap
//     counts as Manual if no mode is set;
//   - the cluster's issuer is a URL with https: Authentication "cluster",
//     spec.serviceAccountIssuer. One that is not set is no issuer.
//
// Detect decides on objects that were read; Read reads them.
package tokenmode

import (
	"errors"
	"fmt"
	"net/url"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// Cloud is a platform that knows short-lived tokens, as Infrastructure writes it.
type Cloud string

// The clouds that know short-lived tokens.
const (
	AWS   Cloud = "AWS"
	Azure Cloud = "Azure"
	GCP   Cloud = "GCP"
)

// Objects are what the answer depends on; nil is an object that does not exist.
type Objects struct {
	Infrastructure, CloudCredential, Authentication *unstructured.Unstructured
	// Legacy is the ConfigMap cloud-credential-operator-config in
	// openshift-cloud-credential-operator.
	Legacy *unstructured.Unstructured
}

// Answer says whether the cluster is in token mode.
type Answer struct {
	// Cloud is the cluster's, in token mode or not; empty for any other
	// platform.
	Cloud Cloud
	// Enabled says that all three parts hold.
	Enabled bool
	// Reason says in one sentence which part does not hold; empty if Enabled.
	Reason string
	// Issuer is the cluster's, if Enabled.
	Issuer string
}

// On says whether the cluster is in token mode on that cloud.
func (a Answer) On(cloud Cloud) bool { return a.Enabled && a.Cloud == cloud }

// ErrNoAuthentication says that the cluster's Authentication is missing, which
// never is the case on OpenShift: the answer is not known.
var ErrNoAuthentication = errors.New(`the Authentication "cluster" does not exist; whether the cluster gives tokens is not known`)

// Detect decides. It fails if a field is not of its type, if the legacy
// ConfigMap contradicts the credentials mode, or if the Authentication is
// missing on a cluster that could be in token mode: then nobody knows, and the
// answer is no.
func Detect(objects Objects) (Answer, error) {
	platform, err := platformOf(objects.Infrastructure)
	if err != nil {
		return Answer{}, err
	}
	answer := Answer{}
	switch cloud := Cloud(platform); cloud {
	case AWS, Azure, GCP:
		answer.Cloud = cloud
	case "":
		return no(answer, `no Infrastructure "cluster" names a platform`), nil
	default:
		return no(answer, "the platform is %s, not AWS, Azure or GCP", platform), nil
	}
	if objects.CloudCredential == nil {
		return no(answer, `the CloudCredential "cluster" does not exist`), nil
	}
	mode, err := modeOf(objects.CloudCredential, objects.Legacy)
	if err != nil {
		return Answer{}, err
	}
	if mode != manual {
		if mode == "" {
			mode = "Default"
		}
		return no(answer, "the credentials mode is %s, not Manual", mode), nil
	}
	if objects.Authentication == nil {
		return Answer{}, ErrNoAuthentication
	}
	issuer, err := text(objects.Authentication, "spec", "serviceAccountIssuer")
	if err != nil {
		return Answer{}, err
	}
	if u, err := url.Parse(issuer); err != nil || u.Scheme != "https" || u.Host == "" {
		return no(answer, `the issuer in Authentication "cluster" is %q, not a URL with https`, issuer), nil
	}
	answer.Enabled, answer.Issuer = true, issuer
	return answer, nil
}

const manual = "Manual"

func no(answer Answer, format string, args ...any) Answer {
	answer.Reason = fmt.Sprintf(format, args...)
	return answer
}

func platformOf(infrastructure *unstructured.Unstructured) (string, error) {
	platform, err := text(infrastructure, "status", "platformStatus", "type")
	if err != nil || platform != "" {
		return platform, err
	}
	return text(infrastructure, "status", "platform")
}

// modeOf is the effective mode.
func modeOf(credential, legacy *unstructured.Unstructured) (string, error) {
	mode, err := text(credential, "spec", "credentialsMode")
	if err != nil {
		return "", err
	}
	disabled, err := text(legacy, "data", "disabled")
	if err != nil || disabled != "true" {
		return mode, err
	}
	switch mode {
	case "", manual:
		return manual, nil
	}
	return "", fmt.Errorf(`the CloudCredential "cluster" says %s and the legacy ConfigMap %s/%s says disabled; remove the ConfigMap`,
		mode, legacyNamespace, legacyName)
}

// text is a field of an object, empty for an absent object or field.
func text(object *unstructured.Unstructured, path ...string) (string, error) {
	if object == nil {
		return "", nil
	}
	found, _, err := unstructured.NestedString(object.Object, path...)
	if err != nil {
		return "", fmt.Errorf("the %s %q: %w", object.GetKind(), object.GetName(), err)
	}
	return found, nil
}
