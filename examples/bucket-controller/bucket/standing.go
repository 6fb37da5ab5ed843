package bucket

import (
	"fmt"
	"time"

	"github.com/tabard-dev/tabard/awsauth/identity"
	"github.com/tabard-dev/tabard/roleselector"
	"github.com/tabard-dev/tabard/roleselector/carm"
	"github.com/tabard-dev/tabard/roleselector/kube"
)

// Self is who the controller is by itself.
type Self struct {
	// Identity is its web identity. Roles are assumed from it alone.
	Identity identity.Identity
	// RoleARN is the role of that.
	RoleARN string
}

// account is that of a role's ARN.
func account(arn string) string {
	found, _ := identity.ParseARN(arn)
	return found.Account
}

// Account is the one that the controller runs in.
func (s Self) Account() string { return account(s.RoleARN) }

// BySelectors is the standing of a Bucket with the feature gate on. The selector
// is that of the course: the decision's, or what the Bucket was managed with.
func (s Self) BySelectors(situation roleselector.Situation, subject roleselector.Subject, settings roleselector.Settings) Standing {
	situation.DefaultAccount = s.Account()
	standing := Standing{Course: roleselector.Proceed(situation), Decision: situation.Decision}
	if standing.Course.Selector.Name == "" {
		return standing.as(s.Identity.In(situation.Region), s.RoleARN)
	}
	selector := situation.Decision.Used()
	if selector == nil || selector.Reference() != standing.Course.Selector {
		selector = situation.LastUsed
	}
	input, problems := selector.AssumeRole(subject, settings)
	if len(problems) > 0 {
		return standing.Without(problems[0])
	}
	return standing.as(s.Identity.In(situation.Region).Via(input.Role), input.Role.ARN)
}

// Without is the standing with nobody to be: the role of its selector must not be
// assumed.
func (s Standing) Without(because roleselector.Problem) Standing {
	s.Trouble = recoverable(string(because.Reason), because.String())
	return s.as(identity.Identity{}, "")
}

func (s Standing) as(id identity.Identity, role string) Standing {
	s.Identity, s.Account, s.Partition = id, account(role), identity.PartitionOfARN(role)
	return s
}

// carmSession is how long, and under which name, roles of CARM are assumed.
const (
	carmSession  = "ack-s3-carm"
	carmDuration = 15 * time.Minute
)

// ByCARM is the standing of a Bucket with the feature gate off. CARM has no
// selector, and none is on record for it; the guard of accounts is the same.
func (s Self) ByCARM(resolution carm.Resolution, situation roleselector.Situation) Standing {
	situation.Recorded.Selector, situation.Recorded.SelectorUID = "", ""
	situation.Decision = roleselector.Decision{Outcome: roleselector.NoSelector}
	situation.DefaultAccount = resolution.Account
	standing := Standing{Course: roleselector.Proceed(situation), Decision: situation.Decision, CARM: true}
	switch resolution.Outcome {
	case carm.Role:
		role := identity.Role{ARN: resolution.Role, SessionName: carmSession, Duration: carmDuration}
		return standing.as(s.Identity.In(situation.Region).Via(role), resolution.Role)
	case carm.Default:
		return standing.as(s.Identity.In(situation.Region), s.RoleARN)
	case carm.Invalid:
		standing.Trouble = recoverable("RoleInvalid", fmt.Sprintf(
			"%q, the entry %s of the config map %s, is not the ARN of a role.", resolution.Role, resolution.Entry, resolution.Map))
	default:
		standing.Trouble = &Trouble{
			Condition: kube.ConditionSynced, Reason: "RoleUnavailable", Wait: carmWait,
			Message: "IAM Role is not available: " + resolution.Message(),
		}
	}
	// There is no account yet to hold against the one on record.
	standing.Course = roleselector.Course{Step: roleselector.GoOn}
	return standing
}

// Place is what a Bucket's annotations, its namespace's and the flags say.
type Place struct {
	Region string
	Retain bool
	// Trouble is an annotation that cannot be used.
	Trouble *Trouble
}

// PlaceOf is where a Bucket is wanted. Its own annotation counts also where the
// bucket is elsewhere already; what its namespace says is for new ones.
func PlaceOf(b *Bucket, settings carm.Settings) Place {
	of := settings.Of(carm.Resource{Annotations: b.Annotations, Region: b.Recorded().Region})
	if own := b.Annotations[carm.RegionAnnotation]; own != "" {
		of.Region = own
	}
	place := Place{Region: of.Region, Retain: of.DeletionPolicy == "retain"}
	switch {
	case of.Endpoint != "":
		place.Trouble = terminal("EndpointUnsupported", "This controller sends nothing to the URL of the annotation "+carm.EndpointAnnotation+" of the namespace; remove it.")
	case of.DeletionPolicy != "retain" && of.DeletionPolicy != "delete":
		place.Trouble = terminal("DeletionPolicyInvalid", fmt.Sprintf("The deletion policy %q is neither delete nor retain.", of.DeletionPolicy))
	}
	return place
}
