package hub

import (
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// What Open Cluster Management's certificates of clusters have in common (v1.2.1,
// pkg/registration/register/csr, and clusteradm v1.3.1, pkg/cmd/accept).
const (
	clusterUser        = "system:open-cluster-management:"
	clustersGroup      = clusterUser + "managed-clusters"
	clusterSigner      = "kubernetes.io/kube-apiserver-client"
	bootstrapTokenUser = "system:bootstrap:"
)

// RequestLabel is the label of a certificate signing request with the name of its cluster.
const RequestLabel = "open-cluster-management.io/cluster-name"

// bootstrapUsers are the identities that agents have before they have joined.
var bootstrapUsers = []string{
	"system:serviceaccount:open-cluster-management:agent-registration-bootstrap", "system:serviceaccount:open-cluster-management-hub:grpc-server-sa",
}

// SigningRequest is a certificate signing request that bears the name of a cluster.
type SigningRequest struct {
	// Name is the object's, Username that of who made it, Signer that of who is to sign.
	Name, Username, Signer string
	// PEM is the request itself.
	PEM []byte
	// Approved and Denied say what has become of it.
	Approved, Denied bool
}

// Approval is what becomes of a cluster's certificate signing requests.
type Approval struct {
	// Approve are the names of those to approve, and Done says that one is approved already.
	Approve []string
	Done    bool
	// Notes are for people: why others are left.
	Notes []string
}

// Approvals says which requests of a cluster are approved. Whoever has a bootstrap token may make
// requests and label them as they like, so a request has to be what the cluster's own agent asks
// for: a client's certificate for this cluster, made by a bootstrap identity. Agents of several
// names may be two clusters that chose one name: then nothing is approved unless requesters names
// the certificate's user. With unchecked, any identity may have made it.
func Approvals(cluster string, requests []SigningRequest, requesters []string, unchecked bool) (out Approval) {
	open := map[string][]string{}   // by the certificate's user
	agents := map[string]struct{}{} // all users, also of what is approved
	for _, r := range requests {
		user, why := r.user(cluster, unchecked)
		switch {
		case why != "":
			out.note("the certificate signing request %s is left: %s", r.Name, why)
		case r.Denied:
			out.note("the certificate signing request %s was denied", r.Name)
		case r.Approved:
			out.Done = true
			agents[user] = struct{}{}
		case len(requesters) > 0 && !slices.Contains(requesters, user):
			out.note("the certificate signing request %s is left: it is for %s, which --requesters does not name", r.Name, user)
		default:
			open[user] = append(open[user], r.Name)
			agents[user] = struct{}{}
		}
	}
	if len(open) > 0 && len(agents) > 1 && len(requesters) == 0 {
		out.note("agents of several names ask for the cluster %s, and none is approved: %s; find out which is the cluster's (kubectl -n open-cluster-management-agent get secret hub-kubeconfig-secret -o jsonpath='{.data.agent-name}' there), and name it with --requesters", cluster, strings.Join(slices.Sorted(maps.Keys(agents)), ", "))
		return out
	}
	for _, user := range slices.Sorted(maps.Keys(open)) {
		out.Approve = append(out.Approve, open[user]...)
	}
	return out
}

func (a *Approval) note(format string, args ...any) {
	a.Notes = append(a.Notes, fmt.Sprintf(format, args...))
}

// user is the user that the certificate would be for; why says why it is not one of the cluster.
func (r SigningRequest) user(cluster string, unchecked bool) (user, why string) {
	if !unchecked && !strings.HasPrefix(r.Username, bootstrapTokenUser) && !slices.Contains(bootstrapUsers, r.Username) {
		return "", fmt.Sprintf("%s made it, which is no bootstrap identity", quoted(r.Username))
	}
	if r.Signer != clusterSigner {
		return "", fmt.Sprintf("its signer is %s, expected %s", quoted(r.Signer), clusterSigner)
	}
	block, _ := pem.Decode(r.PEM)
	if block == nil {
		return "", "it is no certificate request in PEM"
	}
	asked, err := x509.ParseCertificateRequest(block.Bytes)
	if err != nil {
		return "", fmt.Sprintf("it cannot be read: %v", err)
	}
	user = asked.Subject.CommonName
	if agent, is := strings.CutPrefix(user, clusterUser+cluster+":"); !is || agent == "" || strings.Contains(agent, ":") {
		return "", fmt.Sprintf("it is for %s, expected %s", quoted(user), clusterUser+cluster+":AGENT")
	}
	for _, group := range asked.Subject.Organization {
		if group != clustersGroup && group != clusterUser+cluster {
			return "", fmt.Sprintf("it is for the group %s, expected %s alone", quoted(group), clusterUser+cluster)
		}
	}
	return user, ""
}
