package inject

import (
	"path"
	"strings"

	"github.com/tabard-dev/tabard/internal/core/inject/podpatch"
)

// Names of what is injected.
const (
	// VolumeName is the volume with the web identity token.
	VolumeName = "aws-iam-token"
	// ProfilesVolumeName is the volume with the AWS config file and the tokens of
	// a pod with several roles.
	ProfilesVolumeName = "aws-iam-profiles"
	// tokenFile is the token within the first, and within a profile's folder in
	// the second.
	tokenFile = "token"
	// podIdentityLabel marks pods with container credentials. Its prefix does
	// not follow the setting.
	podIdentityLabel, podIdentityValue = "eks.amazonaws.com/pod-identity", "enabled"
)

// The variables that the AWS SDKs read.
const (
	stsVariable            = "AWS_STS_REGIONAL_ENDPOINTS"
	defaultRegionVariable  = "AWS_DEFAULT_REGION"
	regionVariable         = "AWS_REGION"
	roleVariable           = "AWS_ROLE_ARN"
	tokenVariable          = "AWS_WEB_IDENTITY_TOKEN_FILE"
	sessionVariable        = "AWS_ROLE_SESSION_NAME"
	uriVariable            = "AWS_CONTAINER_CREDENTIALS_FULL_URI"
	containerTokenVariable = "AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE"
	configFileVariable     = "AWS_CONFIG_FILE"
)

// Injector decides by fixed settings. It is safe for concurrent use.
type Injector struct {
	settings Settings
	names    annotationNames
	misspelt map[string]struct{}
	// vocabulary are the names that count.
	vocabulary podpatch.Vocabulary
	// roleSource and profilesSource name the annotations for people.
	roleSource, profilesSource string
	// What is the same for all pods is made once.
	sts, region         []podpatch.Variable
	webIdentity         tokenPlace
	containerCredential tokenPlace
	profiles            tokenPlace
}

// annotationNames are the full names of the annotations.
type annotationNames struct {
	roleARN, audience, regionalSTS, region                           string
	tokenExpiration, skipContainers, includeContainers, roleProfiles string
	// awsConfig is the one that the injector writes itself.
	awsConfig string
}

// tokenPlace is where containers find a file.
type tokenPlace struct {
	mount podpatch.Mount
	// unix and windows are the file's path.
	unix, windows string
}

func newTokenPlace(volume, mountPath, file, variable string) tokenPlace {
	unix := path.Join(mountPath, file)
	return tokenPlace{podpatch.Mount{Volume: volume, Path: mountPath, Variable: variable}, unix, windowsPath(unix)}
}

// on is the path of the file as the pod's containers see it.
func (t tokenPlace) on(pod Pod) string {
	if pod.Windows {
		return t.windows
	}
	return t.unix
}

// windowsPath is how a container on Windows sees a path of Unix style.
func windowsPath(unix string) string { return "C:" + strings.ReplaceAll(unix, "/", `\`) }

// New checks the settings. The error names the one that is wrong.
func New(settings Settings) (*Injector, error) {
	if err := settings.check(); err != nil {
		return nil, err
	}
	settings.TokenExpiration = clamp(settings.TokenExpiration)
	container := settings.ContainerCredentials
	in := &Injector{
		settings:            settings,
		names:               namesWith(settings.AnnotationPrefix + "/"),
		misspelt:            misspeltNames(settings.AnnotationPrefix),
		vocabulary:          vocabularyOf(settings.AnnotationPrefix + "/"),
		roleSource:          "annotation " + settings.AnnotationPrefix + "/role-arn",
		profilesSource:      "annotation " + settings.AnnotationPrefix + "/role-profiles",
		sts:                 []podpatch.Variable{{Name: stsVariable, Value: "regional"}},
		webIdentity:         newTokenPlace(VolumeName, settings.MountPath, tokenFile, tokenVariable),
		containerCredential: newTokenPlace(container.VolumeName, container.MountPath, container.TokenPath, containerTokenVariable),
		profiles:            newTokenPlace(ProfilesVolumeName, path.Join(path.Dir(path.Clean(settings.MountPath)), "profiles"), configFile, configFileVariable),
	}
	if settings.Region != "" {
		in.region = regionVariables(settings.Region)
	}
	return in, nil
}

func regionVariables(region string) []podpatch.Variable {
	return []podpatch.Variable{{Name: defaultRegionVariable, Value: region}, {Name: regionVariable, Value: region}}
}

func namesWith(prefix string) annotationNames {
	return annotationNames{
		roleARN:           prefix + "role-arn",
		audience:          prefix + "audience",
		regionalSTS:       prefix + "sts-regional-endpoints",
		region:            prefix + "region",
		tokenExpiration:   prefix + "token-expiration",
		skipContainers:    prefix + "skip-containers",
		includeContainers: prefix + "include-containers",
		roleProfiles:      prefix + "role-profiles",
		awsConfig:         prefix + "aws-config",
	}
}
