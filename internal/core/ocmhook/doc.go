// Package ocmhook decides what the admission hook ocm.tabard.dev changes of the objects that
// Open Cluster Management's operators make (v1.2.1), so that clusters without an ARN join a hub
// in EKS, with a mounted AWS configuration or with the token of a ServiceAccount:
//
//   - a Klusterlet without managedClusterArn gets a placeholder, which the operator can parse;
//   - agents' pods get no placeholder, the suffix of their role, their AWS configuration, and
//     tabard-eks-token in the place of the AWS command line;
//   - ServiceAccounts get no role of a placeholder, and none that makes roles where managed IAM
//     is off;
//   - the hub controller's pods never get the driver awsirsa: Tabard's controller is in its place.
//
// Deployments and the images of their containers are left as they are. A decision is a JSON
// Patch of what changes, so that fields which this package does not know are kept.
package ocmhook

import (
	"fmt"

	jsonpatch "gomodules.xyz/jsonpatch/v2"
)

// Settings are the hook's.
type Settings struct {
	// TokenImage is the image of tabard-eks-token, and PullPolicy when it is pulled; empty
	// means the kubelet's default.
	TokenImage, PullPolicy string
}

// World is what decisions go by, beside the object itself.
type World struct {
	Klusterlets []Klusterlet
	Managers    []ClusterManager
}

// Decision is what becomes of an object. The zero value lets it pass as it is.
type Decision struct {
	// Patch changes it (RFC 6902).
	Patch []jsonpatch.Operation
	// Warnings are for whoever made it.
	Warnings []string
	// Refusal says why it is refused; empty for not.
	Refusal string
}

func refuse(format string, args ...any) Decision {
	return Decision{Refusal: fmt.Sprintf(format, args...)}
}

func (d *Decision) add(op, path string, value any) {
	d.Patch = append(d.Patch, jsonpatch.NewOperation(op, path, value))
}
