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

// JudgeBoundary says whether a CredentialsBoundary can be used. One whose namespaces or
// spec.aws.roleARNPatterns are wrong refuses every request of its namespaces; what is wrong of
// the rest of spec.aws refuses those for which a role is to be made.
func JudgeBoundary(b *v1alpha1.CredentialsBoundary, settings Settings) condition.Verdict {
	if v := judgeScope(b, settings); !v.IsTrue() || b.Spec.AWS == nil {
		return v
	}
	return judgeMinting(b, settings)
}

// judgeScope says whether it is clear for whom a boundary is, and which roles they may name.
func judgeScope(b *v1alpha1.CredentialsBoundary, settings Settings) condition.Verdict {
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
	return judgeARNs(settings, b.Spec.AWS.RoleARNPatterns...)
}

// judgeARNs says whether ARNs of a boundary are of the controller's partition. Empty ones are
// none.
func judgeARNs(settings Settings, all ...string) condition.Verdict {
	partition := cmp.Or(settings.Partition, "aws")
	for _, one := range all {
		if one == "" {
			continue
		}
		arn, ok := identity.ParseARN(one)
		if !ok || arn.Partition != partition || arn.Service != "iam" || strings.ContainsAny(arn.Account, "*?") {
			return condition.No(ReasonBoundaryInvalid, "spec.aws has %q, expected an ARN of IAM in the partition %s with an account of its own", one, partition)
		}
	}
	return condition.Yes(ReasonReady, "")
}

// judgeMinting says whether roles can be made under a boundary that has spec.aws.
func judgeMinting(b *v1alpha1.CredentialsBoundary, settings Settings) condition.Verdict {
	aws := b.Spec.AWS
	if v := judgeARNs(settings, aws.PermissionsBoundary); !v.IsTrue() {
		return v
	}
	// What the controller may do in AWS is bounded by path, so a role elsewhere could
	// not be made.
	if path := cmp.Or(settings.Path, DefaultPath); aws.PathPrefix != "" && !strings.HasPrefix(aws.PathPrefix, path) {
		return condition.No(ReasonBeyondAWSBoundary, "spec.aws.pathPrefix is %s, expected one that begins with %s: the controller may make roles there only", aws.PathPrefix, path)
	}
	return judgeCeiling(aws.Ceiling, b.Name == v1alpha1.DefaultBoundary)
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
