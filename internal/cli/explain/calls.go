package explain

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/spf13/pflag"

	"github.com/tabard-dev/tabard/awsauth/identity"
	"github.com/tabard-dev/tabard/internal/core/chain"
)

// calls are the flags that say which calls are asked about.
type calls struct {
	actions  []string
	resource string
}

const resourceFlag = "resource"

func (c *calls) addFlags(flags *pflag.FlagSet) {
	flags.StringArrayVar(&c.actions, "action", nil, "of a pod or a ServiceAccount: ask whether the role may make this `call`, such as s3:GetObject; its policies are read then. May be repeated")
	flags.StringVar(&c.resource, resourceFlag, "*", "the `ARN` of what the calls are about, such as arn:aws:s3:::BUCKET/KEY. * means everything: unless it is typed, a call that is allowed on a part of it is neither well nor broken")
}

// typed are the calls as they were typed: a resource that nobody typed is none, or * where AWS looks for
// a policy about that.
func (c *calls) typed(flags *pflag.FlagSet) (calls, error) {
	out := *c
	if !flags.Changed(resourceFlag) {
		out.resource = ""
	}
	if err := out.check(); err != nil || out.resource != "" {
		return out, err
	}
	is := slices.IndexFunc(out.actions, chain.TakesNoResource)
	other := slices.IndexFunc(out.actions, func(action string) bool {
		return !chain.TakesNoResource(action) && !strings.EqualFold(action, "sts:GetCallerIdentity")
	})
	switch {
	case is >= 0 && other >= 0:
		return out, fmt.Errorf("--action %s takes no resource, and %s takes one: ask about them in two commands", out.actions[is], out.actions[other])
	case is >= 0:
		out.resource = "*"
	}
	return out, nil
}

// mostActions bounds what is asked at once.
const mostActions = 20

// check refuses what is no call of AWS
// (https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_policies_elements_action.html).
func (c calls) check() error {
	switch {
	case len(c.actions) > mostActions:
		return fmt.Errorf("--action is there %d times, expected at most %d", len(c.actions), mostActions)
	case c.resource != "" && len(c.actions) == 0:
		return errors.New("--resource says what a call is about, and no --action says which call; expected --action SERVICE:ACTION too, such as s3:GetObject")
	}
	for _, action := range c.actions {
		service, name, _ := strings.Cut(action, ":")
		if !isWord(service, "-") || !isWord(name, "") {
			return fmt.Errorf("--action %.300q is no action, expected SERVICE:ACTION, one call such as s3:GetObject", action)
		}
		if right := rightOf(action); right != "" {
			return fmt.Errorf("--action %s is the name of a call; its permission is %s", action, right)
		}
	}
	arn, ok := identity.ParseARN(c.resource)
	switch {
	case c.resource == "" || c.resource == "*":
		return nil
	case !ok:
		return fmt.Errorf("--resource %.300q is no ARN, expected one that begins with arn:, such as arn:aws:s3:::BUCKET/KEY, or *", c.resource)
	case !utf8.ValidString(c.resource) || strings.ContainsFunc(c.resource, func(r rune) bool { return !unicode.IsGraphic(r) }):
		return fmt.Errorf("--resource %.300q has characters that nobody sees, expected an ARN without them", c.resource)
	}
	var wrong error
	for _, action := range c.actions {
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
	if chain.TakesNoResource(action) && !dataset {
		return fmt.Errorf("%s takes no resource: AWS looks for a policy about *; leave --resource out", action)
	}
	if arn.Service != "s3" || arn.Region != "" || arn.Account != "" {
		return nil
	}
	begins := func(words ...string) bool {
		return slices.ContainsFunc(words, func(word string) bool { return strings.HasPrefix(strings.ToLower(action), "s3:"+word) })
	}
	switch {
	case begins("getobject", "putobject", "deleteobject", "restoreobject", "abortmultipartupload", "listmultipartuploadparts") && !strings.ContainsAny(arn.Resource, "/*?"):
		return fmt.Errorf("--resource %.300q is a bucket, and %s is about an object; expected arn:aws:s3:::BUCKET/KEY", arn, action)
	case begins("listbucket", "getbucket", "putbucket", "createbucket", "deletebucket") && strings.Contains(arn.Resource, "/"):
		return fmt.Errorf("--resource %.300q is an object, and %s is about a bucket; expected arn:aws:s3:::BUCKET, without the key", arn, action)
	}
	return nil
}

// isWord says that a text has letters, digits and some other characters, and nothing else.
func isWord(text, others string) bool {
	return text != "" && !strings.ContainsFunc(text, func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && !strings.ContainsRune(others, r)
	})
}
