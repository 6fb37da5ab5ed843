package capacity_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/tabard-dev/tabard/internal/core/capacity"
	"github.com/tabard-dev/tabard/internal/core/fault"
	"github.com/tabard-dev/tabard/internal/core/instancetype"
)

// A backoff is growing, up to the time.
const (
	byWatch = time.Duration(0)
	growing = time.Duration(-1)
)

func TestEveryTroubleHasItsEventAndItsRetry(t *testing.T) {
	const secret = "arn:aws:sts::123456789012:assumed-role/x is not authorized, request 7"
	ec2 := func(class fault.Class, code string) capacity.World {
		return failing(settled(), fault.Fault{Class: class, Service: "EC2", Operation: "DescribeInstanceTypes", Code: code, Message: secret, Hint: "look there"})
	}
	sts := func(class fault.Class, code string) capacity.World {
		w := failing(settled(), fault.Fault{Class: class, Service: "STS", Operation: "AssumeRoleWithWebIdentity", Code: code, Message: secret, Hint: "look there"})
		w.Credentials.Method = "IRSA with role arn:aws:iam::123456789012:role/capacity"
		return w
	}
	said := func(code, message string) capacity.World {
		return failing(settled(), fault.Fault{Class: fault.Unauthenticated, Service: "EC2", Operation: "DescribeInstanceTypes", Code: code, Message: message})
	}
	region := func(state instancetype.State) capacity.World { return with(settled(), unknownTo(state)) }
	regions := failing(settled(), fault.Fault{Class: fault.Denied, Service: "EC2", Operation: "DescribeRegions", Code: "UnauthorizedOperation"})
	network := failing(settled(), fault.Fault{Class: fault.Retry, Service: "EC2", Operation: "DescribeInstanceTypes", Message: "no answer in time; check the network to the endpoint"})
	const rejected = "ReconcileError: AWS credentials rejected: IRSA with role arn:aws:iam::123456789012:role/capacity: STS AssumeRoleWithWebIdentity: "
	const keys = "ReconcileError: AWS credentials rejected: the controller's identity: EC2 DescribeInstanceTypes: "
	tests := map[string]struct {
		world   capacity.World
		want    string
		outcome capacity.Outcome
		again   time.Duration
	}{
		"throttled":           {ec2(fault.Throttled, "RequestLimitExceeded"), "AWSRequestFailed: AWS asks for fewer requests: EC2 DescribeInstanceTypes: RequestLimitExceeded", capacity.Failed, growing},
		"server error":        {ec2(fault.Retry, "InternalError"), "AWSRequestFailed: AWS did not answer: EC2 DescribeInstanceTypes: InternalError", capacity.Failed, growing},
		"network":             {network, "AWSRequestFailed: AWS did not answer: EC2 DescribeInstanceTypes: no answer in time; check the network to the endpoint", capacity.Failed, growing},
		"no right":            {ec2(fault.Denied, "UnauthorizedOperation"), "ReconcileError: AWS denies ec2:DescribeInstanceTypes: EC2 DescribeInstanceTypes: UnauthorizedOperation; grant it to the controller's identity", capacity.Refused, 10 * time.Minute},
		"no right to regions": {regions, "ReconcileError: AWS denies ec2:DescribeRegions: could not retrieve region data: EC2 DescribeRegions: UnauthorizedOperation; grant it to the controller's identity", capacity.Refused, 10 * time.Minute},
		"no right to a role": {
			failing(settled(), fault.Fault{Class: fault.Denied, Service: "STS", Operation: "AssumeRole", Code: "AccessDenied"}),
			"ReconcileError: AWS denies sts:AssumeRole: STS AssumeRole: AccessDenied; grant it to the controller's identity", capacity.Refused, 10 * time.Minute,
		},
		"no right to a selector's role": {
			func() capacity.World {
				w := failing(settled(), fault.Fault{Class: fault.Denied, Service: "STS", Operation: "AssumeRole", Code: "AccessDenied"})
				w.Credentials = capacity.Credentials{Method: "role r of the IAMRoleSelector s", Assumed: true}
				return w
			}(),
			"ReconcileError: AWS denies sts:AssumeRole: STS AssumeRole: AccessDenied; a policy of the controller's own role and the trust policy have to allow that, for the role r of the IAMRoleSelector s",
			capacity.Refused, 10 * time.Minute,
		},
		"trust refuses":         {sts(fault.Unauthenticated, "AccessDenied"), rejected + "AccessDenied; look there", capacity.Refused, 5 * time.Minute},
		"no provider":           {sts(fault.Unauthenticated, "InvalidIdentityToken"), rejected + "InvalidIdentityToken; look there", capacity.Refused, 5 * time.Minute},
		"claim rejected":        {sts(fault.Unauthenticated, "IDPRejectedClaim"), rejected + "IDPRejectedClaim; look there", capacity.Refused, 5 * time.Minute},
		"wrong keys":            {ec2(fault.Unauthenticated, "AuthFailure"), keys + "AuthFailure; look there", capacity.Refused, 5 * time.Minute},
		"unknown key":           {ec2(fault.Unauthenticated, "InvalidClientTokenId"), keys + "InvalidClientTokenId; look there", capacity.Refused, 5 * time.Minute},
		"wrong secret":          {ec2(fault.Unauthenticated, "SignatureDoesNotMatch"), keys + "SignatureDoesNotMatch; look there", capacity.Refused, 5 * time.Minute},
		"not subscribed":        {ec2(fault.Denied, "OptInRequired"), keys + "OptInRequired; look there", capacity.Refused, 5 * time.Minute},
		"blocked":               {ec2(fault.Denied, "Blocked"), keys + "Blocked; look there", capacity.Refused, 5 * time.Minute},
		"session expired":       {ec2(fault.Unauthenticated, "ExpiredToken"), keys + "ExpiredToken; look there", capacity.Refused, 5 * time.Minute},
		"clock skew":            {ec2(fault.Unauthenticated, "RequestExpired"), keys + "RequestExpired; look there", capacity.Refused, 5 * time.Minute},
		"no hint":               {said("MissingAuthenticationToken", secret), keys + "MissingAuthenticationToken", capacity.Refused, 5 * time.Minute},
		"token expired":         {sts(fault.Unauthenticated, "ExpiredTokenException"), strings.Replace(rejected, "rejected", "not available", 1) + "ExpiredTokenException; look there", capacity.Failed, growing},
		"issuer not reached":    {sts(fault.Unauthenticated, "IDPCommunicationError"), strings.Replace(rejected, "rejected", "not available", 1) + "IDPCommunicationError; look there", capacity.Failed, growing},
		"STS server error":      {sts(fault.Retry, "InternalFailure"), "AWSRequestFailed: AWS did not answer: STS AssumeRoleWithWebIdentity: InternalFailure", capacity.Failed, growing},
		"no token yet":          {said("TokenUnreadable", "the token file /t: there is no such file"), "ReconcileError: AWS credentials not available: the controller's identity: the token file /t: there is no such file", capacity.Failed, growing},
		"no Secret":             {said("SecretNotFound", "Secret a/b not found"), "ReconcileError: Secret a/b not found", capacity.Invalid, byWatch},
		"a Secret without keys": {said("SecretInvalid", "missing or empty: x"), "ReconcileError: missing or empty: x", capacity.Invalid, byWatch},
		"a Secret not read now": {said("SecretUnreadable", "Secret a/b cannot be read now"), "ReconcileError: AWS credentials not available: the controller's identity: Secret a/b cannot be read now", capacity.Failed, growing},
		"of another partition":  {said("PartitionMismatch", "the role is of aws-cn"), "ReconcileError: the role is of aws-cn", capacity.Invalid, byWatch},
		"half a web identity":   {said("WebIdentityIncomplete", "half"), "ReconcileError: half", capacity.Invalid, byWatch},
		"no web identity":       {said("CredentialsMissing", "none"), "ReconcileError: none", capacity.Invalid, byWatch},
		"an odd refusal":        {ec2(fault.Invalid, "InvalidAction"), "ReconcileError: AWS refuses the request: EC2 DescribeInstanceTypes: InvalidAction", capacity.Refused, 5 * time.Minute},
		"no such region":        {region(instancetype.RegionInvalid), "ReconcileError: region us-east-1 is not a valid region", capacity.Invalid, 30 * time.Minute},
		"region not opted in":   {region(instancetype.RegionNotOptedIn), "ReconcileError: region us-east-1 is not opted in", capacity.Invalid, 30 * time.Minute},
		"no template":           {with(clusterAPI(large), func(w *capacity.World) { w.Template = nil }), "FailedUpdate: Failed to resolve AWSMachineTemplate: AWSMachineTemplate team/workers not found", capacity.Failed, growing},
		"a template elsewhere":  {with(clusterAPI(large), func(w *capacity.World) { w.Object.Infrastructure.Name = "" }), "FailedUpdate: Failed to resolve AWSMachineTemplate: infrastructureRef has no name", capacity.Invalid, byWatch},
		"credentials not there": {with(settled(), func(w *capacity.World) { w.Credentials.Problem = "text" }), "ReconcileError: text", capacity.Invalid, byWatch},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			plan := capacity.Decide(test.world)
			wantTold(t, plan, test.want)
			if plan.Outcome != test.outcome || len(plan.Steps) > 0 {
				t.Errorf("outcome %s, want %s; steps %v, want none: what is annotated stays", plan.Outcome, test.outcome, plan.Steps)
			}
			if strings.Contains(test.want, "instance type unknown") || strings.Contains(plan.Events[0].Message, secret) {
				t.Errorf("event says what it must not: %s", plan.Events[0].Message)
			}
			grows := plan.Memory.Failures == 1 && plan.Again > 0 && plan.Again <= 5*time.Second
			if test.again == growing && !grows || test.again != growing && (plan.Again != test.again || plan.Memory.Failures != 0) {
				t.Errorf("again in %v after %d failures, want %v", plan.Again, plan.Memory.Failures, test.again)
			}
			again := test.world
			again.Memory = plan.Memory
			if repeated := capacity.Decide(again).Events; len(repeated) > 0 {
				t.Errorf("the same trouble is told again: %v", repeated)
			}
		})
	}
}

func TestAnUnknownTypeIsAskedForAgainAndExplained(t *testing.T) {
	world := with(settled(), unknownTo(instancetype.Unknown))
	plan := capacity.Decide(world)
	wantLog := []string{
		"Unable to set scale from zero annotations: unknown instance type m5.large: AWS has no such type in us-east-1",
		"Autoscaling from zero will not work. To fix this, manually populate machine annotations for your instance type: " +
			"[machine.openshift.io/vCPU machine.openshift.io/memoryMb machine.openshift.io/GPU]",
	}
	if diff := cmp.Diff(wantLog, plan.Log); diff != "" {
		t.Errorf("log (-want +got):\n%s", diff)
	}
	if plan.Again != 30*time.Minute || plan.Outcome != capacity.Unknown {
		t.Errorf("again in %v (%s), want 30m (unknown)", plan.Again, plan.Outcome)
	}
	world.Options.UnknownRecheck, world.Memory = time.Minute, plan.Memory
	if plan = capacity.Decide(world); plan.Again != time.Minute || len(plan.Events)+len(plan.Log) > 0 {
		t.Errorf("again in %v, want the option's 1m; events %v and log %v, want none the second time", plan.Again, plan.Events, plan.Log)
	}
}

func TestTroubleIsToldAgainOnlyAfterItWasOver(t *testing.T) {
	throttled := fault.Fault{Class: fault.Throttled, Service: "EC2", Operation: "DescribeInstanceTypes", Code: "Throttling"}
	memory := capacity.Memory{}
	pass := func(w capacity.World) int {
		w.Memory = memory
		plan := capacity.Decide(w)
		memory = plan.Memory
		return len(plan.Events)
	}
	for i, test := range []struct {
		world capacity.World
		want  int
	}{
		{failing(settled(), throttled), 1},
		{failing(settled(), throttled), 0},
		{with(settled(), unknownTo(instancetype.Unknown)), 1},
		{failing(settled(), throttled), 1},
		{settled(), 0},
		{failing(settled(), throttled), 1},
	} {
		if got := pass(test.world); got != test.want {
			t.Errorf("pass %d: %d events, want %d", i, got, test.want)
		}
	}
}

func TestBackoffGrowsToItsLongest(t *testing.T) {
	throttled := fault.Fault{Class: fault.Throttled, Service: "EC2", Operation: "DescribeInstanceTypes", Code: "Throttling"}
	noRegion := with(clusterAPI(large), func(w *capacity.World) { w.ClusterRegion = "" })
	for name, test := range map[string]struct {
		world   capacity.World
		longest time.Duration
	}{
		"throttled": {failing(settled(), throttled), time.Minute},
		"no region": {noRegion, time.Minute},
	} {
		memory, last := capacity.Memory{}, time.Duration(0)
		for range 100 {
			test.world.Memory = memory
			plan := capacity.Decide(test.world)
			if plan.Again < last || plan.Again > test.longest {
				t.Fatalf("%s: %v after %v, want growing up to %v", name, plan.Again, last, test.longest)
			}
			memory, last = plan.Memory, plan.Again
		}
		if last < test.longest*4/5 {
			t.Errorf("%s: ends at %v, want about %v", name, last, test.longest)
		}
	}
}

func TestNobodyComesBackBeforeAWSWantsIt(t *testing.T) {
	asks := func(class fault.Class, code string, after time.Duration) capacity.World {
		return failing(settled(), fault.Fault{Class: class, Service: "EC2", Operation: "DescribeInstanceTypes", Code: code, RetryAfter: after})
	}
	late := func(w capacity.World) capacity.World {
		return with(w, func(w *capacity.World) { w.Memory.Failures = 100 })
	}
	tests := map[string]struct {
		world    capacity.World
		from, to time.Duration
	}{
		"throttled":                       {asks(fault.Throttled, "RequestLimitExceeded", 90*time.Second), 90 * time.Second, 90 * time.Second},
		"out of service":                  {asks(fault.Retry, "ServiceUnavailable", 90*time.Second), 90 * time.Second, 90 * time.Second},
		"an issuer that is not reached":   {asks(fault.Unauthenticated, "IDPCommunicationError", 90*time.Second), 90 * time.Second, 90 * time.Second},
		"longer than anybody waits":       {asks(fault.Throttled, "RequestLimitExceeded", time.Hour), 5 * time.Minute, 5 * time.Minute},
		"shorter than the object's turn":  {late(asks(fault.Throttled, "RequestLimitExceeded", time.Second)), 48 * time.Second, time.Minute},
		"what a person must mend anyway":  {asks(fault.Denied, "UnauthorizedOperation", 90*time.Second), 10 * time.Minute, 10 * time.Minute},
		"what the credentials need first": {asks(fault.Unauthenticated, "AuthFailure", 90*time.Second), 5 * time.Minute, 5 * time.Minute},
	}
	for name, test := range tests {
		if got := capacity.Decide(test.world).Again; got < test.from || got > test.to {
			t.Errorf("%s: again in %v, want %v to %v", name, got, test.from, test.to)
		}
	}
}

func TestObjectsThatFailTogetherComeBackApart(t *testing.T) {
	seen := map[time.Duration]bool{}
	for _, name := range []string{"a", "b", "c", "d", "e", "f"} {
		w := with(clusterAPI(large), func(w *capacity.World) { w.Template, w.Object.Name = nil, name })
		seen[capacity.Decide(w).Again] = true
	}
	if len(seen) < 3 {
		t.Errorf("six objects come back at %d times, want them spread", len(seen))
	}
}

func TestEventsComeFromTheOriginalComponents(t *testing.T) {
	for kind, want := range map[capacity.Kind]string{
		capacity.MachineAPIMachineSet: "machineset-controller",
		capacity.MachineDeployment:    "machinedeployment-controller",
		capacity.MachineSet:           "machinedeployment-controller",
	} {
		if got := kind.Component(); got != want {
			t.Errorf("%s: got %s, want %s", kind, got, want)
		}
	}
}
