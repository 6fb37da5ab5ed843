package capacity

import (
	"fmt"

	awsidentity "github.com/tabard-dev/tabard/awsauth/identity"
	"github.com/tabard-dev/tabard/roleselector"
)

// Selected is what the cluster's IAMRoleSelectors say of an object. The zero value
// is that nobody asks them.
type Selected struct {
	// Decision is theirs.
	Decision roleselector.Decision
	// Subject is for whom the decision's role is assumed.
	Subject roleselector.Subject
	// Settings are what the administrator says of that.
	Settings roleselector.Settings
}

// identityAmbiguous is the word by which people find an object with two identities.
const identityAmbiguous = "IdentityAmbiguous"

// Identify says who asks AWS for an object: the process's web identity, else the
// Secret that the object names, and so on as awsauth/identity says; and on top of a
// web identity, of no other, the role of the selector that selects the object. The
// identity is good only if the credentials lack nothing.
func Identify(env awsidentity.Environment, wish awsidentity.Wish, selected Selected) (awsidentity.Identity, Credentials) {
	if err := env.Check(); err != nil {
		return awsidentity.Identity{}, Credentials{Problem: err.Error()}
	}
	switch selected.Decision.Outcome {
	case "", roleselector.NoSelector:
		return withoutSelector(env, wish)
	case roleselector.Use:
		return withRole(env, wish, selected)
	default:
		return awsidentity.Identity{}, Credentials{Problem: selected.Decision.Message()}
	}
}

func withoutSelector(env awsidentity.Environment, wish awsidentity.Wish) (awsidentity.Identity, Credentials) {
	who, err := awsidentity.Decide(env, wish)
	if err != nil {
		// Only a change of what was just read helps.
		return awsidentity.Identity{}, Credentials{Problem: err.Error()}
	}
	return who, Credentials{Method: method(env, who)}
}

func withRole(env awsidentity.Environment, wish awsidentity.Wish, selected Selected) (awsidentity.Identity, Credentials) {
	used := selected.Decision.Selector
	switch {
	case env.RoleARN == "" && wish.Secret.Name != "":
		return awsidentity.Identity{}, Credentials{Problem: fmt.Sprintf(
			"%s: %s names the Secret %s and the IAMRoleSelector %s selects it, and a Secret assumes no role: "+
				"take one of the two away, or give the controller a web identity",
			identityAmbiguous, wish.For, wish.Secret, used.Name)}
	case env.RoleARN == "":
		return awsidentity.Identity{}, Credentials{Problem: fmt.Sprintf(
			"the role %s of the IAMRoleSelector %s is assumed from a web identity alone, and the controller has none: "+
				"set AWS_ROLE_ARN and AWS_WEB_IDENTITY_TOKEN_FILE", used.ARN, used.Name)}
	}
	input, problems := selected.Decision.Used().AssumeRole(selected.Subject, selected.Settings)
	if len(problems) > 0 {
		return awsidentity.Identity{}, NotAssumed(selected.Decision, problems[0])
	}
	who := awsidentity.Identity{Base: awsidentity.WebIdentity}.Via(input.Role)
	return who, Credentials{Method: fmt.Sprintf("role %s of the IAMRoleSelector %s", used.ARN, used.Name), Assumed: true}
}

// NotAssumed are the credentials of an object for which the role of its selector
// must not be assumed.
func NotAssumed(decision roleselector.Decision, because roleselector.Problem) Credentials {
	return Credentials{Problem: fmt.Sprintf("the role of the IAMRoleSelector %s cannot be assumed: %s", decision.Selector.Name, because)}
}

// method is the source in people's words.
func method(env awsidentity.Environment, who awsidentity.Identity) string {
	switch who.Base {
	case awsidentity.WebIdentity:
		return "IRSA with role " + env.RoleARN
	case awsidentity.Secret:
		return "Secret " + who.Secret.String()
	case awsidentity.Container:
		return "the container's credentials"
	default:
		return "the SDK's default chain"
	}
}
