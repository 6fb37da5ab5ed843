package cco

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/iam"
	"github.com/aws/aws-sdk-go-v2/service/iam/types"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// secret is the target, nil if there is none.
func (s *StandIn) secret(ctx context.Context, r *request) *unstructured.Unstructured {
	found, err := s.cluster.Resource(secrets).Namespace(r.Spec.SecretRef.Namespace).Get(ctx, r.Spec.SecretRef.Name, metav1.GetOptions{})
	if err != nil {
		return nil
	}
	return found
}

// write makes the Secret, or sets these keys of it; other keys stay.
func (s *StandIn) write(ctx context.Context, r *request, annotations map[string]string, data map[string]string) error {
	found := s.secret(ctx, r)
	made := found == nil
	if made {
		found = &unstructured.Unstructured{Object: map[string]any{"apiVersion": "v1", "kind": "Secret", "type": "Opaque"}}
		found.SetNamespace(r.Spec.SecretRef.Namespace)
		found.SetName(r.Spec.SecretRef.Name)
	}
	old := found.DeepCopy()
	labels, notes := found.GetLabels(), found.GetAnnotations()
	if labels == nil {
		labels = map[string]string{}
	}
	if notes == nil {
		notes = map[string]string{}
	}
	labels[requestKey], notes[requestKey] = "true", r.key()
	for key, value := range annotations {
		notes[key] = value
	}
	found.SetLabels(labels)
	found.SetAnnotations(notes)
	for key, value := range data {
		encoded := base64.StdEncoding.EncodeToString([]byte(value))
		if err := unstructured.SetNestedField(found.Object, encoded, "data", key); err != nil {
			return err
		}
	}
	access := s.cluster.Resource(secrets).Namespace(found.GetNamespace())
	var err error
	switch {
	case made:
		_, err = access.Create(ctx, found, metav1.CreateOptions{FieldManager: manager})
	case !equality.Semantic.DeepEqual(old, found):
		_, err = access.Update(ctx, found, metav1.UpdateOptions{FieldManager: manager})
	}
	return err
}

// writeToken writes the role of the request, with the four lines of the operator.
func (s *StandIn) writeToken(ctx context.Context, r *request, asked awsSpec) error {
	path := r.Spec.CloudTokenPath
	if path == "" {
		path = tokenPath
	}
	return s.write(ctx, r, nil, map[string]string{
		"credentials": "[default]\nsts_regional_endpoints = regional\nrole_arn = " + asked.STSIAMRoleARN + "\nweb_identity_token_file = " + path,
	})
}

// copyRoot writes the keys of the root Secret, which are not those of any user here.
func (s *StandIn) copyRoot(ctx context.Context, r *request) error {
	return s.write(ctx, r, map[string]string{mintedKey: ""}, map[string]string{
		"aws_access_key_id": "root-key-id", "aws_secret_access_key": "root-key",
		"credentials": "[default]\naws_access_key_id = root-key-id\naws_secret_access_key = root-key",
	})
}

// hasUser says that a user was minted for the request: while it is in order, the mode
// Manual leaves its key where it is.
func (s *StandIn) hasUser(ctx context.Context, r *request) bool {
	if r.Status.ProviderStatus == nil || r.Status.ProviderStatus.User == "" {
		return false
	}
	found := s.secret(ctx, r)
	if found == nil || found.GetAnnotations()[mintedKey] == "" {
		return false
	}
	_, err := s.iam.GetUser(ctx, &iam.GetUserInput{UserName: &r.Status.ProviderStatus.User})
	return err == nil
}

// mint makes the user that providerStatus names, whoever wrote it there, and a key.
func (s *StandIn) mint(ctx context.Context, r *request, asked awsSpec) error {
	if r.Status.ProviderStatus == nil {
		r.Status.ProviderStatus = &providerStatus{}
		r.Status.ProviderStatus.APIVersion, r.Status.ProviderStatus.Kind = "cloudcredential.openshift.io/v1", "AWSProviderStatus"
	}
	named := r.Status.ProviderStatus
	if named.User == "" {
		named.User = fmt.Sprintf("%.37s-%.5s", r.Name, r.UID)
	}
	named.Policy = named.User + "-policy"
	var exists *types.EntityAlreadyExistsException
	if _, err := s.iam.CreateUser(ctx, &iam.CreateUserInput{UserName: &named.User}); err != nil && !errors.As(err, &exists) {
		return err
	}
	policy, err := json.Marshal(map[string]any{"Version": "2012-10-17", "Statement": statements(asked)})
	if err != nil {
		return err
	}
	if _, err := s.iam.PutUserPolicy(ctx, &iam.PutUserPolicyInput{UserName: &named.User, PolicyName: &named.Policy, PolicyDocument: aws.String(string(policy))}); err != nil {
		return err
	}
	return s.key(ctx, r, named.User, string(policy))
}

// key keeps the Secret's key if the user still has it; else all keys go, and a new one
// is made.
func (s *StandIn) key(ctx context.Context, r *request, user, policy string) error {
	keys, err := s.iam.ListAccessKeys(ctx, &iam.ListAccessKeysInput{UserName: &user})
	if err != nil {
		return err
	}
	if found := s.secret(ctx, r); found != nil {
		held, _, _ := unstructured.NestedString(found.Object, "data", "aws_access_key_id")
		id, _ := base64.StdEncoding.DecodeString(held)
		if slices.ContainsFunc(keys.AccessKeyMetadata, func(k types.AccessKeyMetadata) bool { return aws.ToString(k.AccessKeyId) == string(id) }) {
			return nil
		}
	}
	for _, old := range keys.AccessKeyMetadata {
		if _, err := s.iam.DeleteAccessKey(ctx, &iam.DeleteAccessKeyInput{UserName: &user, AccessKeyId: old.AccessKeyId}); err != nil {
			return err
		}
	}
	made, err := s.iam.CreateAccessKey(ctx, &iam.CreateAccessKeyInput{UserName: &user})
	if err != nil {
		return err
	}
	id, secret := aws.ToString(made.AccessKey.AccessKeyId), aws.ToString(made.AccessKey.SecretAccessKey)
	return s.write(ctx, r, map[string]string{mintedKey: policy}, map[string]string{
		"aws_access_key_id": id, "aws_secret_access_key": secret,
		"credentials": "[default]\naws_access_key_id = " + id + "\naws_secret_access_key = " + secret,
	})
}

func statements(asked awsSpec) (out []map[string]any) {
	for _, entry := range asked.StatementEntries {
		out = append(out, map[string]any{"Effect": entry["effect"], "Action": entry["action"], "Resource": entry["resource"]})
	}
	return out
}

// deprovision deletes the user that the status names, and the Secret with the label,
// whoever made it.
func (s *StandIn) deprovision(ctx context.Context, r *request) error {
	if !slices.Contains(r.Finalizers, finalizer) {
		return nil
	}
	if named := r.Status.ProviderStatus; named != nil && named.User != "" {
		if err := s.deleteUser(ctx, named.User, named.Policy); err != nil {
			return err
		}
	}
	if found := s.secret(ctx, r); found != nil && found.GetLabels()[requestKey] == "true" {
		err := s.cluster.Resource(secrets).Namespace(found.GetNamespace()).Delete(ctx, found.GetName(), metav1.DeleteOptions{})
		if err != nil && !apierrors.IsNotFound(err) {
			return err
		}
	}
	r.Finalizers = slices.DeleteFunc(r.Finalizers, func(one string) bool { return one == finalizer })
	return s.update(ctx, r)
}

func (s *StandIn) deleteUser(ctx context.Context, user, policy string) error {
	var gone *types.NoSuchEntityException
	tolerate := func(err error) error {
		if errors.As(err, &gone) {
			return nil
		}
		return err
	}
	_, err := s.iam.DeleteUserPolicy(ctx, &iam.DeleteUserPolicyInput{UserName: &user, PolicyName: &policy})
	if err := tolerate(err); err != nil {
		return err
	}
	keys, err := s.iam.ListAccessKeys(ctx, &iam.ListAccessKeysInput{UserName: &user})
	if err != nil {
		return tolerate(err)
	}
	for _, key := range keys.AccessKeyMetadata {
		if _, err := s.iam.DeleteAccessKey(ctx, &iam.DeleteAccessKeyInput{UserName: &user, AccessKeyId: key.AccessKeyId}); err != nil {
			return err
		}
	}
	_, err = s.iam.DeleteUser(ctx, &iam.DeleteUserInput{UserName: &user})
	return tolerate(err)
}
