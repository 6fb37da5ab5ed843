package operator

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	cloudv1 "github.com/tabard-dev/tabard/api/cloudcredential/v1"
)

// patience is how long an operator may take for its CredentialsRequest before the sentence says that
// it may never come.
const patience = 2 * time.Minute

// values is whether each container has the values: OLM puts them into all.
func (o *Objects) values(time.Time) Stage {
	if len(o.Deployments) == 0 {
		return Stage{State: Waiting, Sentence: "the operator has no Deployment yet", Object: o.at(KindCSV, o.Target())}
	}
	names := slices.Sorted(maps.Keys(o.Values))
	for _, d := range o.Deployments {
		for _, container := range slices.Sorted(maps.Keys(d.Env)) {
			for _, name := range names {
				if d.Env[container][name] != o.Values[name] {
					return Stage{State: Waiting, Sentence: fmt.Sprintf("the container %s of the Deployment %s does not have the new value of %s yet", container, d.Name, name), Object: o.at(KindDeployment, d.Name)}
				}
			}
		}
	}
	return Stage{State: Done, Sentence: "the operator's containers have the values of the role", Object: o.at(KindDeployment, o.Deployments[0].Name)}
}

// asking is the CredentialsRequest with the role, nil if there is none.
func (o *Objects) asking() *Request {
	for i := range o.Requests {
		if o.Requests[i].Identity == o.Identity {
			return &o.Requests[i]
		}
	}
	return nil
}

func (o *Objects) request(now time.Time) Stage {
	if r := o.asking(); r != nil && len(r.Beyond) > 0 {
		return Stage{
			State: Done, Sentence: "the operator asks for its credentials, and for more than its version declares: " + strings.Join(r.Beyond, "; "),
			Next: fmt.Sprintf("have the role compared with what it asks for: kubectl -n %s get credentialsrequest %s -o yaml > requests.yaml, and tabard operators handoff %s --requests requests.yaml", r.Namespace, r.Name, o.Package), Object: string(KindRequest) + " " + r.Namespace + "/" + r.Name,
		}
	} else if r != nil {
		return Stage{State: Done, Sentence: "the operator asks for its credentials", Object: string(KindRequest) + " " + r.Namespace + "/" + r.Name}
	}
	var since time.Time
	if o.CSV != nil {
		since = o.CSV.Since
	}
	out := Stage{State: Waiting, Since: since, Sentence: "the operator has not made a CredentialsRequest with its role yet", Object: o.at(KindCSV, o.Target())}
	if len(o.Requests) > 0 {
		r := o.Requests[0]
		out.Sentence = fmt.Sprintf("the CredentialsRequest %s/%s names %q, and not the role that was given", r.Namespace, r.Name, r.Identity)
		out.Object = string(KindRequest) + " " + r.Namespace + "/" + r.Name
	}
	if !since.IsZero() && now.Sub(since) >= patience {
		out.Sentence += fmt.Sprintf(", %s after it was installed: it may need a custom resource first, lack the right to make a request, or not use the role at all", now.Sub(since).Round(time.Second))
		out.Next = "read the operator's page, and kubectl -n " + o.Namespace + " logs of its pods"
	}
	return out
}

// troubles are conditions of a CredentialsRequest that only a person can mend. The Cloud Credential
// Operator and Tabard write the same ones.
var troubles = []cloudv1.ConditionType{cloudv1.CredentialsProvisionFailure, cloudv1.InsufficientCloudCredentials, cloudv1.MissingTargetNamespace, cloudv1.Ignored}

func (o *Objects) credentials(time.Time) Stage {
	r := o.asking()
	at := string(KindRequest) + " " + r.Namespace + "/" + r.Name
	for _, trouble := range troubles {
		if c, bad := is(r.Conditions, string(trouble)); bad {
			return Stage{State: Failed, Since: c.Since, Sentence: because("the request is not fulfilled ("+string(trouble)+")", c.Message), Next: fmt.Sprintf("kubectl -n %s describe credentialsrequest %s", r.Namespace, r.Name), Object: at}
		}
	}
	switch {
	case !r.Provisioned:
		return Stage{State: Waiting, Sentence: "the request is not fulfilled yet", Object: at}
	case !r.SecretExists:
		return Stage{State: Waiting, Sentence: "the Secret " + r.Secret + " is not there yet", Object: string(KindSecret) + " " + r.Secret}
	}
	return Stage{State: Done, Sentence: "the operator has its credentials in the Secret " + r.Secret, Object: string(KindSecret) + " " + r.Secret}
}
