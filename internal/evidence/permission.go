package evidence

import (
	"context"
	"fmt"
	"strings"

	"github.com/tabard-dev/tabard/awsauth/identity"
	"github.com/tabard-dev/tabard/internal/core/chain"
	"github.com/tabard-dev/tabard/internal/platform/together"
)

// mostDocuments bounds the policies that are read: a role has room for twenty managed ones
// (https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_iam-quotas.html).
const mostDocuments = 30

// abreast is how many policies are read at once: IAM throttles an account that asks faster.
const abreast = 4

// policiesOf lists the policies of a role, in two calls.
func policiesOf(ctx context.Context, aws AWS, role identity.RoleARN) (out chain.Seen[chain.Policies]) {
	inline, errOfInline := aws.InlineNames(ctx, role.Partition, role.Name)
	attached, errOfAttached := aws.Attached(ctx, role.Partition, role.Name)
	var unread, needs []string
	for _, each := range []struct {
		err   error
		right string
	}{{errOfInline, "iam:ListRolePolicies on role " + role.Name}, {errOfAttached, "iam:ListAttachedRolePolicies on role " + role.Name}} {
		if why, right := refusal(each.err, each.right); why != "" {
			unread, needs = append(unread, why), append(needs, right)
		}
	}
	if len(unread) > 0 {
		out.Unread, out.Needs = strings.Join(unread, "; "), strings.Join(needs, ", ")
		return out
	}
	out.Value = &chain.Policies{}
	for _, name := range inline {
		out.Value.Inline = append(out.Value.Inline, chain.Policy{Name: name})
	}
	for _, arn := range attached {
		out.Value.Attached = append(out.Value.Attached, chain.Policy{Name: arn})
	}
	return out
}

// readDocuments reads the policies themselves, and the permissions boundary, which is one more.
func readDocuments(ctx context.Context, aws AWS, role identity.RoleARN, e *chain.Evidence) {
	policies := e.Policies.Value
	if policies == nil {
		return
	}
	var all together.Group
	places := make(chan struct{}, abreast)
	read := func(into *chain.Seen[string], right string, text func() (string, error)) {
		all.Go(func() {
			places <- struct{}{}
			defer func() { <-places }()
			document, err := text()
			if into.Unread, into.Needs = refusal(err, right); err == nil {
				into.Value = &document
			}
		})
	}
	managed := func(into *chain.Seen[string], arn string) {
		read(into, "iam:GetPolicy and iam:GetPolicyVersion on "+arn, func() (string, error) { return aws.ManagedPolicy(ctx, role.Partition, arn) })
	}
	if e.Role.Value != nil && e.Role.Value.Boundary != "" {
		managed(&policies.Boundary, e.Role.Value.Boundary)
	}
	left := mostDocuments
	for i := range policies.Inline {
		one := &policies.Inline[i]
		if left--; left < 0 {
			one.Document = tooMany()
			continue
		}
		read(&one.Document, "iam:GetRolePolicy on role "+role.Name, func() (string, error) { return aws.InlinePolicy(ctx, role.Partition, role.Name, one.Name) })
	}
	for i := range policies.Attached {
		one := &policies.Attached[i]
		if left--; left < 0 {
			one.Document = tooMany()
			continue
		}
		managed(&one.Document, one.Name)
	}
	all.Wait()
}

// tooMany is a policy that is not read.
func tooMany() chain.Seen[string] {
	return chain.Seen[string]{Unread: fmt.Sprintf("more than %d policies of a role are not read", mostDocuments), Needs: "a try: make the call from the pod"}
}
