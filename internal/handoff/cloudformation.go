package handoff

import (
	"errors"
	"slices"
	"strings"
)

// cloudFormation is a template without functions: none of its texts is one that
// CloudFormation fills in. A stack that goes leaves the bucket, whose name others
// could take.
func cloudFormation(w Work) (string, error) {
	resources, outputs := in{}, in{}
	for i, b := range w.Buckets {
		name := numbered("Bucket", "", i)
		resources[name] = in{
			"Type": "AWS::S3::Bucket", "DeletionPolicy": "Retain", "UpdateReplacePolicy": "Retain",
			"Properties": in{"BucketName": b.Name, "PublicAccessBlockConfiguration": access(b), "Tags": w.tags()},
		}
		if b.Policy != "" {
			resources[numbered("BucketPolicy", "", i)] = in{
				"Type": "AWS::S3::BucketPolicy", "DependsOn": name, "Properties": in{"Bucket": b.Name, "PolicyDocument": b.Policy},
			}
		}
	}
	var providers []string
	for i, p := range w.Providers {
		providers = append(providers, numbered("Provider", "", i))
		resources[providers[i]] = in{
			"Type": "AWS::IAM::OIDCProvider", "Properties": in{"Url": p.URL, "ClientIdList": append([]string{}, p.Audiences...), "Tags": w.tags()},
		}
	}
	for i, p := range w.Policies {
		resources[numbered("Policy", "", i)] = managedPolicy(p)
		outputs[numbered("Policy", "", i)+"Arn"] = in{"Value": in{"Ref": numbered("Policy", "", i)}}
	}
	for i, r := range w.Roles {
		properties := in{"RoleName": r.Name, "AssumeRolePolicyDocument": r.Trust, "Tags": w.tags(r.Tags...)}
		for key, value := range map[string]string{"Path": r.Path, "Description": r.Description, "PermissionsBoundary": r.Boundary} {
			if value != "" {
				properties[key] = value
			}
		}
		if r.Policy != "" {
			properties["Policies"] = []in{{"PolicyName": r.PolicyName, "PolicyDocument": r.Policy}}
		}
		if len(r.Attached) > 0 {
			properties["ManagedPolicyArns"] = w.attached(r)
		}
		role := in{"Type": "AWS::IAM::Role", "Properties": properties}
		if len(providers) > 0 {
			role["DependsOn"] = providers
		}
		resources[numbered("Role", "", i)] = role
		outputs[numbered("Role", "", i)+"Arn"] = in{"Value": in{"Fn::GetAtt": []string{numbered("Role", "", i), "Arn"}}}
	}
	for i, e := range w.Entries {
		properties := in{"ClusterName": e.Cluster, "PrincipalArn": e.PrincipalARN, "KubernetesGroups": append([]string{}, e.Groups...), "Tags": w.tags()}
		if e.Username != "" {
			properties["Username"] = e.Username
		}
		resources[numbered("AccessEntry", "", i)] = in{"Type": "AWS::EKS::AccessEntry", "Properties": properties}
	}
	template := in{"AWSTemplateFormatVersion": "2010-09-09", "Resources": resources}
	if len(outputs) > 0 {
		template["Outputs"] = outputs
	}
	return rendered(w, template)
}

// attached are the managed policies of a role: those of the template by its name for them, so that
// they are made before.
func (w Work) attached(r Role) []any {
	var out []any
	for _, arn := range r.Attached {
		var one any = arn
		if n := slices.IndexFunc(w.Policies, func(p ManagedPolicy) bool { return p.ARN == arn }); n >= 0 {
			one = in{"Ref": numbered("Policy", "", n)}
		}
		out = append(out, one)
	}
	return out
}

// managedPolicy has no tags: CloudFormation gives none to policies.
func managedPolicy(p ManagedPolicy) in {
	properties := in{"ManagedPolicyName": p.Name, "PolicyDocument": p.Document}
	for key, value := range map[string]string{"Path": p.Path, "Description": p.Description} {
		if value != "" {
			properties[key] = value
		}
	}
	return in{"Type": "AWS::IAM::ManagedPolicy", "Properties": properties}
}

// rendered writes the template, unless a text of it is a dynamic reference, which
// CloudFormation replaces wherever it stands, by secrets too. The form is YAML's for
// JSON: each text is between quotation marks, so that none is taken for a number, a date
// or a tag.
func rendered(w Work, template in) (string, error) {
	text := indented(template)
	if strings.Contains(text, "{{resolve:") {
		return "", errors.New("a text holds {{resolve:, which CloudFormation replaces by a value of the account: hand this over in another form")
	}
	return comment(w.About) + ascii(text, yamlEscape) + "\n", nil
}
