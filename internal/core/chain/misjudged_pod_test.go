package chain_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/tabard-dev/tabard/internal/core/chain"
	"github.com/tabard-dev/tabard/internal/testkit/must"
)

// misjudgedPod is a pod that was judged wrongly once.
type misjudgedPod struct {
	change func(*chain.Evidence)
	// verdict is empty for chain.Unhealthy, and code is that of the first finding then.
	verdict   chain.Verdict
	code      chain.Code
	certainty chain.Certainty
	// says is in the first finding, or in what is lacking; without is not in it.
	says, without string
}

// judged explains the pod as Prune leaves it.
func (each misjudgedPod) judged(t *testing.T) {
	t.Helper()
	e := copyOf(t, world())
	each.change(&e)
	e.Pod.Value = chain.Prune(e.Pod.Value)
	if e.NewPod.Value != nil {
		e.NewPod.Value = chain.Prune(e.NewPod.Value)
	}
	r := chain.Explain(e)
	if each.verdict == "" {
		each.verdict = chain.Unhealthy
	}
	if r.Verdict != each.verdict || (r.First == nil) != (each.code == "") || r.First != nil && (r.First.Code != each.code || r.First.Certainty != each.certainty) {
		t.Fatalf("it is %s, the first finding is %+v, and what lacks is %+v", r.Verdict, r.First, r.Lacking())
	}
	said := string(must.Get(json.Marshal(r.Lacking()))(t))
	if r.First != nil {
		said = r.First.Symptom + r.First.Observed + r.First.Required + strings.Join(r.First.Mend, "\n") + r.First.Note
	}
	if !strings.Contains(said, each.says) || each.without != "" && strings.Contains(said, each.without) {
		t.Errorf("want %q, and not %q, in %s", each.says, each.without, said)
	}
	for _, step := range r.Lacking() {
		if step.Needs == "" {
			t.Errorf("%s needs nothing: %s", step.Link, step.Text)
		}
	}
}

// named sets the audience of a pod's token.
func named(pod *corev1.Pod, audience string) {
	pod.Spec.Volumes[0].Projected.Sources[0].ServiceAccountToken.Audience = audience
}

// accepted has provider and trust policy accept one audience.
func accepted(e *chain.Evidence, audience string) {
	e.Provider.Value.Audiences, e.Role.Value.Trust = []string{audience}, trusting(provider, audience, subject)
}

// byHand is a pod with its token in a volume of its own, which is mounted there.
func byHand(e *chain.Evidence, mountPath, file string) {
	e.Pod.Value.Spec.Volumes[0].Name, app(e).VolumeMounts[0] = "own", corev1.VolumeMount{Name: "own", MountPath: mountPath}
	app(e).Env[1].Value = file
}

// from is a variable that comes from a ConfigMap.
func from(name string) corev1.EnvVar {
	return corev1.EnvVar{Name: name, ValueFrom: &corev1.EnvVarSource{ConfigMapKeyRef: &corev1.ConfigMapKeySelector{LocalObjectReference: corev1.LocalObjectReference{Name: "settings"}}}}
}

// envFrom is where variables come from that the pod does not name.
func envFrom(e *chain.Evidence) {
	app(e).EnvFrom = []corev1.EnvFromSource{{SecretRef: &corev1.SecretEnvSource{LocalObjectReference: corev1.LocalObjectReference{Name: "settings"}}}}
}

// unbound is a ServiceAccount without a role, and a pod with some variables.
func unbound(env ...corev1.EnvVar) func(*chain.Evidence) {
	return func(e *chain.Evidence) { e.Account.Value.Annotations, app(e).Env = nil, env }
}

// plus adds variables to the container.
func plus(env ...corev1.EnvVar) func(*chain.Evidence) {
	return func(e *chain.Evidence) { app(e).Env = append(app(e).Env, env...) }
}

// owned has another kind of object own the pod; an empty one is nobody.
func owned(kind string, then func(*chain.Evidence)) func(*chain.Evidence) {
	return func(e *chain.Evidence) {
		e.Pod.Value.Labels, e.Pod.Value.OwnerReferences = nil, nil
		if kind != "" {
			e.Pod.Value.OwnerReferences = []metav1.OwnerReference{{APIVersion: "v1", Kind: kind, Name: "nightly", Controller: new(true)}}
		}
		then(e)
	}
}

// sidecar is a container with a role and a token by hand, at some place among the others.
func sidecar(at int) func(*chain.Evidence) {
	return func(e *chain.Evidence) {
		all := &e.Pod.Value.Spec.Containers
		*all = slices.Insert(*all, at, corev1.Container{
			Name: "proxy", Env: []corev1.EnvVar{{Name: "AWS_ROLE_ARN", Value: roleARN + "-proxy"}, {Name: "AWS_WEB_IDENTITY_TOKEN_FILE", Value: "/own/token"}},
			VolumeMounts: []corev1.VolumeMount{{Name: "own", MountPath: "/own"}},
		})
		volume := e.Pod.Value.Spec.Volumes[0].DeepCopy()
		volume.Name = "own"
		e.Pod.Value.Spec.Volumes = append(e.Pod.Value.Spec.Volumes, *volume)
	}
}

const apiFolder = "/var/run/secrets/kubernetes.io/serviceaccount"

func keys(id, secret string) []corev1.EnvVar {
	return []corev1.EnvVar{{Name: "AWS_ACCESS_KEY_ID", Value: id}, {Name: "AWS_SECRET_ACCESS_KEY", Value: secret}}
}

// TestAudiencesOfPods compares the token of the pod with that of a new one, and not with a default.
func TestAudiencesOfPods(t *testing.T) {
	for name, each := range map[string]misjudgedPod{
		"the webhook has another default": {change: func(e *chain.Evidence) {
			named(e.Pod.Value, "foo")
			named(e.NewPod.Value, "foo")
			accepted(e, "foo")
		}, verdict: chain.Healthy},
		"by hand": {change: func(e *chain.Evidence) {
			byHand(e, "/own", "/own/token")
			named(e.Pod.Value, "foo")
			accepted(e, "foo")
		}, verdict: chain.Healthy},
		"the annotation has changed": {change: func(e *chain.Evidence) {
			e.Account.Value.Annotations["eks.amazonaws.com/audience"] = "new"
			named(e.NewPod.Value, "new")
			accepted(e, "new")
			named(e.Pod.Value, "old")
		}, code: chain.CodeStaleAudience, certainty: chain.Proved, says: "old"},
		"the annotation has changed, and no new pod is seen": {change: func(e *chain.Evidence) {
			e.Account.Value.Annotations["eks.amazonaws.com/audience"] = "new"
			e.NewPod = chain.Seen[corev1.Pod]{Unread: "forbidden", Needs: "create pods"}
			accepted(e, "new")
			named(e.Pod.Value, "old")
		}, code: chain.CodeStaleAudience, certainty: chain.Proved, says: "new"},
		"an audience that the provider lacks": {change: func(e *chain.Evidence) {
			e.Account.Value.Annotations["eks.amazonaws.com/audience"] = "shop.example.com"
			named(e.NewPod.Value, "shop.example.com")
			named(e.Pod.Value, "shop.example.com")
			e.Role.Value.Trust = trusting(provider, "shop.example.com", subject)
		}, code: chain.CodeProviderAudience, certainty: chain.Proved, says: "shop.example.com"},
		"nothing says what new pods get, and the provider accepts it": {change: func(e *chain.Evidence) {
			e.NewPod = chain.Seen[corev1.Pod]{Unread: "forbidden", Needs: "create pods"}
			named(e.Pod.Value, "foo")
			accepted(e, "foo")
		}, verdict: chain.Undetermined, says: "create pods"},
		"nothing says what new pods get, and nobody what is accepted": {change: func(e *chain.Evidence) {
			e.NewPod = chain.Seen[corev1.Pod]{Unread: "forbidden", Needs: "create pods"}
			e.Provider = chain.Seen[chain.OIDCProvider]{Unread: "denied", Needs: "iam:GetOpenIDConnectProvider"}
			named(e.Pod.Value, "foo")
		}, code: chain.CodeStaleAudience, certainty: chain.Likely, says: "--token-audience"},
		"of a ServiceAccount alone": {change: func(e *chain.Evidence) {
			e.Subject = chain.Subject{Namespace: "shop", Account: "checkout"}
			named(e.NewPod.Value, "foo")
			accepted(e, "foo")
		}, verdict: chain.Healthy},
	} {
		t.Run(name, each.judged)
	}
}

// TestRolesThatAreNotInTheAnnotation are not judged as if there were none.
func TestRolesThatAreNotInTheAnnotation(t *testing.T) {
	for name, each := range map[string]misjudgedPod{
		"a file of keys":               {change: unbound(corev1.EnvVar{Name: "AWS_SHARED_CREDENTIALS_FILE", Value: "/keys"}), verdict: chain.Undetermined, says: "AWS_SHARED_CREDENTIALS_FILE"},
		"a config file":                {change: unbound(corev1.EnvVar{Name: "AWS_CONFIG_FILE", Value: "/config"}), verdict: chain.Undetermined, says: "AWS_CONFIG_FILE"},
		"a profile":                    {change: unbound(corev1.EnvVar{Name: "AWS_PROFILE", Value: "prod"}), verdict: chain.Undetermined, says: "AWS_PROFILE"},
		"an empty profile":             {change: unbound(corev1.EnvVar{Name: "AWS_PROFILE"}), code: chain.CodeNoRole, certainty: chain.Proved},
		"a variable from elsewhere":    {change: unbound(from("AWS_ROLE_ARN")), verdict: chain.Undetermined, says: "from ConfigMap settings"},
		"the same with an annotation":  {change: func(e *chain.Evidence) { app(e).Env[0] = from("AWS_ROLE_ARN") }, verdict: chain.Undetermined, says: "from ConfigMap settings"},
		"a variable that is expanded":  {change: func(e *chain.Evidence) { app(e).Env[0].Value = "arn:aws:iam::$(ACCOUNT):role/checkout" }, verdict: chain.Undetermined, says: "$(ACCOUNT)"},
		"the same and no annotation":   {change: unbound(corev1.EnvVar{Name: "AWS_ROLE_ARN", Value: "arn:aws:iam::$(ACCOUNT):role/checkout"}, corev1.EnvVar{Name: "AWS_WEB_IDENTITY_TOKEN_FILE", Value: tokenFile}), verdict: chain.Undetermined, says: "$(ACCOUNT)"},
		"variables that are not named": {change: func(e *chain.Evidence) { unbound()(e); envFrom(e) }, code: chain.CodeNoRole, certainty: chain.Likely, says: "envFrom"},
		"profiles of Tabard's": {change: func(e *chain.Evidence) {
			unbound()(e)
			e.Pod.Value.Annotations = map[string]string{"eks.amazonaws.com/role-profiles": "prod=" + roleARN}
		}, verdict: chain.Undetermined, says: "role-profiles"},
		"not injected, with variables that are not named": {change: func(e *chain.Evidence) {
			app(e).Env, e.Pod.Value.Spec.Volumes = nil, nil
			envFrom(e)
		}, code: chain.CodeNotInjected, certainty: chain.Likely, says: "envFrom"},
		"a pod that is over": {change: func(e *chain.Evidence) {
			app(e).Env[0].Value, e.Pod.Value.Status.Phase = roleARN+"-before", corev1.PodSucceeded
		}, verdict: chain.Healthy},
		"a sidecar before":                    {change: sidecar(0), verdict: chain.Healthy},
		"a sidecar behind":                    {change: sidecar(1), verdict: chain.Healthy},
		"a sidecar before one of former days": {change: func(e *chain.Evidence) { app(e).Env[0].Value = roleARN + "-before"; sidecar(0)(e) }, code: chain.CodeStaleRole, certainty: chain.Proved, says: "-before in container app"},
		"a sidecar behind one of former days": {change: func(e *chain.Evidence) { app(e).Env[0].Value = roleARN + "-before"; sidecar(1)(e) }, code: chain.CodeStaleRole, certainty: chain.Proved, says: "-before in container app"},
		"a second one that is told of no token": {change: func(e *chain.Evidence) {
			e.Pod.Value.Spec.Containers = append(e.Pod.Value.Spec.Containers, corev1.Container{Name: "second", Env: app(e).Env[:1]})
		}, code: chain.CodeNoToken, certainty: chain.Proved, says: "container second"},
	} {
		t.Run(name, each.judged)
	}
}

// TestKeysAndTokensOfPods judges what is there, and not what a variable's or a folder's name promises.
func TestKeysAndTokensOfPods(t *testing.T) {
	for name, each := range map[string]misjudgedPod{
		"keys that are empty": {change: plus(keys("", "")...), verdict: chain.Healthy},
		"keys in the pod":     {change: plus(keys("AKIAEXAMPLE", "hush")...), code: chain.CodeStaticKeys, certainty: chain.Proved, says: "in the pod's template", without: "hush"},
		"one key alone":       {change: plus(keys("AKIAEXAMPLE", "")...), code: chain.CodeStaticKeys, certainty: chain.Likely},
		"keys that are optional": {change: func(e *chain.Evidence) {
			for _, name := range []string{"AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"} {
				variable := from(name)
				variable.ValueFrom.ConfigMapKeyRef.Optional = new(true)
				plus(variable)(e)
			}
		}, code: chain.CodeStaticKeys, certainty: chain.Likely},
		"a token file from elsewhere":        {change: func(e *chain.Evidence) { app(e).Env[1] = from("AWS_WEB_IDENTITY_TOKEN_FILE") }, verdict: chain.Undetermined, says: "valueFrom"},
		"a token file that may be elsewhere": {change: func(e *chain.Evidence) { app(e).Env = app(e).Env[:1]; envFrom(e) }, verdict: chain.Undetermined, says: "envFrom"},
		"a token in the folder of another": {change: func(e *chain.Evidence) {
			byHand(e, apiFolder, apiFolder+"/aws-token")
			e.Pod.Value.Spec.Volumes[0].Projected.Sources[0].ServiceAccountToken.Path = "aws-token"
		}, verdict: chain.Healthy},
		"the API server's token": {change: func(e *chain.Evidence) {
			byHand(e, apiFolder, apiFolder+"/token")
			named(e.Pod.Value, "")
		}, code: chain.CodeAPIToken, certainty: chain.Likely},
		"the API server's token, and no volume is seen": {change: func(e *chain.Evidence) {
			app(e).Env[1].Value = apiFolder + "/token"
		}, code: chain.CodeAPIToken, certainty: chain.Proved},
		"Windows": {change: func(e *chain.Evidence) {
			app(e).Env[1].Value = "C:" + strings.ReplaceAll(tokenFile, "/", `\`)
			e.Pod.Value.Spec.NodeSelector = map[string]string{"kubernetes.io/os": "windows", "zone": "a"}
		}, verdict: chain.Healthy},
		"Windows with mounts of its own": {change: func(e *chain.Evidence) {
			byHand(e, `C:\own\`, `C:\own\token`)
			e.Pod.Value.Spec.NodeSelector = map[string]string{"beta.kubernetes.io/os": "windows"}
		}, verdict: chain.Healthy},
		"a mount of a file": {change: func(e *chain.Evidence) {
			byHand(e, "/own/token", "/own/token")
			app(e).VolumeMounts[0].SubPath = "token"
		}, code: chain.CodeTokenFixed, certainty: chain.Likely, says: "subPath of volume own"},
		"a mount of a folder": {change: func(e *chain.Evidence) {
			byHand(e, "/own", "/own/token")
			app(e).VolumeMounts[0].SubPath = "aws"
			e.Pod.Value.Spec.Volumes[0].Projected.Sources[0].ServiceAccountToken.Path = "aws/token"
		}, code: chain.CodeTokenFixed, certainty: chain.Likely, says: "without a subPath"},
	} {
		t.Run(name, each.judged)
	}
}

// TestCommandsFitTheWorkload: no template is changed that cannot be, and nothing is lost without a word.
func TestCommandsFitTheWorkload(t *testing.T) {
	static := plus(keys("AKIAEXAMPLE", "hush")...)
	secret := func(e *chain.Evidence) {
		e.Pod.Value.Spec.Volumes[0].VolumeSource = corev1.VolumeSource{Secret: &corev1.SecretVolumeSource{SecretName: "token"}}
	}
	stale := func(e *chain.Evidence) { app(e).Env[0].Value = roleARN + "-before" }
	for name, each := range map[string]misjudgedPod{
		"keys of a StatefulSet": {change: owned("StatefulSet", static), code: chain.CodeStaticKeys, certainty: chain.Proved, says: "set env statefulset/nightly -c app AWS_ACCESS_KEY_ID- AWS_SECRET_ACCESS_KEY-"},
		"keys of a Job":         {change: owned("Job", static), code: chain.CodeStaticKeys, certainty: chain.Proved, says: "Take AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY out of the template of job/nightly first.", without: "set env"},
		"keys of a ReplicaSet":  {change: owned("ReplicaSet", static), code: chain.CodeStaticKeys, certainty: chain.Proved, says: "replicaset/nightly first.", without: "set env"},
		"a Secret of a Job":     {change: owned("Job", secret), code: chain.CodeTokenFixed, certainty: chain.Likely, says: "kubectl -n shop delete pod", without: "set env"},
		"keys of a bare pod":    {change: owned("", static), code: chain.CodeStaticKeys, certainty: chain.Proved, says: "out of the pod's manifest first. Nothing makes this pod again: keep it first with kubectl -n shop get pod checkout-6d9c-x2k4p -o yaml > pod.yaml", without: "set env"},
		"a bare pod":            {change: owned("", stale), code: chain.CodeStaleRole, certainty: chain.Proved, says: "get pod checkout-6d9c-x2k4p -o yaml > pod.yaml"},
		"a pod of a Job":        {change: owned("Job", stale), code: chain.CodeStaleRole, certainty: chain.Proved, without: "pod.yaml"},
	} {
		t.Run(name, each.judged)
	}
}

// TestPruneKeepsNoValue that could be a secret, and keeps whether there is one.
func TestPruneKeepsNoValue(t *testing.T) {
	e := world()
	pod := e.Pod.Value.DeepCopy()
	pod.Spec.Containers[0].Env = append(pod.Spec.Containers[0].Env, keys("AKIAEXAMPLE", "")...)
	pod.Spec.NodeSelector = map[string]string{"kubernetes.io/os": "linux", "team": "hush"}
	kept := chain.Prune(pod)
	text := string(must.Get(json.Marshal(kept))(t))
	env := kept.Spec.Containers[0].Env
	if strings.Contains(text, "AKIA") || strings.Contains(text, "hush") || env[2].Value != "(set)" || env[3].Value != "" {
		t.Errorf("it is %s", text)
	}
}
