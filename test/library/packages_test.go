package library

import (
	"context"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/tabard-dev/tabard/awsauth"
	"github.com/tabard-dev/tabard/awsauth/fault"
	"github.com/tabard-dev/tabard/awsauth/identity"
	authkube "github.com/tabard-dev/tabard/awsauth/kube"
	"github.com/tabard-dev/tabard/awsauth/kube/follow"
	"github.com/tabard-dev/tabard/iampolicy"
	"github.com/tabard-dev/tabard/roleselector"
	"github.com/tabard-dev/tabard/roleselector/carm"
	"github.com/tabard-dev/tabard/roleselector/kube"
)

// packages are all functions of the public packages, and values of all types that have
// methods: empty ones, or where there is a constructor those that it makes of nothing.
// Roles and Selectors of roleselector/kube are made of a manager and of nothing less.
var packages = map[string]map[string][]any{
	"roleselector": {
		"Choice": {new(roleselector.Choice), roleselector.CompileChoice(nil)}, "Compile": {roleselector.Compile}, "CompileChoice": {roleselector.CompileChoice},
		"Course": {new(roleselector.Course)}, "Decision": {new(roleselector.Decision)}, "Flags": {roleselector.Flags},
		"Index": {roleselector.NewIndex(roleselector.Options{})}, "IsServiceGroup": {roleselector.IsServiceGroup},
		"NewIndex": {roleselector.NewIndex}, "NewObjects": {roleselector.NewObjects}, "NewSessions": {roleselector.NewSessions},
		"Objects": {roleselector.NewObjects(nil), roleselector.NewObjects(roleselector.NewIndex(roleselector.Options{}))},
		"Overlap": {roleselector.Overlap}, "Problem": {new(roleselector.Problem)}, "Proceed": {roleselector.Proceed},
		"Recorded": {new(roleselector.Recorded)}, "Selector": {new(roleselector.Selector), roleselector.Compile(nil)},
		"SelectorExplanation": {new(roleselector.SelectorExplanation)}, "Sessions": {new(roleselector.Sessions), roleselector.NewSessions(0)},
		"Settings": {new(roleselector.Settings)}, "Verdict": {new(roleselector.Verdict)},
	},
	"roleselector/kube": {
		"Announced": {kube.Announced}, "Chosen": {kube.Chosen}, "Conditions": {kube.Conditions}, "Merge": {kube.Merge}, "New": {kube.New},
		"NewRoles": {kube.NewRoles}, "Role": {new(kube.Role)}, "Roles": {}, "Selectors": {}, "Transition": {kube.Transition},
	},
	"roleselector/carm": {
		"BlockerARN": {carm.BlockerARN}, "Cases": {carm.Cases}, "Controller": {new(carm.Controller)}, "IsBlocker": {carm.IsBlocker}, "Manifest": {carm.Manifest},
		"Merge": {carm.Merge}, "Migrate": {carm.Migrate}, "Migration": {new(carm.Migration)}, "Prove": {carm.Prove}, "Resolution": {new(carm.Resolution)},
		"Resource": {new(carm.Resource)}, "Result": {new(carm.Result)}, "Settings": {new(carm.Settings)}, "Shipped": {carm.Shipped, carm.Shipped(nil)},
		"Tabard": {carm.Tabard, carm.Tabard(nil)}, "Validate": {carm.Validate}, "Verdict": {new(carm.Verdict)},
	},
	"awsauth": {"Auth": {auth()}, "Error": {new(awsauth.Error)}, "Guarded": {awsauth.Guarded}, "New": {awsauth.New}},
	"awsauth/identity": {
		"ARN": {new(identity.ARN)}, "Chain": {new(identity.Chain), identity.NewChain()}, "DNSSuffix": {identity.DNSSuffix}, "Decide": {identity.Decide}, "Endpoints": {new(identity.Endpoints)}, "Environment": {new(identity.Environment)},
		"Error": {new(identity.Error)}, "Identity": {new(identity.Identity)}, "IsRegion": {identity.IsRegion}, "IsAccountID": {identity.IsAccountID}, "IsRoleARN": {identity.IsRoleARN},
		"NewChain": {identity.NewChain}, "NewEndpoints": {identity.NewEndpoints}, "ParseARN": {identity.ParseARN}, "ParseRoleARN": {identity.ParseRoleARN}, "Partition": {identity.Partition}, "PartitionOfARN": {identity.PartitionOfARN},
		"SecretRef": {new(identity.SecretRef)}, "ServiceAccountRef": {new(identity.ServiceAccountRef)},
	},
	"awsauth/fault": {
		"Caller": {new(fault.Caller)}, "Clean": {fault.Clean}, "Fault": {new(fault.Fault)}, "Is": {fault.Is}, "IsOutOfDate": {fault.IsOutOfDate},
		"IsThrottle": {fault.IsThrottle}, "Of": {fault.Of}, "Skewed": {fault.Skewed},
	},
	"awsauth/kube": {"Cluster": {cluster()}, "New": {authkube.New}, "Tokens": {authkube.Tokens{}}},
	"awsauth/kube/follow": {
		"Bounded": {follow.Bounded}, "Doubling": {follow.Doubling}, "Follower": {new(follow.Follower[int]), follow.New(follow.Options[int]{})}, "Health": {new(follow.Health)},
		"Loop": {new(follow.Loop)}, "New": {follow.New[int]}, "Of": {follow.Of[int, *metav1.PartialObjectMetadataList]}, "Pages": {follow.Pages{}}, "Store": {new(follow.Store[int])},
	},
	"iampolicy": {
		"Assumptions": {iampolicy.Assumptions}, "Code": {new(iampolicy.Code)}, "Contains": {iampolicy.Contains}, "Context": {iampolicy.NewContext()}, "Decision": {new(iampolicy.Decision)}, "Document": {new(iampolicy.Document)},
		"Error": {new(iampolicy.Error)}, "Errors": {new(iampolicy.Errors)}, "Evaluate": {iampolicy.Evaluate}, "Explain": {iampolicy.Explain},
		"Kind": {new(iampolicy.Kind)}, "LintRules": {iampolicy.LintRules}, "MayAllow": {iampolicy.MayAllow}, "NewContext": {iampolicy.NewContext}, "Parse": {iampolicy.Parse}, "Policy": {new(iampolicy.Policy)}, "Reaches": {iampolicy.Reaches},
		"RoomIn": {iampolicy.RoomIn}, "Size": {iampolicy.Size}, "Statement": {new(iampolicy.Statement)}, "Target": {new(iampolicy.Target)}, "WebIdentity": {iampolicy.WebIdentity},
	},
}

func auth() *awsauth.Auth {
	made, err := awsauth.New(awsauth.Options{Getenv: func(string) string { return "" }})
	if err != nil {
		panic(err)
	}
	return made
}

func cluster() *authkube.Cluster {
	over, cancel := context.WithCancel(context.Background()) //nolint:forbidigo // it is over at once
	cancel()
	return authkube.New(over, authkube.Options{})
}
