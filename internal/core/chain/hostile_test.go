package chain_test

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/tabard-dev/tabard/internal/core/chain"
	"github.com/tabard-dev/tabard/internal/core/issuer"
	"github.com/tabard-dev/tabard/internal/testkit/must"
)

// TestNoCommandIsMoreThanItself puts text that a shell would run into everything that somebody else may
// have written, plants each fault, and types what is printed: of it nothing is run.
func TestNoCommandIsMoreThanItself(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"aws", "kubectl", "tabard"} {
		must.Do(t, os.WriteFile(filepath.Join(dir, name), []byte("#!/bin/sh\n"), 0o755)) //nolint:gosec // it is a program
	}
	canary := filepath.Join(dir, "canary")
	hostile := "x'; touch " + canary + "; $(touch " + canary + ") `touch " + canary + "` \" #\n touch " + canary + "\n"
	var script strings.Builder
	many := 0
	for name, each := range faults {
		for field, poison := range map[string]func(*chain.Evidence){
			"the owner": func(e *chain.Evidence) {
				e.Pod.Value.OwnerReferences[0].Kind, e.Pod.Value.OwnerReferences[0].Name = "StatefulSet", hostile
			},
			"the audience": func(e *chain.Evidence) { e.Account.Value.Annotations["eks.amazonaws.com/audience"] = hostile },
			"the pod's role": func(e *chain.Evidence) {
				e.Account.Value.Annotations, app(e).Env[0].Value, app(e).Env[1].Value = nil, hostile, "/var/run/secrets/kubernetes.io/serviceaccount/token"
			},
			"the issuer": func(e *chain.Evidence) { e.Issuer.Value = new("https://" + hostile) },
			"the published keys": func(e *chain.Evidence) {
				e.Published.Value.Held = []issuer.UsableKey{keyOne, {ID: hostile}}
				e.Published.Value.Discovery.Wrong, e.Published.Value.Discovery.Redirect = hostile, hostile
			},
			"the ServiceAccount's name": func(e *chain.Evidence) {
				e.Pod.Value.Spec.ServiceAccountName, e.Account.Value.Name, e.Subject.Account = hostile, hostile, hostile
			},
			"the issuer's host": func(e *chain.Evidence) {
				e.Issuer.Value = new("https://oidc.eks.$(touch${IFS}" + canary + ").amazonaws.com/'")
			},
			"the trust policy": func(e *chain.Evidence) {
				e.Role.Value.Trust = strings.ReplaceAll(e.Role.Value.Trust, "sts.amazonaws.com", strings.Trim(string(must.Get(json.Marshal(hostile))(t)), `"`))
			},
			"the policies": func(e *chain.Evidence) {
				e.Policies.Value.Inline[0].Name, e.Policies.Value.Attached[0].Name = hostile, "arn:aws:iam::"+hostile
			},
			"the boundary":  func(e *chain.Evidence) { e.Role.Value.Boundary = hostile },
			"the call":      func(e *chain.Evidence) { asks(e, hostile, hostile) },
			"the container": func(e *chain.Evidence) { app(e).Name = hostile },
			"the hook": func(e *chain.Evidence) {
				h := &(*e.Hooks.Value)[0]
				h.Configuration, h.Name, h.Namespace, h.Service = hostile, "pod-identity"+hostile, hostile, hostile
			},
			"the hook's selectors": func(e *chain.Evidence) {
				h := &(*e.Hooks.Value)[0]
				h.Namespaces, h.Objects = &metav1.LabelSelector{MatchLabels: map[string]string{hostile: hostile}}, &metav1.LabelSelector{MatchLabels: map[string]string{hostile: hostile}}
			},
			"the hook's values": func(e *chain.Evidence) {
				h := &(*e.Hooks.Value)[0]
				h.Configuration, h.Name, h.Namespaces = hostile, "pod-identity", &metav1.LabelSelector{MatchLabels: map[string]string{"a": hostile}}
			},
			"a Secret": func(e *chain.Evidence) {
				e.Pod.Value.Spec.Volumes[0].VolumeSource = corev1.VolumeSource{Secret: &corev1.SecretVolumeSource{SecretName: hostile}}
			},
		} {
			e := copyOf(t, world())
			poison(&e)
			func() {
				defer func() { // a fault may have nothing to change in what was poisoned
					if r := recover(); r != nil {
						t.Logf("%s with %s: %v", name, field, r)
					}
				}()
				each.plant(&e)
			}()
			for _, step := range chain.Explain(e).Links {
				for _, f := range step.Findings {
					for _, command := range append(f.Mend, f.Verify) {
						many++
						script.WriteString(command + "\n")
					}
				}
			}
		}
	}
	typed := exec.CommandContext(t.Context(), "/bin/sh", "-s")
	typed.Stdin, typed.Env, typed.Dir = strings.NewReader(script.String()), []string{"PATH=" + dir + ":/usr/bin:/bin"}, dir
	if said, err := typed.CombinedOutput(); err != nil {
		t.Errorf("%v: %s", err, said)
	}
	if _, err := os.Stat(canary); err == nil || many < 300 {
		t.Errorf("of %d commands, one has run what somebody wrote into an object (%v)", many, err)
	}
}
