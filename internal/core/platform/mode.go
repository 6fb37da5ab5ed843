package platform

import (
	"fmt"
	"strings"
)

// modeOf is the effective mode, by the table of the Cloud Credential Operator: the
// legacy ConfigMap's disabled counts as Manual where CloudCredential sets no mode, and
// contradicts Mint and Passthrough. Manual is Manual whatever the ConfigMap says.
func modeOf(credential, config Seen) (Mode, string) {
	if credential.Object == nil {
		return Unknown, cloudCredential.missing(credential)
	}
	o := opened{object: credential.Object}
	said := o.text("spec", "credentialsMode")
	if o.wrong != "" {
		return Unknown, fmt.Sprintf("%s: %s", cloudCredential, o.wrong)
	}
	switch Mode(said) {
	case Manual:
		return Manual, fmt.Sprintf("%s says Manual", cloudCredential)
	case "", Mint, Passthrough:
	default:
		return Unknown, fmt.Sprintf("%s says %.80q, which is no credentials mode", cloudCredential, said)
	}
	disabled, wrong := disabledBy(config)
	switch {
	case wrong != "":
		return Unknown, wrong
	case disabled && said == "":
		return Manual, fmt.Sprintf("%s says disabled", legacy)
	case disabled:
		return Conflict, fmt.Sprintf("%s says %s, and %s says disabled: remove the ConfigMap", cloudCredential, said, legacy)
	case said == "":
		return Default, fmt.Sprintf("%s sets no mode", cloudCredential)
	}
	return Mode(said), fmt.Sprintf("%s says %s", cloudCredential, said)
}

// disabledBy says whether the legacy ConfigMap disables the operator, or what is wrong.
func disabledBy(config Seen) (disabled bool, wrong string) {
	if config.Unread != "" {
		return false, legacy.missing(config)
	}
	if config.Object == nil {
		return false, ""
	}
	o := opened{object: config.Object}
	switch said := o.text("data", "disabled"); {
	case o.wrong != "":
		return false, fmt.Sprintf("%s: %s", legacy, o.wrong)
	case said == "true":
		return true, ""
	case said == "" || said == "false":
		return false, ""
	default:
		return false, fmt.Sprintf("%s says disabled: %.80q, expected true or false", legacy, strings.TrimSpace(said))
	}
}
