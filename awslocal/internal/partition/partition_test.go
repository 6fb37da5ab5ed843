package partition

import "testing"

func TestOf(t *testing.T) {
	for region, want := range map[string]Partition{
		"":               "aws",
		"us-east-1":      "aws",
		"eu-central-1":   "aws",
		"cn-north-1":     "aws-cn",
		"us-gov-west-1":  "aws-us-gov",
		"us-iso-east-1":  "aws-iso",
		"us-isob-east-1": "aws-iso-b",
		"eu-isoe-west-1": "aws-iso-e",
		"eusc-de-east-1": "aws-eusc",
	} {
		if got := Of(region); got != want {
			t.Errorf("Of(%q) = %q, want %q", region, got, want)
		}
	}
}

func TestARN(t *testing.T) {
	arn := Of("cn-north-1").ARN("iam", "", "123456789012", "role/app")
	if want := "arn:aws-cn:iam::123456789012:role/app"; arn != want {
		t.Errorf("ARN() = %q, want %q", arn, want)
	}
	if !Partition("aws-cn").Has(arn) || Commercial.Has(arn) {
		t.Errorf("%q must be of aws-cn and of no other partition", arn)
	}
	if got := Of("cn-north-1").Domain() + " " + Commercial.Domain(); got != "amazonaws.com.cn amazonaws.com" {
		t.Errorf("domains %q", got)
	}
}
