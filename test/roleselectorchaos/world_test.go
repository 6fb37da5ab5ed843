package roleselectorchaos

import (
	"context"
	"crypto/x509"
	"fmt"
	"maps"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/iam"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"
	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/tabard-dev/tabard/awslocal"
	"github.com/tabard-dev/tabard/internal/testkit"
)

const (
	region   = "eu-central-1"
	audience = "sts.amazonaws.com"
	// ownerTag is how the controller marks buckets.
	ownerTag = "tabard.dev/bucket-uid"
)

// accounts are the controller's and two of teams.
var accounts = []string{accountOf(ownRole), accountOf(alphaRole), accountOf(betaRole)}

// world is a cluster and three accounts.
type world struct {
	t       *testing.T
	dir     string
	server  *testkit.APIServer
	client  dynamic.Interface
	clients kubernetes.Interface
	aws     *awslocal.Server
	wire    *wire
	*recorder
	chronicle

	journals sync.Mutex
	journal  []awslocal.Entry
	noted    map[string]bool
}

func newWorld(t *testing.T) *world {
	t.Helper()
	w := &world{t: t, dir: t.TempDir(), noted: map[string]bool{}}
	var roots *x509.CertPool
	w.server, roots = testkit.StartIssuer(t)
	w.server.InstallCRDs(t)
	w.server.InstallCRDsFrom(t, filepath.Join(testkit.Root(), "examples", "bucket-controller", "manifests", "crd.yaml"))
	config := rest.CopyConfig(w.server.Config)
	var err error
	if w.client, err = dynamic.NewForConfig(config); err != nil {
		t.Fatal(err)
	}
	if w.clients, err = kubernetes.NewForConfig(config); err != nil {
		t.Fatal(err)
	}
	if w.aws, err = awslocal.New(awslocal.Options{Accounts: accounts, Region: region, TrustedCAs: roots}); err != nil {
		t.Fatal(err)
	}
	if err = w.aws.Start("127.0.0.1:0"); err == nil {
		err = w.aws.StartPlain("127.0.0.1:0")
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := w.aws.Close(context.WithoutCancel(t.Context())); err != nil {
			t.Error(err)
		}
	})
	w.makeRoles()
	for _, name := range append(slices.Clone(homes), "ack-system") {
		w.must(w.clients.CoreV1().Namespaces().Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}}, metav1.CreateOptions{}))
	}
	w.recorder = startRecorder(t, w.client)
	return w
}

// must ends the test on an error.
func (w *world) must(_ any, err error) {
	w.t.Helper()
	if err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) write(file string, content []byte) string {
	w.t.Helper()
	path := filepath.Join(w.dir, file)
	if err := os.WriteFile(path, content, 0o600); err != nil {
		w.t.Fatal(err)
	}
	return path
}

func (w *world) administrator(account string) aws.Config {
	key := w.aws.Administrator(account)
	return aws.Config{
		Region: region, BaseEndpoint: aws.String(w.aws.PlainURL()),
		Credentials: credentials.NewStaticCredentialsProvider(key.AccessKeyID, key.SecretAccessKey, ""),
	}
}

// administrators are the callers that administrator makes.
func administrators() (arns []string) {
	for _, account := range accounts {
		arns = append(arns, "arn:aws:iam::"+account+":user/administrator")
	}
	return arns
}

// makeRoles lets the controller be its own role, and that be all others.
func (w *world) makeRoles() {
	w.t.Helper()
	bare := strings.TrimPrefix(w.server.Issuer(), "https://")
	w.must(iam.NewFromConfig(w.administrator(accountOf(ownRole))).CreateOpenIDConnectProvider(w.t.Context(), &iam.CreateOpenIDConnectProviderInput{
		Url: aws.String(w.server.Issuer()), ClientIDList: []string{audience},
	}))
	w.makeRole(ownRole, fmt.Sprintf(`"Action":"sts:AssumeRoleWithWebIdentity","Principal":{"Federated":"arn:aws:iam::%s:oidc-provider/%s"},
		"Condition":{"StringEquals":{"%s:aud":%q}}`, accountOf(ownRole), bare, bare, audience))
	for _, role := range teamRoles {
		w.makeRole(role, fmt.Sprintf(`"Action":"sts:AssumeRole","Principal":{"AWS":%q}`, ownRole))
	}
}

// makeRole makes a role that some trust, and that may do everything with buckets.
func (w *world) makeRole(arn, trust string) {
	w.t.Helper()
	client := iam.NewFromConfig(w.administrator(accountOf(arn)))
	_, name, _ := strings.Cut(arn, ":role/")
	w.must(client.CreateRole(w.t.Context(), &iam.CreateRoleInput{
		RoleName: &name, AssumeRolePolicyDocument: aws.String(`{"Version":"2012-10-17","Statement":[{"Effect":"Allow",` + trust + `}]}`),
	}))
	w.must(client.PutRolePolicy(w.t.Context(), &iam.PutRolePolicyInput{
		RoleName: &name, PolicyName: aws.String("all"),
		PolicyDocument: aws.String(`{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Action":["s3:*","sts:AssumeRole"],"Resource":"*"}]}`),
	}))
}

// control starts the controller behind a wire to the API server.
func (w *world) control() *testkit.Process {
	w.t.Helper()
	address, err := url.Parse(w.server.Config.Host)
	if err != nil {
		w.t.Fatal(err)
	}
	w.wire = startWire(w.t, address.Host)
	config := rest.CopyConfig(w.server.Config)
	config.Host = "https://" + w.wire.listener.Addr().String()
	kubeconfig := w.write("kubeconfig", nil)
	testkit.WriteKubeconfig(w.t, kubeconfig, config)
	command := exec.CommandContext(context.WithoutCancel(w.t.Context()), program,
		"--aws-region", region, "--feature-gates", "IAMRoleSelector=true", "--resync-period", "300ms")
	command.Env = []string{
		"KUBECONFIG=" + kubeconfig, "ACK_SYSTEM_NAMESPACE=ack-system", "AWS_REGION=" + region,
		"AWS_ROLE_ARN=" + ownRole, "AWS_ROLE_SESSION_NAME=controller", "AWS_WEB_IDENTITY_TOKEN_FILE=" + w.write("token", []byte(w.token())),
		"AWS_ENDPOINT_URL=" + w.aws.URL(), "AWS_CA_BUNDLE=" + w.write("ca.pem", w.aws.CACertificate()),
		"AWS_EC2_METADATA_DISABLED=true", "HOME=" + w.dir,
	}
	return testkit.StartProcess(w.t, command)
}

func (w *world) token() string {
	w.t.Helper()
	_, err := w.clients.CoreV1().ServiceAccounts("ack-system").Create(w.t.Context(), &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Name: "controller"}}, metav1.CreateOptions{})
	w.must(nil, err)
	seconds := int64(24 * time.Hour / time.Second)
	made, err := w.clients.CoreV1().ServiceAccounts("ack-system").CreateToken(w.t.Context(), "controller", &authenticationv1.TokenRequest{
		Spec: authenticationv1.TokenRequestSpec{Audiences: []string{audience}, ExpirationSeconds: &seconds},
	}, metav1.CreateOptions{})
	w.must(made, err)
	return made.Status.Token
}

// inAWS is a bucket as an administrator sees it.
type inAWS struct {
	account string
	tags    map[string]string
	objects int
}

// String is the same for the same bucket.
func (b inAWS) String() string { return fmt.Sprint(b.account, b.tags, b.objects) }

// stock is all buckets of all accounts, by name.
func (w *world) stock() map[string]inAWS {
	w.t.Helper()
	all := map[string]inAWS{}
	for _, account := range accounts {
		client := w.bucketsOf(account)
		list, err := client.ListBuckets(w.t.Context(), &s3.ListBucketsInput{})
		w.must(list, err)
		for _, each := range list.Buckets {
			found := inAWS{account: account, tags: map[string]string{}}
			// Without tags there is an error, and no tags either.
			if tagging, err := client.GetBucketTagging(w.t.Context(), &s3.GetBucketTaggingInput{Bucket: each.Name}); err == nil {
				for _, tag := range tagging.TagSet {
					found.tags[*tag.Key] = *tag.Value
				}
			}
			objects, err := client.ListObjectsV2(w.t.Context(), &s3.ListObjectsV2Input{Bucket: each.Name})
			w.must(objects, err)
			found.objects = len(objects.Contents)
			all[*each.Name] = found
		}
	}
	return all
}

func (w *world) bucketsOf(account string) *s3.Client {
	return s3.NewFromConfig(w.administrator(account), func(o *s3.Options) { o.UsePathStyle = true })
}

// foreign makes a bucket that is nothing of the controller's.
func (w *world) foreign(account, name string, tags map[string]string, withObject bool) {
	w.t.Helper()
	client := w.bucketsOf(account)
	w.must(client.CreateBucket(w.t.Context(), &s3.CreateBucketInput{
		Bucket: &name, CreateBucketConfiguration: &types.CreateBucketConfiguration{LocationConstraint: region},
	}))
	if withObject {
		w.must(client.PutObject(w.t.Context(), &s3.PutObjectInput{Bucket: &name, Key: aws.String("precious"), Body: strings.NewReader("gold")}))
	}
	if len(tags) == 0 {
		return
	}
	var set []types.Tag
	for _, tag := range slices.Sorted(maps.Keys(tags)) {
		set = append(set, types.Tag{Key: &tag, Value: aws.String(tags[tag])})
	}
	w.must(client.PutBucketTagging(w.t.Context(), &s3.PutBucketTaggingInput{Bucket: &name, Tagging: &types.Tagging{TagSet: set}}))
}

// collect takes the calls since the last time out of the journal, which is bounded.
func (w *world) collect() {
	w.journals.Lock()
	defer w.journals.Unlock()
	for _, entry := range w.aws.Admin().Journal() {
		if !w.noted[entry.RequestID] {
			w.noted[entry.RequestID] = true
			w.journal = append(w.journal, entry)
		}
	}
}
