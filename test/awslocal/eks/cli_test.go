package eks_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
)

func TestCommandLineGetsCredentialsForPods(t *testing.T) {
	l, x := furnished(t)
	key := l.Administrator(ours)
	stdout, stderr, _ := l.CommandLine(key, nil, "eks-auth", "assume-role-for-pod-identity", "--cluster-name", cluster, "--token", l.token(nil))
	var found struct {
		Subject struct{ Namespace, ServiceAccount string }
		User    struct{ Arn, AssumeRoleID string } `json:"assumedRoleUser"`
		Got     struct{ AssociationArn string }    `json:"podIdentityAssociation"`
		Key     struct {
			AccessKeyID, SecretAccessKey, SessionToken string
			Expiration                                 float64
		} `json:"credentials"`
	}
	if err := json.Unmarshal([]byte(stdout), &found); err != nil {
		t.Fatalf("the answer %s%s does not parse: %v", stdout, stderr, err)
	}
	who := l.caller(aws.Credentials{AccessKeyID: found.Key.AccessKeyID, SecretAccessKey: found.Key.SecretAccessKey, SessionToken: found.Key.SessionToken})
	if who != found.User.Arn || found.Subject.ServiceAccount != "app" || found.Got.AssociationArn != x.associationARN || seconds(found.Key.Expiration).Sub(l.Admin().Now()) < 5*time.Hour {
		t.Errorf("the answer is %+v, the credentials are %s's", found, who)
	}
	for want, arguments := range map[string][]string{
		"(InvalidTokenException) when calling the AssumeRoleForPodIdentity operation: The token's audience":                {"--cluster-name", cluster, "--token", l.token(map[string]any{"aud": "x"})},
		"(ExpiredTokenException) when calling the AssumeRoleForPodIdentity operation: The token has expired":               {"--cluster-name", cluster, "--token", l.token(map[string]any{"exp": 1})},
		"(ResourceNotFoundException) when calling the AssumeRoleForPodIdentity operation: No cluster found for name: none": {"--cluster-name", "none", "--token", l.token(nil)},
	} {
		if _, stderr, _ := l.CommandLine(key, nil, append([]string{"eks-auth", "assume-role-for-pod-identity"}, arguments...)...); !strings.Contains(stderr, want) {
			t.Errorf("refused with\n %s\nwant\n %s", stderr, want)
		}
	}
}

func TestCommandLineUsesTheAgent(t *testing.T) {
	l, _ := furnished(t)
	t.Setenv("AWS_CONTAINER_CREDENTIALS_FULL_URI", l.PlainURL()+"/v1/credentials")
	t.Setenv("AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE", l.Write("token", l.token(nil)))
	want := "arn:aws:sts::" + ours + ":assumed-role/app/eks-lab-app-7d9f-"
	if stdout, stderr, _ := l.CommandLine(aws.Credentials{}, nil, "sts", "get-caller-identity"); !strings.Contains(stdout, want) {
		t.Errorf("the caller is %s%s, want %s", stdout, stderr, want)
	}
}

func TestCommandLineManagesClusters(t *testing.T) {
	l, x := furnished(t)
	l.Role(ours, "other", podTrust, "")
	other := strings.Replace(appRole, "app", "other", 1)
	steps := []struct {
		arguments string
		want      string
		refused   string
	}{
		{"list-clusters", `"lab"`, ""},
		{"create-cluster --name made --role-arn " + controlRole + " --resources-vpc-config subnetIds=subnet-1,subnet-2 --access-config authenticationMode=API --tags a=b", `"status": "ACTIVE"`, ""},
		{"describe-cluster --name made", `"a": "b"`, ""},
		{"wait cluster-active --name made", "", ""},
		{"create-cluster --name made --role-arn " + controlRole + " --resources-vpc-config subnetIds=subnet-1", "", "(ResourceInUseException) when calling the CreateCluster operation: Cluster already exists with name: made"},
		{"list-access-entries --cluster-name made", ":user/administrator", ""},
		{"create-access-entry --cluster-name lab --principal-arn " + other + " --kubernetes-groups viewers", "assumed-role/other/{{SessionName}}", ""},
		{"describe-access-entry --cluster-name lab --principal-arn " + other, `"viewers"`, ""},
		{"update-access-entry --cluster-name lab --principal-arn " + other + " --username reader", `"reader"`, ""},
		{"associate-access-policy --cluster-name lab --principal-arn " + other + " --policy-arn " + viewPolicy + " --access-scope type=namespace,namespaces=team-a", `"team-a"`, ""},
		{"list-associated-access-policies --cluster-name lab --principal-arn " + other, viewPolicy, ""},
		{"disassociate-access-policy --cluster-name lab --principal-arn " + other + " --policy-arn " + viewPolicy, "", ""},
		{"delete-access-entry --cluster-name lab --principal-arn " + other, "", ""},
		{"describe-access-entry --cluster-name lab --principal-arn " + other, "", "(ResourceNotFoundException) when calling the DescribeAccessEntry operation: The specified principalArn could not be found"},
		{"list-access-policies --query length(accessPolicies)", "16", ""},
		{"create-pod-identity-association --cluster-name lab --namespace team-b --service-account app --role-arn " + appRole, `"associationId": "a-`, ""},
		{"list-pod-identity-associations --cluster-name lab --namespace team-b", `"team-b"`, ""},
		{"update-pod-identity-association --cluster-name lab --association-id " + x.associationID + " --disable-session-tags", `"disableSessionTags": true`, ""},
		{"describe-pod-identity-association --cluster-name lab --association-id " + x.associationID, appRole, ""},
		{"tag-resource --resource-arn " + x.associationARN + " --tags k=v", "", ""},
		{"list-tags-for-resource --resource-arn " + x.associationARN, `"k": "v"`, ""},
		{"untag-resource --resource-arn " + x.associationARN + " --tag-keys k", "", ""},
		{"delete-pod-identity-association --cluster-name lab --association-id " + x.associationID, x.associationARN, ""},
		{"delete-cluster --name made", `"DELETING"`, ""},
		{"describe-cluster --name made", "", "(ResourceNotFoundException) when calling the DescribeCluster operation: No cluster found for name: made."},
	}
	for i, step := range steps {
		stdout, stderr, _ := l.CommandLine(l.Administrator(ours), nil, append([]string{"eks"}, strings.Fields(step.arguments)...)...)
		if !strings.Contains(stdout, step.want) || !strings.Contains(stderr, step.refused) || step.refused == "" && stderr != "" {
			t.Errorf("step %d, %s:\n %s%s\nwant\n %s%s", i, step.arguments, stdout, stderr, step.want, step.refused)
		}
	}
}
