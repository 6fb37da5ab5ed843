package docs

import (
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"net/http"
	"path"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/aws/smithy-go"
	smithyhttp "github.com/aws/smithy-go/transport/http"

	"github.com/tabard-dev/tabard/awsauth"
	authfault "github.com/tabard-dev/tabard/awsauth/fault"
	"github.com/tabard-dev/tabard/awsauth/identity"
	"github.com/tabard-dev/tabard/internal/cloud"
	"github.com/tabard-dev/tabard/internal/core/capacity"
	"github.com/tabard-dev/tabard/internal/core/fault"
	"github.com/tabard-dev/tabard/internal/core/instancetype"
	"github.com/tabard-dev/tabard/internal/testkit/must"
)

const roleARN = "arn:aws:iam::" + account + ":role/tabard-capacity"

// machineAPI is a MachineSet of the Machine API with AWS's answer, changed.
func machineAPI(change func(*capacity.World)) capacity.World {
	w := capacity.World{
		Object: capacity.Object{
			Kind: capacity.MachineAPIMachineSet, Namespace: "openshift-machine-api", Name: "workers", Version: "7",
			ProviderSpec: []byte(`{"kind":"AWSMachineProviderConfig","instanceType":"m5.large","placement":{"region":"eu-central-1"}}`),
		},
		Credentials: capacity.Credentials{Method: "IRSA with role " + roleARN},
		Answer: instancetype.Answer{
			State: instancetype.Found, Type: instancetype.Type{Name: "m5.large", VCPUs: 2, MemoryMiB: 8192, Architecture: instancetype.AMD64},
		},
	}
	change(&w)
	return w
}

// clusterAPI is the same with a MachineDeployment.
func clusterAPI(change func(*capacity.World)) capacity.World {
	return machineAPI(func(w *capacity.World) {
		w.Object.Kind, w.Object.ClusterName = capacity.MachineDeployment, "demo"
		w.Object.Infrastructure = capacity.Ref{APIGroup: "infrastructure.cluster.x-k8s.io", Kind: "AWSMachineTemplate", Name: "workers"}
		w.Template, w.ClusterRegion = &capacity.Template{InstanceType: "m5.large"}, "eu-central-1"
		change(w)
	})
}

// answered is a world in which AWS answers so.
func answered(state instancetype.State) capacity.World {
	return machineAPI(func(w *capacity.World) { w.Answer = instancetype.Answer{State: state} })
}

// failed is a world in which a call fails so.
func failed(f *fault.Fault) capacity.World {
	return machineAPI(func(w *capacity.World) { w.Answer, w.Fault = instancetype.Answer{}, f })
}

// refused is a fault as the SDK tells it.
func refused(service, operation, code string, status int) *fault.Fault {
	return cloud.Classify(service, operation, &smithy.OperationError{
		ServiceID: service, OperationName: operation, Err: &smithyhttp.ResponseError{
			Response: &smithyhttp.Response{Response: &http.Response{StatusCode: status}},
			Err:      &smithy.GenericAPIError{Code: code, Message: "text"},
		},
	})
}

// worlds are one for each row of the table of events.
func worlds(t *testing.T) map[string]capacity.World {
	t.Helper()
	described := func(code string, status int) capacity.World {
		return failed(refused("EC2", "DescribeInstanceTypes", code, status))
	}
	exchanged := func(code string) capacity.World {
		return failed(refused("STS", "AssumeRoleWithWebIdentity", code, http.StatusForbidden))
	}
	provider := func(spec string) capacity.World {
		return machineAPI(func(w *capacity.World) { w.Object.ProviderSpec = []byte(spec) })
	}
	found := map[string]capacity.World{
		"annotated": machineAPI(func(*capacity.World) {}),
		"a wrong architecture": machineAPI(func(w *capacity.World) {
			w.Object.Annotations = map[string]string{capacity.LabelsKey: "kubernetes.io/arch=arm64"}
			w.Object.Owners = map[string][]capacity.Owner{capacity.LabelsKey: {{Manager: "kubectl"}}}
		}),
		"another's value": machineAPI(func(w *capacity.World) {
			w.Object.Annotations = map[string]string{capacity.VCPUKey: "7"}
			w.Object.Owners = map[string][]capacity.Owner{capacity.VCPUKey: {{Manager: "kubectl-annotate"}}}
		}),
		"a copy": clusterAPI(func(w *capacity.World) {
			w.Object.Annotations = map[string]string{
				capacity.VCPUKey: "32", capacity.MemoryKey: "249856", "capacity.cluster-autoscaler.kubernetes.io/gpu-count": "4",
			}
			w.Object.Owners = map[string][]capacity.Owner{}
			for key := range w.Object.Annotations {
				w.Object.Owners[key] = []capacity.Owner{{Manager: "kubectl-create"}}
			}
			w.Answer.Like = "p3.8xlarge"
		}),
		"unknown type":          answered(instancetype.Unknown),
		"incomplete type":       answered(instancetype.Incomplete),
		"no such region":        answered(instancetype.RegionInvalid),
		"not opted in":          answered(instancetype.RegionNotOptedIn),
		"no template":           clusterAPI(func(w *capacity.World) { w.Template = nil }),
		"template without name": clusterAPI(func(w *capacity.World) { w.Object.Infrastructure.Name = "" }),
		"template elsewhere":    clusterAPI(func(w *capacity.World) { w.Object.Infrastructure.Namespace = "other" }),
		"empty template":        clusterAPI(func(w *capacity.World) { w.Template.InstanceType = "" }),
		"no region":             clusterAPI(func(w *capacity.World) { w.ClusterRegion = "" }),
		"empty provider spec":   provider(`{"kind":"AWSMachineProviderConfig"}`),
		"no region in it":       provider(`{"kind":"AWSMachineProviderConfig","instanceType":"m5.large"}`),
		"bad provider spec":     provider(`{"kind":"AWSMachineProviderConfig","instanceType":7}`),
		"throttled":             described("RequestLimitExceeded", http.StatusServiceUnavailable),
		"server error":          described("InternalError", http.StatusInternalServerError),
		"network":               failed(cloud.Classify("EC2", "DescribeInstanceTypes", context.DeadlineExceeded)),
		"certificate":           failed(cloud.Classify("EC2", "DescribeInstanceTypes", x509.UnknownAuthorityError{})),
		"denied":                described("UnauthorizedOperation", http.StatusForbidden),
		"regions denied":        failed(refused("EC2", "DescribeRegions", "UnauthorizedOperation", http.StatusForbidden)),
		"odd":                   described("InvalidAction", http.StatusBadRequest),
		"trust":                 exchanged("AccessDenied"),
		"token expired":         exchanged("ExpiredTokenException"),
		"nothing configured":    machineAPI(func(w *capacity.World) { w.Credentials.Missing = true }),
	}
	maps.Copy(found, bySelector())
	for name, text := range problems(t) {
		found[name] = machineAPI(func(w *capacity.World) { w.Credentials.Problem = text })
	}
	for name, err := range unusable(t) {
		found[name] = failed(cloud.Classify("EC2", "DescribeInstanceTypes", err))
	}
	return found
}

// problems are what is wrong with who asks, found before anybody is asked.
func problems(t *testing.T) map[string]string {
	t.Helper()
	_, noToken := identity.Decide(identity.Environment{RoleARN: roleARN}, identity.Wish{})
	_, noRole := identity.Decide(identity.Environment{TokenFile: "/token"}, identity.Wish{})
	_, endpoint := identity.NewEndpoints(map[string]string{"ec2": "http://ec2.example.com"})
	out := map[string]string{}
	for name, err := range map[string]error{"no token": noToken, "no role": noRole, "bad endpoint": endpoint} {
		if err == nil {
			t.Fatalf("%s: no error", name)
		}
		out[name] = err.Error()
	}
	return out
}

// source has what the test gives it.
type source struct {
	data   map[string][]byte
	err    error
	bundle []byte
}

func (s source) Secret(context.Context, identity.SecretRef) (awsauth.SecretContent, error) {
	return awsauth.SecretContent{Version: "1", Data: s.data}, s.err
}

func (s source) Bundle(context.Context, identity.BundleRef) ([]byte, error) {
	if s.bundle == nil {
		return nil, awsauth.ErrNotFound
	}
	return s.bundle, nil
}

// unusable are awsauth's own errors about Secrets, certificates, roles and tokens.
func unusable(t *testing.T) map[string]error {
	t.Helper()
	secret := identity.Identity{Base: identity.Secret, Secret: identity.SecretRef{Namespace: "ns", Name: "keys"}, Region: "eu-central-1"}
	bundled, web := secret, identity.Identity{Base: identity.WebIdentity, Region: "eu-central-1"}
	bundled.CABundle = identity.BundleRef{Namespace: "ns", Name: "ca", Key: "ca"}
	key := map[string][]byte{"aws_access_key_id": []byte("AKIAIOSFODNN7EXAMPLE"), "aws_secret_access_key": []byte("x")}
	out := map[string]error{}
	for name, c := range map[string]struct {
		from source
		who  identity.Identity
	}{
		"no Secret":            {source{err: awsauth.ErrNotFound}, secret},
		"a Secret without key": {source{}, secret},
		"a Secret not read":    {source{err: errors.New("the API server is busy")}, secret},
		"an empty bundle":      {source{data: key, bundle: []byte{}}, bundled},
		"another partition":    {source{}, web.In("cn-north-1")},
		"no token yet":         {source{}, web},
	} {
		environment := map[string]string{"AWS_ROLE_ARN": roleARN, "AWS_WEB_IDENTITY_TOKEN_FILE": path.Join(t.TempDir(), "token")}
		if c.who.Base == identity.Secret {
			environment = nil
		}
		auth := must.Get(awsauth.New(awsauth.Options{Source: c.from, Getenv: func(name string) string { return environment[name] }}))(t)
		config, err := auth.Config(t.Context(), c.who)
		if err == nil {
			_, err = config.Credentials.Retrieve(t.Context())
		}
		if err == nil {
			t.Fatalf("%s: no error", name)
		}
		out[name] = err
	}
	return out
}

// TestThePagesCodes sees that the page knows all codes of which the code knows
// what to do, and that each is told in an event of its table.
func TestThePagesCodes(t *testing.T) {
	var told []string
	for _, cells := range rows(t, "### Codes") {
		told = append(told, quoted(cells[0])...)
	}
	for _, code := range hinted(t) {
		if !slices.Contains(told, code) {
			t.Errorf("the page does not say what to do about %s", code)
		}
	}
	texts := []string{"AWS credentials not available: ", "AWS credentials rejected: ", "AWS denies "}
	for _, code := range told {
		f := refused("EC2", "DescribeInstanceTypes", code, http.StatusForbidden)
		if code == "AccessDenied" {
			f = refused("STS", "AssumeRoleWithWebIdentity", code, http.StatusForbidden)
		}
		message := capacity.Decide(failed(f)).Events[0].Message
		if !slices.ContainsFunc(texts, func(text string) bool { return strings.HasPrefix(message, text) }) || !strings.Contains(message, code) {
			t.Errorf("%s leads to %q", code, message)
		}
	}
}

// hinted are the codes in the list of hints.
func hinted(t *testing.T) []string {
	t.Helper()
	parsed := must.Get(parser.ParseFile(token.NewFileSet(), "../../../awsauth/fault/hint.go", nil, parser.SkipObjectResolution))(t)
	var found []string
	ast.Inspect(parsed, func(n ast.Node) bool {
		pair, ok := n.(*ast.KeyValueExpr)
		if !ok {
			return true
		}
		if key, ok := pair.Key.(*ast.BasicLit); ok {
			text := must.Get(strconv.Unquote(key.Value))(t)
			found = append(found, path.Base(text)) // some have their operation before
		} else if fmt.Sprint(pair.Key) == "CodeContainerRefused" {
			found = append(found, authfault.CodeContainerRefused)
		}
		return true
	})
	if len(found) < 10 {
		t.Fatalf("hints are found for %q alone", found)
	}
	return found
}
