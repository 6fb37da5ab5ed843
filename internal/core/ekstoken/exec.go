package ekstoken

import (
	"encoding/json"
	"errors"
	"fmt"
	"time"
)

// The API versions of exec credentials (Kubernetes: client-go credential plugins).
const (
	v1      = "client.authentication.k8s.io/v1"
	v1beta1 = "client.authentication.k8s.io/v1beta1"
)

// execCredential is client.authentication.k8s.io's ExecCredential, as far as both
// versions have it. It is written out here because the package with the type brings a
// client along that a small program does not need.
type execCredential struct {
	Kind       string     `json:"kind"`
	APIVersion string     `json:"apiVersion"`
	Spec       struct{}   `json:"spec"`
	Status     execStatus `json:"status"`
}

type execStatus struct {
	ExpirationTimestamp string `json:"expirationTimestamp"`
	Token               string `json:"token"`
}

// ExecCredential is the answer to a client, in the version that it asks for in info, the
// value of KUBERNETES_EXEC_INFO. The version is v1beta1 for an empty info, as that of
// aws eks get-token.
func ExecCredential(info, token string, expiry time.Time) ([]byte, error) {
	version, err := execVersion(info)
	if err != nil {
		return nil, err
	}
	return json.Marshal(execCredential{
		Kind: "ExecCredential", APIVersion: version,
		Status: execStatus{expiry.UTC().Format(time.RFC3339), token},
	})
}

func execVersion(info string) (string, error) {
	if info == "" {
		return v1beta1, nil
	}
	var asked struct {
		APIVersion string `json:"apiVersion"`
	}
	// What the client sent may hold a certificate of the cluster; the error shows none
	// of it.
	if json.Unmarshal([]byte(info), &asked) != nil {
		return "", errors.New("KUBERNETES_EXEC_INFO is no JSON; it must be an ExecCredential, or not be set")
	}
	if asked.APIVersion != v1 && asked.APIVersion != v1beta1 {
		return "", fmt.Errorf("the client asks for an ExecCredential of %q; set the exec stanza's apiVersion to %s or %s", asked.APIVersion, v1, v1beta1)
	}
	return asked.APIVersion, nil
}
