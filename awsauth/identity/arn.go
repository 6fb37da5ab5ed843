package identity

import "strings"

// ARN is an Amazon Resource Name in its parts (AWS General Reference: "Amazon Resource
// Names"). The zero value is none.
type ARN struct {
	// Partition is such as aws or aws-us-gov, Service such as iam.
	Partition, Service string
	// Region and Account are empty where the service leaves them out.
	Region, Account string
	// Resource may hold colons and slashes.
	Resource string
}

// ParseARN takes an ARN apart. False is any text of fewer than six parts, or that does
// not begin with "arn"; what the parts hold is not looked at.
func ParseARN(text string) (ARN, bool) {
	rest, ok := strings.CutPrefix(text, "arn:")
	var out ARN
	for _, part := range []*string{&out.Partition, &out.Service, &out.Region, &out.Account} {
		if !ok {
			return ARN{}, false
		}
		*part, rest, ok = strings.Cut(rest, ":")
	}
	if out.Resource = rest; !ok {
		return ARN{}, false
	}
	return out, true
}

// String is the ARN as it is written.
func (a ARN) String() string {
	return "arn:" + a.Partition + ":" + a.Service + ":" + a.Region + ":" + a.Account + ":" + a.Resource
}
