package hub

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	authenticationv1 "k8s.io/api/authentication/v1"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"

	"github.com/tabard-dev/tabard/internal/testkit/must"
)

// standIn is in the place of EKS' authenticator and of the AWS CLI, for tests of what is
// between the two. Its tokens name the role that they were asked for.
type standIn struct {
	// kubeconfig leads an API server to it.
	kubeconfig string
	// programs are those by which an agent's init container gets the stand-in of the CLI
	// from its image.
	programs map[string]string

	mu    sync.Mutex
	users map[string]string
}

const standInToken = "stand-in-for-"

// startStandIn starts one; the CLI is told to do just what the agents' kubeconfig says.
func startStandIn(t *testing.T) *standIn {
	t.Helper()
	s := &standIn{users: map[string]string{}}
	server := httptest.NewServer(http.HandlerFunc(s.review))
	t.Cleanup(server.Close)
	config := clientcmdapi.NewConfig()
	config.Clusters["it"] = &clientcmdapi.Cluster{Server: server.URL}
	config.AuthInfos["it"] = &clientcmdapi.AuthInfo{}
	config.Contexts["it"] = &clientcmdapi.Context{Cluster: "it", AuthInfo: "it"}
	config.CurrentContext = "it"
	dir := t.TempDir()
	s.kubeconfig = filepath.Join(dir, "kubeconfig")
	must.Do(t, clientcmd.WriteToFile(*config, s.kubeconfig))

	// The init container runs: cp -vr /usr/local/aws-cli/v2/current/dist /awscli
	cp := filepath.Join(dir, "cp")
	must.Do(t, os.WriteFile(cp, []byte(`#!/bin/sh -eu
test "$*" = "-vr /usr/local/aws-cli/v2/current/dist /awscli"
mkdir -p /awscli/dist
cat > /awscli/dist/aws <<'AWS'
#!/bin/sh -eu
test "$1 $2 $3 $4 $5 $6 $7 $8 $9" = "--region us-west-2 eks get-token --cluster-name eks-hub --output json --role"
shift 9
printf '{"kind": "ExecCredential", "apiVersion": "client.authentication.k8s.io/v1beta1", "status": {"token": "`+standInToken+`%s"}}' "$1"
AWS
chmod +x /awscli/dist/aws
`), 0o700))
	s.programs = map[string]string{"cp": cp}
	return s
}

// admit gives a role access as a cluster, as an access entry does.
func (s *standIn) admit(role, cluster string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.users[role] = cluster
}

func (s *standIn) review(w http.ResponseWriter, r *http.Request) {
	var review authenticationv1.TokenReview
	if err := json.NewDecoder(r.Body).Decode(&review); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	role, ok := strings.CutPrefix(review.Spec.Token, standInToken)
	s.mu.Lock()
	cluster := s.users[role]
	s.mu.Unlock()
	review.Status = authenticationv1.TokenReviewStatus{}
	if ok && cluster != "" {
		review.Status.Authenticated = true
		review.Status.User = authenticationv1.UserInfo{Username: cluster, Groups: []string{"open-cluster-management:" + cluster}}
	} else {
		w.WriteHeader(http.StatusForbidden)
	}
	_ = json.NewEncoder(w).Encode(review)
}
