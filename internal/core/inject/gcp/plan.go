package gcp

import (
	"github.com/tabard-dev/tabard/internal/core/inject/podpatch"
)

// What is injected.
const (
	tokenVolume = "gcp-iam-token"
	tokenMount  = "/var/run/secrets/sts.googleapis.com/serviceaccount"
	tokenFile   = "token"

	credentialVolume = "external-credential-config"
	credentialMount  = "/var/run/secrets/gcloud/config"
	credentialFile   = "federation.json"

	gcloudVolume = "gcloud-config"
	gcloudMount  = "/var/run/secrets/gcloud/sdk"
)

// credentialVariable names the credential file, which names the token.
const credentialVariable = "GOOGLE_APPLICATION_CREDENTIALS"

// credentialGroup is the group of a plan that the identity is in.
const credentialGroup = 0

// plan is what a pod is to have: a token, and a credential file that says what to
// do with it. The file is written into an annotation of the pod and comes from
// there by the downward API, so that nothing has to run before the containers.
func (in *Injector) plan(found binding) (*podpatch.Plan, error) {
	text, err := in.credentialText(found.provider, found.email)
	if err != nil {
		return nil, err
	}
	const path = credentialMount + "/" + credentialFile
	plan := &podpatch.Plan{
		Annotations: []podpatch.Entry{{Name: in.names.credential, Value: text}},
		Volumes: []podpatch.Volume{{
			Name: tokenVolume, Mode: in.settings.TokenFileMode,
			Sources: []podpatch.Source{{Path: tokenFile, Audience: found.audience, Seconds: found.tokenExpiration}},
		}, {
			Name:    credentialVolume,
			Sources: []podpatch.Source{{Path: credentialFile, Field: "metadata.annotations['" + in.names.credential + "']"}},
		}},
		Mounts: []podpatch.Mount{
			{Volume: tokenVolume, Path: tokenMount, Variable: credentialVariable},
			{Volume: credentialVolume, Path: credentialMount, Variable: credentialVariable},
		},
	}
	plan.AddVariable(credentialVariable, path)
	plan.AddVariable("CLOUDSDK_COMPUTE_REGION", in.settings.Region)
	if found.mode == Gcloud {
		plan.Volumes = append(plan.Volumes, podpatch.Volume{Name: gcloudVolume})
		plan.Mounts = append(plan.Mounts, podpatch.Mount{Volume: gcloudVolume, Path: gcloudMount, Writable: true})
		plan.AddVariable("CLOUDSDK_CONFIG", gcloudMount)
		// gcloud takes the credential file from here, and needs no login before.
		plan.AddVariable("CLOUDSDK_AUTH_CREDENTIAL_FILE_OVERRIDE", path)
	}
	plan.AddVariable("CLOUDSDK_CORE_PROJECT", found.project)
	return plan, nil
}
