package main

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
)

// target is what one make target runs, or make long for one of its names.
type target struct {
	// packages are those whose tests it runs, and the programs that they start.
	packages []string
	// modules are folders of modules of their own, whose tests it runs.
	modules []string
	// folders hold what the tests read beside that: manifests, pages, modules of their own.
	folders []string
	// asks are those of the parts that its tests use. The programs have all of them.
	asks []part
	// long is what make long runs of it; nil for a make target of its own.
	long *long
}

// long are the tests of a target that make long runs and make test leaves out.
type long struct {
	// packages are those of the root module with such tests.
	packages []string
	// named says that only tests named TestLong are left out of make test, and the rest
	// of the packages is not.
	named bool
	// measured says that other tests would disturb these: crowds and growth are counted
	// and timed. Such packages run one at a time.
	measured bool
}

// The programs that tests start, and what these are built of.
var programs = []string{"./cmd/tabard", "./cmd/tabard-webhook", "./hack/localkube"}

// pages are what the console's pages are built of. Beside these are packages of npm and what it builds.
var pages = []string{
	"internal/console/web/.npmrc", "internal/console/web/build", "internal/console/web/index.html", "internal/console/web/package-lock.json",
	"internal/console/web/package.json", "internal/console/web/src", "internal/console/web/tsconfig.json", "internal/console/web/vite.config.ts",
}

// targets are those of the second ring, by the name of their make target, or by what
// make long calls them.
var targets = map[string]target{
	"e2e-node": {
		asks:     []part{operators},
		packages: []string{"./internal/lab/...", "./test/node/...", "./cmd/tabard", "./cmd/tabard-operator", "./cmd/tabard-webhook", "./examples/keyless-pod", "./hack/build", "./hack/image", "./hack/push", "./hack/localkube"},
		folders:  []string{"charts", "config", "localkube", "test/node", "docs/install.md", "docs/lab.md", "Makefile", "README.md"},
	},
	"e2e-olm": {
		asks:     []part{console, operators},
		packages: []string{"./internal/lab/...", "./test/operators/...", "./cmd/tabard", "./cmd/tabard-operator", "./cmd/tabard-webhook", "./examples/token-operator", "./hack/build", "./hack/image", "./hack/localkube", "./hack/olm"},
		folders:  append([]string{"config", "examples/token-operator", "internal/console/web/test", "localkube", "test/olm", "test/operators", "docs/lab.md"}, pages...),
	},
	"conformance": {
		asks:     []part{operators, explain},
		packages: append([]string{"./test/awslocal/...", "./test/awsauth/authors", "./test/capacity/docs", "./test/conformance", "./test/docs", "./test/issuer", "./test/e2e", "./test/hubaccess", "./test/site", "./internal/app/ekstoken", "./cmd/tabard-eks-token", "./examples/keyless-pod"}, programs...),
		modules:  []string{"test/handoff"},
		folders: []string{
			"config", "docs", "examples", "localkube", "test/conformance", "test/docs/testdata", "Makefile", "README.md",
			// Beside these are packages of npm and what it builds.
			"site/.npmrc", "site/.vitepress/config.mjs", "site/.vitepress/markdown.mjs", "site/.vitepress/pages.mjs", "site/.vitepress/theme",
			"site/check", "site/check.mjs", "site/package-lock.json", "site/package.json",
		},
	},
	"e2e-console": {
		packages: []string{"./test/console/...", "./cmd/tabard", "./hack/localkube"},
		folders:  append([]string{"config", "docs/console.md", "internal/console/web/test", "localkube", "Makefile"}, pages...),
		asks:     []part{console, operators, explain},
	},
	"interop": {
		packages: []string{"./test/hub/...", "./cmd/tabard", "./cmd/tabard-eks-token", "./hack/clusteradm", "./hack/ocm", "./hack/localkube"},
		folders:  []string{"config", "localkube", "test/clusteradm", "test/ocm"},
	},
	"ack": {
		folders: []string{"docs/role-selectors-in-ack.md"},
		long:    &long{packages: []string{"./test/roleselector/ackruntime"}},
	},
	"attack": {
		packages: programs, folders: []string{"config", "localkube"},
		long: &long{packages: []string{"./test/webhook/attack"}, measured: true},
	},
	"catalogue": {
		packages: []string{"./hack/catalogue/..."},
		long:     &long{packages: []string{"./internal/catalogue"}, named: true},
	},
	"chaos": {
		packages: programs, folders: []string{"config", "localkube"},
		long: &long{packages: []string{"./test/hubaccess", "./test/roleselector/chaos"}, named: true},
	},
	"chart": {
		packages: programs, folders: []string{"charts", "config", "docs/install.md", "hack/chart", "localkube", "test/chart"},
		long: &long{packages: []string{"./test/chart"}},
	},
	"console": {
		asks:     []part{console, operators, explain},
		packages: programs, folders: []string{"config", "localkube"},
		long: &long{packages: []string{"./internal/console", "./test/console"}, named: true},
	},
	"crowd": {
		packages: programs, folders: []string{"config", "docs/from-the-eks-webhook.md", "docs/webhook.md", "localkube"},
		long: &long{packages: []string{"./internal/webhook", "./test/credentials/beside", "./test/webhook"}, named: true, measured: true},
	},
	"examples": {
		asks:     []part{operators, explain},
		packages: append([]string{"./examples/bucket-controller", "./examples/token-operator"}, programs...),
		folders:  []string{"config", "docs/operator-authors.md", "examples", "localkube"},
		long:     &long{packages: []string{"./test/awsauth/authors", "./test/roleselector/e2e"}, measured: true},
	},
	"growth": {
		packages: programs, folders: []string{"config", "localkube"},
		long: &long{packages: []string{"./test/capacity/growth"}, measured: true},
	},
	"pages": {
		asks:     []part{operators, explain},
		packages: append([]string{"./cmd/tabard-eks-token", "./examples/keyless-pod"}, programs...),
		folders:  []string{"config", "docs", "examples", "localkube", "test/docs/testdata", "Makefile", "README.md"},
		long:     &long{packages: []string{"./internal/cli/selector", "./test/capacity/docs", "./test/docs", "./test/e2e", "./test/e2e/lab"}, named: true},
	},
	"oldmodules": {modules: []string{"test/oldmodules"}, long: &long{}},
	"release": {
		asks:     []part{console, operators, explain},
		packages: []string{"./cmd/..."}, folders: append([]string{"charts", "docs/install.md", "docs/releasing.md", "Makefile"}, pages...),
		long: &long{packages: []string{"./hack/release"}, named: true},
	},
}

// all are the packages of a target.
func (t target) all() []string {
	if t.long == nil {
		return t.packages
	}
	return slices.Concat(t.packages, t.long.packages)
}

// part is one of the program that few targets use: a change of it is none for the others.
type part struct{ folders []string }

// The parts. What the console's pages are built to is no input of any target: their sources are.
var (
	console   = part{[]string{"internal/console", "internal/cli/console"}}
	operators = part{[]string{"internal/cli/operators", "internal/core/listing", "internal/olm/installing"}}
	explain   = part{[]string{"internal/cli/explain", "internal/evidence", "internal/cli/decode", "internal/core/decode", "internal/cli/policy", "internal/core/policycheck", "internal/core/chain", "internal/core/overview", "internal/lab/scenario"}}
	built     = part{[]string{"internal/console/web"}}
)

// apart are the folders whose packages a target does not depend on.
func (t target) apart() []string {
	out := slices.Clone(built.folders)
	for _, one := range []part{console, explain, operators} {
		if !slices.ContainsFunc(t.asks, func(asked part) bool { return asked.folders[0] == one.folders[0] }) {
			out = append(out, one.folders...)
		}
	}
	return out
}

// command is what somebody types to run a target.
func (t target) command(name string) string {
	if t.long == nil {
		return "make " + name
	}
	return "make long RING=" + name
}

// suite are the arguments of hack/suite that run a target of make long.
func (t target) suite() []string {
	var args []string
	if t.long.measured {
		args = append(args, "--parallel", "1")
	}
	if t.long.named {
		args = append(args, "--run", "^TestLong")
	}
	if len(t.long.packages) > 0 {
		args = append(args, "--packages", strings.Join(t.long.packages, ","), ".")
	}
	return append(args, t.modules...)
}

// printLong prints the names of the targets that make long runs, or the packages that
// make test leaves to it.
func printLong(targets map[string]target, what string, out io.Writer) error {
	var words []string
	for _, name := range slices.Sorted(maps.Keys(targets)) {
		of := targets[name].long
		switch {
		case of == nil:
		case what == "long":
			words = append(words, name)
		case !of.named:
			words = append(words, of.packages...)
		}
	}
	separator := " "
	if what == "without" {
		separator = ","
	}
	_, err := fmt.Fprintln(out, strings.Join(words, separator))
	return err
}
