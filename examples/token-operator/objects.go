package main

import (
	"context"
	"errors"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/tabard-dev/tabard/awsauth/identity"
)

var (
	whoamis  = schema.GroupVersionResource{Group: "example.tabard.dev", Version: "v1", Resource: "whoamis"}
	requests = schema.GroupVersionResource{Group: "cloudcredential.openshift.io", Version: "v1", Resource: "credentialsrequests"}
)

func (o *operator) secret() identity.SecretRef {
	return identity.SecretRef{Namespace: o.namespace, Name: name + "-aws"}
}

// request is the spec of the CredentialsRequest that the operator wants.
func (o *operator) request() map[string]any {
	return map[string]any{
		"secretRef":           map[string]any{"namespace": o.secret().Namespace, "name": o.secret().Name},
		"serviceAccountNames": []any{name},
		"cloudTokenPath":      o.tokenFile,
		"providerSpec": map[string]any{
			"apiVersion": "cloudcredential.openshift.io/v1", "kind": "AWSProviderSpec",
			"stsIAMRoleARN": o.role,
			"statementEntries": []any{
				map[string]any{"effect": "Allow", "action": append([]any{"sts:GetCallerIdentity"}, o.more...), "resource": "*"},
			},
		},
	}
}

// ensureRequest makes the CredentialsRequest, or updates it if the environment
// has changed. One that is not the owner's is somebody else's, and left alone.
func (o *operator) ensureRequest(ctx context.Context, owner *unstructured.Unstructured) (*unstructured.Unstructured, error) {
	access := o.client.Resource(requests).Namespace(o.namespace)
	found, err := access.Get(ctx, name, metav1.GetOptions{})
	switch {
	case apierrors.IsNotFound(err):
		made := newObject(requests, "CredentialsRequest")
		made.SetOwnerReferences([]metav1.OwnerReference{*metav1.NewControllerRef(owner, owner.GroupVersionKind())})
		made.Object["spec"] = o.request()
		if made, err = access.Create(ctx, made, metav1.CreateOptions{}); apierrors.IsNotFound(err) {
			return nil, fmt.Errorf("the cluster serves no CredentialsRequests; is the Cloud Credential Operator or Tabard installed? %w", err)
		}
		return made, err
	case err != nil:
		return nil, err
	case !metav1.IsControlledBy(found, owner):
		return nil, errors.New("there is a CredentialsRequest " + name + " that this operator did not make; it is left alone: remove it")
	case equality.Semantic.DeepEqual(found.Object["spec"], o.request()):
		return found, nil
	}
	found.Object["spec"] = o.request()
	return access.Update(ctx, found, metav1.UpdateOptions{})
}

// complaint is what stands in the request's conditions against it. The Cloud Credential
// Operator and Tabard write the same ones.
func complaint(request *unstructured.Unstructured) string {
	bad := []string{"CredentialsProvisionFailure", "InsufficientCloudCreds", "MissingTargetNamespace", "Ignored"}
	for _, condition := range statusOf(request).Conditions {
		if condition.Status == metav1.ConditionTrue && slices.Contains(bad, condition.Type) {
			return condition.Message
		}
	}
	return ""
}

// outcome is how far the operator came. Its message does not change from pass
// to pass, so that neither the status nor the events do.
type outcome struct{ event, reason, message, arn string }

func ready(arn string) outcome {
	return outcome{corev1.EventTypeNormal, "Assumed", "this operator is " + arn, arn}
}

func waiting(reason, message string) outcome {
	return outcome{corev1.EventTypeNormal, reason, message, ""}
}

// problem needs a person.
func problem(reason, message string) outcome {
	return outcome{corev1.EventTypeWarning, reason, message, ""}
}

// status is that of a Whoami, and what is read of a CredentialsRequest's.
type status struct {
	ARN        string             `json:"arn,omitempty"`
	Conditions []metav1.Condition `json:"conditions,omitempty"`
}

// statusOf is empty if there is none, or none of that form.
func statusOf(object *unstructured.Unstructured) (s status) {
	found, _ := object.Object["status"].(map[string]any)
	if runtime.DefaultUnstructuredConverter.FromUnstructured(found, &s) != nil {
		return status{}
	}
	return s
}

// statusObject is the operator's own Whoami, made if it is not there.
func (o *operator) statusObject(ctx context.Context) (*unstructured.Unstructured, error) {
	access := o.client.Resource(whoamis).Namespace(o.namespace)
	found, err := access.Get(ctx, name, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return access.Create(ctx, newObject(whoamis, "Whoami"), metav1.CreateOptions{})
	}
	return found, err
}

// report writes the status if it changes, and an event if the reason does.
func (o *operator) report(ctx context.Context, me *unstructured.Unstructured, now outcome) error {
	before, after := statusOf(me), statusOf(me)
	after.ARN = now.arn
	condition := metav1.Condition{Type: "Ready", Status: metav1.ConditionFalse, Reason: now.reason, Message: now.message}
	if now.arn != "" {
		condition.Status = metav1.ConditionTrue
	}
	meta.SetStatusCondition(&after.Conditions, condition)
	if equality.Semantic.DeepEqual(before, after) {
		return nil
	}
	written, err := runtime.DefaultUnstructuredConverter.ToUnstructured(&after)
	if err != nil {
		return err
	}
	me.Object["status"] = written
	_, err = o.client.Resource(whoamis).Namespace(o.namespace).UpdateStatus(ctx, me, metav1.UpdateOptions{})
	if was := meta.FindStatusCondition(before.Conditions, "Ready"); err == nil && (was == nil || was.Reason != now.reason) {
		o.events.Eventf(me, nil, now.event, now.reason, "SignIn", "%s", now.message)
	}
	return err
}

func newObject(resource schema.GroupVersionResource, kind string) *unstructured.Unstructured {
	made := &unstructured.Unstructured{}
	made.SetGroupVersionKind(resource.GroupVersion().WithKind(kind))
	made.SetName(name)
	return made
}
