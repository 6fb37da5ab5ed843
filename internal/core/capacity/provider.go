package capacity

import "k8s.io/apimachinery/pkg/util/json"

// TrimProviderSpec is a provider spec with nothing in it but what decisions are
// made of, which is a small part. One that cannot be read stays as it is.
func TrimProviderSpec(text []byte) []byte {
	var config providerConfig
	if json.Unmarshal(text, &config) != nil {
		return text
	}
	trimmed, err := json.Marshal(config)
	if err != nil {
		return text
	}
	return trimmed
}
