package hub

import "fmt"

// AgentSuffix is the suffix of an agent by its settings, which are texts as they were
// given: the ARN of the hub, that of the spoke, or empty, the name of the ManagedCluster
// and a suffix, or empty. A suffix that was given is checked and never believed.
func AgentSuffix(hubARN, spokeARN, cluster, given string) (string, error) {
	hub, err := ParseARN(hubARN)
	if err != nil {
		return "", fmt.Errorf("the ARN of the hub: %w", err)
	}
	var spoke ARN
	if spokeARN != "" {
		if spoke, err = ParseARN(spokeARN); err != nil {
			return "", fmt.Errorf("the ARN of the spoke: %w; leave it out for a spoke that is not in EKS", err)
		}
	}
	want, err := Suffix(hub, spoke, cluster)
	if err == nil && given != "" && given != want {
		return "", fmt.Errorf("the suffix is %s, and must be %s for these ARNs and this name; leave it out, it is computed", quoted(given), want)
	}
	return want, err
}
