package capacity

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/iam"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/tabard-dev/tabard/internal/lab/sandbox"
	"github.com/tabard-dev/tabard/internal/testkit/must"
)

const (
	secretName = "aws-cloud-credentials"
	byRole     = "ec2 by arn:aws:sts::" + account + ":assumed-role/capacity"
)

func (s *site) checkCallers(t *testing.T, want ...string) {
	t.Helper()
	if got := s.callers(); !slices.Equal(got, want) {
		t.Errorf("calls %q, want %q", got, want)
	}
}

// secret is the one that MachineSets name.
func (s *site) secret(content map[string]string) *corev1.Secret {
	return &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: s.namespace, Name: secretName}, StringData: content}
}

// update gives the Secret another content.
func (s *site) update(t *testing.T, content map[string]string) {
	t.Helper()
	must.Do(t, s.Update(t.Context(), s.secret(content)))
}

// keys are a Secret as the Cloud Credential Operator mints it.
func keys(id, secret string) map[string]string {
	return map[string]string{
		"credentials":       "[default]\naws_access_key_id = " + id + "\naws_secret_access_key = " + secret + "\n",
		"aws_access_key_id": id, "aws_secret_access_key": secret,
	}
}

// testWebIdentity: it wins over keys in the environment and over a Secret that
// is named and does not even exist. The rotated token is what is exchanged next.
func testWebIdentity(t *testing.T, c *cluster) {
	s := c.webSite(t, "web-identity", "us-west-2")
	id, secret := s.makeKey(t, "ambient")
	s.env["AWS_ACCESS_KEY_ID"], s.env["AWS_SECRET_ACCESS_KEY"], s.env["AWS_PROFILE"] = id, secret, "somebody"
	s.rotateToken(t, c.token(t, "sts.amazonaws.com", 600))
	p := s.start(t)
	set := s.set(t, "workers", "m5.large", "us-west-2")
	s.awaitAnnotations(t, set, m5large())
	s.checkCallers(t, byRole, "sts by anonymous")

	// The first token is over, and the session with it.
	s.aws.Admin().SetTokenClockOffset(20 * time.Minute)
	s.aws.Admin().SetCredentialClockOffset(2 * time.Hour)
	s.become(t, set, "m6g.4xlarge", "eu-central-1")
	s.awaitTold(t, set, strings.ReplaceAll(waiting, "ROLE", s.role)+exchange+"ExpiredTokenException; ", "expired")
	s.checkAnnotations(t, set, m5large())
	s.aws.Admin().SetCredentialClockOffset(0)
	s.rotateToken(t, c.token(t, "sts.amazonaws.com", 3600))
	s.awaitAnnotations(t, set, m6g4xlarge())
	s.checkCallers(t, "ec2 by anonymous", byRole, "sts by anonymous")
	p.checkFiles(t)
	p.checkText(t, "the metrics", p.scrape(t))
}

// testSecret: without a web identity the Secret counts that a MachineSet names,
// in its own namespace. All that can be wrong with it is told, and each change
// counts at once.
func testSecret(t *testing.T, c *cluster) {
	s := c.site(t, "secret", "us-west-2")
	first, firstSecret := s.makeKey(t, "first")
	second, secondSecret := s.makeKey(t, "second")
	marked := filepath.Join(s.dir, "marked")
	// What is said at the highest verbosity holds no secret either.
	p := s.start(t, "-v=10")
	nobody := s.machines(t, "nobody", "", "{kind: AWSMachineProviderConfig, instanceType: m5.large}")
	s.In(t).Make(nobody)
	s.awaitEvent(t, nobody, "Warning ReconcileError: no AWS credentials configured for machineSet nobody: "+
		"neither IRSA environment variables nor credentialsSecret specified")

	set := s.set(t, "workers", "m5.large", "us-west-2")
	const name = "secret/aws-cloud-credentials"
	s.awaitEvent(t, set, "Warning ReconcileError: aws credentials secret "+name+`: secrets "aws-cloud-credentials" not found`)
	s.In(t).Make(s.secret(map[string]string{"aws_access_key_id": first}))
	s.awaitEvent(t, set, "Warning ReconcileError: invalid secret for aws credentials: Secret "+name+
		": missing or empty: aws_secret_access_key; give it both aws_access_key_id and aws_secret_access_key, or the key credentials")
	s.update(t, map[string]string{"credentials": "[default]\ncredential_process = /bin/sh -c 'touch " + marked + "'\n"})
	s.awaitEvent(t, set, "Warning ReconcileError: invalid secret for aws credentials: Secret "+name+
		": the key credentials: line 2 has a property that is not allowed: credential_process")
	s.update(t, map[string]string{"credentials": "[default]\nrole_arn = arn:aws:iam::" + account + ":role/x\nweb_identity_token_file = " + s.path("kubeconfig")})
	s.awaitEvent(t, set, "Warning ReconcileError: invalid secret for aws credentials: Secret "+name+
		": the key credentials: the value of web_identity_token_file is none of the token files that this process mounts for it: "+
		"/var/run/secrets/openshift/serviceaccount/token, /var/run/secrets/eks.amazonaws.com/serviceaccount/token")
	if got := s.callers(); len(got) > 0 {
		t.Errorf("AWS was called without credentials: %q", got)
	}

	s.update(t, map[string]string{"aws_access_key_id": first + "\n", "aws_secret_access_key": " " + firstSecret + "\n"})
	s.awaitAnnotations(t, set, m5large())
	s.checkCallers(t, "ec2 by arn:aws:iam::"+account+":user/first")

	// The key is replaced while it is in use, and is nobody's any more.
	must.Get(s.administrator().DeleteAccessKey(t.Context(), &iam.DeleteAccessKeyInput{UserName: aws.String("first"), AccessKeyId: &first}))(t)
	s.become(t, set, "m6g.4xlarge", "eu-central-1")
	s.awaitTold(t, set, "Warning ReconcileError: AWS credentials rejected: Secret "+name+": "+listing+"AuthFailure; ", "partition")
	s.checkAnnotations(t, set, m5large())
	s.aws.Admin().ClearJournal()
	s.update(t, keys(second, secondSecret))
	s.awaitAnnotations(t, set, m6g4xlarge())
	// What was tried with the old key meanwhile is nobody's.
	called := slices.DeleteFunc(s.callers(), func(call string) bool { return call == "ec2 by anonymous" })
	if want := []string{"ec2 by arn:aws:iam::" + account + ":user/second"}; !slices.Equal(called, want) {
		t.Errorf("calls %q, want %q", called, want)
	}
	if _, err := os.Stat(marked); err == nil {
		t.Error("the program of credential_process was run")
	}
	p.checkFiles(t)
	p.checkText(t, "the metrics", p.scrape(t))
	s.checkNeverUnknown(t, set)

	// A Secret that is gone is told though AWS need not be asked.
	must.Do(t, s.Delete(t.Context(), s.secret(nil)))
	late := s.set(t, "late", "m6g.4xlarge", "eu-central-1")
	s.awaitEvent(t, late, "Warning ReconcileError: aws credentials secret "+name+`: secrets "aws-cloud-credentials" not found`)
	s.In(t).Make(s.secret(keys(second, secondSecret)))
	s.awaitAnnotations(t, late, m6g4xlarge())

	// One that starts where the Secret is there already reads it as a whole; if
	// not by a watch, as at older API servers, then by lists, whose bodies client-go can log.
	p.End()
	s.env["KUBE_FEATURE_WatchListClient"] = "false"
	s.start(t, "-v=10")
	s.become(t, set, "m5.large", "us-west-1")
	s.awaitAnnotations(t, set, m5large())
}

// testTokenSecret: the Secret is one of the Cloud Credential Operator's manual
// mode, and names the token that the Deployment mounts.
func testTokenSecret(t *testing.T, c *cluster) {
	s := c.site(t, "token-secret", "us-west-2")
	s.makeRole(t, "openshift")
	s.In(t).Make(s.secret(map[string]string{"credentials": "[default]\nsts_regional_endpoints = regional\nrole_arn = " + s.role +
		"\nweb_identity_token_file = /var/run/secrets/openshift/serviceaccount/token\n"}))
	volume := s.path("volume")
	must.Do(t, os.Mkdir(volume, 0o700))
	p, prepared := s.prepare(t)
	root := t.TempDir()
	command, send, err := sandbox.Command(prepared.Path, []string{"lab", "run-init"}, sandbox.Spec{
		Root: root, Dir: prepared.Dir, Command: prepared.Args, Env: prepared.Env,
		Mounts: []sandbox.Mount{{Source: volume, Target: "/var/run/secrets/openshift/serviceaccount", ReadOnly: true}},
	})
	if err != nil {
		t.Fatal(err)
	}
	p.run(t, command)
	must.Do(t, send())
	set := s.set(t, "workers", "m5.large", "us-west-2")
	s.awaitEvent(t, set, "Warning ReconcileError: AWS credentials not available: Secret token-secret/aws-cloud-credentials: "+
		"the token file /var/run/secrets/openshift/serviceaccount/token: there is no such file; check the pod's projected volume")
	token := c.token(t, "openshift", 3600)
	s.secrets = append(s.secrets, token)
	must.Do(t, os.WriteFile(filepath.Join(volume, "token"), []byte(token), 0o600))
	s.awaitAnnotations(t, set, m5large())
	s.checkCallers(t, byRole, "sts by anonymous")
	s.checkNeverUnknown(t, set)
}

// testHalfIdentities: one of the two variables is an error before anything else,
// also beside a Secret that is fine.
func testHalfIdentities(t *testing.T, c *cluster) {
	for name, half := range map[string]struct{ variable, value, told string }{
		"role-alone":  {"AWS_ROLE_ARN", "arn:aws:iam::" + account + ":role/x", "AWS_ROLE_ARN is set but AWS_WEB_IDENTITY_TOKEN_FILE is missing"},
		"token-alone": {"AWS_WEB_IDENTITY_TOKEN_FILE", "/token", "AWS_WEB_IDENTITY_TOKEN_FILE is set but AWS_ROLE_ARN is missing"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := c.site(t, name, "us-west-2")
			s.In(t).Make(s.secret(keys(s.makeKey(t, "somebody"))))
			s.env[half.variable] = half.value
			s.start(t)
			with := s.set(t, "with", "m5.large", "us-west-2")
			without := s.machines(t, "without", "", "{kind: AWSMachineProviderConfig, instanceType: m5.large}")
			s.In(t).Make(without)
			for _, set := range []*unstructured.Unstructured{with, without} {
				s.awaitEvent(t, set, "Warning ReconcileError: "+half.told)
			}
			if got := s.callers(); len(got) > 0 {
				t.Errorf("AWS was called: %q", got)
			}
		})
	}
}
