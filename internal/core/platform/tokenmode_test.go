package platform

import (
	"fmt"
	"testing"

	"github.com/tabard-dev/tabard/awsauth/kube/tokenmode"
)

// TestTokenModeIsTheSameTest compares Facts with the test that other people's operators
// use: whatever the objects say, both or neither call it a cluster with tokens.
func TestTokenModeIsTheSameTest(t *testing.T) {
	const issuer = "https://oidc.example"
	platforms := map[string]Seen{"no Infrastructure": {}}
	for _, current := range []string{"AWS", "Azure", "GCP", "VSphere", ""} {
		for _, deprecated := range []string{"AWS", "VSphere", ""} {
			platforms[current+"/"+deprecated] = status(map[string]any{
				"infrastructureName": "x", "platform": deprecated, "platformStatus": map[string]any{"type": current},
			})
		}
	}
	modes := map[string]Seen{"no CloudCredential": {}}
	for _, said := range []string{"", "Mint", "Passthrough", "Manual", "Token"} {
		modes[said] = mode(said)
	}
	tokens := 0
	for platformName, infrastructure := range platforms {
		for modeName, credential := range modes {
			for configName, config := range map[string]Seen{"none": {}, "true": disabled("true"), "false": disabled("false"), "yes": disabled("yes")} {
				for issuerName, authentication := range map[string]Seen{
					"none": {}, "empty": spec(map[string]any{}), "set": spec(map[string]any{"serviceAccountIssuer": issuer}),
				} {
					name := fmt.Sprintf("platform %s, mode %q, disabled %s, issuer %s", platformName, modeName, configName, issuerName)
					facts := Read(Objects{
						Config: Served, Infrastructure: infrastructure, CloudCredential: credential, Legacy: config, Authentication: authentication,
					}, Override{}, now)
					ours := facts.Known() && facts.Has(facts.Cloud) && facts.Mode == Manual && facts.Issuer == issuer
					theirs, err := tokenmode.Detect(tokenmode.Objects{
						Infrastructure: infrastructure.Object, CloudCredential: credential.Object, Legacy: config.Object, Authentication: authentication.Object,
					})
					if enabled := err == nil && theirs.Enabled; ours != enabled {
						t.Errorf("%s: tokens %t by the facts, %t by tokenmode (%v): %v", name, ours, enabled, err, facts)
					}
					if ours {
						tokens++
					}
				}
			}
		}
	}
	if tokens == 0 {
		t.Error("no cluster has tokens")
	}
}
