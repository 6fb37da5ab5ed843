package iampolicy_test

import (
	"errors"
	"fmt"

	"github.com/tabard-dev/tabard/iampolicy"
)

// A policy is parsed once; requests are decided by it as often as they come.
func ExampleEvaluate() {
	policy, err := iampolicy.Parse([]byte(`{
	  "Version": "2012-10-17",
	  "Statement": {
	    "Sid": "OwnFolder",
	    "Effect": "Allow",
	    "Action": "s3:GetObject",
	    "Resource": "arn:aws:s3:::home/${aws:username}/*"
	  }
	}`))
	if err != nil {
		fmt.Println(err)
		return
	}
	context := iampolicy.NewContext()
	context.Set("aws:username", "alice")
	request := &iampolicy.Request{
		Principal: iampolicy.Principal{
			Kind:      iampolicy.User,
			ARN:       "arn:aws:iam::123456789012:user/alice",
			AccountID: "123456789012",
		},
		Action:            "s3:GetObject",
		Resource:          "arn:aws:s3:::home/alice/notes.txt",
		ResourceAccountID: "123456789012",
		Context:           context,
	}
	policies := &iampolicy.Policies{Identity: []*iampolicy.Policy{policy}}

	decision := iampolicy.Evaluate(request, policies)
	fmt.Println(decision.Effect, decision.Kind, decision.Sid)

	request.Resource = "arn:aws:s3:::home/bob/notes.txt"
	decision = iampolicy.Evaluate(request, policies)
	fmt.Println(decision.Effect, decision.Kind)
	// Output:
	// allow identity OwnFolder
	// implicitDeny identity
}

// A role's trust policy is the resource policy of the request to assume it.
func ExampleExplain() {
	const provider = "arn:aws:iam::123456789012:oidc-provider/issuer.example.com"
	trust, err := iampolicy.Parse([]byte(`{
	  "Version": "2012-10-17",
	  "Statement": {
	    "Effect": "Allow",
	    "Principal": {"Federated": "` + provider + `"},
	    "Action": "sts:AssumeRoleWithWebIdentity",
	    "Condition": {"StringEquals": {
	      "issuer.example.com:aud": "sts.amazonaws.com",
	      "issuer.example.com:sub": "system:serviceaccount:shop:cart"
	    }}
	  }
	}`))
	if err != nil {
		fmt.Println(err)
		return
	}
	context := iampolicy.NewContext()
	context.Set("issuer.example.com:aud", "sts.amazonaws.com")
	context.Set("issuer.example.com:sub", "system:serviceaccount:shop:default")

	explanation := iampolicy.Explain(&iampolicy.Request{
		Principal:         iampolicy.Principal{Kind: iampolicy.Federated, ARN: provider, AccountID: "123456789012"},
		Action:            "sts:AssumeRoleWithWebIdentity",
		Resource:          "arn:aws:iam::123456789012:role/cart",
		ResourceAccountID: "123456789012",
		Context:           context,
	}, &iampolicy.Policies{Resource: trust})

	fmt.Println(explanation.Decision.Effect, explanation.Certainty)
	for _, statement := range explanation.Statements {
		for _, failure := range statement.Failures {
			fmt.Println("line", statement.Line, failure.Element, failure.Operator, failure.Key)
			fmt.Println("  observed", failure.Observed)
			fmt.Println("  required", failure.Required)
		}
	}
	// Output:
	// implicitDeny documented
	// line 3 Condition StringEquals issuer.example.com:sub
	//   observed [system:serviceaccount:shop:default]
	//   required [system:serviceaccount:shop:cart]
}

// Parse and Validate report all mistakes at once.
func ExamplePolicy_Validate() {
	policy, err := iampolicy.Parse([]byte(`{
	  "Version": "2012-10-17",
	  "Statement": [
	    {"Effect": "Allow", "Action": "GetObject", "Resource": "*"},
	    {"Effect": "Deny", "Action": "s3:*", "Resource": "reports"}
	  ]
	}`))
	if err == nil {
		err = policy.Validate(iampolicy.IdentityPolicy)
	}
	var mistakes iampolicy.Errors
	if errors.As(err, &mistakes) {
		for _, one := range mistakes {
			fmt.Printf("%d:%d %s: %s\n", one.Line, one.Column, one.Code, one.Message)
		}
	}
	// Output:
	// 4:36 NoVendor: Actions/Conditions must be prefaced by a vendor, e.g., iam, sdb, ec2, etc.
	// 5:55 InvalidResource: Resource reports must be in ARN format or "*".
}

// The keys for which policies ask say what a request has to be given.
func ExamplePolicy_ContextKeys() {
	policy, err := iampolicy.Parse([]byte(`{
	  "Version": "2012-10-17",
	  "Statement": {
	    "Effect": "Allow",
	    "Action": "s3:*",
	    "Resource": "arn:aws:s3:::${aws:PrincipalTag/team}/*",
	    "Condition": {"IpAddress": {"aws:SourceIp": "10.0.0.0/8"}}
	  }
	}`))
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(policy.ContextKeys())
	// Output:
	// [aws:PrincipalTag/team aws:SourceIp]
}

// Inline policies of one role count together against one quota.
func ExampleRoomIn() {
	room, err := iampolicy.RoomIn(iampolicy.RoleInlineQuota, []byte(`{ "Statement": [] }`), []byte(`{}`))
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(room.Used, room.Limit, room.Left)
	// Output:
	// 18 10240 10222
}

// A team's policy is compared with what the team may have at most, before it is given.
func ExampleContains() {
	parse := func(document string) *iampolicy.Policy {
		policy, err := iampolicy.Parse([]byte(document))
		if err != nil {
			panic(err)
		}
		return policy
	}
	ceiling := parse(`{"Version": "2012-10-17", "Statement": [
	  {"Effect": "Allow", "Action": "s3:*Object", "Resource": "arn:aws:s3:::team-*/*"},
	  {"Effect": "Allow", "Action": "s3:ListBucket", "Resource": "arn:aws:s3:::team-*"}]}`)
	asked := parse(`{"Version": "2012-10-17", "Statement": [
	  {"Effect": "Allow", "Action": "s3:GetObject", "Resource": "arn:aws:s3:::team-a/in/*"},
	  {"Sid": "Queue", "Effect": "Allow", "Action": "sqs:SendMessage", "Resource": "*"}]}`)

	answer := iampolicy.Contains(ceiling, asked)
	fmt.Println(answer.Answer)
	fmt.Println(answer.Reason)

	may, why := iampolicy.MayAllow(asked, "s3:*", "arn:aws:s3:::team-a*")
	fmt.Println(may, why)
	may, _ = iampolicy.MayAllow(asked, "s3:*", "arn:aws:s3:::issuer/*")
	fmt.Println(may)

	keys := parse(`{"Version": "2012-10-17", "Statement": {"Effect": "Allow", "Action": "s3:*", "Resource": "arn:aws:s3:::issuer/*"}}`)
	everything := parse(`{"Version": "2012-10-17", "Statement": {"Effect": "Allow", "Action": "s3:*", "Resource": "*"}}`)
	bound := parse(`{"Version": "2012-10-17", "Statement": [
	  {"Effect": "Allow", "Action": "*", "Resource": "*"},
	  {"Effect": "Deny", "NotAction": "s3:Get*", "Resource": "arn:aws:s3:::issuer/*"}]}`)
	may, why = iampolicy.Reaches(keys, everything, bound)
	fmt.Println(may, why)
	// Output:
	// no
	// statement 2 ("Queue") allows sqs:SendMessage on *, which the outer policy does not
	// true statement 1 allows s3:GetObject on arn:aws:s3:::team-a/in/*
	// false
	// true statement 1 allows s3:* on *
}
