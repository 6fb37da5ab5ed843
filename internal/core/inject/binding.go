package inject

import (
	"strconv"

	"github.com/tabard-dev/tabard/awsauth/identity"
	"github.com/tabard-dev/tabard/internal/core/inject/podpatch"
)

// binding is what a pod is to get, with the defaults filled in.
type binding struct {
	method Method
	// roleARN is empty if the method needs none, or if the pod gets only
	// profiles.
	roleARN, audience string
	// source is what names the role, or the method.
	source      string
	regionalSTS bool
	// region is empty for that of the settings.
	region string
	// tokenExpiration is in seconds, within the limits.
	tokenExpiration int64
}

// choose picks the one method by which a pod gets credentials: container
// credentials if the identities list the ServiceAccount, else the role of its
// annotation, else the role of the mapping. The reason is for NoMethod.
func (in *Injector) choose(pod Pod, s Subject, warnings *podpatch.Warnings) (binding, Reason) {
	name := pod.ServiceAccountName
	switch {
	case name == "":
		return in.defaults(), UnknownServiceAccount
	case s.Account != nil && s.Account.TooLong:
		WarnTooLong(name, "AWS", warnings)
		return in.defaults(), AnnotationsTooLong
	case s.Identities.has(s.Namespace, name):
		found := in.containerCredentials(s, name)
		in.adviseRegion(s.Account, name, warnings)
		return found, ""
	case s.Account != nil:
		if role := in.compose(s.Account.Annotations[in.names.roleARN]); role != "" {
			found := in.bind(s.Account.Annotations)
			found.roleARN = role
			in.adviseRegion(s.Account, name, warnings)
			return in.webIdentityOf(found, in.roleSource, name, warnings)
		}
	}
	switch entry, ok := s.Mapping.find(s, name); {
	case ok && entry.broken:
		warnings.Add("the config map of the webhook has an entry for ServiceAccount %.63q that cannot be read; the pod gets no AWS identity", name)
		return in.defaults(), BadMapping
	case ok && entry.RoleARN != "":
		return in.webIdentityOf(in.complete(entry), mappingSource, name, warnings)
	}
	if s.Account == nil {
		return in.defaults(), UnknownServiceAccount
	}
	in.adviseAnnotations(s.Account.Annotations, name, warnings)
	return in.defaults(), NotOptedIn
}

// What else than an annotation names who gets an identity.
const (
	mappingSource    = "the config map's RoleARN"
	identitiesSource = "the identities file"
)

// webIdentityOf is the method of a role, if it is one.
func (in *Injector) webIdentityOf(found binding, source, account string, warnings *podpatch.Warnings) (binding, Reason) {
	role, _ := identity.ParseRoleARN(found.roleARN)
	switch ok := identity.IsRoleARN(found.roleARN); {
	case !ok && !in.settings.AnyRoleARN:
		warnings.Add("ServiceAccount %.63q: %s is %.80q, no ARN of an IAM role; the pod gets no AWS identity", account, source, found.roleARN)
		return in.defaults(), MalformedRoleARN
	case !ok:
		warnings.Add("ServiceAccount %.63q: %s is %.80q, no ARN of an IAM role", account, source, found.roleARN)
	case in.settings.Partition != "" && role.Partition != in.settings.Partition:
		warnings.Add("ServiceAccount %.63q: %s names a role of the partition %.40s; this cluster is in %s", account, source, role.Partition, in.settings.Partition)
	}
	found.method, found.source = WebIdentity, source
	return found, ""
}

// containerCredentials is the other method. What the ServiceAccount says counts,
// else what the mapping says of it by name; the role and audience of both do
// not.
func (in *Injector) containerCredentials(s Subject, account string) binding {
	found := in.defaults()
	if s.Account != nil {
		found = in.bind(s.Account.Annotations)
	} else if entry, ok := s.Mapping.named(s.Namespace, account); ok {
		found = in.complete(entry)
	}
	found.method, found.audience, found.source = ContainerCredentials, in.settings.ContainerCredentials.Audience, identitiesSource
	found.roleARN = ""
	return found
}

// defaults is what holds where nobody says anything.
func (in *Injector) defaults() binding {
	return binding{
		audience:        in.settings.Audience,
		regionalSTS:     in.settings.RegionalSTS,
		tokenExpiration: in.settings.TokenExpiration,
	}
}

// Request is what the annotations of a ServiceAccount ask for, with the defaults
// filled in. Without a role it has not opted in.
type Request struct {
	RoleARN, Audience string
	UseRegionalSTS    bool
	TokenExpiration   int64
}

// Request reads the annotations of a ServiceAccount.
func (in *Injector) Request(account *ServiceAccount) Request {
	found := in.bind(account.Annotations)
	return Request{in.compose(account.Annotations[in.names.roleARN]), found.audience, found.regionalSTS, found.tokenExpiration}
}

// bind reads the annotations of a ServiceAccount, except for the role. What
// cannot be parsed counts as not said.
func (in *Injector) bind(annotations map[string]string) binding {
	found := in.defaults()
	// An empty audience would make a token for the API server, which has no
	// business at AWS.
	if audience := annotations[in.names.audience]; audience != "" {
		found.audience = audience
	}
	if regional, err := strconv.ParseBool(annotations[in.names.regionalSTS]); err == nil {
		found.regionalSTS = regional
	}
	if seconds, ok := ParseExpiration(annotations[in.names.tokenExpiration]); ok {
		found.tokenExpiration = seconds
	}
	if region := annotations[in.names.region]; identity.IsRegion(region) {
		found.region = region
	}
	return found
}

// adviseRegion warns of an annotation that should name a region and cannot.
func (in *Injector) adviseRegion(account *ServiceAccount, name string, warnings *podpatch.Warnings) {
	if account == nil {
		return
	}
	if region := account.Annotations[in.names.region]; region != "" && !identity.IsRegion(region) {
		warnings.Add("ServiceAccount %.63q: annotation %s is %.40q, no region such as eu-central-1; it does not count", name, in.names.region, region)
	}
}

// complete fills the defaults into an entry of the mapping.
func (in *Injector) complete(entry entry) binding {
	found := in.defaults()
	found.roleARN = entry.RoleARN
	if entry.Audience != "" {
		found.audience = entry.Audience
	}
	if entry.UseRegionalSTS != nil {
		found.regionalSTS = *entry.UseRegionalSTS
	}
	if entry.TokenExpiration != 0 {
		found.tokenExpiration = clamp(entry.TokenExpiration)
	}
	return found
}

// ParseExpiration reads the life of a token in seconds and brings it into the
// limits. It says whether the text is a number.
func ParseExpiration(text string) (int64, bool) {
	if text == "" {
		return 0, false
	}
	seconds, err := strconv.ParseInt(text, 10, 64)
	return clamp(seconds), err == nil
}

// clamp brings a token's life into what Kubernetes accepts: outside, the pod
// itself would be refused.
func clamp(seconds int64) int64 {
	return min(max(seconds, MinTokenExpiration), MaxTokenExpiration)
}
