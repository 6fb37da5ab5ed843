package credentials

import (
	"cmp"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/tabard-dev/tabard/api/identity/v1alpha1"
	"github.com/tabard-dev/tabard/awsauth/identity"
	"github.com/tabard-dev/tabard/iampolicy"
	"github.com/tabard-dev/tabard/internal/core/condition"
)

// JudgeBoundary says whether a CredentialsBoundary can be used. One that cannot be used
// refuses every request of its namespaces.
func JudgeBoundary(b *v1alpha1.CredentialsBoundary, settings Settings) condition.Verdict {
	byDefault := b.Name == v1alpha1.DefaultBoundary
	selector := b.Spec.NamespaceSelector
	switch {
	case byDefault && (len(b.Spec.Namespaces) > 0 || selector != nil):
		return condition.No(ReasonBoundaryInvalid, "the boundary named %s is for Tabard's own namespace and has namespaces or a namespaceSelector, expected neither: make another boundary for other namespaces", b.Name)
	case !byDefault && len(b.Spec.Namespaces) == 0 && selector == nil:
		return condition.No(ReasonBoundaryInvalid, "it is for no namespace: set spec.namespaces or spec.namespaceSelector")
	case selector != nil && len(selector.MatchLabels)+len(selector.MatchExpressions) == 0:
		return condition.No(ReasonBoundaryInvalid, "spec.namespaceSelector has no term and would be for every namespace: give it matchLabels or matchExpressions")
	}
	if _, err := metav1.LabelSelectorAsSelector(selector); err != nil {
		return condition.No(ReasonBoundaryInvalid, "spec.namespaceSelector cannot be used: %v", err)
	}
	if b.Spec.AWS == nil {
		return condition.Yes(ReasonReady, "it bounds targets; without spec.aws no role is made or named")
	}
	if v := judgeARNs(b.Spec.AWS, settings); !v.IsTrue() {
		return v
	}
	return judgeCeiling(b.Spec.AWS.Ceiling, byDefault)
}

// judgeARNs says whether what a boundary says of roles fits the controller's account.
func judgeARNs(aws *v1alpha1.AWSBoundary, settings Settings) condition.Verdict {
	partition := cmp.Or(settings.Partition, "aws")
	for _, one := range append([]string{aws.PermissionsBoundary}, aws.RoleARNPatterns...) {
		if one == "" {
			continue
		}
		arn, ok := identity.ParseARN(one)
		if !ok || arn.Partition != partition || arn.Service != "iam" || strings.ContainsAny(arn.Account, "*?") {
			return condition.No(ReasonBoundaryInvalid, "spec.aws has %q, expected an ARN of IAM in the partition %s with an account of its own", one, partition)
		}
	}
	// What the controller may do in AWS is bounded by path, so a role elsewhere could
	// not be made.
	if path := cmp.Or(settings.Path, DefaultPath); aws.PathPrefix != "" && !strings.HasPrefix(aws.PathPrefix, path) {
		return condition.No(ReasonBeyondAWSBoundary, "spec.aws.pathPrefix is %s, expected one that begins with %s: the controller may make roles there only", aws.PathPrefix, path)
	}
	return condition.Yes(ReasonReady, "")
}

func judgeCeiling(ceiling string, byDefault bool) condition.Verdict {
	if ceiling == "" {
		return condition.Yes(ReasonReady, "it can be used; without spec.aws.ceiling no role is made, and requests may name roles only")
	}
	if _, err := parseCeiling(ceiling); err != nil {
		return condition.No(ReasonCeilingInvalid, "spec.aws.ceiling %v", err)
	}
	if wide := unlisted(ceiling); wide != "" && !byDefault {
		return condition.No(ReasonCeilingTooWide, "spec.aws.ceiling does not list services and resources: %s", wide)
	}
	return condition.Yes(ReasonReady, "it can be used")
}

// WithinAWSBoundary says whether the policy that is the permissions boundary in AWS
// allows all that a boundary's ceiling allows. Where it does not, requests are accepted
// that AWS cuts down.
func WithinAWSBoundary(b *v1alpha1.CredentialsBoundary, inAWS *iampolicy.Policy) condition.Verdict {
	if b.Spec.AWS == nil || b.Spec.AWS.Ceiling == "" {
		return condition.Yes(ReasonReady, "")
	}
	ceiling, err := parseCeiling(b.Spec.AWS.Ceiling)
	if err != nil {
		return condition.No(ReasonCeilingInvalid, "spec.aws.ceiling %v", err)
	}
	if answer := iampolicy.Contains(inAWS, ceiling); answer.Answer != iampolicy.Yes {
		return condition.No(ReasonBeyondAWSBoundary, "spec.aws.ceiling goes beyond the permissions boundary in AWS, which cuts roles down: %s", answer.Reason)
	}
	return condition.Yes(ReasonReady, "")
}
