package credentials

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/iam"
	"github.com/go-logr/logr"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/rest"
	ctrl "sigs.k8s.io/controller-runtime"

	"github.com/tabard-dev/tabard/awslocal"
	"github.com/tabard-dev/tabard/hack/load/measure"
	"github.com/tabard-dev/tabard/hack/load/oidc"
	"github.com/tabard-dev/tabard/internal/lab"
)

const (
	account        = "123456789012"
	region         = "us-east-1"
	infrastructure = "load"
	system         = "tabard-system"
	user           = "system:serviceaccount:" + system + ":tabard-credentials"
	boundaryARN    = "arn:aws:iam::" + account + ":policy/tabard/boundary"
	minter         = "minter"
)

// bed is where the program is measured.
type bed struct {
	settings settings
	folder   string
	// served is the cluster with the requests, host the one with the lease; they may be one.
	served, host lab.Lab
	ups          []string
	config       *rest.Config
	objects      metadata.Interface
	kube         kubernetes.Interface
	issuer       *oidc.Issuer
	aws          *measure.Program
	awsURL       string
	adminToken   string
	iam          *iam.Client
}

func (b *bed) open(ctx context.Context) error {
	ctrl.SetLogger(logr.Discard())
	for _, path := range []*string{&b.settings.tabard, &b.settings.localkube} {
		absolute, err := filepath.Abs(*path)
		if err != nil {
			return err
		}
		*path = absolute
	}
	if err := b.openClusters(ctx); err != nil {
		return err
	}
	var err error
	if b.issuer, err = oidc.New(); err != nil {
		return err
	}
	if err := b.openAWS(ctx); err != nil {
		return err
	}
	return b.prepareAWS(ctx)
}

func (b *bed) openClusters(ctx context.Context) error {
	var err error
	if b.served, err = b.cluster(ctx, "served"); err != nil {
		return err
	}
	b.host = b.served
	if b.settings.apart {
		if b.host, err = b.cluster(ctx, "host"); err != nil {
			return err
		}
	}
	if b.config, err = b.served.ClientConfig(); err != nil {
		return err
	}
	b.config.QPS = -1
	if b.objects, err = metadata.NewForConfig(b.config); err != nil {
		return err
	}
	b.kube, err = kubernetes.NewForConfig(b.config)
	return err
}

// cluster starts a control plane with what users apply of the controller.
func (b *bed) cluster(ctx context.Context, name string) (lab.Lab, error) {
	dir := filepath.Join(b.folder, name)
	b.ups = append(b.ups, dir)
	up, err := lab.Up(ctx, lab.UpOptions{Dir: dir, Localkube: b.settings.localkube, Tabard: b.settings.tabard, Out: &bytes.Buffer{}})
	if err != nil {
		return up, err
	}
	if err := apply(ctx, up, "{apiVersion: v1, kind: Namespace, metadata: {name: "+system+"}}"); err != nil {
		return up, err
	}
	kinds, err := filepath.Glob("config/crd/*.yaml")
	if err != nil {
		return up, err
	}
	for _, file := range append(kinds, "config/rbac/credentials.yaml", "config/manifests/credentials/controller.yaml") {
		text, err := os.ReadFile(file)
		if err != nil {
			return up, err
		}
		if err := apply(ctx, up, string(text)); err != nil {
			return up, err
		}
	}
	return up, kubectl(ctx, up, "", "wait", "--for=condition=Established", "crd", "--all")
}

// apply applies manifests, as an administrator with kubectl.
func apply(ctx context.Context, to lab.Lab, manifests string) error {
	return kubectl(ctx, to, manifests, "apply", "--server-side", "-f", "-")
}

func kubectl(ctx context.Context, to lab.Lab, input string, args ...string) error {
	command := exec.CommandContext(ctx, to.Path("bin", "kubectl"), append([]string{"--kubeconfig", to.Kubeconfig()}, args...)...)
	command.Stdin = strings.NewReader(input)
	if out, err := command.CombinedOutput(); err != nil {
		return fmt.Errorf("kubectl %s: %w\n%s", args[0], err, out)
	}
	return nil
}

// openAWS starts a local AWS that has room for the roles.
func (b *bed) openAWS(ctx context.Context) error {
	port, err := measure.Port()
	if err != nil {
		return err
	}
	dir := filepath.Join(b.folder, "aws")
	b.awsURL = "http://127.0.0.1:" + port
	b.aws, err = measure.Start(exec.CommandContext(ctx, b.settings.tabard, "awslocal", "--listen=", "--listen-plain=127.0.0.1:"+port, "--dir="+dir,
		"--account="+account, "--region="+region, "--roles-per-account="+strconv.Itoa(b.settings.requests+1000), "--log-level=error"))
	if err != nil {
		return err
	}
	if err := b.aws.Await(ctx, time.Minute, "the local AWS listens", func() bool { return measure.Listens(ctx, port) }); err != nil {
		return err
	}
	token, err := os.ReadFile(filepath.Join(dir, "admin-token"))
	if err != nil {
		return err
	}
	b.adminToken = strings.TrimSpace(string(token))
	text, err := os.ReadFile(filepath.Join(dir, "administrators.json"))
	if err != nil {
		return err
	}
	var keys map[string]aws.Credentials
	if err := json.Unmarshal(text, &keys); err != nil {
		return err
	}
	b.iam = iam.New(iam.Options{Region: region, BaseEndpoint: &b.awsURL, Credentials: credentials.StaticCredentialsProvider{Value: keys[account]}})
	return nil
}

// prepareAWS makes what an administrator makes: the provider, the boundary, the minter.
func (b *bed) prepareAWS(ctx context.Context) error {
	provider := "arn:aws:iam::" + account + ":oidc-provider/" + b.issuer.Bare()
	trust := fmt.Sprintf(`{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Action":"sts:AssumeRoleWithWebIdentity","Principal":{"Federated":%q},
		"Condition":{"StringEquals":{"%[2]s:sub":%[3]q,"%[2]s:aud":"sts.amazonaws.com"}}}]}`, provider, b.issuer.Bare(), user)
	_, registered := b.iam.CreateOpenIDConnectProvider(ctx, &iam.CreateOpenIDConnectProviderInput{
		Url: &b.issuer.URL, ClientIDList: []string{"sts.amazonaws.com"}, ThumbprintList: []string{b.issuer.Thumbprint()},
	})
	own := b.served.IssuerURL() // of which the cluster's tokens are, whoever signs the program's
	_, known := b.iam.CreateOpenIDConnectProvider(ctx, &iam.CreateOpenIDConnectProviderInput{
		Url: &own, ClientIDList: []string{"sts.amazonaws.com"}, ThumbprintList: []string{b.issuer.Thumbprint()},
	})
	_, bounded := b.iam.CreatePolicy(ctx, &iam.CreatePolicyInput{PolicyName: aws.String("boundary"), Path: aws.String("/tabard/"), PolicyDocument: aws.String(allow("s3:*"))})
	_, made := b.iam.CreateRole(ctx, &iam.CreateRoleInput{RoleName: aws.String(minter), AssumeRolePolicyDocument: &trust})
	_, allowed := b.iam.PutRolePolicy(ctx, &iam.PutRolePolicyInput{RoleName: aws.String(minter), PolicyName: aws.String("mint"), PolicyDocument: aws.String(allow("iam:*"))})
	return errors.Join(registered, known, bounded, made, allowed)
}

func allow(action string) string {
	return fmt.Sprintf(`{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Action":%q,"Resource":"*"}]}`, action)
}

// journal are the calls of AWS after the one of an ID.
func (b *bed) journal(ctx context.Context, since string) (out []awslocal.Entry, err error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, b.awsURL+"/_awslocal/journal?since="+since, nil)
	if err != nil {
		return nil, err
	}
	request.Header.Set("Authorization", "Bearer "+b.adminToken)
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return nil, err
	}
	defer func() { _ = response.Body.Close() }() // it is only read
	if response.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("read the journal: %s", response.Status)
	}
	return out, json.NewDecoder(response.Body).Decode(&out)
}

func (b *bed) close(ctx context.Context) error {
	if b.aws != nil {
		b.aws.Stop()
	}
	if b.issuer != nil {
		b.issuer.Close()
	}
	var err error
	for _, dir := range b.ups {
		err = errors.Join(err, lab.Down(ctx, lab.DownOptions{Dir: dir, Out: &bytes.Buffer{}}))
	}
	return err
}
