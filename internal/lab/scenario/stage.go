package scenario

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/iam"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/sts"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"github.com/tabard-dev/tabard/awslocal"
	"github.com/tabard-dev/tabard/internal/lab"
)

// Stage is a lab in which scenarios are played, one at a time.
type Stage struct {
	Lab lab.Lab
	// Self is this program's own file.
	Self string
	// Say tells what is done, a line a call.
	Say func(format string, args ...any)
}

// shop is the workload that is broken, and all that is needed to break it.
type shop struct {
	Stage
	kube   kubernetes.Interface
	folder awslocal.Folder
	iam    *iam.Client
	s3     *s3.Client
	sts    *sts.Client
	// issuer is the lab's issuer without its scheme, provider the ARN of its OIDC provider.
	issuer, provider, role string
}

// open reads how to reach the lab's cluster and its local AWS: no other is ever written to.
func (s Stage) open() (*shop, error) {
	kube, err := s.Lab.Client()
	if err != nil {
		return nil, err
	}
	folder := awslocal.Folder{Dir: s.Lab.Path("aws"), URL: s.Lab.AWSURL(), AdminTokenFile: s.Lab.Path("aws", "admin-token")}
	key, err := folder.Administrator(lab.AccountID)
	if err != nil {
		return nil, fmt.Errorf("%w; is the lab up? tabard lab status says so", err)
	}
	plain, err := folder.Client()
	if err != nil {
		return nil, err
	}
	config := aws.Config{
		Region: lab.Region, BaseEndpoint: aws.String(s.Lab.AWSURL()), HTTPClient: plain,
		Credentials: credentials.NewStaticCredentialsProvider(key.AccessKeyID, key.SecretAccessKey, ""),
	}
	out := &shop{Stage: s, kube: kube, folder: folder, iam: iam.NewFromConfig(config), s3: s3.NewFromConfig(config), sts: sts.NewFromConfig(config)}
	out.issuer = strings.TrimPrefix(s.Lab.IssuerURL(), "https://")
	out.provider = "arn:aws:iam::" + lab.AccountID + ":oidc-provider/" + out.issuer
	out.role = "arn:aws:iam::" + lab.AccountID + ":role/" + RoleName
	return out, nil
}

// Play sets the stage anew, plants a scenario, and returns what the workload sees then.
func (s Stage) Play(ctx context.Context, name string) (Scenario, Answer, error) {
	scenario, err := Find(name)
	if err != nil {
		return scenario, Answer{}, err
	}
	at, err := s.open()
	if err != nil {
		return scenario, Answer{}, err
	}
	s.Say("setting the stage: a Deployment, its ServiceAccount and its role, of which all is well")
	if err := at.set(ctx, scenario); err != nil {
		return scenario, Answer{}, err
	}
	answer, err := at.call(ctx)
	if err == nil && !answer.Well {
		err = fmt.Errorf("before anything was broken, pod %s/%s is refused: %s", Namespace, answer.Pod, answer.Text)
	}
	if err != nil {
		return scenario, Answer{}, err
	}
	s.Say("%s: %s", scenario.Name, scenario.Title)
	if err := scenario.plant(at, ctx); err != nil {
		return scenario, Answer{}, fmt.Errorf("plant %s: %w", scenario.Name, err)
	}
	answer, err = at.call(ctx)
	return scenario, answer, err
}

// Call is what the workload sees now.
func (s Stage) Call(ctx context.Context) (Answer, error) {
	at, err := s.open()
	if err != nil {
		return Answer{}, err
	}
	return at.call(ctx)
}

// End takes away what scenarios made, and puts back what they changed.
func (s Stage) End(ctx context.Context) error {
	at, err := s.open()
	if err != nil {
		return err
	}
	made, err := at.isMade(ctx)
	if err == nil {
		err = at.putBack(ctx)
	}
	if err != nil || !made {
		return err
	}
	if err := errors.Join(at.deleteRole(ctx, RoleName), at.deleteRole(ctx, NodeRoleName), at.deleteBucket(ctx)); err != nil {
		return err
	}
	return at.deleteNamespace(ctx)
}

// isMade says whether scenarios have made anything: their namespace is what they make first and delete
// last. One of this name that is somebody's own is an error, and so are roles without it.
func (s *shop) isMade(ctx context.Context) (bool, error) {
	found, err := s.kube.CoreV1().Namespaces().Get(ctx, Namespace, metav1.GetOptions{})
	if err == nil {
		if _, marked := found.Annotations[callKey]; !marked {
			return false, fmt.Errorf("the lab has a namespace %s that no scenario has made: delete it, or use another lab", Namespace)
		}
		return true, nil
	}
	if !apierrors.IsNotFound(err) {
		return false, err
	}
	for _, name := range []string{RoleName, NodeRoleName} {
		if _, err := s.iam.GetRole(ctx, &iam.GetRoleInput{RoleName: &name}); !isAbsent(err) {
			return false, errors.Join(fmt.Errorf("the lab has a role %s that no scenario has made: delete it, or use another lab", name), err)
		}
	}
	return false, nil
}

// set makes everything that a scenario needs, and puts back what another one changed.
func (s *shop) set(ctx context.Context, scenario Scenario) error {
	if _, err := s.isMade(ctx); err != nil {
		return err
	}
	namespace := func(ctx context.Context) error { return s.namespace(ctx, scenario.Call) }
	for _, step := range []func(context.Context) error{s.prepared, s.putBack, namespace, s.roles} {
		if err := step(ctx); err != nil {
			return err
		}
	}
	if scenario.Call != "" {
		if err := s.bucket(ctx); err != nil {
			return err
		}
	}
	return s.workload(ctx)
}

// pause is long enough for the time of an object, which has whole seconds, to be another one.
func pause(ctx context.Context) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(1100 * time.Millisecond):
		return nil
	}
}
