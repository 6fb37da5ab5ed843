package s3

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"

	"github.com/tabard-dev/tabard/awslocal/internal/pattern"
	"github.com/tabard-dev/tabard/iampolicy"
)

// maxPolicyBytes is the largest bucket policy (Amazon S3 user guide, "Bucket
// policies").
const maxPolicyBytes = 20 * 1024

// checkPolicy reads a bucket policy and checks what only S3 can: that it is
// about this bucket and about principals that exist.
func (s *Service) checkPolicy(bucket string, document []byte) (*iampolicy.Policy, *fault) {
	if len(document) > maxPolicyBytes {
		return nil, errPolicyTooLarge
	}
	policy, err := iampolicy.Parse(document)
	if err == nil {
		err = policy.Validate(iampolicy.ResourcePolicy)
	}
	if err != nil {
		return nil, malformedPolicy(err)
	}
	var outline policyOutline
	if err := json.Unmarshal(document, &outline); err != nil {
		return nil, errMalformedPolicy.with("Detail", err.Error())
	}
	for _, one := range outline.Statement {
		for _, f := range []*fault{one.checkActions(), one.checkResources(bucketARN(s.options.Partition, bucket)), one.checkFit(), s.checkPrincipals(one)} {
			if f != nil {
				return nil, f
			}
		}
	}
	return policy, nil
}

// malformedPolicy words the mistakes of a document as S3 does. The detail adds
// the places, which S3's own texts do not have.
func malformedPolicy(err error) *fault {
	var mistakes iampolicy.Errors
	if !errors.As(err, &mistakes) {
		return errMalformedPolicy.with("Detail", err.Error())
	}
	return errMalformedPolicy.saying(mistakes.Text(iampolicy.ResourcePolicy)).with("Detail", err.Error())
}

// policyOutline are the parts of a policy that S3 checks when it is put. The
// policy has been parsed by then, so wrong types and unknown elements are out.
type policyOutline struct {
	Statement values[statement]
}

type statement struct {
	Principal, NotPrincipal principals
	Action, NotAction       values[string]
	Resource, NotResource   values[string]
}

// values is a JSON value that may stand for itself or in an array.
type values[T any] []T

// UnmarshalJSON reads one value or an array of them.
func (l *values[T]) UnmarshalJSON(data []byte) error {
	var many []T
	if json.Unmarshal(data, &many) == nil {
		*l = many
		return nil
	}
	var one T
	if err := json.Unmarshal(data, &one); err != nil {
		return err
	}
	*l = []T{one}
	return nil
}

// principals are the principals of a statement by their kind.
type principals map[string]values[string]

// UnmarshalJSON reads "*" or a map.
func (p *principals) UnmarshalJSON(data []byte) error {
	var everybody string
	if json.Unmarshal(data, &everybody) == nil {
		*p = principals{"AWS": {everybody}}
		return nil
	}
	return json.Unmarshal(data, (*map[string]values[string])(p))
}

// checkActions refuses actions of other services.
func (one statement) checkActions() *fault {
	for _, action := range slices.Concat(one.Action, one.NotAction) {
		if action != "*" && !strings.HasPrefix(strings.ToLower(action), "s3:") {
			return errPolicyAction.with("Detail", action)
		}
	}
	return nil
}

// checkResources refuses resources outside the bucket of that ARN.
func (one statement) checkResources(bucket string) *fault {
	for _, resource := range slices.Concat(one.Resource, one.NotResource) {
		if name, _, _ := strings.Cut(resource, "/"); name != bucket && name != bucket+"*" {
			return errPolicyResource.with("Detail", resource)
		}
	}
	return nil
}

// checkFit refuses an action on objects where only the bucket is named, and an
// action on the bucket where only objects are.
func (one statement) checkFit() *fault {
	if len(one.Resource) == 0 {
		return nil
	}
	var onBucket, onObjects bool
	for _, resource := range one.Resource {
		inside, wild := strings.Contains(resource, "/"), strings.HasSuffix(resource, "*")
		onObjects = onObjects || inside || wild
		onBucket = onBucket || !inside
	}
	for _, action := range one.Action {
		if strings.ContainsAny(action, "*?") {
			continue
		}
		fits := onBucket
		if isObjectAction(action) {
			fits = onObjects
		}
		if !fits {
			return errPolicyActionResource.with("Detail", action)
		}
	}
	return nil
}

// otherObjectActions are the actions on objects that do not have Object in
// their names (Service Authorization Reference, "Actions defined by Amazon
// S3"). Those on buckets that do have it end in the other list.
var (
	otherObjectActions = []string{
		"s3:abortmultipartupload", "s3:bypassgovernanceretention", "s3:listmultipartuploadparts",
		"s3:replicatedelete", "s3:replicatetags",
	}
	bucketObjectActions = []string{
		"s3:getbucketobjectlockconfiguration", "s3:putbucketobjectlockconfiguration",
	}
)

// isObjectAction says whether an action is about objects.
func isObjectAction(action string) bool {
	action = strings.ToLower(action)
	if slices.Contains(bucketObjectActions, action) {
		return false
	}
	return strings.Contains(action, "object") || slices.Contains(otherObjectActions, action)
}

var (
	principalARN     = pattern.New(`^arn:aws[a-z-]*:(?:iam::[0-9]{12}:(?:root|user/.+|role/.+|oidc-provider/.+|saml-provider/.+)|sts::[0-9]{12}:(?:assumed-role|federated-user)/.+)$`)
	servicePrincipal = pattern.New(`^[a-z0-9.-]+\.amazonaws\.com$`)
)

// checkPrincipals refuses principals that do not exist.
func (s *Service) checkPrincipals(one statement) *fault {
	for _, set := range []principals{one.Principal, one.NotPrincipal} {
		for kind, names := range set {
			for _, name := range names {
				if !s.isPrincipal(kind, name) {
					return errPolicyPrincipal.with("Detail", `"`+kind+`" : "`+name+`"`)
				}
			}
		}
	}
	return nil
}

func (s *Service) isPrincipal(kind, name string) bool {
	switch kind {
	case "AWS":
		if name == "*" {
			return true
		}
		if accountPattern.MatchString(name) {
			name = s.options.Partition.ARN("iam", "", name, "root")
		}
		return principalARN.MatchString(name) && !strings.ContainsAny(name, "*?") && s.options.PrincipalExists(kind, name)
	case "Federated":
		return s.options.PrincipalExists(kind, name)
	case "Service":
		return servicePrincipal.MatchString(name)
	default:
		return false
	}
}
