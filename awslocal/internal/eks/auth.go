package eks

import (
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/tabard-dev/tabard/awslocal/internal/call"
	"github.com/tabard-dev/tabard/awslocal/internal/pattern"
	"github.com/tabard-dev/tabard/awslocal/internal/query"
	"github.com/tabard-dev/tabard/awslocal/internal/restjson"
	"github.com/tabard-dev/tabard/awslocal/internal/sts"
	"github.com/tabard-dev/tabard/iampolicy"
)

const (
	assumeForPod = "AssumeRoleForPodIdentity"
	// podSession is how long the credentials of pods last.
	podSession = 6 * time.Hour
	// maxSessionName is how long the name of a session may be.
	maxSessionName = 64
)

var tokenPattern = pattern.New(`^[A-Za-z0-9-_=]+\.[A-Za-z0-9-_=]+\.[A-Za-z0-9-_=]+$`)

// Auth answers the calls of EKS Auth, the service that the agent on a cluster's
// nodes asks. It is safe for concurrent use.
type Auth struct{ service *Service }

// Auth returns EKS Auth for the service's clusters.
func (s *Service) Auth() *Auth { return &Auth{s} }

// Place names a cluster.
type Place struct{ AccountID, Region, Name string }

// PodCredentials are a session for one pod.
type PodCredentials struct {
	sts.Granted
	Namespace, ServiceAccount     string
	AssociationARN, AssociationID string
}

// IsAuthPath says whether a request's path is that of EKS Auth's operation.
func IsAuthPath(r *http.Request) bool {
	_, _, is := restjson.Match(authRoutes, r)
	return is
}

var authRoutes = []restjson.Route[struct{}]{
	{Method: "POST", Path: "/clusters/{clusterName}/assume-role-for-pod-identity", Operation: assumeForPod},
}

// Serve answers one call.
func (a *Auth) Serve(w http.ResponseWriter, c *call.Call) {
	route, path, known := restjson.Match(authRoutes, c.HTTP)
	if !known {
		restjson.Refuse(w, c, unknownOperation("eks-auth", c.HTTP), nil)
		return
	}
	c.Entry.Operation = route.Operation
	fault := c.Interrupted(route.Operation)
	var granted PodCredentials
	if fault == nil {
		granted, fault = a.service.assumeForPod(c, path["clusterName"])
	}
	if fault != nil {
		restjson.Refuse(w, c, fault, nil)
		return
	}
	restjson.Write(w, granted.answer())
}

func (s *Service) assumeForPod(c *call.Call, name string) (PodCredentials, *call.Fault) {
	var in struct {
		Token string `json:"token"`
	}
	if fault := restjson.Read(assumeForPod, c.Payload, &in); fault != nil {
		return PodCredentials{}, fault
	}
	switch {
	case !clusterPattern.MatchString(name):
		return PodCredentials{}, invalidParameter(textClusterName)
	case in.Token == "":
		return PodCredentials{}, invalidParameter(textRequired, "token")
	case !tokenPattern.MatchString(in.Token):
		return PodCredentials{}, invalidParameter(textToken)
	}
	caller := c.Caller.Principal
	place := Place{caller.AccountID, c.Region, name}
	resource, context := s.home(place.AccountID, place.Region).arn("cluster/"+name), iampolicy.Context{}
	if found, known := s.snapshot(place); known {
		context = found.tags.context()
	}
	c.Entry.Resource = resource
	action := "eks-auth:" + assumeForPod
	if decision := c.Authorize(action, resource, call.Side{AccountID: place.AccountID}, context); !decision.Allowed() {
		return PodCredentials{}, restjson.Denied(caller.ARN, action, resource, decision, http.StatusBadRequest)
	}
	return s.GrantPod(c, place, in.Token)
}

// GrantPod makes the checks of a pod's token and gives it the session that its
// association says. It does not ask whether the caller may.
func (s *Service) GrantPod(c *call.Call, place Place, token string) (PodCredentials, *call.Fault) {
	found, known := s.snapshot(place)
	if !known {
		return PodCredentials{}, noCluster(place.Name)
	}
	pod, fault := s.readToken(c, &found, token)
	if fault != nil {
		return PodCredentials{}, fault
	}
	// The pod's association is looked for after its token was verified, which
	// may have taken a while.
	one, known := s.associationOf(place, pod)
	if !known {
		return PodCredentials{}, notFound(textNoneForPod, pod.ServiceAccount.Name, pod.Namespace, place.Name)
	}
	granted, fault := s.options.Sessions.GrantForService(c, s.sessionRequest(&found, &one, pod))
	if fault != nil {
		s.log(c, place.Name, fault.Message)
		if fault.Code == "AccessDenied" {
			return PodCredentials{}, mayNotAssume()
		}
		return PodCredentials{}, invalidRequest("%s", fault.Message)
	}
	return PodCredentials{granted, one.namespace, one.serviceAccount, one.arn, one.id}, nil
}

func (s *Service) log(c *call.Call, cluster, reason string) {
	s.options.Log.WarnContext(c.HTTP.Context(), "credentials for a pod refused", "request", c.ID, "cluster", cluster, "reason", reason)
}

// sessionRequest is what STS is asked for a pod.
func (s *Service) sessionRequest(found *cluster, one *association, pod podClaims) sts.ServiceRequest {
	name := strings.Join([]string{"eks", found.name, pod.Pod.Name, s.options.Identifiers.Request()}, "-")
	ask := sts.ServiceRequest{
		Service: podService, SourceARN: found.arn(), SourceAccount: found.account, RoleARN: one.role,
		TargetARN: one.target, ExternalID: one.externalID, Session: name[:min(len(name), maxSessionName)], Duration: podSession, Policy: one.policy,
	}
	if !one.untagged {
		ask.Tags = []query.Tag{
			{Key: "eks-cluster-arn", Value: found.arn()},
			{Key: "eks-cluster-name", Value: found.name},
			{Key: "kubernetes-namespace", Value: pod.Namespace},
			{Key: "kubernetes-service-account", Value: pod.ServiceAccount.Name},
			{Key: "kubernetes-pod-name", Value: pod.Pod.Name},
			{Key: "kubernetes-pod-uid", Value: pod.Pod.UID},
		}
	}
	return ask
}

// snapshot copies a cluster, without what belongs to the lock.
func (s *Service) snapshot(place Place) (cluster, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	found := s.clusters[s.home(place.AccountID, place.Region)][place.Name]
	if found == nil {
		return cluster{}, false
	}
	out := *found
	out.entries, out.associations = nil, nil
	return out, true
}

func (s *Service) associationOf(place Place, pod podClaims) (association, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	found := s.clusters[s.home(place.AccountID, place.Region)][place.Name]
	if found == nil {
		return association{}, false
	}
	one := found.find(pod.Namespace, pod.ServiceAccount.Name)
	if one == nil {
		return association{}, false
	}
	return *one, true
}

// issuing returns the clusters whose tokens have an issuer, in order.
func (s *Service) issuing(issuer string) []Place {
	s.mu.Lock()
	defer s.mu.Unlock()
	places := []Place{}
	for where, clusters := range s.clusters {
		for name, one := range clusters {
			if one.issuer == issuer {
				places = append(places, Place{where.account, where.region, name})
			}
		}
	}
	slices.SortFunc(places, comparePlaces)
	return places
}

func comparePlaces(a, b Place) int {
	return strings.Compare(a.AccountID+" "+a.Region+" "+a.Name, b.AccountID+" "+b.Region+" "+b.Name)
}

type podAnswer struct {
	Subject struct {
		Namespace      string `json:"namespace"`
		ServiceAccount string `json:"serviceAccount"`
	} `json:"subject"`
	Audience    string `json:"audience"`
	Association struct {
		ARN string `json:"associationArn"`
		ID  string `json:"associationId"`
	} `json:"podIdentityAssociation"`
	User struct {
		ARN string `json:"arn"`
		ID  string `json:"assumeRoleId"`
	} `json:"assumedRoleUser"`
	Credentials struct {
		SessionToken    string        `json:"sessionToken"`
		SecretAccessKey string        `json:"secretAccessKey"`
		AccessKeyID     string        `json:"accessKeyId"`
		Expiration      restjson.Time `json:"expiration"`
	} `json:"credentials"`
}

func (p *PodCredentials) answer() podAnswer {
	out := podAnswer{Audience: Audience}
	out.Subject.Namespace, out.Subject.ServiceAccount = p.Namespace, p.ServiceAccount
	out.Association.ARN, out.Association.ID = p.AssociationARN, p.AssociationID
	out.User.ARN, out.User.ID = p.ARN, p.UserID
	out.Credentials.SessionToken, out.Credentials.SecretAccessKey = p.Token, p.Secret
	out.Credentials.AccessKeyID, out.Credentials.Expiration = p.KeyID, restjson.Time(p.Expires)
	return out
}

// Own finds the one cluster that issues a token, which is how an agent that
// serves several clusters knows whose pod asks.
func (s *Service) Own(issuer string) (Place, *call.Fault) {
	places := s.issuing(issuer)
	switch len(places) {
	case 0:
		return Place{}, notFound(textNoIssuer)
	case 1:
		return places[0], nil
	}
	return Place{}, invalidRequest(textTwoIssuers, names(places))
}
