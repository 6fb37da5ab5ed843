package inject_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tabard-dev/tabard/internal/core/inject"
)

const roleARN = "arn:aws:iam::111122223333:role/app"

func optedIn() setup {
	given := newSetup()
	given.Annotations = map[string]string{"eks.amazonaws.com/role-arn": roleARN}
	return given
}

func TestPatchIsMinimalToTheByte(t *testing.T) {
	t.Parallel()
	pod := `{"spec":{"serviceAccountName":"app","volumes":[],"containers":[{"env":[{}],"volumeMounts":[{}]}]}}`
	want := `[{"op":"add","path":"/spec/volumes/0","value":{"name":"aws-iam-token","projected":{"sources":[{"serviceAccountToken":` +
		`{"audience":"sts.amazonaws.com","expirationSeconds":86400,"path":"token"}}]}}},` +
		`{"op":"add","path":"/spec/containers/0/env/-","value":{"name":"AWS_ROLE_ARN","value":"` + roleARN + `"}},` +
		`{"op":"add","path":"/spec/containers/0/env/-","value":{"name":"AWS_WEB_IDENTITY_TOKEN_FILE","value":"/var/run/secrets/eks.amazonaws.com/serviceaccount/token"}},` +
		`{"op":"add","path":"/spec/containers/0/volumeMounts/-","value":{"name":"aws-iam-token","readOnly":true,"mountPath":"/var/run/secrets/eks.amazonaws.com/serviceaccount"}}]`
	result := injected(t, optedIn(), []byte(pod))
	if diff := cmp.Diff(want, string(result.Patch)); diff != "" {
		t.Errorf("patch (-want +got):\n%s", diff)
	}
}

func TestRoleARN(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		arn  string
		want inject.Reason
	}{
		"a role":                          {roleARN, inject.Injected},
		"a role with a path":              {"arn:aws:iam::111122223333:role/a/b/app@x+y=z,w", inject.Injected},
		"a role of another partition":     {"arn:aws-us-iso-b:iam::111122223333:role/app", inject.Injected},
		"no annotation value":             {"", inject.NotOptedIn},
		"a user":                          {"arn:aws:iam::111122223333:user/app", inject.MalformedRoleARN},
		"a session of a role":             {"arn:aws:sts::111122223333:assumed-role/app/x", inject.MalformedRoleARN},
		"a region in the ARN":             {"arn:aws:iam:us-east-1:111122223333:role/app", inject.MalformedRoleARN},
		"a short account":                 {"arn:aws:iam::11112222333:role/app", inject.MalformedRoleARN},
		"letters in the account":          {"arn:aws:iam::11112222333x:role/app", inject.MalformedRoleARN},
		"no name":                         {"arn:aws:iam::111122223333:role/", inject.MalformedRoleARN},
		"a blank at the end":              {roleARN + " ", inject.MalformedRoleARN},
		"a cloud that is not AWS":         {"arn:azure:iam::111122223333:role/app", inject.MalformedRoleARN},
		"a partition of capital letters":  {"arn:awsX:iam::111122223333:role/app", inject.MalformedRoleARN},
		"a variable instead of a name":    {"arn:aws:iam::111122223333:role/$(NAME)", inject.MalformedRoleARN},
		"a line break, quoted in the end": {"arn:aws:iam::111122223333:role/\nx", inject.MalformedRoleARN},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			given := optedIn()
			given.Annotations["eks.amazonaws.com/role-arn"] = test.arn
			result := injected(t, given, []byte(`{"spec":{"serviceAccountName":"app","containers":[{"name":"app"}]}}`))
			if result.Reason != test.want {
				t.Errorf("reason %s, want %s", result.Reason, test.want)
			}
			if warned := len(result.Warnings) > 0; warned != (test.want == inject.MalformedRoleARN) {
				t.Errorf("warnings %q", result.Warnings)
			}
			if (result.Patch != nil) != (test.want == inject.Injected) {
				t.Errorf("patch %s", result.Patch)
			}
			if strings.ContainsAny(strings.Join(result.Warnings, ""), "\n") {
				t.Errorf("a warning of several lines: %q", result.Warnings)
			}
		})
	}
}

func TestReadRefusesWhatIsNoPod(t *testing.T) {
	t.Parallel()
	tests := map[string]struct{ pod, want string }{
		"an array":                        {`[]`, "the object's spec is absent, expected a pod's"},
		"an object without spec":          {`{"kind":"ConfigMap"}`, "the object's spec is absent, expected a pod's"},
		"containers by name":              {`{"spec":{"serviceAccountName":"app","containers":{}}}`, "spec.containers is an object, expected an array"},
		"an init container that is null":  {`{"spec":{"serviceAccountName":"app","initContainers":[null]}}`, "spec.initContainers[0] is null, expected an object"},
		"a container that is a string":    {`{"spec":{"serviceAccountName":"app","containers":[{},"x"]}}`, "spec.containers[1] is a string, expected an object"},
		"an environment that is a number": {`{"spec":{"serviceAccountName":"app","containers":[{"env":1}]}}`, "spec.containers[0].env is a number, expected an array"},
		"a variable that is a boolean":    {`{"spec":{"serviceAccountName":"app","containers":[{"env":[true]}]}}`, "spec.containers[0].env[] is a boolean, expected an object"},
		"a mount that is a string":        {`{"spec":{"serviceAccountName":"app","containers":[{"volumeMounts":["x"]}]}}`, "spec.containers[0].volumeMounts[] is a string, expected an object"},
		"mounts that are a string":        {`{"spec":{"serviceAccountName":"app","containers":[{"volumeMounts":"x"}]}}`, "spec.containers[0].volumeMounts is a string, expected an array"},
		"a volume that is a string":       {`{"spec":{"serviceAccountName":"app","volumes":["x"]}}`, "spec.volumes[] is a string, expected an object"},
		"metadata that is a string":       {`{"metadata":"x","spec":{}}`, "metadata is a string, expected an object"},
		"labels that are an array":        {`{"metadata":{"labels":[]},"spec":{}}`, "metadata.labels is an array, expected an object"},
		"annotations that are a number":   {`{"metadata":{"annotations":1},"spec":{}}`, "metadata.annotations is a number, expected an object"},
		"a security context as a string":  {`{"spec":{"securityContext":"x"}}`, "spec.securityContext is a string, expected an object"},
		"an account that is a number":     {`{"spec":{"serviceAccountName":1}}`, "spec.serviceAccountName is a number, expected a string"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			injector, err := inject.New(inject.Defaults())
			if err != nil {
				t.Fatal(err)
			}
			subject, _ := optedIn().parse()
			_, err = decide(injector, subject, []byte(test.pod))
			if err == nil || err.Error() != test.want {
				t.Errorf("error %v, want %s", err, test.want)
			}
		})
	}
}

func TestNewRefusesSettings(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		change func(*inject.Settings)
		want   string
	}{
		"without a prefix":                {func(s *inject.Settings) { s.AnnotationPrefix = "" }, `--annotation-prefix is ""`},
		"without an audience":             {func(s *inject.Settings) { s.Audience = "" }, "--token-audience is empty"},
		"without a mount path":            {func(s *inject.Settings) { s.MountPath = "" }, "--token-mount-path is"},
		"with a colon in the mount path":  {func(s *inject.Settings) { s.MountPath = `C:\x` }, "--token-mount-path is"},
		"with a prefix that is no name":   {func(s *inject.Settings) { s.AnnotationPrefix = "a/b" }, `--annotation-prefix is "a/b"`},
		"with a short account":            {func(s *inject.Settings) { s.ComposeAccount, s.Partition = "123", "aws" }, `--account-id is "123", expected the 12 digits`},
		"composing without partition":     {func(s *inject.Settings) { s.ComposeAccount = "111122223333" }, "partition is empty"},
		"with a mode that is none":        {func(s *inject.Settings) { s.TokenFileMode = 0o1000 }, "--token-file-mode is 01000"},
		"with a negative group":           {func(s *inject.Settings) { s.FSGroup = -1 }, "--fs-group is -1"},
		"without the other audience":      {func(s *inject.Settings) { s.ContainerCredentials.Audience = "" }, "--container-credentials-audience is empty"},
		"without the other mount path":    {func(s *inject.Settings) { s.ContainerCredentials.MountPath = "" }, "--container-credentials-token-mount-path is"},
		"with a volume name that is none": {func(s *inject.Settings) { s.ContainerCredentials.VolumeName = "A b" }, "--container-credentials-token-volume-name is"},
		"with a token outside its volume": {func(s *inject.Settings) { s.ContainerCredentials.TokenPath = "a/../../b" }, "--container-credentials-token-path is"},
		"with an absolute token":          {func(s *inject.Settings) { s.ContainerCredentials.TokenPath = "/a" }, "--container-credentials-token-path is"},
		"without a URI":                   {func(s *inject.Settings) { s.ContainerCredentials.FullURI = "" }, "--container-credentials-full-uri is empty"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			settings := inject.Defaults()
			test.change(&settings)
			if _, err := inject.New(settings); err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("error %v, want %s", err, test.want)
			}
		})
	}
}

func TestRegionalSTSValues(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		values  []string
		setting bool
		want    bool
	}{
		"what is true turns it on":         {[]string{"1", "t", "T", "TRUE", "true", "True"}, false, true},
		"what is false turns it off":       {[]string{"0", "f", "F", "FALSE", "false", "False"}, true, false},
		"anything else leaves it on":       {[]string{"", "yes", "no", "tRUE", " true", "2"}, true, true},
		"anything else leaves it off, too": {[]string{"", "yes", "on", "tRUE", " true", "2"}, false, false},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, value := range test.values {
				given := optedIn()
				given.Settings.RegionalSTS = test.setting
				given.Annotations["eks.amazonaws.com/sts-regional-endpoints"] = value
				result := injected(t, given, []byte(`{"spec":{"serviceAccountName":"app","containers":[{}]}}`))
				if got := strings.Contains(string(result.Patch), "AWS_STS_REGIONAL_ENDPOINTS"); got != test.want {
					t.Errorf("%q: injected %t, want %t", value, got, test.want)
				}
			}
		})
	}
}

func TestJitterCoversTwoHours(t *testing.T) {
	t.Parallel()
	for number, want := range map[int64]string{0: `"expirationSeconds":79200,`, 7200: `"expirationSeconds":86400,`} {
		given := newSetup()
		given.Identities = `{"identities":[{"namespace":"shop","serviceAccount":"app"}]}`
		given.Settings.Jitter = func(n int64) int64 {
			if n != 7201 {
				t.Errorf("a random number below %d, want 7201", n)
			}
			return number
		}
		result := injected(t, given, []byte(`{"spec":{"serviceAccountName":"app"}}`))
		if !strings.Contains(string(result.Patch), want) {
			t.Errorf("patch %s, want %s", result.Patch, want)
		}
	}
}
