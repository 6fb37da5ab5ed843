package e2e

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/service/sts"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/dynamic"

	"github.com/tabard-dev/tabard/api/identity/v1alpha1"
	"github.com/tabard-dev/tabard/internal/testkit/onlab"
)

const (
	system = "tabard-system"
	// IssuerName is the OIDCIssuer that the lab writes a manifest for.
	IssuerName = "lab"
)

// bootstrap installs Tabard and runs the one command that needs a person.
func (s *Story) bootstrap(ctx context.Context) error {
	if err := s.install(ctx); err != nil {
		return err
	}
	out, err := s.RunTabard(ctx, "issuer", "bootstrap", "-f", s.IssuerManifest())
	if err != nil {
		return err
	}
	s.say("%s", out)
	config, err := s.kube.CoreV1().ConfigMaps(system).Get(ctx, "tabard-issuer", metav1.GetOptions{})
	if err != nil {
		return err
	}
	s.operator = config.Data["roleARN"]
	if !strings.HasPrefix(s.operator, "arn:aws:iam::"+s.AccountID+":role/") {
		return fmt.Errorf("the ConfigMap %s/tabard-issuer names role %q, expected one in account %s", system, s.operator, s.AccountID)
	}
	return nil
}

// IssuerManifest is the file of the OIDCIssuer that the lab has written.
func (s *Story) IssuerManifest() string { return filepath.Join(s.Dir, "manifests", "issuer.yaml") }

// detach starts a container's command in the background, as its kubelet would.
func (s *Story) detach(ctx context.Context, name, target string, args ...string) error {
	return s.detachIn(ctx, system, name, target, args...)
}

// detachIn does so in another namespace.
func (s *Story) detachIn(ctx context.Context, namespace, name, target string, args ...string) error {
	_, err := s.Manage(ctx, "run", append([]string{"-n", namespace, target, "--detach", name, "--", s.Tabard}, args...)...)
	return err
}

// startOperator starts the issuer's controller, applies the OIDCIssuer, and
// shows who calls AWS and with what.
func (s *Story) startOperator(ctx context.Context) error {
	if err := s.DetachIssuer(ctx); err != nil {
		return err
	}
	if _, err := s.Kubectl(ctx, "apply", "-f", s.IssuerManifest()); err != nil {
		return err
	}
	if err := s.IssuerReady(ctx); err != nil {
		return err
	}
	if err := s.withoutKeys(ctx); err != nil {
		return err
	}
	return s.operatorInJournal(ctx)
}

// withoutKeys looks at the operator's environment as the kernel has it.
func (s *Story) withoutKeys(ctx context.Context) error {
	status, err := s.Status(ctx)
	if err != nil {
		return err
	}
	pid, err := status.PID("tabard-issuer.command")
	if err != nil {
		return err
	}
	env, err := environmentOf(pid)
	if err != nil {
		return err
	}
	var found []string
	for _, assignment := range env {
		if name, _, _ := strings.Cut(assignment, "="); strings.HasPrefix(name, "AWS_") {
			found = append(found, name)
		}
	}
	slices.Sort(found)
	s.say("the operator (process %d) has of AWS: %s", pid, strings.Join(found, " "))
	if slices.Contains(found, "AWS_ACCESS_KEY_ID") || slices.Contains(found, "AWS_SECRET_ACCESS_KEY") {
		return errors.New("the operator's environment holds an access key")
	}
	if !slices.Contains(env, "AWS_ROLE_ARN="+s.operator) {
		return fmt.Errorf("the operator's environment does not name its role %s", s.operator)
	}
	return nil
}

// DetachIssuer runs the issuer's controller as its Deployment's pod would.
func (s *Story) DetachIssuer(ctx context.Context) error {
	return s.detach(ctx, "tabard-issuer", "deployment/tabard-issuer",
		"operator", "--controllers=issuer", "--metrics-bind-address=0", "--health-probe-bind-address=0")
}

// IssuerReady waits for the OIDCIssuer and prints its conditions.
func (s *Story) IssuerReady(ctx context.Context) error {
	var issuer v1alpha1.OIDCIssuer
	err := onlab.Eventually(ctx, onlab.Patience, func(ctx context.Context) error {
		var err error
		if issuer, err = s.Issuer(ctx); err != nil {
			return err
		}
		return wantConditions(issuer.Status.Conditions, "IssuerPublished", "KeysInSync", "ProviderReady", "Ready")
	})
	for _, c := range issuer.Status.Conditions {
		s.say("%-16s %-6s %s: %s", c.Type, c.Status, c.Reason, c.Message)
	}
	return err
}

// Issuer is the OIDCIssuer as it is stored.
func (s *Story) Issuer(ctx context.Context) (v1alpha1.OIDCIssuer, error) {
	var out v1alpha1.OIDCIssuer
	client, err := dynamic.NewForConfig(s.rest)
	if err != nil {
		return out, err
	}
	stored, err := client.Resource(v1alpha1.GroupVersion.WithResource("oidcissuers")).Get(ctx, IssuerName, metav1.GetOptions{})
	if err != nil {
		return out, err
	}
	text, err := stored.MarshalJSON()
	if err != nil {
		return out, err
	}
	return out, json.Unmarshal(text, &out)
}

func wantConditions(conditions []metav1.Condition, types ...string) error {
	found := map[string]metav1.Condition{}
	for _, c := range conditions {
		found[c.Type] = c
	}
	for _, name := range types {
		if c := found[name]; c.Status != metav1.ConditionTrue {
			return fmt.Errorf("condition %s is %q (%s: %s), expected True", name, c.Status, c.Reason, c.Message)
		}
	}
	return nil
}

// operatorInJournal demands that the operator's calls were signed by a session
// of its own role.
func (s *Story) operatorInJournal(ctx context.Context) error {
	entries, err := s.Journal(ctx)
	if err != nil {
		return err
	}
	role := s.operator[strings.LastIndex(s.operator, "/")+1:]
	prefix := "arn:aws:sts::" + s.AccountID + ":assumed-role/" + role + "/"
	operations := map[string]bool{}
	caller := ""
	for _, entry := range entries {
		if strings.HasPrefix(entry.Caller, prefix) {
			operations[entry.Operation] = true
			caller = entry.Caller
		}
	}
	if caller == "" {
		return fmt.Errorf("no call in the journal was signed by %s…", prefix)
	}
	s.say("the journal shows %d kinds of calls by %s", len(operations), caller)
	return nil
}

// stsClient is an STS client that signs nothing.
func (s *Story) stsClient() (*sts.Client, error) {
	config, err := s.Config(nil)
	if err != nil {
		return nil, err
	}
	return sts.NewFromConfig(config), nil
}
