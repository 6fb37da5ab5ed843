package capacity

import (
	"fmt"
	"hash/fnv"
	"time"

	awsidentity "github.com/tabard-dev/tabard/awsauth/identity"
	"github.com/tabard-dev/tabard/internal/core/fault"
	"github.com/tabard-dev/tabard/internal/core/instancetype"
)

// Times after which trouble is looked at again. A watch may come before.
const (
	backoffFirst = 5 * time.Second
	backoffLast  = time.Minute
	// longestAsked is the longest time for which AWS, if it asks for that, is left alone.
	longestAsked = 5 * time.Minute
	// credentialsRecheck and deniedRecheck are for what a person mends in AWS,
	// where nothing announces it.
	credentialsRecheck = 5 * time.Minute
	deniedRecheck      = 10 * time.Minute
)

// trouble is why there are no annotations for an object.
type trouble struct {
	event   Event
	outcome Outcome
	// again is a fixed time to the next look; passes has it grow up to backoffLast.
	// Neither: nothing but a change of the input helps.
	again  time.Duration
	passes bool
	// atLeast is how long AWS asked to be left alone, for those that grow; 0 if it
	// did not.
	atLeast time.Duration
}

// plan is the plan of a trouble without steps. The annotations that are there
// stay. A warning that was the last one is not repeated.
func (t trouble) plan(w World) Plan {
	out := Plan{Outcome: t.outcome, Again: t.again, Memory: Memory{Told: t.event, Corrected: w.Memory.Corrected}}
	if t.passes {
		out.Again = max(backoff(w), min(t.atLeast, longestAsked))
		out.Memory.Failures = w.Memory.Failures + 1
	}
	if w.Memory.Told != t.event {
		out.Events = []Event{t.event}
	}
	return out
}

// backoff doubles with every failure up to backoffLast, and is up to a fifth
// shorter by the object's name, so that those that failed together do not come
// back together.
func backoff(w World) time.Duration {
	wait := backoffFirst
	for range w.Memory.Failures {
		if wait = 2 * wait; wait >= backoffLast {
			wait = backoffLast
			break
		}
	}
	sum := fnv.New32a()
	_, _ = sum.Write([]byte(w.Object.Namespace + "/" + w.Object.Name)) // a hash takes all
	return wait - wait/5*time.Duration(sum.Sum32()%100)/100
}

// misconfigured is what a person must correct; its text is shown as it is.
func misconfigured(text string) trouble {
	return trouble{event: warning(ReasonReconcileError, text), outcome: Invalid}
}

func badTemplate(text string) trouble {
	return trouble{event: warning(ReasonFailedUpdate, "Failed to resolve AWSMachineTemplate: "+text), outcome: Invalid}
}

func missingTemplate(namespace, name string) trouble {
	return trouble{
		event: warning(ReasonFailedUpdate, fmt.Sprintf(
			"Failed to resolve AWSMachineTemplate: AWSMachineTemplate %s/%s not found", namespace, name)),
		outcome: Failed, passes: true,
	}
}

func emptyType(text string) trouble {
	return trouble{event: warning(ReasonFailedUpdate, "Failed to extract instance type: "+text), outcome: Invalid}
}

func noRegion() trouble {
	return trouble{
		event: warning(ReasonFailedUpdate, "Failed to resolve AWS region: unable to determine AWS region from "+
			"AWSCluster or annotation "+regionAnnotation),
		outcome: Failed, passes: true,
	}
}

// badRegion is a region that AWS does not have, or not for this account.
func badRegion(w World, state instancetype.State, region string) trouble {
	text := fmt.Sprintf("region %s is not a valid region", region)
	if state == instancetype.RegionNotOptedIn {
		text = fmt.Sprintf("region %s is not opted in", region)
	}
	return trouble{event: warning(ReasonReconcileError, text), outcome: Invalid, again: w.Options.recheck()}
}

// configuration are the codes of awsauth's faults that only a person can correct,
// before AWS is asked. Their messages are the product's own.
var configuration = map[string]bool{
	awsidentity.CodeCredentialsMissing: true, awsidentity.CodeWebIdentityIncomplete: true,
	"CABundleInvalid": true, "ContainerCredentialsInvalid": true, "EndpointInvalid": true, "InvalidIdentity": true,
	"PartitionMismatch": true, "RegionMissing": true, "SecretInvalid": true, "SecretNotFound": true, "SessionInvalid": true,
}

// unread are the codes of what awsauth could not read just now: a token that is
// not mounted yet, a Secret of an API server that is busy. Their messages are the
// product's own.
var unread = map[string]bool{"CABundleUnreadable": true, "SecretUnreadable": true, "TokenUnreadable": true}

// passing are the codes of refusals that usually pass by themselves: a token that
// is just being renewed, an issuer that STS could not reach.
var passing = map[string]bool{
	"ExpiredTokenException": true, "IDPCommunicationError": true, "RegionDisabledException": true,
}

// lookupFailed is why AWS gave no answer. The texts hold the code and never AWS's
// own message: that names ARNs, and events are read by whoever may look into the
// namespace.
func lookupFailed(w World, f fault.Fault) trouble {
	switch {
	case configuration[f.Code]:
		return misconfigured(f.Message)
	case f.Class == fault.Throttled:
		return retried(f, ReasonRequestFailed, "AWS asks for fewer requests: "+call(f))
	case passing[f.Code], unread[f.Code]:
		return retried(f, ReasonReconcileError, "AWS credentials not available: "+credentials(w, f))
	case f.Class == fault.Unauthenticated, f.Code == "OptInRequired", f.Code == "Blocked":
		return trouble{event: warning(ReasonReconcileError, "AWS credentials rejected: "+credentials(w, f)), outcome: Refused, again: credentialsRecheck}
	case f.Class == fault.Denied:
		return trouble{event: warning(ReasonReconcileError, fmt.Sprintf("AWS denies %s: %s; %s",
			action(f), call(f), grant(w, f))), outcome: Refused, again: deniedRecheck}
	case f.Passing():
		return retried(f, ReasonRequestFailed, "AWS did not answer: "+call(f))
	}
	return trouble{event: warning(ReasonReconcileError, "AWS refuses the request: "+call(f)), outcome: Refused, again: credentialsRecheck}
}

// retried is a failed call that is made again soon, and not before AWS wants it.
func retried(f fault.Fault, reason, text string) trouble {
	return trouble{event: warning(reason, text), outcome: Failed, passes: true, atLeast: f.RetryAfter}
}

// grant says who is to be let do what was denied. A selector's role does not assume
// itself.
func grant(w World, f fault.Fault) string {
	if w.Credentials.Assumed && f.Service == "STS" && f.Operation == "AssumeRole" {
		return "a policy of the controller's own role and the trust policy have to allow that, for the " + identity(w)
	}
	return "grant it to " + identity(w)
}

// action is the IAM action of a call.
func action(f fault.Fault) string {
	if f.Service == "STS" {
		return "sts:" + f.Operation
	}
	return "ec2:" + f.Operation
}

// call names a failed call and why it failed. Without a code the message is the
// product's own words on what happened to the connection.
func call(f fault.Fault) string {
	why := f.Code
	if why == "" {
		why = f.Message
	}
	text := f.Service + " " + f.Operation + ": " + why
	if f.Operation == "DescribeRegions" {
		return "could not retrieve region data: " + text
	}
	return text
}

// credentials says whose credentials failed, in which call, and what to look at.
func credentials(w World, f fault.Fault) string {
	text := identity(w) + ": "
	if unread[f.Code] {
		return text + f.Message
	}
	text += call(f)
	if f.Hint != "" {
		text += "; " + f.Hint
	}
	return text
}

func identity(w World) string {
	if w.Credentials.Method == "" {
		return "the controller's identity"
	}
	return w.Credentials.Method
}
