package explain_test

import (
	"fmt"
	"strings"
	"testing"
)

// TestWhatIsSaidOfACall: it is allowed, nothing allows it, it is denied, or a boundary lacks it. Policies
// are read for a call alone, and at most thirty of them beside the boundary.
func TestWhatIsSaidOfACall(t *testing.T) {
	const allows = `{"Version":"2012-10-17","Statement":{"Effect":"Allow","Action":"ec2:*","Resource":"*"}}`
	for name, each := range map[string]struct {
		words  string
		change func(*cloud)
		code   int
		calls  int
	}{
		"allowed":  {"--action s3:GetObject --resource arn:aws:s3:::orders/today.csv", func(*cloud) {}, 0, 8},
		"lacking":  {"--action s3:PutObject --resource arn:aws:s3:::orders/today.csv", func(*cloud) {}, 1, 8},
		"bounded":  {"--action s3:GetObject --resource arn:aws:s3:::orders/today.csv", func(c *cloud) { c.role.Boundary, c.attached[limit] = limit, allows }, 1, 12},
		"unread":   {"--action s3:PutObject --resource arn:aws:s3:::orders/today.csv", func(c *cloud) { c.unread = []string{"orders", queues} }, 3, 8},
		"unlisted": {"", func(c *cloud) { c.unread = []string{"ListRolePolicies"} }, 3, 5},
		"empty":    {"", func(c *cloud) { c.inline, c.attached = nil, nil }, 1, 5},
		"many": {"--action s3:PutObject --resource arn:aws:s3:::orders/today.csv", func(c *cloud) {
			for i := range 50 {
				c.inline[fmt.Sprint(i)] = allows
			}
		}, 3, 35},
	} {
		t.Run(name, func(t *testing.T) {
			a, c := world("checkout")
			each.change(c)
			code, out, said := typed(t, a, c, append([]string{"pod", "checkout-6d9c", "-n", "shop"}, strings.Fields(each.words)...)...)
			if code != each.code || said != "" || c.calls != each.calls {
				t.Errorf("exit code %d, want %d; %d calls of AWS, want %d: %s", code, each.code, c.calls, each.calls, said)
			}
			at := strings.Index(out, "L11 permission")
			if name == "many" { // each policy that was not read has its words
				if out = out[at:]; !strings.Contains(out, "more than 30 policies of a role are not read") || !strings.Contains(out, "needs a try") {
					t.Error(out)
				}
				return
			}
			wantPrinted(t, "call-"+name, out)
		})
	}
}

// TestACallThatAWSWouldJudgeOtherwiseIsRefused: the name of a call that is no action, or a resource that the
// call is never about.
func TestACallThatAWSWouldJudgeOtherwiseIsRefused(t *testing.T) {
	for words, want := range map[string]struct {
		code int
		says string
	}{
		"s3:HeadObject":                 {2, "--action s3:HeadObject is the name of a call; its permission is s3:GetObject"},
		"S3:listobjectsv2":              {2, "--action S3:listobjectsv2 is the name of a call; its permission is s3:ListBucket"},
		"s3:HeadBucket":                 {2, "its permission is s3:ListBucket"},
		"s3:ListBuckets":                {2, "its permission is s3:ListAllMyBuckets"},
		"s3:UploadPart":                 {2, "its permission is s3:PutObject"},
		"s3:DeleteObjects":              {2, "its permission is s3:DeleteObject"},
		"s3:ListObjectVersions":         {2, "its permission is s3:ListBucketVersions"},
		"s3:ListMultipartUploads":       {2, "its permission is s3:ListBucketMultipartUploads"},
		"s3:ListParts":                  {2, "its permission is s3:ListMultipartUploadParts"},
		"s3:GetObjectLockConfiguration": {2, "its permission is s3:GetBucketObjectLockConfiguration"},
		"s3:PutObjectLockConfiguration": {2, "its permission is s3:PutBucketObjectLockConfiguration"},
		"lambda:Invoke":                 {2, "its permission is lambda:InvokeFunction"},
		"ec2:DescribeInstances --resource arn:aws:ec2:eu-central-1:111122223333:instance/i-1": {2, "ec2:DescribeInstances takes no resource: AWS looks for a policy about *; leave it out"},
		"ec2:DescribeInstances":                                                                      {1, `"Action":["ec2:DescribeInstances"],"Resource":["*"]`},
		"ec2:DescribeInstances --resource *":                                                         {1, `"Resource":["*"]`},
		"ec2:DescribeInstances --action sts:GetCallerIdentity":                                       {1, `"Resource":["*"]`},
		"ec2:DescribeInstances --action s3:GetObject":                                                {2, "--action ec2:DescribeInstances takes no resource, and s3:GetObject takes one"},
		"ec2:DescribeVpcAttribute --resource arn:aws:ec2:eu-central-1:111122223333:vpc/vpc-1":        {1, ":vpc/vpc-1"},
		"cloudwatch:PutMetricData --resource arn:aws:cloudwatch:eu-central-1:111122223333:dataset/a": {1, ":dataset/a"},
		"cloudwatch:PutMetricData --resource arn:aws:cloudwatch:eu-central-1:111122223333:alarm:a":   {2, "takes no resource"},
		"s3:GetObject --resource arn:aws:s3:::orders":                                                {2, "is a bucket, and s3:GetObject is about an object; expected arn:aws:s3:::BUCKET/KEY"},
		"s3:DeleteObjectVersion --resource arn:aws:s3:::orders":                                      {2, "expected arn:aws:s3:::BUCKET/KEY"},
		"s3:PutObject --resource arn:aws:s3:::orders*":                                               {1, "orders*"},
		"s3:ListBucket --resource arn:aws:s3:::orders/*":                                             {2, "s3:ListBucket is about a bucket; expected arn:aws:s3:::BUCKET, without the key"},
		"s3:PutObject --action S3:getbucketacl --resource arn:aws:s3:::orders/a":                     {2, "S3:getbucketacl is about a bucket"},
		"s3:ListBucket --resource arn:aws:s3:::orders":                                               {1, "s3:ListBucket"},
		"s3:PutObject --resource arn:aws:s3:eu-central-1:111122223333:accesspoint:orders":            {1, "accesspoint:orders"},
		"s3:GetBucketAcl --resource arn:aws:s3:eu-central-1:111122223333:accesspoint/orders":         {1, "accesspoint/orders"},
		"s3:GetObject --resource arn:aws:s3:::orders/\x1b[31m":                                       {2, `\x1b[31m" has characters that nobody sees`},
		"s3:GetObject --resource arn:aws:s3:::orders/\u202eexe":                                      {2, "characters that nobody sees"},
		"s3:GetObject --resource arn:aws:s3:::orders/\xff":                                           {2, "characters that nobody sees"},
		"s3:GetObject --resource arn:aws:s3:::orders/today.csv":                                      {0, "allow s3:GetObject"},
		"sts:GetCallerIdentity":                                                                      {0, "sts:GetCallerIdentity needs no right"},
	} {
		a, c := world("checkout")
		code, out, said := typed(t, a, c, append([]string{"pod", "shop/checkout-6d9c", "--action"}, strings.Fields(words)...)...)
		if code != want.code || !strings.Contains(out+said, want.says) {
			t.Errorf("%q: exit code %d, want %d saying %q:\n%s%s", words, code, want.code, want.says, out, said)
		}
	}
}
