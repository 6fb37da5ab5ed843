package rights

import (
	"context"
	"testing"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/tabard-dev/tabard/internal/testkit"
)

const (
	credentialsAccounts = "tabard-credentials-accounts"
	credentialsSecrets  = "tabard-credentials-secrets"
	credentialsRequests = "tabard-credentials-requests"
	// team is a namespace in which the controller may write Secrets; other is one in which
	// it may not; in the third an administrator has let it, which should not be; in the
	// fourth it may follow Secrets, and no more.
	team     = "rights-team"
	other    = "rights-other"
	wrong    = "tabard-probe"
	followed = "rights-followed"
)

var (
	theirAccount = reference("v1", "ServiceAccount", team, "theirs")
	oursAccount  = reference("v1", "ServiceAccount", team, "ours")
	madeAccount  = reference("v1", "ServiceAccount", team, "made")
	theirSecret  = reference("v1", "Secret", team, "theirs")
	emptySecret  = reference("v1", "Secret", team, "empty")
	oursSecret   = reference("v1", "Secret", team, "ours")
	dockerSecret = reference("v1", "Secret", team, "docker")
	theRequest   = reference("cloudcredential.openshift.io/v1", "CredentialsRequest", team, "app")
	heldRequest  = reference("cloudcredential.openshift.io/v1", "CredentialsRequest", team, "held")
	theGrant     = reference("identity.tabard.dev/v1alpha1", "CredentialsGrant", "", "rights-team.app")
	theBoundary  = reference("identity.tabard.dev/v1alpha1", "CredentialsBoundary", "", "rights-team")
)

const ofRequest = "identity.tabard.dev/credentials-request"

// labelled is what the controller makes, with fields that a row adds.
func labelled(kind, namespace string, more map[string]any) func() client.Object {
	return func() client.Object {
		object := map[string]any{"apiVersion": "v1", "kind": kind, "metadata": map[string]any{
			"namespace": namespace, "name": "new", "annotations": map[string]any{ofRequest: team + "/app"}, "labels": map[string]any{"identity.tabard.dev/credentials": "true"},
		}}
		for key, value := range more {
			if key == "metadata" {
				for field, content := range value.(map[string]any) { //nolint:forcetypeassert // of the rows below
					object["metadata"].(map[string]any)[field] = content //nolint:forcetypeassert // it is one
				}
				continue
			}
			object[key] = value
		}
		return &unstructured.Unstructured{Object: object}
	}
}

// owners are of an object that is not there: the garbage collector deletes what has them.
var owners = []any{map[string]any{"apiVersion": "v1", "kind": "ConfigMap", "name": "gone", "uid": "1"}}

// byCredentials are the attacks of somebody who has taken the controller credentials.
var byCredentials = map[string]attack{
	"a ServiceAccount's role, its work":           {merge(theirAccount, `{"metadata":{"annotations":{"eks.amazonaws.com/role-arn":"arn:x","`+ofRequest+`":"rights-team/app"}}}`), ""},
	"the role taken back, its work":               {merge(oursAccount, `{"metadata":{"annotations":{"eks.amazonaws.com/role-arn":null,"`+ofRequest+`":null}}}`), ""},
	"a ServiceAccount made, its work":             {create(labelled("ServiceAccount", team, nil)), ""},
	"one that it made deleted, its work":          {remove(madeAccount), ""},
	"a Secret made, its work":                     {create(labelled("Secret", team, map[string]any{"stringData": map[string]any{"credentials": "x"}})), ""},
	"its Secret written, its work":                {merge(oursSecret, `{"stringData":{"credentials":"y"}}`), ""},
	"an empty Secret taken, its work":             {merge(emptySecret, `{"metadata":{"annotations":{"`+ofRequest+`":"rights-team/app"},"labels":{"identity.tabard.dev/credentials":"true"}},"stringData":{"credentials":"y"}}`), ""},
	"its Secret deleted, its work":                {remove(oursSecret), ""},
	"its finalizer, its work":                     {merge(theRequest, `{"metadata":{"finalizers":["identity.tabard.dev/credentials"]}}`), ""},
	"the other operator's finalizer, its work":    {merge(heldRequest, `{"metadata":{"finalizers":["example.com/stay"]}}`), ""},
	"a role for a ServiceAccount that names none": {merge(theirAccount, `{"metadata":{"annotations":{"eks.amazonaws.com/role-arn":"arn:x"}}}`), credentialsAccounts},
	"a ServiceAccount of the namespace of Tabard": {merge(reference("v1", "ServiceAccount", "tabard-system", "tabard-issuer"), `{"metadata":{"annotations":{"`+ofRequest+`":"x/y"}}}`), credentialsAccounts},
	"a ServiceAccount of Kubernetes":              {merge(reference("v1", "ServiceAccount", "kube-system", "default"), `{"metadata":{"annotations":{"`+ofRequest+`":"x/y"}}}`), credentialsAccounts},
	"another annotation":                          {merge(oursAccount, `{"metadata":{"annotations":{"kubernetes.io/enforce-mountable-secrets":"true"}}}`), credentialsAccounts},
	"an annotation less":                          {merge(oursAccount, `{"metadata":{"annotations":{"note":null}}}`), credentialsAccounts},
	"a label":                                     {merge(oursAccount, `{"metadata":{"labels":{"team":"attack"}}}`), credentialsAccounts},
	"the label by which it may be deleted":        {merge(oursAccount, `{"metadata":{"labels":{"identity.tabard.dev/credentials":"true"}}}`), credentialsAccounts},
	"Secrets of a ServiceAccount":                 {merge(oursAccount, `{"secrets":[{"name":"theirs"}]}`), credentialsAccounts},
	"passwords of registries":                     {merge(oursAccount, `{"imagePullSecrets":[{"name":"theirs"}]}`), credentialsAccounts},
	"no token for its pods":                       {merge(oursAccount, `{"automountServiceAccountToken":false}`), credentialsAccounts},
	"an owner of a ServiceAccount":                {merge(oursAccount, `{"metadata":{"ownerReferences":[{"apiVersion":"v1","kind":"ConfigMap","name":"gone","uid":"1"}]}}`), credentialsAccounts},
	"a finalizer of a ServiceAccount":             {merge(oursAccount, `{"metadata":{"finalizers":["example.com/stay"]}}`), credentialsAccounts},
	"somebody's ServiceAccount deleted":           {remove(theirAccount), credentialsAccounts},
	"one with a role, that it did not make":       {remove(oursAccount), credentialsAccounts},
	"a ServiceAccount without the request": {create(func() client.Object {
		return &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: team, Name: "new"}}
	}), credentialsAccounts},
	"a ServiceAccount with Secrets":          {create(labelled("ServiceAccount", team, map[string]any{"secrets": []any{map[string]any{"name": "x"}}})), credentialsAccounts},
	"a ServiceAccount with an owner":         {create(labelled("ServiceAccount", team, map[string]any{"metadata": map[string]any{"ownerReferences": owners}})), credentialsAccounts},
	"a ServiceAccount in Tabard's namespace": {create(labelled("ServiceAccount", "tabard-system", nil)), credentialsAccounts},
	"a Secret that holds a token":            {create(func() client.Object { return tokenSecret(team, "new", "theirs") }), credentialsSecrets},
	"one that is labelled as its own": {create(labelled("Secret", team, map[string]any{
		"type":     "kubernetes.io/service-account-token",
		"metadata": map[string]any{"annotations": map[string]any{ofRequest: team + "/app", "kubernetes.io/service-account.name": "theirs"}},
	})), credentialsSecrets},
	"a certificate":                             {create(labelled("Secret", team, map[string]any{"type": "kubernetes.io/tls", "data": map[string]any{"tls.crt": "", "tls.key": ""}})), credentialsSecrets},
	"a Secret without the request":              {create(func() client.Object { return secret(team, "new", corev1.SecretTypeOpaque) }), credentialsSecrets},
	"a Secret without the label":                {create(labelled("Secret", team, map[string]any{"metadata": map[string]any{"labels": map[string]any{}}})), credentialsSecrets},
	"a Secret with another label":               {create(labelled("Secret", team, map[string]any{"metadata": map[string]any{"labels": map[string]any{"identity.tabard.dev/credentials": "true", "x": "y"}}})), credentialsSecrets},
	"a Secret with an owner":                    {create(labelled("Secret", team, map[string]any{"metadata": map[string]any{"ownerReferences": owners}})), credentialsSecrets},
	"a Secret that nobody can change":           {create(labelled("Secret", team, map[string]any{"immutable": true})), credentialsSecrets},
	"somebody's Secret":                         {merge(theirSecret, `{"stringData":{"password":"attack"}}`), credentialsSecrets},
	"somebody's Secret, taken":                  {merge(theirSecret, `{"metadata":{"annotations":{"`+ofRequest+`":"rights-team/app"}},"stringData":{"password":"attack"}}`), credentialsSecrets},
	"somebody's Secret deleted":                 {remove(theirSecret), credentialsSecrets},
	"a registry's Secret":                       {merge(dockerSecret, `{"metadata":{"annotations":{"`+ofRequest+`":"rights-team/app"}}}`), credentialsSecrets},
	"a Secret of a namespace without the right": {create(labelled("Secret", other, nil)), "rbac"},
	"a Secret of Tabard's namespace":            {create(labelled("Secret", "tabard-system", nil)), "rbac"},
	"one in it that somebody lets it make":      {create(labelled("Secret", wrong, nil)), credentialsSecrets},
	"a Secret of Kubernetes":                    {create(labelled("Secret", "kube-system", nil)), "rbac"},
	"reading a Secret of another namespace": {func(ctx context.Context, c client.Client) error {
		return c.Get(ctx, client.ObjectKey{Namespace: other, Name: "x"}, &corev1.Secret{})
	}, "rbac"},
	"listing the Secrets of the team": {func(ctx context.Context, c client.Client) error {
		return c.List(ctx, &corev1.SecretList{}, client.InNamespace(team))
	}, "rbac"},
	"listing the Secrets that it may follow, which shows what they hold": {func(ctx context.Context, c client.Client) error {
		return c.List(ctx, &corev1.SecretList{}, client.InNamespace(followed))
	}, ""},
	"reading one of them by its name": {func(ctx context.Context, c client.Client) error {
		return c.Get(ctx, client.ObjectKey{Namespace: followed, Name: "x"}, &corev1.Secret{})
	}, "rbac"},
	"a Secret among them":                    {create(labelled("Secret", followed, nil)), "rbac"},
	"what a request asks for":                {merge(theRequest, `{"spec":{"secretRef":{"namespace":"kube-system","name":"x"}}}`), credentialsRequests},
	"what it asks for, beside its finalizer": {merge(theRequest, `{"metadata":{"finalizers":["identity.tabard.dev/credentials"]},"spec":{"serviceAccountNames":["admin"]}}`), credentialsRequests},
	"an annotation of a request":             {merge(theRequest, `{"metadata":{"annotations":{"identity.tabard.dev/service-account":"x/y"}}}`), credentialsRequests},
	"another's finalizer":                    {merge(theRequest, `{"metadata":{"finalizers":["example.com/stay"]}}`), credentialsRequests},
	"another's finalizer removed":            {merge(heldRequest, `{"metadata":{"finalizers":["cloudcredential.openshift.io/deprovision"]}}`), credentialsRequests},
	"a request made":                         {create(func() client.Object { o := theRequest(); o.SetName("new"); return o }), "rbac"},
	"a request deleted":                      {remove(theRequest), "rbac"},
	"a boundary":                             {merge(theBoundary, `{"spec":{"namespaces":["kube-system"]}}`), "rbac"},
	"a boundary made":                        {create(func() client.Object { o := theBoundary(); o.SetName("new"); return o }), "rbac"},
	"its grant, which is its record":         {merge(theGrant, `{"metadata":{"finalizers":["identity.tabard.dev/credentials"]}}`), ""},
	"a token of somebody's": {func(ctx context.Context, c client.Client) error {
		return c.SubResource("token").Create(ctx, theirAccount(), &unstructured.Unstructured{Object: map[string]any{"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "spec": map[string]any{}}})
	}, "rbac"},
	"a pod": {create(func() client.Object { p := pod("theirs"); p.Namespace = team; return p }), "rbac"},
	"the right to Secrets of another namespace": {create(func() client.Object { return bindingOf(other, credentialsSecrets) }), "rbac"},
	"the right to follow them":                  {create(func() client.Object { return bindingOf(other, credentialsSecrets+"-watch") }), "rbac"},
	"its own policies":                          {remove(func() client.Object { return policy(credentialsSecrets) }), "rbac"},
	"the ConfigMap that tells it its own role":  {merge(reference("v1", "ConfigMap", "tabard-system", "tabard-credentials"), `{"data":{"roleARN":"arn:x"}}`), "rbac"},
	"the issuer": {merge(reference("identity.tabard.dev/v1alpha1", "OIDCIssuer", "", "cluster"), `{"spec":{"url":"https://attacker.example.com"}}`), "rbac"},
	"a namespace's labels, which choose a boundary": {merge(reference("v1", "Namespace", "", team), `{"metadata":{"labels":{"team":"attack"}}}`), "rbac"},
}

// bindingOf gives the controller a ClusterRole's rights to Secrets of a namespace.
func bindingOf(namespace, role string) *rbacv1.RoleBinding {
	return &rbacv1.RoleBinding{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: role},
		RoleRef:    rbacv1.RoleRef{APIGroup: "rbac.authorization.k8s.io", Kind: "ClusterRole", Name: role},
		Subjects:   []rbacv1.Subject{{Kind: "ServiceAccount", Namespace: "tabard-system", Name: "tabard-credentials"}},
	}
}

// prepareTeam makes what the attacks are on.
func (w world) prepareTeam() {
	w.Helper()
	w.MakeNamespaces(team, other, followed)
	w.Make(bindingOf(team, credentialsSecrets), bindingOf(wrong, credentialsSecrets), bindingOf(followed, credentialsSecrets+"-watch"))
	taken := func(name string, labels map[string]string) metav1.ObjectMeta {
		return metav1.ObjectMeta{Namespace: team, Name: name, Labels: labels, Annotations: map[string]string{"note": "x", ofRequest: team + "/app", "eks.amazonaws.com/role-arn": "arn:x"}}
	}
	label := map[string]string{"identity.tabard.dev/credentials": "true"}
	theirs := taken("theirs", nil)
	theirs.Annotations = nil
	w.Make(&corev1.ServiceAccount{ObjectMeta: theirs}, &corev1.ServiceAccount{ObjectMeta: taken("ours", nil)}, &corev1.ServiceAccount{ObjectMeta: taken("made", label)})
	theirs.ResourceVersion, theirs.UID = "", ""
	w.Make(&corev1.Secret{ObjectMeta: theirs, Data: map[string][]byte{"password": []byte("x")}}, &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: team, Name: "empty"}},
		&corev1.Secret{ObjectMeta: taken("ours", label), Data: map[string][]byte{"credentials": []byte("x")}},
		&corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: team, Name: "docker"}, Type: corev1.SecretTypeDockerConfigJson, Data: map[string][]byte{".dockerconfigjson": []byte("{}")}})
	w.Shell(`kubectl apply -f - <<'END'
apiVersion: cloudcredential.openshift.io/v1
kind: CredentialsRequest
metadata: {namespace: rights-team, name: app}
spec:
  storage: {serviceAccount: {namespace: rights-team, name: ours}}
  providerSpec: {apiVersion: cloudcredential.openshift.io/v1, kind: AWSProviderSpec, statementEntries: [{effect: Allow, action: ["s3:GetObject"], resource: "arn:aws:s3:::x/*"}]}
---
apiVersion: cloudcredential.openshift.io/v1
kind: CredentialsRequest
metadata: {namespace: rights-team, name: held, finalizers: [cloudcredential.openshift.io/deprovision, example.com/stay]}
spec:
  storage: {serviceAccount: {namespace: rights-team, name: ours}}
  providerSpec: {apiVersion: cloudcredential.openshift.io/v1, kind: AWSProviderSpec, statementEntries: [{effect: Allow, action: ["s3:GetObject"], resource: "arn:aws:s3:::x/*"}]}
---
apiVersion: identity.tabard.dev/v1alpha1
kind: CredentialsBoundary
metadata: {name: rights-team}
spec: {namespaces: [rights-team]}
---
apiVersion: identity.tabard.dev/v1alpha1
kind: CredentialsGrant
metadata: {name: rights-team.app}
spec: {request: {namespace: rights-team, name: app, uid: "1"}}
END`)
}

// TestTheControllerOfCredentialsIsHeld tries every attack, and what the account is there
// for, on a team's namespace. The requests are dry runs, for which rights and policies are
// asked as for others.
func TestTheControllerOfCredentialsIsHeld(t *testing.T) {
	w := install(t)
	account := w.as("tabard-system", "tabard-credentials")
	for _, namespace := range []string{team, wrong} {
		testkit.AwaitRights(t, w.Config, "system:serviceaccount:tabard-system:tabard-credentials", namespace, rbacv1.PolicyRule{APIGroups: []string{""}, Resources: []string{"secrets"}, Verbs: []string{"create", "patch", "delete"}})
	}
	testkit.AwaitRights(t, w.Config, "system:serviceaccount:tabard-system:tabard-credentials", followed, rbacv1.PolicyRule{APIGroups: []string{""}, Resources: []string{"secrets"}, Verbs: []string{"list"}})
	w.try(client.NewDryRunClient(account), byCredentials)
}
