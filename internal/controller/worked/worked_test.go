package worked_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/go-logr/logr"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"

	"github.com/tabard-dev/tabard/awsauth"
	"github.com/tabard-dev/tabard/awsauth/identity"
	"github.com/tabard-dev/tabard/awslocal"
	"github.com/tabard-dev/tabard/internal/cloud"
	"github.com/tabard-dev/tabard/internal/cloud/bucket"
	"github.com/tabard-dev/tabard/internal/core/condition"
	"github.com/tabard-dev/tabard/internal/testkit"
	"github.com/tabard-dev/tabard/internal/testkit/must"
	core "github.com/tabard-dev/tabard/internal/testkit/worked"
)

const account = "123456789012"

var operator = identity.Identity{Base: identity.Session, Region: "us-west-2"}

// startAWS starts a local AWS, and makes this process its administrator.
func startAWS(t *testing.T) (*awslocal.Server, *bucket.Buckets) {
	t.Helper()
	aws := must.Get(awslocal.New(awslocal.Options{Accounts: []string{account}, Region: operator.Region}))(t)
	must.Do(t, aws.Start("127.0.0.1:0"))
	t.Cleanup(func() { _ = aws.Close(context.WithoutCancel(t.Context())) })
	ca, admin := filepath.Join(t.TempDir(), "ca.crt"), aws.Administrator(account)
	must.Do(t, os.WriteFile(ca, aws.CACertificate(), 0o600))
	environment := map[string]string{
		"AWS_ENDPOINT_URL": aws.URL(), "AWS_CA_BUNDLE": ca,
		"AWS_ACCESS_KEY_ID": admin.AccessKeyID, "AWS_SECRET_ACCESS_KEY": admin.SecretAccessKey,
	}
	for name, value := range environment {
		t.Setenv(name, value)
	}
	auth := must.Get(awsauth.New(awsauth.Options{Getenv: os.Getenv, ReadFile: os.ReadFile, Now: time.Now}))(t)
	return aws, bucket.New(auth)
}

// fixture is the worked example on a real API server and a local AWS.
type fixture struct {
	*testkit.Cluster
	aws     *awslocal.Server
	buckets *bucket.Buckets
	metrics string
}

func serve(t *testing.T) *fixture {
	t.Helper()
	ctrl.SetLogger(logr.Discard())
	f := &fixture{metrics: fmt.Sprintf("127.0.0.1:%d", testkit.FreePort(t))}
	f.aws, f.buckets = startAWS(t)
	f.Cluster = testkit.StartCluster(t, testkit.ClusterOptions{
		Issuer: "https://issuer.example.com", CRDs: []string{"internal/testkit/worked/testdata/mailbox.yaml"},
		Schemes: []func(*runtime.Scheme) error{core.AddToScheme},
	})
	mgr := must.Get(ctrl.NewManager(f.Config, ctrl.Options{Scheme: f.Scheme(), Metrics: metricsserver.Options{BindAddress: f.metrics}}))(t)
	must.Do(t, Add(mgr, f.buckets, operator))
	testkit.RunManager(t, mgr)
	return f
}

// make creates a Mailbox, and waits for what its condition says.
func (f *fixture) make(t *testing.T, name, says string) *core.Mailbox {
	t.Helper()
	mailbox := &core.Mailbox{ObjectMeta: metav1.ObjectMeta{Name: name}}
	f.Make(mailbox)
	f.Await(func() error {
		err := f.Get(t.Context(), client.ObjectKeyFromObject(mailbox), mailbox)
		v, _ := condition.Read(mailbox.Status.Conditions, "Ready")
		if got := string(v.Status) + " " + string(v.Reason) + ": " + v.Message; err == nil && got != says {
			return fmt.Errorf("Ready is %q, want %q", got, says)
		}
		return err
	})
	return mailbox
}

// remove deletes a Mailbox, and waits until it is gone.
func (f *fixture) remove(t *testing.T, mailbox *core.Mailbox) {
	t.Helper()
	f.Remove(mailbox)
	f.Await(func() error {
		err := f.Get(t.Context(), client.ObjectKeyFromObject(mailbox), mailbox)
		if apierrors.IsNotFound(err) {
			return nil
		}
		return fmt.Errorf("%s is there still, with the finalizers %q: %w", mailbox.Name, mailbox.Finalizers, errors.Join(err))
	})
}

// wantBucket demands that a bucket is there with an owner; an empty one is no bucket.
func (f *fixture) wantBucket(t *testing.T, name, owner string) {
	t.Helper()
	seen, err := f.buckets.Get(t.Context(), operator, cloud.Bucket{Name: name, AccountID: account})
	if err != nil || seen.Exists != (owner != "") || seen.Tags[core.OwnerTag] != owner {
		t.Errorf("the bucket %s is %+v, %v; want the owner %q", name, seen, err, owner)
	}
}

// TestTheWorkedExampleRuns tells the lives of three objects: of one whose bucket AWS refuses
// at first, of one whose bucket is somebody else's, and of one that gets its own.
func TestTheWorkedExampleRuns(t *testing.T) {
	f := serve(t)
	must.Do(t, f.buckets.Create(t.Context(), operator, cloud.Bucket{Name: "tabard-theirs"}, cloud.Tag{Key: core.OwnerTag, Value: "somebody"}))
	f.aws.Admin().ClearJournal()

	f.aws.Admin().Inject(awslocal.Fault{Service: "s3", Operation: "CreateBucket", Code: "AccessDenied"})
	refused := f.make(t, "refused", "False Refused: S3 CreateBucket: AccessDenied: Access Denied")
	f.remove(t, refused)
	f.aws.Admin().ClearFaults()

	theirs := f.make(t, "theirs", "False Foreign: bucket tabard-theirs is there, and not this object's")
	mail := f.make(t, "mail", "True Made: bucket tabard-mail exists")
	f.wantBucket(t, "tabard-mail", "mail")
	if len(mail.Finalizers) != 1 || mail.Status.Bucket != "tabard-mail" {
		t.Errorf("the finalizers are %q, the status %+v", mail.Finalizers, mail.Status)
	}
	f.wantMetrics(t, `tabard_controller_conditions{condition="Ready",controller="mailbox",status="True"} 1`,
		`tabard_controller_steps_total{controller="mailbox",result="blocked",step="Make"} `,
		`tabard_controller_pass_seconds_count{controller="mailbox"}`)

	f.remove(t, theirs)
	f.remove(t, mail)
	f.wantBucket(t, "tabard-mail", "")
	f.wantBucket(t, "tabard-theirs", "somebody")
	for _, call := range f.aws.Admin().Journal() {
		if strings.HasSuffix(call.Resource, ":tabard-theirs") && !strings.HasPrefix(call.Operation, "Get") && call.Operation != "HeadBucket" {
			t.Errorf("the bucket of somebody else was not only read: %+v", call)
		}
	}
}

// wantMetrics demands lines of what is served.
func (f *fixture) wantMetrics(t *testing.T, lines ...string) {
	t.Helper()
	answer, err := http.Get("http://" + f.metrics + "/metrics") //nolint:noctx // the process ends with the test
	must.Do(t, err)
	defer answer.Body.Close() //nolint:errcheck // nothing was written
	served := must.Get(io.ReadAll(answer.Body))(t)
	for _, line := range lines {
		if !strings.Contains(string(served), "\n"+line) {
			t.Errorf("%s is not among the metrics:\n%s", line, served)
		}
	}
}

// TestTheWorkedExampleIsSmall holds shell and fuzz to what docs/development.md promises.
func TestTheWorkedExampleIsSmall(t *testing.T) {
	lines := 0
	for _, path := range []string{"controller_test.go", "crash_test.go"} {
		text := must.Get(os.ReadFile(path))(t)
		lines += strings.Count(string(text), "\n")
	}
	if lines > 150 {
		t.Errorf("the controller takes %d lines beside its decisions and its kind, want at most 150", lines)
	}
}
