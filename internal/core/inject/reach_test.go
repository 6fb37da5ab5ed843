package inject_test

import (
	"fmt"
	"path"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/json"

	"github.com/tabard-dev/tabard/internal/core/inject"
	"github.com/tabard-dev/tabard/internal/core/inject/podpatch"
)

// tokenVariables are those by which containers look for a token, and the file where
// the token is; empty for that which the variable names.
var tokenVariables = map[string]string{
	"AWS_WEB_IDENTITY_TOKEN_FILE":            "",
	"AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE": "",
	"AZURE_FEDERATED_TOKEN_FILE":             "",
	"GOOGLE_APPLICATION_CREDENTIALS":         "/var/run/secrets/sts.googleapis.com/serviceaccount/token",
}

// checkReach demands that a container which was told of a token by us really finds one
// there, or that the result says that it does not. It reads pods as Kubernetes does,
// and orders mounts as runtimes do, by nothing of ours. Without an audience any will do.
func checkReach(t *testing.T, before, after []byte, result inject.Result, audience string) {
	t.Helper()
	var was, is corev1.Pod
	if json.Unmarshal(before, &was) != nil || json.Unmarshal(after, &is) != nil || !valid(is) {
		return // no pod that an API server would take
	}
	said := slices.Contains([]inject.Reason{inject.TokenNotMounted, inject.MalformedRoleARN, inject.BadMapping}, result.Reason)
	check := func(was, is []corev1.Container) {
		for i, container := range is {
			for name, file := range tokenVariables {
				told := valueOf(container, name)
				if told == "" || valueOf(was[i], name) != "" {
					continue
				}
				if file == "" {
					file = told
				}
				if !finds(is[i], after, file, audience, strings.HasPrefix(told, `C:\`)) && !said {
					t.Errorf("container %q is told of %s %s, and there is none; reason %s, pod %s", container.Name, name, told, result.Reason, after)
				}
			}
		}
	}
	check(was.Spec.Containers, is.Spec.Containers)
	check(was.Spec.InitContainers, is.Spec.InitContainers)
}

// valid says that no two volumes have one name.
func valid(pod corev1.Pod) bool {
	names := map[string]bool{}
	for _, volume := range pod.Spec.Volumes {
		if names[volume.Name] {
			return false
		}
		names[volume.Name] = true
	}
	return true
}

func valueOf(container corev1.Container, name string) (value string) {
	for _, variable := range container.Env {
		if variable.Name == name {
			value = variable.Value
			if variable.ValueFrom != nil {
				value = "from elsewhere"
			}
		}
	}
	return value
}

// finds says whether a container of a pod finds a token in a file.
func finds(container corev1.Container, pod []byte, file, audience string, windows bool) bool {
	unix := func(text string) string {
		if windows {
			text = strings.TrimPrefix(strings.ReplaceAll(strings.ToLower(text), `\`, "/"), "c:")
		}
		return path.Clean("/" + text)
	}
	var all corev1.Pod
	if json.Unmarshal(pod, &all) != nil {
		return false
	}
	mounts := slices.Clone(container.VolumeMounts)
	slices.SortStableFunc(mounts, func(a, b corev1.VolumeMount) int {
		return strings.Count(unix(a.MountPath), "/") - strings.Count(unix(b.MountPath), "/")
	})
	file, found := unix(file), false
	for _, mount := range mounts {
		at := unix(mount.MountPath)
		if at != file && !strings.HasPrefix(file, strings.TrimSuffix(at, "/")+"/") {
			continue
		}
		within := path.Join(mount.SubPath, strings.TrimPrefix(file, at))
		found = mount.SubPathExpr == "" && slices.ContainsFunc(all.Spec.Volumes, func(v corev1.Volume) bool {
			return v.Name == mount.Name && v.Projected != nil && isToken(v.Projected.Sources, unix(within), audience, unix)
		})
	}
	return found
}

func isToken(sources []corev1.VolumeProjection, file, audience string, unix func(string) string) (is bool) {
	for _, source := range sources {
		if token := source.ServiceAccountToken; token != nil && unix(token.Path) == file {
			is = token.Audience != "" && (audience == "" || token.Audience == audience)
		}
		if secret := source.Secret; secret != nil && len(secret.Items) == 0 && strings.Count(file, "/") == 1 {
			is = false
		}
	}
	return is
}

// TestTheCheckOfTokensFindsALie: a container is told of a token that is not there.
func TestTheCheckOfTokensFindsALie(t *testing.T) {
	t.Parallel()
	const file = "/var/run/secrets/eks.amazonaws.com/serviceaccount/token"
	token := []byte(`{"spec":{"volumes":[{"name":"t","projected":{"sources":[{"serviceAccountToken":{"audience":"a","path":"token"}}]}},{"name":"e","emptyDir":{}}]}}`)
	at := func(name, mountPath string) corev1.VolumeMount {
		return corev1.VolumeMount{Name: name, MountPath: mountPath}
	}
	for name, c := range map[string]struct {
		mounts   []corev1.VolumeMount
		audience string
		want     bool
	}{
		"a token":                   {[]corev1.VolumeMount{at("t", path.Dir(file))}, "a", true},
		"of another audience":       {[]corev1.VolumeMount{at("t", path.Dir(file))}, "b", false},
		"no mount":                  {nil, "", false},
		"an empty folder":           {[]corev1.VolumeMount{at("e", path.Dir(file))}, "", false},
		"something above":           {[]corev1.VolumeMount{at("t", path.Dir(file)), at("e", "/var/run")}, "", true},
		"something over it":         {[]corev1.VolumeMount{at("e", file), at("t", path.Dir(file))}, "", false},
		"something else afterwards": {[]corev1.VolumeMount{at("t", path.Dir(file)), at("e", path.Dir(file)+"/")}, "", false},
	} {
		if got := finds(corev1.Container{VolumeMounts: c.mounts}, token, file, c.audience, false); got != c.want {
			t.Errorf("%s: found %t, want %t", name, got, c.want)
		}
	}
}

// TestPodsOfManyPartsAreDecidedAtOnce: as many volumes and mounts as a review may have,
// and as many containers as a pod may have, each of which has to be looked at. Looking for all of one in all of
// another would take minutes.
func TestPodsOfManyPartsAreDecidedAtOnce(t *testing.T) {
	t.Parallel()
	const file = "/var/run/secrets/eks.amazonaws.com/serviceaccount/token"
	var volumes, containers, mounts []string
	for i := range 12_000 {
		name := fmt.Sprintf("aws-iam-token-tabard-%d", i)
		volumes = append(volumes, fmt.Sprintf(`{"name":%q,"emptyDir":{}}`, name))
		if i < podpatch.MaxContainers-1 {
			containers = append(containers, fmt.Sprintf(`{"name":"c%d","volumeMounts":[{"name":%q,"mountPath":%q}]}`, i, name, file))
		}
		mounts = append(mounts, fmt.Sprintf(`{"name":%q,"mountPath":"/var"}`, name))
	}
	containers = append(containers, `{"name":"all","volumeMounts":[`+strings.Join(mounts, ",")+`]}`)
	pod := `{"spec":{"serviceAccountName":"app","volumes":[{"name":"aws-iam-token"},{"name":"aws-iam-token-tabard"},` + strings.Join(volumes, ",") + `],"containers":[` + strings.Join(containers, ",") + `]}}`
	given := optedIn()
	injector, subject := given.aws(t), given.subject(t)
	decided := make(chan inject.Reason, 1)
	go func() {
		result, _ := decide(injector, subject, []byte(pod))
		decided <- result.Reason
	}()
	select {
	case reason := <-decided:
		if reason != inject.TokenNotMounted {
			t.Errorf("a pod of %d bytes: %s", len(pod), reason)
		}
	case <-time.After(time.Minute):
		t.Fatalf("a pod of %d bytes is not decided after a minute", len(pod))
	}
}
