package chain

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/tabard-dev/tabard/awsauth/identity"
)

// CallError is what is wrong with the calls that somebody asks about. It is made by Ask.
type CallError struct {
	// Of is "action" or "resource": the one that is to be written anew.
	Of string
	// Wrong is what was seen of it, and what was expected.
	Wrong string
}

// Error implements error, in the words of the command's flags.
func (e *CallError) Error() string { return "--" + e.Of + " " + e.Wrong }

func ofAction(format string, args ...any) error {
	return &CallError{Of: "action", Wrong: fmt.Sprintf(format, args...)}
}

func ofResource(format string, args ...any) error {
	return &CallError{Of: "resource", Wrong: fmt.Sprintf(format, args...)}
}

// Ask asks also whether the role may make some calls, such as s3:GetObject, about a resource: its ARN, * for
// everything, or empty where nobody says. The error is a CallError.
func (s *Subject) Ask(actions []string, resource string) error {
	s.Actions, s.Resource = actions, resource
	if err := checkCalls(actions, resource); err != nil || resource != "" {
		return err
	}
	is := slices.IndexFunc(actions, TakesNoResource)
	other := slices.IndexFunc(actions, func(action string) bool {
		return !TakesNoResource(action) && !strings.EqualFold(action, "sts:GetCallerIdentity")
	})
	switch {
	case is >= 0 && other >= 0:
		return ofAction("%s takes no resource, and %s takes one: ask about one of them at a time", actions[is], actions[other])
	case is >= 0:
		s.Resource = "*"
	}
	return nil
}

// mostActions bounds what is asked at once.
const mostActions = 20

// checkCalls refuses what is no call of AWS
// (https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_policies_elements_action.html).
func checkCalls(actions []string, resource string) error {
	switch {
	case len(actions) > mostActions:
		return ofAction("is there %d times, expected at most %d", len(actions), mostActions)
	case resource != "" && len(actions) == 0:
		return ofResource("says what a call is about, and no action says which call; expected an action SERVICE:ACTION too, such as s3:GetObject")
	}
	for _, action := range actions {
		service, name, _ := strings.Cut(action, ":")
		if !isWord(service, "-") || !isWord(name, "") {
			return ofAction("%.300q is no action, expected SERVICE:ACTION, one call such as s3:GetObject", action)
		}
		if right := rightOf(action); right != "" {
			return ofAction("%s is the name of a call; its permission is %s", action, right)
		}
	}
	arn, ok := identity.ParseARN(resource)
	switch {
	case resource == "" || resource == "*":
		return nil
	case !ok:
		return ofResource("%.300q is no ARN, expected one that begins with arn:, such as arn:aws:s3:::BUCKET/KEY, or *", resource)
	case !utf8.ValidString(resource) || strings.ContainsFunc(resource, func(r rune) bool { return !unicode.IsGraphic(r) }):
		return ofResource("%.300q has characters that nobody sees, expected an ARN without them", resource)
	}
	var wrong error
	for _, action := range actions {
		wrong = cmp.Or(wrong, fits(action, arn))
	}
	return wrong
}

// rightOf is the action of IAM that allows a call whose name is that of no action; empty for others. Errors
// name calls, and people copy these
// (https://docs.aws.amazon.com/AmazonS3/latest/userguide/using-with-s3-policy-actions.html).
func rightOf(call string) string {
	switch strings.ToLower(call) {
	case "s3:headobject", "s3:selectobjectcontent":
		return "s3:GetObject"
	case "s3:headbucket", "s3:listobjects", "s3:listobjectsv2":
		return "s3:ListBucket"
	case "s3:listbuckets":
		return "s3:ListAllMyBuckets"
	case "s3:copyobject", "s3:createmultipartupload", "s3:uploadpart", "s3:uploadpartcopy", "s3:completemultipartupload":
		return "s3:PutObject"
	case "s3:deleteobjects":
		return "s3:DeleteObject"
	case "s3:listobjectversions":
		return "s3:ListBucketVersions"
	case "s3:listmultipartuploads":
		return "s3:ListBucketMultipartUploads"
	case "s3:listparts":
		return "s3:ListMultipartUploadParts"
	case "s3:getobjectlockconfiguration":
		return "s3:GetBucketObjectLockConfiguration"
	case "s3:putobjectlockconfiguration":
		return "s3:PutBucketObjectLockConfiguration"
	case "lambda:invoke":
		return "lambda:InvokeFunction"
	}
	return ""
}

// fits refuses a resource that a call is never about: AWS compares it with no policy, so that an answer
// would say nothing of the call
// (https://docs.aws.amazon.com/service-authorization/latest/reference/list_amazons3.html). The ARN of a
// bucket and of what is in it names no region and no account, as those of access points do; a pattern may
// stand for a bucket's name with a slash and a key. Metrics have no resource, and those of a data set of
// CloudWatch have that one.
func fits(action string, arn identity.ARN) error {
	dataset := strings.EqualFold(action, "cloudwatch:PutMetricData") && arn.Service == "cloudwatch" && strings.HasPrefix(arn.Resource, "dataset/")
	if TakesNoResource(action) && !dataset {
		return ofResource("is typed, and %s takes no resource: AWS looks for a policy about *; leave it out", action)
	}
	if arn.Service != "s3" || arn.Region != "" || arn.Account != "" {
		return nil
	}
	begins := func(words ...string) bool {
		return slices.ContainsFunc(words, func(word string) bool { return strings.HasPrefix(strings.ToLower(action), "s3:"+word) })
	}
	switch {
	case begins("getobject", "putobject", "deleteobject", "restoreobject", "abortmultipartupload", "listmultipartuploadparts") && !strings.ContainsAny(arn.Resource, "/*?"):
		return ofResource("%.300q is a bucket, and %s is about an object; expected arn:aws:s3:::BUCKET/KEY", arn, action)
	case begins("listbucket", "getbucket", "putbucket", "createbucket", "deletebucket") && strings.Contains(arn.Resource, "/"):
		return ofResource("%.300q is an object, and %s is about a bucket; expected arn:aws:s3:::BUCKET, without the key", arn, action)
	}
	return nil
}

// isWord says that a text has letters, digits and some other characters, and nothing else.
func isWord(text, others string) bool {
	return text != "" && !strings.ContainsFunc(text, func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && !strings.ContainsRune(others, r)
	})
}
