package main

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"

	celgo "github.com/google/cel-go/cel"
	celtypes "github.com/google/cel-go/common/types"
	admissionv1 "k8s.io/api/admissionregistration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/admission"
	"k8s.io/apiserver/pkg/admission/plugin/cel"
	"k8s.io/apiserver/pkg/admission/plugin/webhook/matchconditions"
	celconfig "k8s.io/apiserver/pkg/apis/cel"
	"k8s.io/apiserver/pkg/authentication/user"
	"k8s.io/apiserver/pkg/authorization/authorizer"
	"k8s.io/apiserver/pkg/cel/environment"
)

// guard is a ValidatingAdmissionPolicy that refuses, compiled as the API server does.
type guard struct {
	policy      admissionv1.ValidatingAdmissionPolicy
	matcher     matchconditions.Matcher
	validations cel.ConditionEvaluator
	// literals are the texts in its expressions.
	literals []string
	// answers are those that it gave, by account and request: searches of several installations ask it
	// most of the same.
	answers *sync.Map
}

// language is the CEL of the API server, which takes long to make.
var language = sync.OnceValues(func() (*cel.CompositionEnv, error) {
	return cel.NewCompositionEnv(cel.VariablesTypeName, environment.MustBaseEnvSet(environment.DefaultCompatibilityVersion()))
})

// compile makes guards of the policies that refuse whatever else is changed: those
// with a binding that denies, has no parameter that could be gone, and leaves nothing
// out. Others are taken for absent.
func compile(policies []admissionv1.ValidatingAdmissionPolicy, bindings []admissionv1.ValidatingAdmissionPolicyBinding) ([]guard, error) {
	base, err := language()
	if err != nil {
		return nil, err
	}
	var found []guard
	for _, policy := range policies {
		bound := slices.ContainsFunc(bindings, func(b admissionv1.ValidatingAdmissionPolicyBinding) bool {
			return b.Spec.PolicyName == policy.Name && b.Spec.ParamRef == nil && b.Spec.MatchResources == nil && slices.Contains(b.Spec.ValidationActions, admissionv1.Deny)
		})
		if !bound || policy.Spec.ParamKind != nil || policy.Spec.MatchConstraints == nil {
			continue
		}
		if of := policy.Spec.MatchConstraints; of.NamespaceSelector != nil || of.ObjectSelector != nil || len(of.ExcludeResourceRules) > 0 {
			continue
		}
		compiled, err := compiledOnce(policy, base)
		if err != nil {
			return nil, err
		}
		found = append(found, compiled)
	}
	return found, nil
}

// known are the policies that were compiled, by their text: searches of several
// installations have most of them in common. It is locked while one is compiled: all
// compilers share a map of types that the API server's library fills without a lock.
var known = struct {
	sync.Mutex
	guards map[string]guard
}{guards: map[string]guard{}}

func compiledOnce(policy admissionv1.ValidatingAdmissionPolicy, in *cel.CompositionEnv) (guard, error) {
	text, err := json.Marshal(policy)
	if err != nil {
		return guard{}, err
	}
	known.Lock()
	defer known.Unlock()
	if _, is := known.guards[string(text)]; !is {
		made := read(policy, in)
		made.answers = &sync.Map{}
		if made.literals, err = literals(policy); err != nil {
			return guard{}, err
		}
		known.guards[string(text)] = made
	}
	return known.guards[string(text)], nil
}

// expression is a validation or a variable, for the API server's library.
type expression struct {
	name, text string
	returns    []*celgo.Type
}

// GetExpression is for the API server's library.
func (e expression) GetExpression() string { return e.text }

// ReturnTypes is for the API server's library.
func (e expression) ReturnTypes() []*celgo.Type { return e.returns }

// GetName is for the API server's library.
func (e expression) GetName() string { return e.name }

// read does what the API server does with a policy when it reads it.
func read(policy admissionv1.ValidatingAdmissionPolicy, in *cel.CompositionEnv) guard {
	declared := cel.OptionalVariableDeclarations{HasAuthorizer: true}
	compiler := cel.NewCompositedCompilerFromTemplate(in)
	var variables []cel.NamedExpressionAccessor
	for _, each := range policy.Spec.Variables {
		variables = append(variables, expression{each.Name, each.Expression, []*celgo.Type{celgo.AnyType, celgo.DynType}})
	}
	compiler.CompileAndStoreVariables(variables, declared, environment.StoredExpressions)
	var conditions, validations []cel.ExpressionAccessor
	for i := range policy.Spec.MatchConditions {
		conditions = append(conditions, (*matchconditions.MatchCondition)(&policy.Spec.MatchConditions[i]))
	}
	for _, each := range policy.Spec.Validations {
		validations = append(validations, expression{text: each.Expression, returns: []*celgo.Type{celgo.BoolType}})
	}
	return guard{
		policy: policy,
		matcher: matchconditions.NewMatcher(compiler.CompileCondition(conditions, declared, environment.StoredExpressions),
			policy.Spec.FailurePolicy, "policy", "validate", policy.Name),
		validations: compiler.CompileCondition(validations, declared, environment.StoredExpressions),
	}
}

// refuses says which policy refuses an account's request, empty for none. A policy
// that cannot be evaluated is an error: on a cluster it may refuse what Tabard does.
func (w *world) refuses(by account, r request) (string, error) {
	if r.group == admissionv1.GroupName && !strings.HasSuffix(r.resource, "webhookconfigurations") {
		return "", nil // Kubernetes asks no policy about policies
	}
	for _, guard := range w.guards {
		if !slices.ContainsFunc(guard.policy.Spec.MatchConstraints.ResourceRules, r.matches) {
			continue
		}
		refused, err := guard.answer(by, r)
		if err != nil {
			return "", fmt.Errorf("policy %s cannot be evaluated for %s: %w", guard.policy.Name, r, err)
		}
		if refused {
			return guard.policy.Name, nil
		}
	}
	return "", nil
}

// answer is what the policy says of an account's request, evaluated once.
func (g guard) answer(by account, r request) (bool, error) {
	objects, err := json.Marshal([]any{r.object, r.old})
	if err != nil {
		return false, err
	}
	key := fmt.Sprintf("%s %s %s %s %s %s", by, r, r.version, r.kind, r.operation(), objects)
	if before, is := g.answers.Load(key); is {
		return before == true, nil
	}
	refused, err := g.refuses(r.attributes(by))
	if err == nil {
		g.answers.Store(key, refused)
	}
	return refused, err
}

// refuses evaluates a policy as the API server does, without its cache.
func (g guard) refuses(asked *admission.VersionedAttributes) (bool, error) {
	ctx := context.Background()
	matched := g.matcher.Match(ctx, asked, nil, nobody{})
	if matched.Error != nil || !matched.Matches {
		return false, matched.Error
	}
	about := cel.CreateAdmissionRequest(asked.Attributes, metav1.GroupVersionResource(asked.GetResource()), metav1.GroupVersionKind(asked.VersionedKind))
	results, _, err := g.validations.ForInput(ctx, asked, about, cel.OptionalVariableBindings{Authorizer: nobody{}}, nil, celconfig.RuntimeCELCostBudget)
	if err != nil {
		return false, err
	}
	refused := false
	for _, result := range results {
		if result.Error != nil {
			return false, result.Error
		}
		refused = refused || result.EvalResult != celtypes.True
	}
	return refused, nil
}

// matches says that a rule of a policy is about the request, as Kubernetes matches.
func (r request) matches(rule admissionv1.NamedRuleWithOperations) bool {
	if len(rule.ResourceNames) > 0 && !slices.Contains(rule.ResourceNames, r.name) {
		return false
	}
	operation := slices.Contains(rule.Operations, admissionv1.OperationAll) || slices.Contains(rule.Operations, admissionv1.OperationType(r.operation()))
	return operation && in(rule.APIGroups, r.group) && in(rule.APIVersions, r.version) && slices.ContainsFunc(rule.Resources, func(pattern string) bool {
		resource, sub, _ := strings.Cut(pattern, "/")
		return (resource == "*" || resource == r.resource) && (sub == "*" || sub == r.sub)
	})
}

// attributes are what the API server would ask its policies about.
func (r request) attributes(by account) *admission.VersionedAttributes {
	kind := schema.GroupVersionKind{Group: r.group, Version: r.version, Kind: r.kind}
	of := func(object map[string]any) runtime.Object {
		if object == nil {
			return nil
		}
		return &unstructured.Unstructured{Object: object}
	}
	var options runtime.Object = &metav1.UpdateOptions{}
	if r.operation() == "CREATE" {
		options = &metav1.CreateOptions{}
	}
	who := &user.DefaultInfo{Name: by.user(), Groups: by.groups()}
	attributes := admission.NewAttributesRecord(of(r.object), of(r.old), kind, r.namespace, r.name,
		schema.GroupVersionResource{Group: r.group, Version: r.version, Resource: r.resource}, r.sub, admission.Operation(r.operation()), options, false, who)
	return &admission.VersionedAttributes{Attributes: attributes, VersionedObject: of(r.object), VersionedOldObject: of(r.old), VersionedKind: kind}
}

// nobody allows nothing: a policy that asks for a right of its own finds none.
type nobody struct{}

// Authorize is for the API server's library.
func (nobody) Authorize(context.Context, authorizer.Attributes) (authorizer.Decision, string, error) {
	return authorizer.DecisionDeny, "", nil
}
