package webhook

import (
	"fmt"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

const (
	role = "arn:aws:iam::111122223333:role/team/app-%06d"
	// perNamespace is how many ServiceAccounts a namespace has.
	perNamespace = 20
)

func accountName(i int) types.NamespacedName {
	return types.NamespacedName{Namespace: fmt.Sprintf("team-%05d", i/perNamespace), Name: fmt.Sprintf("application-%06d", i)}
}

// account is a ServiceAccount of about a kilobyte; one in ten has a role.
func account(i int) *corev1.ServiceAccount {
	name := accountName(i)
	made := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{
		Namespace: name.Namespace, Name: name.Name,
		Labels: map[string]string{
			"app.kubernetes.io/name": name.Name, "app.kubernetes.io/instance": name.Namespace,
			"app.kubernetes.io/managed-by": "Helm", "helm.sh/chart": name.Name + "-1.24.3",
		},
		Annotations: map[string]string{"meta.helm.sh/release-name": name.Name, "meta.helm.sh/release-namespace": name.Namespace},
	}}
	if i%10 == 0 {
		made.Annotations["eks.amazonaws.com/role-arn"] = fmt.Sprintf(role, i)
	}
	return made
}

// stored is what an API server makes of it.
func stored(i int) *corev1.ServiceAccount {
	made := account(i)
	old := metav1.NewTime(time.Now().Add(-24 * time.Hour).Truncate(time.Second))
	made.UID = types.UID(fmt.Sprintf("705ab4f5-6393-11e8-b7cc-%012d", i))
	made.ResourceVersion = fmt.Sprint(i + 1)
	made.CreationTimestamp = old
	made.ManagedFields = []metav1.ManagedFieldsEntry{{
		Manager: "helm", Operation: metav1.ManagedFieldsOperationUpdate, APIVersion: "v1", Time: &old, FieldsType: "FieldsV1",
		FieldsV1: metav1.NewFieldsV1(`{"f:metadata":{"f:annotations":{".":{},"f:meta.helm.sh/release-name":{},"f:meta.helm.sh/release-namespace":{}},` +
			`"f:labels":{".":{},"f:app.kubernetes.io/instance":{},"f:app.kubernetes.io/managed-by":{},"f:app.kubernetes.io/name":{},"f:helm.sh/chart":{}}}}` + strings.Repeat(" ", 100)),
	}}
	return made
}
