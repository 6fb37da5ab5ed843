package main

import (
	"cmp"
	"context"
	"fmt"
	"path"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/arn"
	"github.com/aws/aws-sdk-go-v2/service/sts"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/tabard-dev/tabard/awsauth/fault"
	"github.com/tabard-dev/tabard/awsauth/identity"
	"github.com/tabard-dev/tabard/awsauth/kube"
	"github.com/tabard-dev/tabard/awsauth/kube/tokenmode"
)

// become goes as far towards AWS as cluster, person and AWS let it.
func (o *operator) become(ctx context.Context, me *unstructured.Unstructured) outcome {
	objects, err := tokenmode.Read(ctx, o.client)
	if err != nil {
		return problem("ClusterUnreadable", err.Error())
	}
	answer, err := tokenmode.Detect(objects)
	if err != nil {
		return problem("ClusterUnreadable", err.Error())
	}
	// A cluster that is not OpenShift has none of these objects. There, the role in the
	// environment says that tokens are to be used.
	openShift := objects.Infrastructure != nil || objects.CloudCredential != nil || objects.Authentication != nil
	if !answer.On(tokenmode.AWS) && (openShift || o.role == "") {
		return waiting("NotTokenMode", cmp.Or(answer.Reason, "this operator works with AWS alone, not with "+string(answer.Cloud)))
	}
	if !identity.IsRoleARN(o.role) {
		return problem("RoleMissing", fmt.Sprintf("ROLEARN is %q and must be the ARN of an IAM role; set it in the Subscription's spec.config.env", o.role))
	}
	request, err := o.ensureRequest(ctx, me)
	if err != nil {
		return problem("RequestFailed", err.Error())
	}
	infrastructure, err := o.cluster.Infrastructure(ctx)
	if err != nil {
		return problem("ClusterUnreadable", err.Error())
	}
	caller, err := o.whoami(ctx, infrastructure)
	failure := fault.Of("", "", err)
	if failure != nil && failure.Code == fault.CodeSecretNotFound {
		return o.secretMissing(request)
	}
	o.missing = time.Time{}
	switch {
	case failure != nil:
		return problem("Refused", failure.FirstLine())
	case !isSession(caller, o.role):
		return waiting("SecretOutdated", fmt.Sprintf("this operator still is %s; the Secret %s does not name %s yet", caller, o.secret(), o.role)+because(request))
	}
	return ready(caller)
}

// whoami asks AWS who this operator is. Whatever else it did in AWS, it would do
// with a configuration that it asks for at each use, as here: that is how a new
// Secret takes effect.
func (o *operator) whoami(ctx context.Context, infrastructure kube.Infrastructure) (string, error) {
	id, err := o.auth.WhoAmI(identity.Wish{Secret: o.secret()})
	if err != nil {
		return "", err
	}
	id.Region, id.Endpoints = infrastructure.Region, infrastructure.Endpoints
	config, err := o.auth.Config(ctx, id)
	if err != nil {
		return "", err
	}
	out, err := sts.NewFromConfig(config).GetCallerIdentity(ctx, nil)
	if err != nil {
		return "", err
	}
	return aws.ToString(out.Arn), nil
}

// secretMissing waits for a while before it warns, unless the request's conditions
// say what is wrong.
func (o *operator) secretMissing(request *unstructured.Unstructured) outcome {
	if o.missing.IsZero() {
		o.missing = time.Now()
	}
	text := fmt.Sprintf("the Secret %s does not exist; the Cloud Credential Operator or Tabard writes it for the CredentialsRequest %s", o.secret(), name)
	why := complaint(request)
	if why == "" && time.Since(o.missing) < o.patience {
		return waiting("WaitingForSecret", text)
	}
	return problem("SecretMissing", text+", and says of that: "+cmp.Or(why, "nothing; is one of them running?"))
}

// because is what a request's conditions say against it, for the end of a sentence.
func because(request *unstructured.Unstructured) string {
	if why := complaint(request); why != "" {
		return ": " + why
	}
	return ""
}

// isSession says whether a caller is a role's session; STS names the role
// without its path.
func isSession(caller, role string) bool {
	parsed, err := arn.Parse(role)
	parsed.Service, parsed.Resource = "sts", "assumed-role/"+path.Base(parsed.Resource)+"/"
	return err == nil && strings.HasPrefix(caller, parsed.String())
}
