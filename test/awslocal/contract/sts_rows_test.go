package contract_test

import (
	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sts"
)

var stsRows = []row{{
	// Nobody learns whether a role exists.
	operation: "AssumeRole",
	needs:     []string{"iam/CreateRole"},
	call: func(w *world) error {
		return errorOf(w.sts.AssumeRole(w.ctx, &sts.AssumeRoleInput{RoleArn: aws.String(w.roleARN()), RoleSessionName: aws.String("session")}))
	},
	absent: "AccessDenied",
}, {
	// The caller is known by the token alone. A stranger is another subject of the
	// same issuer.
	operation: "AssumeRoleWithWebIdentity",
	needs:     []string{"iam/CreateRole", "iam/CreateOpenIDConnectProvider"},
	call: func(w *world) error {
		token := w.issuer.token(w.subject, w.server.Admin().Now())
		return errorOf(w.sts.AssumeRoleWithWebIdentity(w.ctx, &sts.AssumeRoleWithWebIdentityInput{
			RoleArn: aws.String(w.roleARN()), RoleSessionName: aws.String("session"), WebIdentityToken: &token,
		}))
	},
	absent:   "AccessDenied",
	except:   map[string]string{"iam/CreateOpenIDConnectProvider": "InvalidIdentityToken"},
	unsigned: true,
	stranger: func(w *world) { w.subject = "system:serviceaccount:team-b:app" },
}, {
	operation: "GetCallerIdentity",
	call:      func(w *world) error { return errorOf(w.sts.GetCallerIdentity(w.ctx, &sts.GetCallerIdentityInput{})) },
	free:      true,
}}
