package contract_test

import (
	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/iam"
	"github.com/aws/aws-sdk-go-v2/service/iam/types"
)

// simulated are more actions than a page of a simulation shows.
var simulated = []string{"s3:DeleteObject", "s3:GetObject", "s3:PutObject"}

func evaluated(r types.EvaluationResult) *string { return r.EvalActionName }

var simulationRows = []row{{
	operation: "SimulatePrincipalPolicy",
	needs:     []string{"CreateRole"},
	call: func(w *world) error {
		in := &iam.SimulatePrincipalPolicyInput{PolicySourceArn: aws.String(w.roleARN()), ActionNames: simulated}
		return errorOf(w.iam.SimulatePrincipalPolicy(w.ctx, in))
	},
	absent: "NoSuchEntity",
	shows:  simulated,
	pages: func(w *world) ([]string, error) {
		in := &iam.SimulatePrincipalPolicyInput{PolicySourceArn: aws.String(w.roleARN()), ActionNames: simulated, MaxItems: pageOf}
		return shown(w, iam.NewSimulatePrincipalPolicyPaginator(w.iam, in), func(p *iam.SimulatePrincipalPolicyOutput) []string {
			return texts(p.EvaluationResults, evaluated)
		})
	},
}, {
	operation: "SimulateCustomPolicy",
	call: func(w *world) error {
		in := &iam.SimulateCustomPolicyInput{PolicyInputList: []string{readDocuments}, ActionNames: simulated}
		return errorOf(w.iam.SimulateCustomPolicy(w.ctx, in))
	},
	shows: simulated,
	pages: func(w *world) ([]string, error) {
		in := &iam.SimulateCustomPolicyInput{PolicyInputList: []string{readDocuments}, ActionNames: simulated, MaxItems: pageOf}
		return shown(w, iam.NewSimulateCustomPolicyPaginator(w.iam, in), func(p *iam.SimulateCustomPolicyOutput) []string {
			return texts(p.EvaluationResults, evaluated)
		})
	},
}, {
	operation: "GetContextKeysForPrincipalPolicy",
	needs:     []string{"CreateRole"},
	call: func(w *world) error {
		in := &iam.GetContextKeysForPrincipalPolicyInput{PolicySourceArn: aws.String(w.roleARN())}
		return errorOf(w.iam.GetContextKeysForPrincipalPolicy(w.ctx, in))
	},
	absent: "NoSuchEntity",
}, {
	operation: "GetContextKeysForCustomPolicy",
	call: func(w *world) error {
		in := &iam.GetContextKeysForCustomPolicyInput{PolicyInputList: []string{readDocuments}}
		return errorOf(w.iam.GetContextKeysForCustomPolicy(w.ctx, in))
	},
}, {
	operation: "GetAccountSummary",
	call:      func(w *world) error { return errorOf(w.iam.GetAccountSummary(w.ctx, &iam.GetAccountSummaryInput{})) },
}, {
	operation: "GetAccountAuthorizationDetails",
	call: func(w *world) error {
		return errorOf(w.iam.GetAccountAuthorizationDetails(w.ctx, &iam.GetAccountAuthorizationDetailsInput{}))
	},
	fill: func(w *world, name string) error { w.role = name; return w.run("iam/CreateRole") },
	pages: func(w *world) ([]string, error) {
		in := &iam.GetAccountAuthorizationDetailsInput{Filter: []types.EntityType{types.EntityTypeRole}, MaxItems: pageOf}
		return shown(w, iam.NewGetAccountAuthorizationDetailsPaginator(w.iam, in), func(p *iam.GetAccountAuthorizationDetailsOutput) []string {
			return texts(p.RoleDetailList, func(r types.RoleDetail) *string { return r.RoleName })
		})
	},
}}
