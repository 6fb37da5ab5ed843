package iam

import (
	"github.com/tabard-dev/tabard/awslocal/internal/query"
	"github.com/tabard-dev/tabard/iampolicy"
)

type simulationResult struct {
	EvaluationResults list[evaluationElement]
	query.PageEnd
}

type contextKeysResult struct{ ContextKeyNames list[string] }

type evaluationElement struct {
	EvalActionName                    string
	EvalResourceName                  string
	EvalDecision                      string
	MatchedStatements                 list[statementElement]
	MissingContextValues              list[string]
	PermissionsBoundaryDecisionDetail *boundaryDetail        `xml:",omitempty"`
	ResourceSpecificResults           *list[resourceElement] `xml:",omitempty"`
}

type resourceElement struct {
	EvalResourceName                  string
	EvalResourceDecision              string
	MatchedStatements                 list[statementElement]
	MissingContextValues              list[string]
	PermissionsBoundaryDecisionDetail *boundaryDetail `xml:",omitempty"`
}

type boundaryDetail struct{ AllowedByPermissionsBoundary bool }

type statementElement struct {
	SourcePolicyId   string //nolint:revive // the name is the wire's
	SourcePolicyType string
	StartPosition    positionElement
	EndPosition      positionElement
}

type positionElement struct {
	Line   int
	Column int
}

func wireStatement(from *source, reason *iampolicy.Reason) statementElement {
	return statementElement{
		SourcePolicyId: from.id, SourcePolicyType: from.kind,
		StartPosition: positionElement{reason.Line, reason.Column},
		EndPosition:   positionElement{reason.EndLine, reason.EndColumn},
	}
}

// specific repeats a result for its resource, which is where AWS puts the
// details of a call that names resources.
func specific(of evaluationElement) *list[resourceElement] {
	return &list[resourceElement]{Members: []resourceElement{{
		EvalResourceName: of.EvalResourceName, EvalResourceDecision: of.EvalDecision,
		MatchedStatements: of.MatchedStatements, MissingContextValues: of.MissingContextValues,
		PermissionsBoundaryDecisionDetail: of.PermissionsBoundaryDecisionDetail,
	}}}
}
