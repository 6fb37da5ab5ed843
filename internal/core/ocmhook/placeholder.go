package ocmhook

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"

	"github.com/tabard-dev/tabard/internal/core/hub"
)

// placeholderAccount is no account of AWS.
const placeholderAccount = "000000000000"

// placeholderName is what the name of a placeholder begins with.
const placeholderName = "no-arn-"

// placeholder is the managedClusterArn of a cluster that has none. It names no cluster; its end
// stands for where the agents have their identity from, so that the operator rolls the
// registration agent out anew when that changes, and a pod tells by which Klusterlet it was made.
func (k Klusterlet) placeholder() hub.ARN {
	sum := sha256.Sum256([]byte(k.IAMConfigSecret + "\x00" + k.HubRole))
	region := "us-east-1" // of a hub whose ARN is not known: none is rendered for it
	if arn, err := hub.ParseARN(k.HubARN); err == nil {
		region = arn.Region
	}
	return hub.ARN{Partition: "aws", Region: region, Account: placeholderAccount, Name: placeholderName + hex.EncodeToString(sum[:4])}
}

// isPlaceholder says that an ARN is one that the hook has written.
func isPlaceholder(arn string) bool {
	parsed, err := hub.ParseARN(arn)
	return err == nil && parsed.Account == placeholderAccount && strings.HasPrefix(parsed.Name, placeholderName)
}
