package decode

import (
	"encoding/json"

	"github.com/tabard-dev/tabard/internal/core/chain"
	"github.com/tabard-dev/tabard/internal/core/line"
)

// record is what is looked at of an event
// (https://docs.aws.amazon.com/awscloudtrail/latest/userguide/cloudtrail-event-reference-record-contents.html).
type record struct {
	EventName    string `json:"eventName"`
	EventTime    string `json:"eventTime"`
	ErrorCode    string `json:"errorCode"`
	ErrorMessage string `json:"errorMessage"`
	UserIdentity struct {
		UserName         string `json:"userName"`
		IdentityProvider string `json:"identityProvider"`
		ARN              string `json:"arn"`
	} `json:"userIdentity"`
	RequestParameters struct {
		RoleARN string `json:"roleArn"`
	} `json:"requestParameters"`
	// CloudTrailEvent is the event as a text, in what "aws cloudtrail lookup-events" prints of one.
	CloudTrailEvent string `json:"CloudTrailEvent"`
}

// event reads an event of CloudTrail.
func event(text string) (Result, bool) {
	var r record
	if json.Unmarshal([]byte(text), &r) != nil {
		return Result{}, false
	}
	if r.CloudTrailEvent != "" && json.Unmarshal([]byte(r.CloudTrailEvent), &r) != nil || r.EventName == "" {
		return Result{}, false
	}
	out, known := message(r.ErrorMessage)
	switch {
	case known:
	case r.ErrorCode == "" && r.ErrorMessage == "":
		out = Result{Means: "the call was allowed"}
	case r.EventName == "AssumeRoleWithWebIdentity" && r.ErrorCode == "AccessDenied":
		out, _ = message("Not authorized to perform sts:AssumeRoleWithWebIdentity")
	default:
		out = Result{Means: "the call was refused, for a reason that is not known here", Links: []chain.Link{chain.Permission}, Link: chain.Permission}
	}
	out.Kind, out.Seen, out.Facts = Event, line.Of(r.EventName+": "+r.ErrorCode+" "+r.ErrorMessage), nil
	for _, each := range []Detail{
		{"time", r.EventTime}, {"subject", r.UserIdentity.UserName}, {"provider", r.UserIdentity.IdentityProvider}, {"caller", r.UserIdentity.ARN}, {"role", r.RequestParameters.RoleARN},
	} {
		if each.Value != "" {
			out.Facts = append(out.Facts, Detail{each.Name, line.Of(each.Value)})
		}
	}
	if namespace, account, is := workload(r.UserIdentity.UserName); is && r.ErrorCode != "" {
		out.Next = []string{"tabard explain serviceaccount " + line.Word(account) + " -n " + line.Word(namespace)}
	}
	return out, true
}
