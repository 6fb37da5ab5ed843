package main

// Sets of packages that several rules speak of.
var (
	sdk           = []string{"github.com/aws/aws-sdk-go-v2/...", "github.com/aws/smithy-go/..."}
	apimachinery  = "k8s.io/apimachinery/..."
	kubeAPI       = "k8s.io/api/..."
	clientGo      = "k8s.io/client-go/..."
	klog          = "k8s.io/klog/v2" // how client-go is told not to log
	runtime       = "sigs.k8s.io/controller-runtime/..."
	jose          = "github.com/go-jose/go-jose/v4/..."
	clients       = []string{clientGo, runtime, "github.com/aws/aws-sdk-go-v2/..."}
	noClients     = ban{what: clients, why: "its importers must not inherit a client; it is plain data and pure functions"}
	noSDK         = ban{what: sdk, why: "AWS is called by internal/cloud only; decisions name an identity, adapters resolve it"}
	noControllers = ban{what: []string{"./internal/controller/..."}, why: "controllers are used by internal/app alone"}
)

// rules is the table of who may import whom, in the order of the layers from
// the public packages up to the program.
var rules = append([]rule{
	{
		in: []string{"./api/..."}, own: []string{"./api/..."}, foreign: []string{apimachinery, kubeAPI},
		why:  "clients of other projects import the types: nothing but each other, apimachinery and k8s.io/api",
		deny: []ban{noClients}, deep: true,
	}, {
		in: []string{"./iampolicy/..."}, own: []string{"./iampolicy/..."}, foreign: []string{},
		why: "the policy evaluator is embedded by others and needs the standard library only", deep: true,
	}, {
		in:  []string{"./awslocal/..."},
		own: []string{"./awslocal/...", "./iampolicy/..."}, foreign: []string{jose},
		why:  "the local AWS is embedded by others, and proves nothing of code that it shares: iampolicy and go-jose only",
		deny: []ban{noClients}, deep: true,
	}, {
		in: []string{"./awsauth/identity"}, own: []string{}, foreign: []string{},
		why: "an identity is plain data: standard library only",
	}, {
		in: []string{"./awsauth/fault"}, own: []string{"./awsauth/identity"}, foreign: []string{"github.com/aws/smithy-go/..."},
		why: "a fault is made of any SDK's error: smithy only",
	}, {
		in: []string{"./awsauth"}, own: []string{"./awsauth/identity", "./awsauth/fault"}, foreign: sdk,
		why: "awsauth serves programs without Kubernetes too: awsauth's own data and the SDK only",
	}, {
		in: []string{"./awsauth/metric"}, own: []string{"./awsauth", "./awsauth/fault"}, foreign: []string{"github.com/prometheus/...", "github.com/aws/smithy-go/..."},
		why: "a program without Prometheus does not import this package",
	}, {
		in: []string{"./awsauth/kube/..."}, except: []string{"./awsauth/kube/tokenmode", "./awsauth/kube/follow"},
		own:     []string{"./awsauth", "./awsauth/identity", "./awsauth/fault"},
		foreign: []string{kubeAPI, apimachinery, clientGo, klog},
		why:     "awsauth/kube works with any client: no manager of controller-runtime",
	}, {
		in: []string{"./awsauth/kube/follow"}, own: []string{}, foreign: []string{apimachinery},
		why: "all programs follow objects with it, on any version of any client: apimachinery and nothing of AWS",
	}, {
		in: []string{"./awsauth/kube/tokenmode"}, own: []string{}, foreign: []string{kubeAPI, apimachinery, clientGo},
		why: "other people's operators import the test for token mode and nothing of AWS",
	}, {
		in: []string{"./roleselector/..."}, except: []string{"./roleselector/kube/..."},
		own: []string{"./api/...", "./roleselector/...", "./awsauth/identity"}, foreign: []string{apimachinery},
		why:  "the selector is a library of plain data in and out",
		deny: []ban{noClients}, deep: true,
	}, {
		in:  []string{"./roleselector/kube/..."},
		own: []string{"./api/...", "./roleselector/...", "./awsauth/identity", "./awsauth/kube/follow"}, foreign: []string{apimachinery, kubeAPI, clientGo, runtime, "github.com/prometheus/..."},
		why: "roleselector/kube feeds the library from informers, and does not call AWS",
	}, {
		in: []string{"./localkube/..."}, own: []string{},
		why: "localkube is Kubernetes and nothing of ours",
	}, {
		// Their tests may start what the product's tests start.
		in:  []string{"./examples/..."},
		own: []string{"./api/...", "./awsauth/...", "./roleselector/...", "./iampolicy", "./awslocal"},
		why: "an example is what others copy: it uses what others can import, no internal package",
	},
}, productRules...)

// productRules are those of the product's own rooms.
var productRules = []rule{
	{
		in: []string{"./internal/core/..."},
		own: []string{
			"./api/...", "./internal/core/...", "./iampolicy", "./roleselector", "./awsauth/identity",
		},
		foreign: []string{kubeAPI, apimachinery, jose, "gomodules.xyz/jsonpatch/v2", "github.com/blang/semver/v4"},
		why:     "decisions are pure functions over plain data",
		deny:    []ban{noClients}, deep: true,
	}, {
		// Direct imports only: apimachinery itself logs and opens connections.
		in: []string{"./internal/core/..."},
		deny: []ban{
			{what: []string{"context"}, why: "a decision does not wait, so there is nothing to cancel"},
			{what: []string{"os/...", "net/http/...", "io/ioutil"}, why: "a decision does no I/O: observe in the shell, pass it in"},
			{what: []string{"log/...", "github.com/go-logr/...", klog}, why: "a decision returns what it has to say"},
			{what: []string{
				"math/rand/...", "crypto/rand",
				"k8s.io/apimachinery/pkg/util/rand", "k8s.io/apimachinery/pkg/util/uuid",
			}, why: "a decision gives the same answer twice: chance is passed in"},
		},
	}, {
		in: []string{"./internal/cloud"}, own: []string{"./internal/core/fault", "./awsauth/fault"}, foreign: []string{"github.com/aws/smithy-go/..."},
		why: "the root holds what adapters and controllers say to each other, faults and nouns: smithy, awsauth/fault and internal/core/fault only",
	}, {
		in: []string{"./internal/cloud/..."}, except: []string{"./internal/cloud", "./internal/cloud/instancetype"},
		own:     []string{"./internal/cloud", "./internal/core/fault", "./awsauth", "./awsauth/identity", "./awsauth/fault"},
		foreign: sdk, siblings: "./internal/cloud",
		why: "an adapter speaks the nouns of internal/cloud and knows no decision, so that any controller can use it",
	}, {
		in:      []string{"./internal/cloud/instancetype"},
		own:     []string{"./internal/cloud", "./internal/core/fault", "./internal/core/instancetype", "./awsauth", "./awsauth/identity", "./awsauth/fault"},
		foreign: append([]string{"golang.org/x/time/rate"}, sdk...), siblings: "./internal/cloud",
		why: "core/instancetype has the plain data of this adapter's noun, and no decision; requests are spaced by x/time/rate",
	}, {
		in: []string{"./internal/controller/..."},
		own: []string{
			"./internal/controller", "./api/...", "./internal/core/...", "./internal/cloud",
			"./awsauth/identity", "./awsauth/fault", "./awsauth/kube", "./awsauth/kube/follow", "./roleselector", "./iampolicy",
		},
		siblings: "./internal/controller", deny: []ban{noSDK},
		why: "a controller observes and performs through the interfaces that it declares; internal/app plugs the adapters in",
	}, {
		in: []string{"./internal/platform"}, own: []string{"./internal/core/platform", "./internal/core/issuer", "./awsauth/kube/follow"},
		deny: []ban{noSDK, noControllers},
		why:  "what the cluster is is read in one place, and plugged by internal/app into whatever asks: see ADR 25; core/issuer says where a discovery document is",
	}, {
		in:      []string{"./internal/platform/tokenfacts"},
		own:     []string{"./awsauth/kube/tokenmode", "./awsauth/identity", "./internal/core/..."},
		foreign: []string{apimachinery, "k8s.io/client-go/dynamic"},
		deny:    []ban{noSDK, noControllers},
		why:     "the facts of token mode are read once for the command line and the console; whether it is token mode is awsauth/kube/tokenmode's to say",
	}, {
		in: []string{"./internal/credentials"}, own: []string{"./api/...", "./internal/core/..."},
		foreign: []string{apimachinery, runtime},
		deny:    []ban{noSDK, noControllers},
		why:     "CredentialsRequests are read once for the command line and the console; what they wait for core/credentials says",
	}, {
		in: []string{"./internal/evidence"}, own: []string{"./internal/core/...", "./internal/platform/together", "./awsauth/identity"},
		foreign: []string{apimachinery, "k8s.io/api/...", "k8s.io/client-go/kubernetes"},
		deny:    []ban{noSDK, noControllers},
		why:     "what core/chain judges is read once for the command line and the console; AWS comes by an interface that internal/app fills",
	}, {
		in: []string{"./internal/platform/together"}, own: []string{}, foreign: []string{},
		why: "functions that run at the same time are the same everywhere: the standard library only",
	}, {
		in: []string{"./internal/webhook/..."},
		own: []string{
			"./internal/webhook/...", "./internal/core/inject/...", "./internal/core/ocmhook", "./internal/core/certificate", "./api/...", "./roleselector", "./awsauth/kube/follow",
		},
		deny: []ban{noSDK, noControllers},
		why:  "an admission server decodes, asks core/inject, encodes the patch; of role selectors it asks the library itself which ones overlap",
	}, {
		in: []string{"./internal/cli/..."}, except: []string{"./internal/cli/lab/..."},
		own: []string{
			"./internal/cli/...", "./internal/handoff", "./internal/handoff/operator", "./api/...", "./internal/core/...", "./iampolicy", "./roleselector", "./roleselector/carm", "./awsauth/identity",
			"./internal/credentials", "./internal/evidence", "./internal/platform/tokenfacts", "./internal/olm", "./internal/olm/installing",
		},
		deny: []ban{noSDK, noControllers},
		why:  "commands get AWS through interfaces that internal/app fills; of a cluster's token mode there is one test, for everybody",
	}, {
		in:   []string{"./internal/cli/lab/..."},
		own:  []string{"./internal/cli/...", "./internal/lab/...", "./api/...", "./awsauth/identity"},
		deny: []ban{noSDK, noControllers},
		why:  "the lab's commands are a thin layer over internal/lab",
	}, {
		in: []string{"./internal/lab/..."}, except: []string{"./internal/lab/scenario"},
		own:  []string{"./internal/lab/...", "./awslocal/...", "./api/...", "./internal/image"},
		deny: []ban{noSDK, noControllers},
		why:  "the lab starts the real programs; it must not share their decisions",
	}, {
		in: []string{"./internal/lab/scenario"}, own: []string{"./internal/lab/...", "./awslocal", "./internal/core/chain", "./iampolicy"},
		deny: []ban{noControllers},
		why:  "a scenario breaks what people have, by the clients that people have, and names the finding that explain is to begin with",
	}, {
		in: []string{"./internal/catalogue"}, own: []string{"./internal/core/catalogue", "./internal/core/line"}, foreign: []string{"go.yaml.in/yaml/v3"},
		why: "a reader of catalogues makes the model of what strangers wrote, and decides nothing: see ADR 31",
	}, {
		in:      []string{"./internal/catalogue/cluster"},
		own:     []string{"./internal/catalogue", "./internal/core/catalogue", "./internal/core/line"},
		foreign: []string{apimachinery, "k8s.io/client-go/rest"},
		why:     "what a cluster answers is read as files are: this room only asks, by a REST client",
	}, {
		in:      []string{"./internal/catalogue/image"},
		own:     []string{"./internal/catalogue", "./internal/core/catalogue", "./internal/core/line"},
		foreign: []string{"github.com/google/go-containerregistry/...", "github.com/klauspost/compress/zstd"},
		why:     "an image's directory is read as one on a disk is: this room only finds it, by a client of registries",
	}, {
		in:      []string{"./internal/catalogue/catalogd"},
		own:     []string{"./internal/catalogue", "./internal/core/catalogue", "./internal/core/line"},
		foreign: []string{apimachinery, "k8s.io/client-go/rest", "k8s.io/client-go/dynamic"},
		why:     "what catalogd answers is read as files are: this room only asks, at a URL or through a cluster's API server",
	}, {
		in:      []string{"./internal/olm"},
		own:     []string{"./api/...", "./internal/catalogue", "./internal/core/catalogue", "./internal/core/credentials", "./internal/core/operator", "./internal/core/permission"},
		foreign: []string{apimachinery, "k8s.io/client-go/dynamic", "k8s.io/client-go/metadata", "k8s.io/client-go/util/retry"},
		why:     "objects of OLM are read and written here; what they mean is decided in the core: see ADR 32",
	}, {
		in: []string{"./internal/olm/installing"}, own: []string{"./internal/olm", "./internal/core/...", "./internal/platform/tokenfacts", "./awsauth/identity"},
		foreign: []string{apimachinery},
		deny:    []ban{noSDK, noControllers},
		why:     "what the command line and the console do with OLM they do by the same steps: flags, printing and HTTP stay outside",
	}, {
		in: []string{"./internal/handoff"}, own: []string{"./internal/core/cloudid", "./internal/core/line", "./iampolicy"}, foreign: []string{},
		why: "what is handed over is plain data in and text out, for every command",
	}, {
		in: []string{"./internal/handoff/operator"}, own: []string{"./internal/handoff", "./internal/core/permission", "./internal/core/rolerequest", "./iampolicy"}, foreign: []string{},
		why: "the files of an operator's hand-off are the same for the command and for every other program that offers them",
	}, {
		in: []string{"./internal/console/..."},
		own: []string{
			"./internal/console/...", "./internal/core/...", "./internal/credentials", "./internal/evidence", "./internal/olm", "./internal/olm/installing", "./internal/handoff", "./internal/handoff/operator", "./internal/platform/tokenfacts", "./internal/platform/together", "./awsauth/identity", "./iampolicy",
		},
		deny: []ban{noSDK, noControllers},
		why:  "the console shows what the core says, as the command line does, and the browser decides nothing: see ADR 34",
	}, {
		in: []string{"./internal/image"}, own: []string{},
		foreign: []string{"github.com/google/go-containerregistry/...", "golang.org/x/crypto/x509roots/fallback/bundle"},
		why:     "an image is made of any program: it knows nothing of ours",
	}, {
		in: []string{"./cmd/..."}, own: []string{"./internal/app/..."},
		why: "main parses, builds and runs; the wiring is internal/app's",
	}, {
		in: []string{"./cmd/..."}, except: []string{"./cmd/tabard"}, deep: true,
		deny: []ban{{
			what: []string{"./internal/lab/...", "./internal/image/...", "./awslocal/...", "github.com/vishvananda/netlink/..."},
			why:  "what runs in clusters is without the lab, its node and its local AWS: see ADR 18",
		}},
	}, {
		in: []string{"./cmd/tabard-webhook"}, deep: true,
		deny: []ban{noSDK, noControllers, {
			what: []string{runtime, "k8s.io/client-go/kubernetes/...", "k8s.io/client-go/informers/..."},
			why:  "a replica of the webhook has at most 30 MB at rest: 12 MB are packages of clients that it does not use (ADR 18)",
		}},
	}, {
		in: []string{"./cmd/tabard-eks-token"}, deep: true,
		deny: []ban{noControllers, {
			what: []string{"k8s.io/...", runtime},
			why:  "the program is started for each token and copied into pods: it has at most 12 MB, and no client of Kubernetes",
		}},
	}, {
		in: []string{"./..."}, except: []string{"./internal/app/...", "./cmd/...", "./hack/release/pages", "./hack/reference"},
		deny: []ban{{what: []string{"./internal/app/..."}, why: "internal/app is wiring: only cmd, tests and the writers of man pages and of the reference import it"}},
	}, {
		in: []string{"./..."}, except: []string{"./internal/testkit/...", "./test/..."},
		deny: []ban{{what: []string{"./internal/testkit/..."}, why: "internal/testkit is for tests only"}},
	}, {
		in: []string{"./..."}, except: []string{"./internal/testkit/...", "./awslocal/awslocaltest", "./test/..."},
		deny: []ban{{what: []string{"testing", "net/http/httptest", "github.com/google/go-cmp/..."}, why: "the product does not carry test code"}},
	}, {
		in: []string{"./..."}, tests: true, deep: true,
		deny: []ban{
			{what: []string{"github.com/aws/aws-sdk-go/..."}, why: "the AWS SDK for Go v1 has reached its end of support: v2 only"},
			{what: []string{"github.com/minio/pkg/..."}, why: "AGPL is never a dependency of an Apache-2.0 product, not even in tests"},
		},
	}, {
		in: []string{"./..."}, except: []string{"./localkube/..."}, tests: true,
		deny: []ban{{
			what: []string{"github.com/stretchr/...", "github.com/onsi/...", "go.uber.org/mock/...", "github.com/golang/mock/..."},
			why:  "tests use the standard testing package and go-cmp, fakes are written by hand",
		}},
	},
}
