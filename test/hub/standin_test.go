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

// authenticator is in the place of the one of EKS.
type authenticator struct {
	// kubeconfig leads an API server to it.
	kubeconfig string
	// user says as which cluster the holder of a token comes, empty for none.
	user func(token string) (cluster string)
}

// startAuthenticator starts one, and stops it at the end of the test.
func startAuthenticator(t *testing.T, user func(token string) (cluster string)) *authenticator {
	t.Helper()
	a := &authenticator{user: user}
	a.kubeconfig = serveReviews(t, http.HandlerFunc(a.review), "")
	return a
}

// serveReviews serves an authenticator until the test ends, and returns the kubeconfig that leads
// an API server to its path.
func serveReviews(t *testing.T, reviews http.Handler, path string) (kubeconfig string) {
	t.Helper()
	server := httptest.NewServer(reviews)
	t.Cleanup(server.Close)
	config := clientcmdapi.NewConfig()
	config.Clusters["it"] = &clientcmdapi.Cluster{Server: server.URL + path}
	config.AuthInfos["it"] = &clientcmdapi.AuthInfo{}
	config.Contexts["it"] = &clientcmdapi.Context{Cluster: "it", AuthInfo: "it"}
	config.CurrentContext = "it"
	kubeconfig = filepath.Join(t.TempDir(), "kubeconfig")
	must.Do(t, clientcmd.WriteToFile(*config, kubeconfig))
	return kubeconfig
}

func (a *authenticator) review(w http.ResponseWriter, r *http.Request) {
	var review authenticationv1.TokenReview
	if err := json.NewDecoder(r.Body).Decode(&review); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	cluster := a.user(review.Spec.Token)
	if cluster == "" {
		w.WriteHeader(http.StatusForbidden)
	} else {
		review.Status = authenticationv1.TokenReviewStatus{Authenticated: true, User: authenticationv1.UserInfo{
			Username: cluster, Groups: []string{"open-cluster-management:" + cluster},
		}}
	}
	_ = json.NewEncoder(w).Encode(review)
}

// awsCLI are the programs of a node whose agents' init container copies another program
// to the place of the AWS CLI: what the script does, with its path as $1.
func awsCLI(t *testing.T, install string) map[string]string {
	t.Helper()
	cp := filepath.Join(t.TempDir(), "cp")
	must.Do(t, os.WriteFile(cp, []byte(`#!/bin/sh -eu
test "$*" = "-vr /usr/local/aws-cli/v2/current/dist /awscli"
mkdir -p /awscli/dist
set -- /awscli/dist/aws
`+install), 0o700))
	return map[string]string{"cp": cp}
}

// standIn is in the place of EKS and of the AWS CLI, for tests of what is between the
// two. Its tokens name the role that they were asked for.
type standIn struct {
	*authenticator
	// programs are those of the agents' node.
	programs map[string]string

	mu    sync.Mutex
	users map[string]string
}

const standInToken = "stand-in-for-"

// startStandIn starts one. The CLI fails for other arguments than the agents' kubeconfig
// has.
func startStandIn(t *testing.T) *standIn {
	t.Helper()
	s := &standIn{users: map[string]string{}}
	s.authenticator = startAuthenticator(t, s.user)
	s.programs = awsCLI(t, `cat > "$1" <<'AWS'
#!/bin/sh -eu
test "$1 $2 $3 $4 $5 $6 $7 $8 $9" = "--region us-west-2 eks get-token --cluster-name eks-hub --output json --role"
shift 9
printf '{"kind": "ExecCredential", "apiVersion": "client.authentication.k8s.io/v1beta1", "status": {"token": "`+standInToken+`%s"}}' "$1"
AWS
chmod +x "$1"
`)
	return s
}

// admit gives a role access as a cluster, as an access entry does.
func (s *standIn) admit(role, cluster string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.users[role] = cluster
}

func (s *standIn) user(token string) (cluster string) {
	role, ok := strings.CutPrefix(token, standInToken)
	if !ok {
		return ""
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.users[role]
}
