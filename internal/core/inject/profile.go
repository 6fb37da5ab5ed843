package inject

import (
	"path"
	"slices"
	"strings"

	"github.com/tabard-dev/tabard/awsauth/identity"
	"github.com/tabard-dev/tabard/internal/core/inject/podpatch"
)

// configFile is the AWS config file within the profiles' volume.
const configFile = "config"

// Bounds of the profiles of a pod.
const (
	maxProfiles    = 16
	maxProfileName = 32
)

// profile is one more role of a pod, by the name of an AWS profile.
type profile struct{ name, roleARN string }

// readProfiles reads the pod's annotation role-profiles: NAME=ROLE, as many as
// wanted, with blanks or line breaks between them. One that is wrong is warned
// of and left out: the SDK then says that there is no such profile.
func (in *Injector) readProfiles(asked annotations, warnings *podpatch.Warnings) []profile {
	var profiles []profile
	for _, item := range strings.Fields(asked.roleProfiles.Text()) {
		name, role, ok := strings.Cut(item, "=")
		role = in.compose(role)
		switch {
		case len(profiles) == maxProfiles:
			warnings.Add("annotation %s has more than %d profiles; the rest is left out", in.names.roleProfiles, maxProfiles)
			return profiles
		case !ok || !isProfileName(name):
			warnings.Add("annotation %s: %.80q: expected NAME=ROLE, with a name of letters, digits, - and _ that is not \"default\"", in.names.roleProfiles, item)
		case !identity.IsRoleARN(role):
			warnings.Add("annotation %s: profile %s is %.80q, no ARN of an IAM role; it is left out", in.names.roleProfiles, name, role)
		case slices.ContainsFunc(profiles, func(p profile) bool { return p.name == name }):
			warnings.Add("annotation %s has profile %s twice; the first one counts", in.names.roleProfiles, name)
		default:
			profiles = append(profiles, profile{name, role})
		}
	}
	return profiles
}

// isProfileName accepts what is fit for a section of the config file and a
// folder. The default profile is the ServiceAccount's own role.
func isProfileName(name string) bool {
	return name != "" && len(name) <= maxProfileName && name != "default" && consistsOf(name, func(r rune) bool {
		return r == '-' || r == '_' || isDigit(r) || 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z'
	})
}

// planProfiles plans an AWS config file, written into an annotation of the pod
// and projected from there, beside a token for each profile. One projected volume
// holds all of it, so that containers get one more mount and not one for each
// profile.
func (in *Injector) planProfiles(plan *podpatch.Plan, pod Pod, found binding, profiles []profile) {
	plan.Annotations = []podpatch.Entry{{Name: in.names.awsConfig, Value: in.configText(pod, profiles)}}
	audience := found.audience
	if found.method == ContainerCredentials {
		audience = in.settings.Audience
	}
	volume := podpatch.Volume{
		Name:    ProfilesVolumeName,
		Mode:    in.settings.TokenFileMode,
		Sources: []podpatch.Source{{Path: configFile, Field: "metadata.annotations['" + in.names.awsConfig + "']"}},
	}
	for _, each := range profiles {
		volume.Sources = append(volume.Sources,
			podpatch.Source{Path: path.Join(each.name, tokenFile), Audience: audience, Seconds: found.tokenExpiration})
	}
	plan.Volumes = append(plan.Volumes, volume)
	plan.Mounts = append(plan.Mounts, in.profiles.mount)
	plan.Groups[configGroup] = podpatch.Group{
		Names:     configNames,
		Variables: []podpatch.Variable{{Name: configFileVariable, Value: in.profiles.on(pod)}},
	}
}

// configText is the AWS config file. AWS SDKs and Tools reference guide, "Assume
// role with web identity". Names and ARNs have no characters that mean anything
// in it.
func (in *Injector) configText(pod Pod, profiles []profile) string {
	var text strings.Builder
	for _, each := range profiles {
		token := path.Join(in.profiles.mount.Path, each.name, tokenFile)
		if pod.Windows {
			token = windowsPath(token)
		}
		text.WriteString("[profile " + each.name + "]\n")
		text.WriteString("role_arn = " + each.roleARN + "\n")
		text.WriteString("web_identity_token_file = " + token + "\n")
	}
	return text.String()
}
