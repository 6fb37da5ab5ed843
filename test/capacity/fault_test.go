package capacity

import (
	"cmp"
	"crypto/tls"
	"fmt"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/tabard-dev/tabard/awslocal"
	"github.com/tabard-dev/tabard/internal/testkit/must"
)

// trouble is one thing that goes wrong with AWS.
type trouble struct {
	begin func(*testing.T, *site)
	// end ends it; nil is to take all faults back.
	end func(*testing.T, *site)
	// told is how the event begins, in which ROLE is the role's ARN; all of it
	// where there is no hint. hint is in the rest.
	told, hint string
	// region is the one that is asked for meanwhile.
	region string
}

// ec2 is a fault of EC2's list of types.
func ec2(code string, status int) func(*testing.T, *site) {
	return func(_ *testing.T, s *site) {
		s.aws.Admin().Inject(awslocal.Fault{Service: "ec2", Operation: "DescribeInstanceTypes", Code: code, Status: status})
	}
}

// sts is a fault of STS for one whose session is over.
func sts(code string, status int) func(*testing.T, *site) {
	return func(_ *testing.T, s *site) {
		s.aws.Admin().Inject(awslocal.Fault{Service: "sts", Code: code, Status: status})
		s.aws.Admin().SetCredentialClockOffset(2 * time.Hour)
	}
}

const (
	rejected = "Warning ReconcileError: AWS credentials rejected: IRSA with role ROLE: "
	waiting  = "Warning ReconcileError: AWS credentials not available: IRSA with role ROLE: "
	silent   = "Warning AWSRequestFailed: AWS did not answer: "
	listing  = "EC2 DescribeInstanceTypes: "
	exchange = "STS AssumeRoleWithWebIdentity: "
)

func troubles() map[string]trouble {
	return map[string]trouble{
		"EC2 throttles":             {begin: ec2("RequestLimitExceeded", 503), told: "Warning AWSRequestFailed: AWS asks for fewer requests: " + listing + "RequestLimitExceeded"},
		"STS throttles":             {begin: sts("Throttling", 400), told: "Warning AWSRequestFailed: AWS asks for fewer requests: " + exchange + "Throttling"},
		"the role may not":          {begin: ec2("UnauthorizedOperation", 403), told: "Warning ReconcileError: AWS denies ec2:DescribeInstanceTypes: " + listing + "UnauthorizedOperation; grant it to IRSA with role ROLE"},
		"EC2 accepts no key":        {begin: ec2("AuthFailure", 401), told: rejected + listing + "AuthFailure; ", hint: "partition"},
		"the key is unknown":        {begin: ec2("InvalidClientTokenId", 403), told: rejected + listing + "InvalidClientTokenId; ", hint: "access key"},
		"the signature is wrong":    {begin: ec2("SignatureDoesNotMatch", 403), told: rejected + listing + "SignatureDoesNotMatch; ", hint: "secret access key"},
		"every session is over":     {begin: ec2("ExpiredToken", 403), told: rejected + listing + "ExpiredToken; ", hint: "expired"},
		"the service is not booked": {begin: ec2("OptInRequired", 401), told: rejected + listing + "OptInRequired; ", hint: "region"},
		"the account is blocked":    {begin: ec2("Blocked", 403), told: rejected + listing + "Blocked; ", hint: "blocked"},
		"the request came too late": {begin: ec2("RequestExpired", 400), told: rejected + listing + "RequestExpired; ", hint: "clock"},
		"EC2 has an error":          {begin: ec2("InternalError", 500), told: silent + listing + "InternalError"},
		"EC2 is not available":      {begin: ec2("ServiceUnavailable", 503), told: silent + listing + "ServiceUnavailable"},
		"STS has an error":          {begin: sts("InternalFailure", 500), told: silent + exchange + "InternalFailure"},
		"the trust refuses":         {begin: sts("AccessDenied", 403), told: rejected + exchange + "AccessDenied; ", hint: "trust policy"},
		"the token is not accepted": {begin: sts("InvalidIdentityToken", 400), told: rejected + exchange + "InvalidIdentityToken; ", hint: "OIDC provider"},
		"the claims are rejected":   {begin: sts("IDPRejectedClaim", 403), told: rejected + exchange + "IDPRejectedClaim; ", hint: "audience"},
		"the issuer is not reached": {begin: sts("IDPCommunicationError", 400), told: waiting + exchange + "IDPCommunicationError; ", hint: "issuer"},
		"the token has expired":     {begin: sts("ExpiredTokenException", 400), told: waiting + exchange + "ExpiredTokenException; ", hint: "expired"},
		"STS is off in the region":  {begin: sts("RegionDisabledException", 403), told: waiting + exchange + "RegionDisabledException; ", hint: "region"},
		"the region is not enabled": {
			begin: func(t *testing.T, s *site) {
				must.Do(t, s.aws.Admin().DisableRegion(account, "ap-east-1"))
			},
			told: "Warning ReconcileError: region ap-east-1 is not opted in", region: "ap-east-1",
		},
		"the connection breaks": {
			begin: func(_ *testing.T, s *site) { s.front.breakConnections(true) },
			end:   func(_ *testing.T, s *site) { s.front.breakConnections(false) },
			told:  silent + listing + "no usable answer; check that the endpoint is the service's",
		},
		"the certificate is of nobody known": certificate(),
		"the list is empty": {
			begin: func(_ *testing.T, s *site) { s.front.changeAnswers(emptyList) },
			end:   func(_ *testing.T, s *site) { s.front.changeAnswers(nil) },
			told:  silent + listing + "unable to load EC2 Instance Type list: the list is empty",
		},
		"there is no such region": {
			begin: func(*testing.T, *site) {}, end: func(*testing.T, *site) {},
			told: "Warning ReconcileError: region us-north-9 is not a valid region", region: "us-north-9",
		},
		"the list of regions is denied": {
			begin: func(_ *testing.T, s *site) {
				s.aws.Admin().Inject(awslocal.Fault{Service: "ec2", Operation: "DescribeRegions", Code: "UnauthorizedOperation", Status: 403})
			},
			told:   "Warning ReconcileError: AWS denies ec2:DescribeRegions: could not retrieve region data: EC2 DescribeRegions: UnauthorizedOperation; grant it to IRSA with role ROLE",
			region: "us-north-9",
		},
	}
}

// pages are the types in an answer, and where more of them are.
var pages = regexp.MustCompile(`(?s)<instanceTypeSet>.*</instanceTypeSet>|<nextToken>.*</nextToken>`)

func emptyList(service, body string) string {
	if service != "ec2" {
		return body
	}
	return pages.ReplaceAllString(body, "")
}

// certificate is the trouble of an endpoint that shows a certificate of nobody known.
func certificate() trouble {
	var good tls.Certificate
	return trouble{
		begin: func(t *testing.T, s *site) {
			good = s.front.shown
			s.front.newCertificate(t)
		},
		end:  func(_ *testing.T, s *site) { s.front.show(good) },
		told: silent + listing + "the endpoint's certificate is signed by an unknown authority; add that authority to AWS_CA_BUNDLE",
	}
}

// untouched are regions whose types no controller has asked for yet. A controller lives
// through one trouble in each.
func untouched() []string {
	return []string{"eu-central-1", "eu-west-1", "eu-west-2", "us-east-1", "us-east-2", "us-west-1", "ap-south-1"}
}

// testTroubles: a few controllers have one trouble after the other. Those of a region come
// first: a controller that knows the list of regions does not ask for it again soon.
func testTroubles(t *testing.T, c *cluster) {
	all := troubles()
	names := slices.SortedFunc(maps.Keys(all), func(a, b string) int {
		return cmp.Or(-cmp.Compare(all[a].region, all[b].region), cmp.Compare(a, b))
	})
	const controllers = 4
	for first := range controllers {
		t.Run(fmt.Sprintf("of controller %d", first), func(t *testing.T) {
			t.Parallel()
			s := c.webSite(t, fmt.Sprintf("trouble-%d", first), "us-west-2")
			s.start(t)
			for i := first; i < len(names); i += controllers {
				name, region := names[i], untouched()[i/controllers]
				t.Run(name, func(t *testing.T) { s.testTrouble(t, namespaceOf(name), region, all[name]) })
			}
		})
	}
}

// testTrouble: a MachineSet that is annotated becomes another type in another
// region, of which AWS cannot be asked then. What is annotated stays, the event
// says why, and it goes on by itself when the trouble is over.
func (s *site) testTrouble(t *testing.T, name, region string, trouble trouble) {
	set := s.set(t, name, "m5.large", "us-west-2")
	s.awaitAnnotations(t, set, m5large())
	trouble.begin(t, s)
	s.become(t, set, "m6g.4xlarge", cmp.Or(trouble.region, region))
	s.awaitTold(t, set, strings.ReplaceAll(trouble.told, "ROLE", s.role), trouble.hint)
	s.checkAnnotations(t, set, m5large())
	if trouble.end != nil {
		trouble.end(t, s)
	} else {
		s.aws.Admin().ClearFaults()
		s.aws.Admin().SetCredentialClockOffset(0)
	}
	if trouble.region != "" {
		s.become(t, set, "m6g.4xlarge", region)
	}
	s.awaitAnnotations(t, set, m6g4xlarge())
	s.checkNeverUnknown(t, set)
}

// namespaceOf makes a name that a namespace can have.
func namespaceOf(text string) string {
	return strings.Trim(regexp.MustCompile(`[^a-z0-9]+`).ReplaceAllString(strings.ToLower(text), "-"), "-")
}

// checkNeverUnknown demands that nothing was said of an unknown type, and that
// no trouble was told more than once.
func (s *site) checkNeverUnknown(t *testing.T, set *unstructured.Unstructured) {
	t.Helper()
	if strings.Contains(s.told(t, set), "instance type unknown") {
		t.Errorf("the type is said to be unknown, which AWS did not say:\n%s", s.told(t, set))
	}
	for _, event := range s.events(t, set) {
		if event.Count > 1 {
			t.Errorf("told %d times: %s", event.Count, saying(event))
		}
	}
}

// testTypes: one controller learns of types as AWS tells them, from before it can ask.
func testTypes(t *testing.T, c *cluster) {
	s := c.webSite(t, "types", "us-west-2")
	must.Do(t, os.Remove(s.path("token")))
	s.start(t, "--unknown-type-recheck=2s")
	t.Run("a token that is not there yet is waited for", s.testMissingToken)
	t.Run("a session that is over is renewed", s.testSessionsAreRenewed)
	t.Run("a type is unknown if AWS says so", s.testUnknownTypes)
	t.Run("a type that is new is asked for again", s.testNewTypes)
	t.Run("a type without CPUs is unknown", s.testIncompleteTypes)
}

// testMissingToken: the kubelet has not mounted the token yet.
func (s *site) testMissingToken(t *testing.T) {
	set := s.set(t, "early", "m5.large", "us-west-2")
	s.awaitEvent(t, set, strings.ReplaceAll(waiting, "ROLE", s.role)+"the token file "+s.path("token")+": there is no such file; check the pod's projected volume")
	s.rotateToken(t, s.token(t, "sts.amazonaws.com", 3600))
	s.awaitAnnotations(t, set, m5large())
	s.checkNeverUnknown(t, set)
}

// testSessionsAreRenewed: a session that is over is told to nobody, and the token
// is exchanged once more.
func (s *site) testSessionsAreRenewed(t *testing.T) {
	set := s.set(t, "renewed", "m5.large", "us-west-2")
	s.awaitAnnotations(t, set, m5large())
	before := s.front.asked()["/"]
	s.aws.Admin().Inject(awslocal.Fault{Service: "ec2", Code: "ExpiredToken", Count: 1})
	s.become(t, set, "m6g.4xlarge", "eu-central-1")
	s.awaitAnnotations(t, set, m6g4xlarge())
	if got := s.told(t, set); strings.Contains(got, "Warning") {
		t.Errorf("events:\n%s\nwant no warning", got)
	}
	// A token is exchanged without a signature.
	if got := s.front.asked()["/"] - before; got != 1 {
		t.Errorf("the token was exchanged %d times more, want once", got)
	}
}

// testClocks: this machine's clock is wrong by more than AWS takes, first so and then
// otherwise. The SDK sees AWS's clock in the answer and signs by that.
func testClocks(t *testing.T, c *cluster) {
	s := c.webSite(t, "clocks", "us-west-2")
	s.aws.Admin().SetSignatureClockOffset(-20 * time.Minute)
	s.start(t)
	for _, ahead := range []struct {
		name, region string
		by           time.Duration
	}{{"ahead", "us-west-2", 20 * time.Minute}, {"behind", "eu-central-1", -20 * time.Minute}} {
		s.aws.Admin().SetSignatureClockOffset(-ahead.by)
		s.aws.Admin().ClearJournal()
		s.awaitAnnotations(t, s.set(t, ahead.name, "m5.large", ahead.region), m5large())
		refused := 0
		for _, entry := range s.calls("ec2") {
			if entry.Error != "" {
				refused++
			}
		}
		if refused == 0 {
			t.Errorf("AWS refused no signature of a clock that is %s: its own is as this machine's", ahead.name)
		}
	}
}

// testUnknownTypes: only AWS says that there is no such type, and then our own
// annotations go, and others' stay.
func (s *site) testUnknownTypes(t *testing.T) {
	set := s.set(t, "unknown", "m5.large", "us-west-2")
	s.awaitAnnotations(t, set, m5large())
	s.In(t).Merge(set, `{"metadata":{"annotations":{"example.com/own":"stays"}}}`)
	s.become(t, set, "x9.new", "us-west-2")
	s.awaitEvent(t, set, "Warning FailedUpdate: Failed to set autoscaling from zero annotations, instance type unknown")
	s.awaitAnnotations(t, set, map[string]string{"example.com/own": "stays"})
	s.become(t, set, "m6g.4xlarge", "us-west-2")
	want := m6g4xlarge()
	want["example.com/own"] = "stays"
	s.awaitAnnotations(t, set, want)
}

// testNewTypes: a type that AWS did not know is asked for again, as often as the
// flag says, and is annotated when AWS has it.
func (s *site) testNewTypes(t *testing.T) {
	s.front.changeAnswers(func(_, body string) string { return strings.ReplaceAll(body, "m6g.4xlarge<", "m6g.hidden<") })
	s.awaitAnnotations(t, s.set(t, "known", "m5.large", "us-east-1"), m5large())
	ec2("InvalidInstanceType", 400)(t, s)
	set := s.set(t, "new", "m6g.4xlarge", "us-east-1")
	s.awaitEvent(t, set, "Warning FailedUpdate: Failed to set autoscaling from zero annotations, instance type unknown")
	s.aws.Admin().ClearFaults()
	s.front.changeAnswers(nil)
	s.awaitAnnotations(t, set, m6g4xlarge())
}

// vcpus are what AWS says of the CPUs of an m5.large, in whole and alone.
var vcpus = regexp.MustCompile(`(?s)(<instanceType>m5\.large</instanceType>.*?)<vCpuInfo>.*?</vCpuInfo>`)

// testIncompleteTypes: AWS knows a type and does not say what it has. Zero is
// never written for that.
func (s *site) testIncompleteTypes(t *testing.T) {
	changed := make(chan struct{}, 100)
	s.front.changeAnswers(func(_, body string) string {
		if vcpus.MatchString(body) {
			changed <- struct{}{}
		}
		return vcpus.ReplaceAllString(body, "$1")
	})
	set := s.set(t, "incomplete", "m5.large", "us-east-2")
	s.awaitEvent(t, set, "Warning FailedUpdate: Failed to set autoscaling from zero annotations, instance type unknown: AWS does not say its vCPUs or its memory")
	s.checkAnnotations(t, set, map[string]string{})
	if len(changed) < 2 {
		t.Errorf("%d answers were changed, want the list's and that of the type alone", len(changed))
	}
	s.become(t, set, "m6g.4xlarge", "us-east-2")
	s.awaitAnnotations(t, set, m6g4xlarge())
}
