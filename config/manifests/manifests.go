// Package manifests holds what users apply where a program of ours needs it too, so that
// there is one source of it.
package manifests

import _ "embed"

// Webhook is webhook.yaml: the pod identity webhook for AWS.
//
//go:embed webhook.yaml
var Webhook []byte
