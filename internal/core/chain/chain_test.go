package chain_test

import (
	"encoding/json"
	"maps"
	"math/bits"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/tabard-dev/tabard/iampolicy"
	"github.com/tabard-dev/tabard/internal/core/chain"
	"github.com/tabard-dev/tabard/internal/core/issuer"
	"github.com/tabard-dev/tabard/internal/testkit/must"
)

// fault is one thing that people get wrong.
type fault struct {
	plant func(*chain.Evidence)
	code  chain.Code
	// says is in the symptom, or in what is observed or required; mends is in a command.
	says, mends string
}

const bootstraps = "tabard issuer bootstrap -f FILE"

// guessed are the codes of findings for which there is always another explanation, and guessedToo the
// faults for which there is one.
var guessed = []chain.Code{chain.CodeOtherRole, chain.CodeTokenFixed, chain.CodeNoPolicy, chain.CodeNotAllowed, chain.CodeBoundary, chain.CodeKeysDiffer, chain.CodeTooEarly}
var guessedToo = append([]string{"the documents have moved", "a key that is a secret", "the keys are private"}, silenced...)

// silenced are the faults of a webhook by which a new pod comes back without an identity. The pod has one
// still, and may have brought it.
var silenced = []string{
	"no webhook", "a webhook that is not there", "a webhook of others", "the webhook of EKS", "a CA that has expired", "a namespace that is not labelled", "a pod that is not labelled",
}

// general is what is found where that is hidden which says more of a fault: one of new pods' identity.
func general(code chain.Code) chain.Code {
	if strings.HasPrefix(string(code), "L4-") && code != chain.CodeOtherRole {
		return chain.CodeNoAnswer
	}
	return code
}

const updates = "aws iam update-assume-role-policy --role-name checkout --policy-document '"

var faults = map[string]fault{
	"an issuer that AWS cannot reach": {func(e *chain.Evidence) { e.Issuer.Value = new("kubernetes/serviceaccount") }, chain.CodeIssuerURL, "kubernetes/serviceaccount", "tabard issuer init"},
	"the issuer of kubeadm":           {func(e *chain.Evidence) { e.Issuer.Value = new("https://kubernetes.default.svc.cluster.local") }, chain.CodeIssuerURL, "https://kubernetes.default.svc.cluster.local", "tabard issuer init"},
	"the documents are gone":          {func(e *chain.Evidence) { e.Published.Value.Discovery.Status = 404 }, chain.CodeNotPublic, "answers 404", bootstraps},
	"the keys are private":            {func(e *chain.Evidence) { e.Published.Value.Keys.Status = 403 }, chain.CodeNotPublic, issuerURL + "/keys.json answers 403", bootstraps},
	"the documents have moved":        {func(e *chain.Evidence) { e.Published.Value.Discovery.Redirect = "https://login.example.com" }, chain.CodeNotPublic, "redirects to https://login.example.com", bootstraps},
	"a page in place of the document": {func(e *chain.Evidence) { e.Published.Value.Discovery.Wrong = "it is no JSON" }, chain.CodeDocument, "it is no JSON", bootstraps},
	"no key is published": {func(e *chain.Evidence) {
		e.Published.Value.Keys.Wrong, e.Published.Value.Held = "there is no key", nil
	}, chain.CodeDocument, "there is no key", bootstraps},
	"a key that is a secret":              {func(e *chain.Evidence) { e.Published.Value.Keys.Wrong = "a private key" }, chain.CodeDocument, "a private key", bootstraps},
	"the keys of a former cluster":        {func(e *chain.Evidence) { e.Published.Value.Held = []issuer.UsableKey{keyOld} }, chain.CodeKeyMissing, "one, two, at " + issuerURL, bootstraps},
	"another key of the same ID":          {func(e *chain.Evidence) { e.Signing.Value.Keys = []issuer.UsableKey{{ID: "one", Thumbprint: "9"}} }, chain.CodeKeyMissing, "is another key", bootstraps},
	"a token of a key that nobody has":    {func(e *chain.Evidence) { e.Signing.Value = &chain.Signing{Token: "new"} }, chain.CodeKeyMissing, "new, at " + issuerURL, bootstraps},
	"a key that may be the one for today": {func(e *chain.Evidence) { e.Published.Value.Held = []issuer.UsableKey{keyOld, keyOne} }, chain.CodeKeysDiffer, "not published: two", "kubectl -n shop create token checkout --duration 10m --audience tabard.dev/explain | tabard decode\n" + bootstraps},

	"no provider": {func(e *chain.Evidence) { e.Provider.Value = nil }, chain.CodeNoProvider, "account 111122223333", "aws iam create-open-id-connect-provider --url " + issuerURL + " --client-id-list sts.amazonaws.com"},
	"the audience is misspelt in the provider": {func(e *chain.Evidence) { e.Provider.Value.Audiences = []string{"sts.amazon.com"} }, chain.CodeProviderAudience, "sts.amazon.com",
		"aws iam add-client-id-to-open-id-connect-provider --open-id-connect-provider-arn " + provider + " --client-id sts.amazonaws.com"},
	"no ServiceAccount": {func(e *chain.Evidence) { e.Account.Value = nil }, chain.CodeNoAccount, "shop/checkout", "kubectl -n shop create serviceaccount checkout"},
	"nothing names a role": {func(e *chain.Evidence) {
		e.Account.Value.Annotations, app(e).Env = nil, nil
	}, chain.CodeNoRole, "nothing names a role", "kubectl -n shop annotate serviceaccount checkout --overwrite eks.amazonaws.com/role-arn=ROLE_ARN"},
	"a misspelt annotation": {func(e *chain.Evidence) {
		e.Account.Value.Annotations, app(e).Env = map[string]string{"eks.amazonaws.com/role_arn": roleARN}, nil
	}, chain.CodeAnnotationSlip, "eks.amazonaws.com/role_arn", "annotate serviceaccount checkout"},
	"a name in place of an ARN":           {func(e *chain.Evidence) { e.Account.Value.Annotations["eks.amazonaws.com/role-arn"] = "checkout" }, chain.CodeRoleARN, "arn:aws:iam::ACCOUNT:role/NAME", "annotate"},
	"a pod that fell through to its node": {func(e *chain.Evidence) { app(e).Env, e.Pod.Value.Spec.Volumes = nil, nil }, chain.CodeNotInjected, "runs without the role", "kubectl -n shop rollout restart deployment/checkout"},
	"a pod that is older than the annotation": {func(e *chain.Evidence) {
		app(e).Env, e.Pod.Value.Spec.Volumes, e.Pod.Value.CreationTimestamp = nil, nil, metav1.NewTime(noon.Add(-1e12))
	}, chain.CodeTooEarly, "before its ServiceAccount was annotated", "rollout restart"},
	"a pod that skips the webhook": {func(e *chain.Evidence) {
		app(e).Env, e.Pod.Value.Spec.Volumes, e.Pod.Value.Labels["eks.amazonaws.com/skip-pod-identity-webhook"] = nil, nil, ""
	}, chain.CodeSkipped, "leave it out", "rollout restart"},
	"something in the place of the token": {func(e *chain.Evidence) { app(e).VolumeMounts = nil }, chain.CodeTokenHidden, tokenFile, "rollout restart"},
	"the annotation has changed": {func(e *chain.Evidence) {
		app(e).Env[0].Value = strings.Replace(roleARN, "checkout", "before", 1)
	}, chain.CodeStaleRole, "role/before", "rollout restart"},
	"the audience has changed": {func(e *chain.Evidence) {
		e.Pod.Value.Spec.Volumes[0].Projected.Sources[0].ServiceAccountToken.Audience = "openshift"
	}, chain.CodeStaleAudience, "openshift", "rollout restart"},
	"no webhook":                  {func(e *chain.Evidence) { silent(nil)(e); e.Hooks.Value = &[]chain.Hook{} }, chain.CodeNoWebhook, "has no webhook", "helm upgrade --install tabard"},
	"a webhook that is not there": {silent(nil), chain.CodeNoAnswer, "gets no role today", "kubectl -n tabard-system rollout restart deployment/tabard-webhook"},
	"a webhook of others": {silent(func(h *chain.Hook) {
		h.Configuration, h.Name, h.Namespace, h.Service = "pod-identity-webhook", "pod-identity-webhook.amazonaws.com", "kube-system", "pod-identity-webhook"
	}), chain.CodeNoAnswer,
		"asked is hook pod-identity-webhook.amazonaws.com", "kubectl -n kube-system get endpointslices -l kubernetes.io/service-name=pod-identity-webhook"},
	"the webhook of EKS": {silent(func(h *chain.Hook) {
		h.Configuration, h.Name, h.Namespace, h.Service = "pod-identity-webhook", "iam-for-pods.amazonaws.com", "", ""
	}), chain.CodeNoAnswer,
		"asked is hook iam-for-pods.amazonaws.com", "kubectl get mutatingwebhookconfiguration pod-identity-webhook -o yaml"},
	"a webhook that lets nothing pass": {func(e *chain.Evidence) {
		e.NewPod = chain.Seen[corev1.Pod]{Unread: `Internal error occurred: failed calling webhook "pod-identity.tabard.dev": failed to call webhook: no endpoints available`, Needs: "a new pod"}
	}, chain.CodeNoAnswer, "makes no new pod", "rollout restart deployment/tabard-webhook"},
	"a CA that has expired": {silent(func(h *chain.Hook) { h.Until, h.Expired = &noon, true }), chain.CodeAuthorityExpired, "2026-11-01 12:00:00Z", "kubectl -n tabard-certificate rollout restart deployment/tabard-certificate"},
	"a namespace that is not labelled": {silent(func(h *chain.Hook) {
		h.Namespaces = &metav1.LabelSelector{MatchLabels: map[string]string{"identity": "on"}}
	}), chain.CodeNotAsked,
		"namespaces with identity=on", "kubectl label namespace shop --overwrite identity=on"},
	"a pod that is not labelled": {silent(func(h *chain.Hook) {
		h.Objects = &metav1.LabelSelector{MatchLabels: map[string]string{"identity": "on"}}
	}), chain.CodeNotAsked,
		"pods with identity=on", `kubectl -n shop patch deployment/checkout --patch '{"spec":{"template":{"metadata":{"labels":{"identity":"on"}}}}}'`},
	"a webhook that lags": {func(e *chain.Evidence) { e.NewPod.Value.Spec.Containers[0].Env[0].Value = roleARN + "-before" }, chain.CodeOtherRole, "checkout-before", "tabard explain pod"},
	"a token in a Secret": {func(e *chain.Evidence) {
		e.Pod.Value.Spec.Volumes[0].VolumeSource = corev1.VolumeSource{Secret: &corev1.SecretVolumeSource{SecretName: "token"}}
	}, chain.CodeTokenFixed, "Secret token", "kubectl -n shop set env deployment/checkout -c app AWS_ROLE_ARN- AWS_WEB_IDENTITY_TOKEN_FILE-"},
	"a token in a ConfigMap at a path of its own": {func(e *chain.Evidence) {
		app(e).Env[1].Value, app(e).VolumeMounts[0].MountPath = "/token", "/token"
		e.Pod.Value.Spec.Volumes[0].VolumeSource = corev1.VolumeSource{ConfigMap: &corev1.ConfigMapVolumeSource{LocalObjectReference: corev1.LocalObjectReference{Name: "token"}}}
	}, chain.CodeTokenFixed, "ConfigMap token", "set env"},
	"a token that is root's": {func(e *chain.Evidence) {
		e.Pod.Value.Spec.Volumes[0].Projected.DefaultMode, app(e).SecurityContext = new(int32(0o400)), &corev1.SecurityContext{RunAsUser: new(int64(1000))}
		e.Pod.Value.Spec.InitContainers = []corev1.Container{{Name: "first"}}
	}, chain.CodeTokenUnreadable, "mode 0400 of root", `kubectl -n shop patch deployment/checkout --patch '{"spec":{"template":{"spec":{"securityContext":{"fsGroup":1000}}}}}'`},
	"stored keys": {func(e *chain.Evidence) {
		for _, name := range []string{"AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"} {
			app(e).Env = append(app(e).Env, corev1.EnvVar{Name: name, ValueFrom: &corev1.EnvVarSource{SecretKeyRef: &corev1.SecretKeySelector{LocalObjectReference: corev1.LocalObjectReference{Name: "old"}}}})
		}
	}, chain.CodeStaticKeys, "from Secret old", "kubectl -n shop set env deployment/checkout -c app AWS_ACCESS_KEY_ID- AWS_SECRET_ACCESS_KEY-"},
	"no such role":   {func(e *chain.Evidence) { e.Role.Value = nil }, chain.CodeNoRoleInAWS, "no role of the name checkout", "aws iam create-role --role-name checkout"},
	"a path is lost": {func(e *chain.Evidence) { e.Role.Value.ARN = strings.Replace(roleARN, "role/", "role/apps/", 1) }, chain.CodeRolePath, "role/apps/checkout", "eks.amazonaws.com/role-arn=arn:aws:iam::111122223333:role/apps/checkout"},

	"a misspelt ServiceAccount":            {trust(trusting(provider, audience, "system:serviceaccount:shop:check-out")), chain.CodeSubject, `is "system:serviceaccount:shop:check-out", the token says "` + subject + `"`, updates},
	"namespace and name are exchanged":     {trust(trusting(provider, audience, "system:serviceaccount:checkout:shop")), chain.CodeSubject, "system:serviceaccount:checkout:shop", updates},
	"a star under StringEquals":            {trust(trusting(provider, audience, "system:serviceaccount:shop:*")), chain.CodeSubjectOperator, "system:serviceaccount:shop:*", updates},
	"another audience":                     {trust(trusting(provider, "sts.amazon.com", subject)), chain.CodeTrustAudience, `the token says "sts.amazonaws.com"`, updates},
	"the subject under the audience's key": {trust(conditioned(`{"StringEquals":{"` + bare + `:aud":"` + subject + `"}}`)), chain.CodeKeysSwapped, subject, updates},
	"an ARN in the key":                    {trust(conditioned(`{"StringEquals":{"` + provider + `:sub":"` + subject + `","` + provider + `:aud":"` + audience + `"}}`)), chain.CodeKeyIssuer, provider + ":sub", updates},
	"the key of a former cluster":          {trust(conditioned(`{"StringEquals":{"oidc.eks.eu-central-1.amazonaws.com/id/OLD:sub":"` + subject + `"}}`)), chain.CodeKeyIssuer, "id/OLD:sub", updates},
	"the provider of a former cluster":     {trust(trusting("arn:aws:iam::"+account+":oidc-provider/oidc.eks.eu-central-1.amazonaws.com/id/OLD", audience, subject)), chain.CodeWrongProvider, "id/OLD", updates},
	"the provider of another partition":    {trust(trusting(strings.Replace(provider, "arn:aws:", "arn:aws-cn:", 1), audience, subject)), chain.CodeWrongProvider, "arn:aws-cn:iam", updates},
	"another action":                       {trust(strings.Replace(trusting(provider, audience, subject), "sts:AssumeRoleWithWebIdentity", "sts:AssumeRole", 1)), chain.CodeTrustAction, "sts:AssumeRole", updates},
	"a role of a service":                  {trust(`{"Version":"2012-10-17","Statement":{"Effect":"Allow","Principal":{"Service":"ec2.amazonaws.com"},"Action":"sts:AssumeRole"}}`), chain.CodeTrustAction, "sts:AssumeRole", updates},
	"no statement at all":                  {trust(`{"Version":"2012-10-17","Statement":[]}`), chain.CodeNoStatement, "no statement", updates},
	"a Deny": {trust(`{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Principal":{"Federated":"` + provider + `"},"Action":"sts:*"},{"Sid":"Stop","Effect":"Deny","Principal":"*","Action":"sts:*"}]}`),
		chain.CodeTrustDenies, "statement 2", "aws iam get-role --role-name checkout"},

	"a role without policies": {func(e *chain.Evidence) { e.Policies.Value = &chain.Policies{} }, chain.CodeNoPolicy, "no policy", puts + "SERVICE:ACTION"},
	"a Deny of the call": {func(e *chain.Evidence) {
		asks(e, object, call)
		e.Policies.Value.Attached[0].Document = seen(denies(call, object))
	}, chain.CodeDenied, "statement 1 (Stop) of the managed policy queues denies it", "create-policy-version --policy-arn arn:aws:iam::111122223333:policy/queues"},
	"a Deny in an inline policy": {func(e *chain.Evidence) {
		asks(e, "", call)
		e.Policies.Value.Inline[0].Document = seen(denies("s3:*", "*"))
	}, chain.CodeDenied, "the inline policy orders denies it", "aws iam get-role-policy --role-name checkout --policy-name orders"},
	"a policy of AWS that denies": {func(e *chain.Evidence) {
		asks(e, object, call)
		e.Policies.Value.Attached = append(e.Policies.Value.Attached, chain.Policy{Name: "arn:aws:iam::aws:policy/AWSDenyAll", Document: seen(denies("*", "*"))})
	}, chain.CodeDenied, "AWSDenyAll", "aws iam detach-role-policy --role-name checkout --policy-arn arn:aws:iam::aws:policy/AWSDenyAll"},
	"a boundary that denies": {func(e *chain.Evidence) {
		asks(e, object, call)
		limits(e, denies(call, "*"))
	}, chain.CodeDenied, "the permissions boundary limit denies it", "--policy-arn " + limit},
	"a call that nothing allows":       {func(e *chain.Evidence) { asks(e, object, call, "s3:PutObject") }, chain.CodeNotAllowed, "may not call s3:PutObject on " + object, puts + `s3:PutObject"],"Resource":["` + object + `"]}]}'`},
	"a call about nothing in sight":    {func(e *chain.Evidence) { asks(e, "", "s3:ListAllMyBuckets") }, chain.CodeNotAllowed, "on any resource", puts + `s3:ListAllMyBuckets"],"Resource":["RESOURCE_ARN"]}]}'`},
	"a call that is allowed elsewhere": {func(e *chain.Evidence) { asks(e, "arn:aws:s3:::orders/*", call) }, chain.CodeNotAllowed, "allow a part of it", puts + `s3:GetObject"],"Resource":["arn:aws:s3:::orders/*"]}]}'`},
	"a boundary without the call": {func(e *chain.Evidence) {
		asks(e, object, call)
		limits(e, permits("ec2:*", "*"))
	}, chain.CodeBoundary, "no statement of the permissions boundary allows it", "create-policy-version --policy-arn " + limit},
}

const puts = `aws iam put-role-policy --role-name checkout --policy-name tabard-explain --policy-document '{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Action":["`

// TestAHealthyWorkloadHasNoFinding, and each link that is looked at says what was seen.
func TestAHealthyWorkloadHasNoFinding(t *testing.T) {
	r := chain.Explain(world())
	if r.Verdict != chain.Healthy || r.First != nil || r.Role != roleARN || len(r.Links) != 13 {
		t.Fatalf("%+v", r)
	}
	for _, step := range r.Links {
		if step.State != chain.Sound && step.State != chain.Unasked || step.Text == "" {
			t.Errorf("%s %s is %s: %q", step.Link, step.Name, step.State, step.Text)
		}
	}
	if binding := r.Links[3].Text; !strings.Contains(binding, "written by helm") {
		t.Errorf("the binding is %q", binding)
	}
}

// TestEachFaultIsNamed, with what was observed, what is required and what to type; and in the evidence
// as it is after the command, it is gone.
func TestEachFaultIsNamed(t *testing.T) {
	for name, each := range faults {
		t.Run(name, func(t *testing.T) {
			e := copyOf(t, world())
			each.plant(&e)
			r := chain.Explain(copyOf(t, e))
			if r.Verdict != chain.Unhealthy || r.First == nil || r.First.Code != each.code {
				t.Fatalf("the first finding is %+v, want %s", r.First, each.code)
			}
			f := *r.First
			if all := f.Symptom + f.Observed + f.Required; !strings.Contains(all, each.says) || !strings.Contains(strings.Join(f.Mend, "\n"), each.mends) {
				t.Errorf("want %q in the text and %q in a command of %+v", each.says, each.mends, f)
			}
			if !strings.HasPrefix(f.Verify, "tabard explain pod checkout-6d9c-x2k4p -n shop") || (f.Certainty == chain.Proved) == (slices.Contains(guessed, f.Code) || slices.Contains(guessedToo, name)) || f.Link != r.Links[slices.Index(chain.Links(), f.Link)].Link {
				t.Errorf("it is %+v", f)
			}
			if document, is := strings.CutPrefix(f.Mend[0], updates); is {
				e.Role.Value.Trust = strings.TrimSuffix(document, "'")
				if after := chain.Explain(e); after.Verdict != chain.Healthy {
					t.Errorf("with %s it is %+v", document, after.First)
				}
			}
			command, _, _ := strings.Cut(puts, "{")
			if document, is := strings.CutPrefix(f.Mend[0], command); is && !strings.Contains(document, "RESOURCE_ARN") {
				e.Policies.Value.Inline = append(e.Policies.Value.Inline, chain.Policy{Name: "tabard-explain", Document: seen(strings.TrimSuffix(document, "'"))})
				if after := chain.Explain(e); after.Verdict != chain.Healthy {
					t.Errorf("with %s it is %+v", document, after.First)
				}
			}
		})
	}
}

// TestEveryCodeIsExplainedAndFound: no code without an explanation, and none that no test plants.
func TestEveryCodeIsExplainedAndFound(t *testing.T) {
	var found []chain.Code
	for _, each := range faults {
		found = append(found, each.code)
	}
	handMade := []chain.Code{chain.CodeAPIToken, chain.CodeNoToken}
	for _, each := range chain.Codes() {
		if each.Means == "" || each.Mend == "" || !slices.Contains(found, each.Code) && !slices.Contains(handMade, each.Code) {
			t.Errorf("%s is explained by %q and %q, and no test plants it", each.Code, each.Means, each.Mend)
		}
		if !slices.Contains(chain.Links(), chain.Link(strings.SplitN(string(each.Code), "-", 2)[0])) {
			t.Errorf("%s names no link", each.Code)
		}
	}
}

// TestAPodThatNamesItsRoleItself has neither an annotation nor a webhook.
func TestAPodThatNamesItsRoleItself(t *testing.T) {
	e := world()
	e.Account.Value.Annotations = nil
	if r := chain.Explain(e); r.Verdict != chain.Healthy || !strings.Contains(r.Links[3].Text, "its own variable") {
		t.Errorf("%+v", r)
	}
	e.Pod.Value.Spec.Volumes = nil
	app(&e).Env[1].Value = "/var/run/secrets/kubernetes.io/serviceaccount/token"
	if r := chain.Explain(e); r.First == nil || r.First.Code != chain.CodeAPIToken {
		t.Errorf("with the API server's token: %+v", r.First)
	}
	app(&e).Env = app(&e).Env[:1]
	if r := chain.Explain(e); r.First == nil || r.First.Code != chain.CodeNoToken {
		t.Errorf("without a token: %+v", r.First)
	}
}

// TestAPodOfAnAgentIsNotJudgedByAnAnnotation that was left from before, whatever the role of that trusts.
func TestAPodOfAnAgentIsNotJudgedByAnAnnotation(t *testing.T) {
	e := world()
	app(&e).Env = []corev1.EnvVar{{Name: "AWS_CONTAINER_CREDENTIALS_FULL_URI", Value: "http://169.254.170.23/v1/credentials"}}
	e.Role.Value.Trust = `{"Version":"2012-10-17","Statement":[]}`
	r := chain.Explain(e)
	if lacking := r.Lacking(); r.Verdict != chain.Undetermined || len(lacking) != 1 || lacking[0].Link != chain.Binding || lacking[0].Needs != "eks:ListPodIdentityAssociations" {
		t.Errorf("%+v", r)
	}
	e = world()
	e.Pod.Value.Spec.Containers = append(e.Pod.Value.Spec.Containers, corev1.Container{Name: "minio", Env: []corev1.EnvVar{{Name: "AWS_ACCESS_KEY_ID"}}})
	e.Pod.Value.Annotations = map[string]string{"eks.amazonaws.com/skip-containers": "minio"}
	if r := chain.Explain(e); r.Verdict != chain.Healthy {
		t.Errorf("keys of a container without the role are %+v", r.First)
	}
}

// TestWhatIsNotSeenIsSaid: evidence is taken away piece by piece. A finding stays, or its link is
// Unseen; nothing that was broken becomes sound, and what was sound breaks nothing.
func TestWhatIsNotSeenIsSaid(t *testing.T) {
	hide := []func(*chain.Evidence){
		func(e *chain.Evidence) { e.Pod = chain.Seen[corev1.Pod]{Unread: "forbidden", Needs: "get pods"} },
		func(e *chain.Evidence) {
			e.Account = chain.Seen[metav1.PartialObjectMetadata]{Unread: "forbidden", Needs: "get serviceaccounts"}
		},
		func(e *chain.Evidence) { e.Issuer = chain.Seen[string]{Unread: "forbidden", Needs: "get /.well-known"} },
		func(e *chain.Evidence) { e.Role = chain.Seen[chain.Role]{Unread: "denied", Needs: "iam:GetRole"} },
		func(e *chain.Evidence) {
			e.Provider = chain.Seen[chain.OIDCProvider]{Unread: "denied", Needs: "iam:GetOpenIDConnectProvider"}
		},
		func(e *chain.Evidence) { e.NewPod = chain.Seen[corev1.Pod]{Unread: "forbidden", Needs: "create pods"} },
		func(e *chain.Evidence) {
			e.Policies = chain.Seen[chain.Policies]{Unread: "denied", Needs: "iam:ListRolePolicies"}
		},
		func(e *chain.Evidence) {
			e.Published = chain.Seen[chain.Published]{Unread: "offline", Needs: "a network"}
		},
		func(e *chain.Evidence) {
			e.Signing = chain.Seen[chain.Signing]{Unread: "forbidden", Needs: "get /openid/v1/jwks"}
		},
		func(e *chain.Evidence) { // these only say why
			e.Hooks, e.NamespaceLabels = chain.Seen[[]chain.Hook]{Unread: "forbidden", Needs: "list hooks"}, chain.Seen[map[string]string]{Unread: "forbidden", Needs: "get namespaces"}
		},
	}
	const why = 1 << 9
	all := maps.Clone(faults)
	all["nothing"] = fault{plant: func(*chain.Evidence) {}}
	for name, each := range all {
		for mask := range 1 << len(hide) {
			if gone := bits.OnesCount(uint(mask)); gone > 2 && gone < len(hide)-1 { //nolint:gosec // no mask is negative
				continue
			}
			e := copyOf(t, world())
			each.plant(&e)
			for i := range hide {
				if mask>>i&1 == 1 {
					hide[i](&e)
				}
			}
			r := chain.Explain(e)
			if mask&why != 0 && r.First != nil && r.First.Code == general(each.code) {
				continue
			}
			if r.First != nil && r.First.Code != each.code && (r.First.Certainty == chain.Proved || mask>>1&1 == 0) {
				t.Errorf("%s, without %010b: %s is found, which was not planted: %s", name, mask, r.First.Code, r.First.Symptom)
			}
			if r.Verdict == chain.Healthy && (mask&^why != 0 || each.code != "") {
				t.Errorf("%s, without %010b: all is well", name, mask)
			}
			for _, step := range r.Lacking() {
				if step.Needs == "" {
					t.Errorf("%s, without %010b: %s needs nothing: %s", name, mask, step.Link, step.Text)
				}
			}
		}
	}
}

// TestOfSeveralFaultsTheFirstIsOneThatWasPlanted takes one to three at once.
func TestOfSeveralFaultsTheFirstIsOneThatWasPlanted(t *testing.T) {
	random := rand.New(rand.NewPCG(38, 1)) //nolint:gosec // it shall be the same each time
	names := slices.Sorted(maps.Keys(faults))
	for range 2000 {
		e := copyOf(t, world())
		var planted []chain.Code
		for range 1 + random.IntN(3) {
			each := faults[names[random.IntN(len(names))]]
			if fits(&e, each) {
				planted = append(planted, each.code)
			}
		}
		if r := chain.Explain(e); len(planted) > 0 && (r.First == nil || !slices.Contains(planted, r.First.Code)) {
			t.Fatalf("of %v the first is %+v", planted, r.First)
		}
	}
}

// fits plants a fault where what it changes is still there, and no fault of the same part is.
func fits(e *chain.Evidence, each fault) (planted bool) {
	if e.Role.Value == nil || e.Account.Value == nil || e.Provider.Value == nil || len(app(e).Env) == 0 || len(e.Pod.Value.Spec.Volumes) == 0 ||
		e.Account.Value.Annotations["eks.amazonaws.com/role-arn"] != roleARN || e.Role.Value.ARN != roleARN ||
		len(e.Subject.Actions) > 0 || len(e.Policies.Value.Inline) == 0 ||
		len(app(e).VolumeMounts) == 0 || len(e.Pod.Value.Spec.InitContainers) > 0 || e.Pod.Value.Spec.Volumes[0].Projected == nil || e.NewPod.Value == nil || len(e.NewPod.Value.Spec.Containers[0].Env) == 0 {
		return false
	}
	each.plant(e)
	return true
}

// TestAHealthyWorldIsNeverBroken makes trust policies that admit the token in many ways.
func TestAHealthyWorldIsNeverBroken(t *testing.T) {
	random := rand.New(rand.NewPCG(38, 2)) //nolint:gosec // it shall be the same each time
	pick := func(of ...string) string { return of[random.IntN(len(of))] }
	for range 500 {
		e := copyOf(t, world())
		subjects := []string{"system:serviceaccount:other:x", subject, "system:serviceaccount:shop:y"}[random.IntN(2):][:2]
		document := iampolicy.Document{iampolicy.WebIdentity(provider, audience, subjects...)}
		switch random.IntN(4) {
		case 0:
			document[0].Conditions = map[string]map[string][]string{"StringLike": {bare + ":sub": {pick("system:serviceaccount:shop:*", "system:serviceaccount:*:checkout", "*")}}}
		case 1:
			document = append(iampolicy.Document{iampolicy.WebIdentity(provider+"/OLD", audience, subject)}, document...)
		case 2:
			document = append(document, iampolicy.Statement{Deny: true, Principals: map[iampolicy.PrincipalType][]string{iampolicy.TypeFederated: {provider}}, Actions: []string{"sts:*"},
				Conditions: map[string]map[string][]string{"StringEquals": {bare + ":sub": {"system:serviceaccount:shop:z"}}}})
		}
		e.Role.Value.Trust = string(must.Get(json.Marshal(document))(t))
		e.Provider.Value.Audiences = append(e.Provider.Value.Audiences, pick("openshift", "x"))
		app(&e).Env = append(app(&e).Env, corev1.EnvVar{Name: pick("AWS_REGION", "AWS_PROFILE", "PATH"), Value: "x"})
		if pick("a", "b") == "a" {
			e.Account.Value.ManagedFields = nil
		}
		if r := chain.Explain(e); r.Verdict != chain.Healthy {
			t.Fatalf("%+v of %s", r.First, e.Role.Value.Trust)
		}
	}
}
