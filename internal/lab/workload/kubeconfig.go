package workload

import (
	"fmt"
	"path/filepath"

	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"

	"github.com/tabard-dev/tabard/internal/lab/private"
)

// writeKubeconfig writes a client configuration that is what clients make of
// the files in a pod: the token is read from its file again and again.
func writeKubeconfig(path, server, mount, namespace string) error {
	data, err := clientcmd.Write(clientcmdapi.Config{
		Clusters: map[string]*clientcmdapi.Cluster{"pod": {
			Server: server, CertificateAuthority: filepath.Join(mount, "ca.crt"),
		}},
		AuthInfos:      map[string]*clientcmdapi.AuthInfo{"pod": {TokenFile: filepath.Join(mount, "token")}},
		Contexts:       map[string]*clientcmdapi.Context{"pod": {Cluster: "pod", AuthInfo: "pod", Namespace: namespace}},
		CurrentContext: "pod",
	})
	if err != nil {
		return fmt.Errorf("write the pod's client configuration: %w", err)
	}
	if err := private.Write(path, data); err != nil {
		return fmt.Errorf("write the pod's client configuration: %w", err)
	}
	return nil
}
