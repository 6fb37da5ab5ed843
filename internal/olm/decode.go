package olm

import (
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	cloudv1 "github.com/tabard-dev/tabard/api/cloudcredential/v1"
	"github.com/tabard-dev/tabard/internal/core/catalogue"
	"github.com/tabard-dev/tabard/internal/core/credentials"
	"github.com/tabard-dev/tabard/internal/core/operator"
)

// as decodes an object. One that the API server let in and that does not fit is an error, which
// names it.
func as[T any](object *unstructured.Unstructured) (out T, err error) {
	text, err := object.MarshalJSON()
	if err == nil {
		err = json.Unmarshal(text, &out)
	}
	if err != nil {
		return out, fmt.Errorf("%s %s/%s cannot be read: %w", object.GetKind(), object.GetNamespace(), object.GetName(), err)
	}
	return out, nil
}

// condition is one of OLM's and of CredentialsRequests.
type condition struct {
	Type, Status, Reason, Message string
	LastTransitionTime            time.Time
}

func conditions(all []condition) (out []operator.Condition) {
	for _, c := range all {
		out = append(out, operator.Condition{Type: c.Type, Status: c.Status, Reason: c.Reason, Message: c.Message, Since: c.LastTransitionTime})
	}
	return out
}

type catalogueObject struct {
	Status struct {
		Message             string
		GRPCConnectionState struct{ LastObservedState string } `json:"connectionState"`
	}
}

func toCatalogue(object *unstructured.Unstructured) (*operator.Catalogue, error) {
	o, err := as[catalogueObject](object)
	return &operator.Catalogue{State: o.Status.GRPCConnectionState.LastObservedState, Message: o.Status.Message}, err
}

type groupObject struct {
	Status struct {
		Namespaces []string
		Conditions []condition
	}
}

func toGroup(object *unstructured.Unstructured) (operator.Group, error) {
	o, err := as[groupObject](object)
	return operator.Group{Name: object.GetName(), Namespaces: o.Status.Namespaces, Conditions: conditions(o.Status.Conditions)}, err
}

// variable is an environment variable of a container.
type variable struct {
	Name, Value string
	ValueFrom   any
}

// environment has the variables with a value. The last one of a name counts.
func environment(all []variable) map[string]string {
	out := map[string]string{}
	for _, v := range all {
		delete(out, v.Name)
		if v.ValueFrom == nil {
			out[v.Name] = v.Value
		}
	}
	return out
}

type subscriptionObject struct {
	Spec struct {
		Name, Channel, Source, SourceNamespace, StartingCSV, InstallPlanApproval string
		Config                                                                   struct {
			Env     []variable
			EnvFrom []any
		}
	}
	Status struct {
		CurrentCSV, InstalledCSV string
		InstallPlanRef           struct{ Name string }
		Conditions               []condition
	}
}

func toSubscription(object *unstructured.Unstructured) (operator.Subscription, error) {
	o, err := as[subscriptionObject](object)
	return operator.Subscription{
		Namespace: object.GetNamespace(), Name: object.GetName(), UID: string(object.GetUID()), Generation: object.GetGeneration(),
		Package: o.Spec.Name, Channel: o.Spec.Channel, Source: o.Spec.Source, SourceNamespace: o.Spec.SourceNamespace,
		StartingCSV: o.Spec.StartingCSV, Approval: o.Spec.InstallPlanApproval, Env: environment(o.Spec.Config.Env),
		References: len(o.Spec.Config.EnvFrom) > 0 || slices.ContainsFunc(o.Spec.Config.Env, func(v variable) bool { return v.ValueFrom != nil && operator.IsRoleVariable(v.Name) }),
		CurrentCSV: o.Status.CurrentCSV, InstalledCSV: o.Status.InstalledCSV, Plan: o.Status.InstallPlanRef.Name, Conditions: conditions(o.Status.Conditions),
	}, err
}

type planObject struct {
	Spec struct {
		Approved                   bool
		Generation                 int64
		ClusterServiceVersionNames []string
	}
	Status struct {
		Phase, Message string
		Conditions     []condition
		Plan           []struct {
			Resolving string
			Resource  struct{ Kind, Name, Manifest string }
		}
	}
}

func toPlan(object *unstructured.Unstructured) (operator.Plan, error) {
	o, err := as[planObject](object)
	return operator.Plan{
		Name: object.GetName(), UID: string(object.GetUID()), ResourceVersion: object.GetResourceVersion(), Phase: o.Status.Phase, Message: o.Status.Message,
		Approved: o.Spec.Approved, Generation: o.Spec.Generation, CSVs: o.Spec.ClusterServiceVersionNames, Conditions: conditions(o.Status.Conditions),
		Checked: object.GetAnnotations()[operator.CheckedAnnotation], Created: object.GetCreationTimestamp().Time,
	}, err
}

type versionObject struct {
	Metadata struct{ Annotations map[string]string }
	Spec     struct {
		Version      string
		InstallModes []struct {
			Type      string
			Supported bool
		}
		Install struct {
			Spec struct{ Deployments json.RawMessage }
		}
	}
	Status struct {
		Phase, Reason, Message string
		LastTransitionTime     time.Time
		RequirementStatus      []struct{ Kind, Name, Status string }
	}
}

// deploymentNames are those of a ClusterServiceVersion, which its Deployments have in the cluster.
func (v versionObject) deploymentNames() (out []string) {
	var all []struct{ Name string }
	if json.Unmarshal(v.Spec.Install.Spec.Deployments, &all) == nil {
		for _, d := range all {
			out = append(out, d.Name)
		}
	}
	return out
}

// workload is as what the operator runs.
func (v versionObject) workload() catalogue.Workload {
	var all catalogue.Deployments
	if json.Unmarshal(v.Spec.Install.Spec.Deployments, &all) != nil {
		return catalogue.Workload{}
	}
	return all.Workload()
}

func (v versionObject) modes() []string {
	out := []string{}
	for _, mode := range v.Spec.InstallModes {
		if mode.Supported {
			out = append(out, mode.Type)
		}
	}
	return out
}

func toVersion(name string, o versionObject) *operator.ClusterServiceVersion {
	out := &operator.ClusterServiceVersion{Name: name, Phase: o.Status.Phase, Reason: o.Status.Reason, Message: o.Status.Message, Since: o.Status.LastTransitionTime}
	for _, r := range o.Status.RequirementStatus {
		if r.Status == "NotPresent" {
			out.Unmet = append(out.Unmet, r.Kind+" "+r.Name)
		}
	}
	return out
}

type deploymentObject struct {
	Spec struct {
		Template struct {
			Spec struct {
				Containers []struct {
					Name string
					Env  []variable
				}
			}
		}
	}
}

func toDeployment(object *unstructured.Unstructured) (operator.Deployment, error) {
	o, err := as[deploymentObject](object)
	out := operator.Deployment{Name: object.GetName(), Env: map[string]map[string]string{}}
	for _, c := range o.Spec.Template.Spec.Containers {
		out.Env[c.Name] = environment(c.Env)
	}
	return out, err
}

// toRequest is what decides of a CredentialsRequest.
func toRequest(read *cloudv1.CredentialsRequest) operator.Request {
	out := operator.Request{Namespace: read.Namespace, Name: read.Name, Provisioned: read.Status.Provisioned, Secret: read.Spec.SecretRef.Namespace + "/" + read.Spec.SecretRef.Name}
	switch p := credentials.DecodeProvider(read); {
	case p.AWS != nil:
		out.Identity = p.AWS.STSIAMRoleARN
	case p.Azure != nil:
		out.Identity = p.Azure.AzureClientID
	case p.GCP != nil:
		out.Identity = p.GCP.ServiceAccountEmail
	}
	for _, c := range read.Status.Conditions {
		out.Conditions = append(out.Conditions, operator.Condition{Type: string(c.Type), Status: string(c.Status), Reason: c.Reason, Message: c.Message, Since: c.LastTransitionTime.Time})
	}
	return out
}
