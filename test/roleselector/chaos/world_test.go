package chaos

import (
	"context"
	"fmt"
	"net/url"
	"os/exec"
	"strings"
	"sync"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/s3"
	"k8s.io/client-go/rest"

	"github.com/tabard-dev/tabard/awslocal"
	"github.com/tabard-dev/tabard/examples/bucket-controller/bucket"
	"github.com/tabard-dev/tabard/internal/testkit"
	"github.com/tabard-dev/tabard/internal/testkit/must"
	base "github.com/tabard-dev/tabard/test/roleselector/world"
)

const (
	region = "eu-central-1"
	// ownerTag is how the controller marks buckets.
	ownerTag = bucket.OwnerTag
)

// accounts are the controller's and two of teams.
var accounts = []string{accountOf(ownRole), accountOf(alphaRole), accountOf(betaRole)}

// world is a cluster and three accounts.
type world struct {
	*base.World
	wire *wire
	*recorder
	chronicle

	journals sync.Mutex
	journal  []awslocal.Entry
	noted    map[string]bool
}

func newWorld(t *testing.T) *world {
	t.Helper()
	w := &world{noted: map[string]bool{}}
	w.World = base.Start(t, base.Options{Accounts: accounts, Region: region, CRDs: []string{testkit.CRDs}})
	for _, arn := range teamRoles {
		_, name, _ := strings.Cut(arn, ":role/")
		w.AWS.Role(accountOf(arn), name, w.AWS.Trust(), base.Everything)
	}
	w.MakeNamespaces(homes...)
	w.recorder = startRecorder(t, w.Dynamic)
	return w
}

// administrators are the callers that administer the accounts.
func administrators() (arns []string) {
	for _, account := range accounts {
		arns = append(arns, "arn:aws:iam::"+account+":user/administrator")
	}
	return arns
}

// control starts the controller behind a wire to the API server.
func (w *world) control() *testkit.Process {
	w.Helper()
	address := must.Get(url.Parse(w.Config.Host))(w)
	w.wire = startWire(w.recorder.t, address.Host)
	config := rest.CopyConfig(w.Config)
	config.Host = "https://" + w.wire.listener.Addr().String()
	command := exec.CommandContext(context.WithoutCancel(w.Context()), program,
		"--aws-region", region, "--feature-gates", "IAMRoleSelector=true", "--resync-period", "300ms")
	command.Env = []string{"AWS_EC2_METADATA_DISABLED=true", "HOME=" + w.TempDir()}
	for name, value := range w.Environment(config) {
		command.Env = append(command.Env, name+"="+value)
	}
	return testkit.StartProcess(w, command)
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
	w.Helper()
	all := map[string]inAWS{}
	for _, account := range accounts {
		for _, name := range w.AWS.Buckets(w, account) {
			objects := must.Get(w.AWS.S3(account).ListObjectsV2(w.Context(), &s3.ListObjectsV2Input{Bucket: &name}))(w)
			all[name] = inAWS{account, w.AWS.Tags(w, account, name), len(objects.Contents)}
		}
	}
	return all
}

// collect takes the calls since the last time out of the journal, which is bounded.
func (w *world) collect() {
	w.journals.Lock()
	defer w.journals.Unlock()
	for _, entry := range w.AWS.Admin().Journal() {
		if !w.noted[entry.RequestID] {
			w.noted[entry.RequestID] = true
			w.journal = append(w.journal, entry)
		}
	}
}
