# Tabard. Needs Go 1.26, git and make, nothing else; make help lists the targets.

export CGO_ENABLED := 0
export GOTOOLCHAIN := local
export GOFLAGS := -buildvcs=false

VERSION   ?= $(or $(shell git describe --tags --dirty 2>/dev/null),devel)
# The commit, if that is what is built: a change that is not committed makes it another program.
REVISION   = $(shell test -z "$$(git status --porcelain 2>&1)" && git rev-parse HEAD)
FUZZTIME  ?= 30s
PLATFORMS ?= linux/amd64,linux/arm64
# The folder of make release.
DIST      ?= dist
# Libraries of Kubernetes and AWS, on the oldest versions that they work with.
LIBRARIES := api awsauth awsauth/kube roleselector roleselector/kube
MODULES   := . iampolicy awslocal $(LIBRARIES)
# Modules with versions of their own, tested and linted too: somebody else's program, a reader of Terraform, the SDKs of other clouds, the API server's policies, Helm, OLM.
OLDER     := test/oldmodules test/handoff test/ekstoken test/credentials/sdk test/bundle hack/rights hack/chart
GENERATED := api bundle charts config docs/reference examples/bucket-controller/bucket internal/console/web/src/api/types.ts
TOOL      := go tool -modfile=$(CURDIR)/go.tools.mod
GEN       := $(TOOL) controller-gen
PROGRAM   := github.com/tabard-dev/tabard/internal/app/program
# The commit and its time: not the time of the build, so that one commit gives one program.
LDFLAGS    = -X $(PROGRAM).Version=$(VERSION) -X $(PROGRAM).Commit=$(REVISION) -X $(PROGRAM).CommitDate=$(if $(REVISION),$(shell git log -1 --format=%cI))
GOTEST    := go test -timeout 30m

# The programs that the tests start: the lab is made of them.
export TABARD_BIN        := $(CURDIR)/bin/tabard
export TABARD_LOCALKUBE  := $(CURDIR)/bin/localkube
export TABARD_OCM        := $(CURDIR)/bin/ocm
export TABARD_CLUSTERADM := $(CURDIR)/bin/clusteradm

.DEFAULT_GOAL := help

.PHONY: help
help: ## List the targets
	@awk -F ':.*## ' '/^[a-z0-9-]+:.*## / {printf "  make %-14s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

.PHONY: build
build: ## Build bin/tabard, bin/tabard-webhook, and bin/keyless-pod, a workload to try them with
	@go run ./hack/build -ldflags '$(LDFLAGS)' -o bin/ ./cmd/tabard ./cmd/tabard-webhook ./cmd/tabard-eks-token ./examples/keyless-pod

# What it builds is part of the programs that are built after it, and of no commit.
.PHONY: console
console: internal/console/web/node_modules/.package-lock.json ## Build the pages of tabard console, for the programs that are built after it (needs node 20, npm)
	cd internal/console/web && npm run --silent build

# npm writes this file last.
internal/console/web/node_modules/.package-lock.json: internal/console/web/package.json internal/console/web/package-lock.json internal/console/web/.npmrc
	cd internal/console/web && npm ci

# Without the tables for debuggers half as much is pulled; a panic still names its lines.
.PHONY: image
image: ## Build the images bin/image/tabard.tar, tabard-webhook.tar and tabard-eks-token.tar, without Docker (PLATFORMS=linux/amd64 for one)
	@for program in tabard-operator:tabard tabard-webhook:tabard-webhook tabard-eks-token:tabard-eks-token; do go run ./hack/image --program ./cmd/$${program%:*} \
	  --repository ghcr.io/tabard-dev/$${program#*:} --version '$(VERSION)' --revision '$(REVISION)' --ldflags '-s -w $(LDFLAGS)' --platforms '$(PLATFORMS)' || exit 1; done

.PHONY: sizes
sizes: $(if $(COLD),,image) ## Print the tables of docs/install.md: how large the images are, what the components ask for (COLD=build,localkube,image: what these take with empty caches)
	@go run ./hack/sizes $(if $(COLD),--cold '$(COLD)',bin/image/*.tar)

# All times in the files are the commit's, so that one commit gives one release.
.PHONY: release
release: console ## Write the files of a release to DIST (VERSION=v0.1.0; RELEASE_PLATFORMS=linux/amd64 for one; needs node 20, npm)
	@SOURCE_DATE_EPOCH=$${SOURCE_DATE_EPOCH:-$$(git log -1 --format=%ct)} go run ./hack/release --version '$(VERSION)' --revision '$(REVISION)' \
	  --ldflags '-s -w $(LDFLAGS)' --platforms '$(RELEASE_PLATFORMS)' --out '$(DIST)'

.PHONY: push
push: ## Push the images of make image, or with DIST=dist those of make release (REGISTRY=registry.example.com/team)
	@go run ./hack/push --registry '$(REGISTRY)' $(shell ls $(if $(filter file,$(origin DIST)),bin/image/tabard*.tar,$(DIST)/*-image_*.tar) 2>/dev/null)

.PHONY: localkube
localkube: ## Build the Kubernetes control plane of the lab, once per version (minutes)
	@mkdir -p bin
	@path=$$(go run ./hack/localkube) && ln -sfn "$$path" bin/localkube && echo "$$path"

.PHONY: ocm
ocm: ## Build the programs of Open Cluster Management as one, once per version (minutes)
	@mkdir -p bin
	@path=$$(go run ./hack/ocm) && ln -sfn "$$path" bin/ocm && echo "$$path"

.PHONY: clusteradm
clusteradm: ## Build the command of Open Cluster Management, once per version (minutes)
	@mkdir -p bin
	@path=$$(go run ./hack/clusteradm) && ln -sfn "$$path" bin/clusteradm && echo "$$path"

.PHONY: olm
olm: ## Build the programs of the Operator Lifecycle Manager, once per version (minutes)
	@mkdir -p bin/operator-lifecycle-manager
	@paths=$$(go run ./hack/olm) && ln -sfn $$paths bin/operator-lifecycle-manager/ && echo "$$paths"

# Tests with these names need what a fresh machine does not have: make conformance
# runs those with clients of others, make e2e-node those on a node or by root, make
# e2e-olm those with the Operator Lifecycle Manager on a node, make interop those
# with Open Cluster Management, and make e2e-console those in a browser.
FOREIGN := ^Test(Browser|CommandLine|JavaScript|Python|Node|Root|OCM|OLM)
CLIENTS := ^Test(CommandLine|JavaScript|Python)

# The packages and modules that make long runs, and tests with this name in others.
LONG := test/oldmodules

.PHONY: test
test: build localkube ## Run the test suite (TESTFLAGS='--count 1 --cpu' past the cache, with CPU times)
	@go run ./hack/suite --keep bin/tests --skip '$(FOREIGN)|^TestLong' --without "$$(go run ./hack/ring without)" $(TESTFLAGS) $(MODULES) $(filter-out $(LONG),$(OLDER))

.PHONY: long
long: build localkube ## Run the long tests that a change concerns: releases, helm, growth, attacks, catalogues, chaos, crowds, pages, examples, old modules (RING=growth for one)
	@for name in $(or $(RING),$$(go run ./hack/ring long)); do \
		test -z '$(RING)' && go run ./hack/ring unchanged $$name && continue; \
		go run ./hack/suite --keep bin/tests $(TESTFLAGS) $$(go run ./hack/ring suite $$name) && go run ./hack/ring passed $$name || exit 1; \
	done

.PHONY: e2e
e2e: build localkube ## Run only the tests on real programs, and say what they do
	$(GOTEST) -count=1 -v ./test/e2e/... ./test/issuer

.PHONY: e2e-node
e2e-node: build localkube ## Run pods in containers on a real node (Linux, root, containerd; a quarter of an hour)
	$(GOTEST) -count=1 -p 3 -run '^Test(Node|Root)' ./internal/lab/... ./test/node/...
	@go run ./hack/ring passed $@

.PHONY: e2e-node-long
e2e-node-long: build localkube ## Let the kubelet replace a pod's token three times (half an hour)
	TABARD_NODE_ROTATIONS=3 $(GOTEST) -timeout 50m -count=1 -v ./test/node/02-rotation

.PHONY: e2e-olm
e2e-olm: console build localkube olm ## Install and upgrade operators by the Operator Lifecycle Manager on a real node (Linux, root, containerd, node 20, npm, chromium)
	$(GOTEST) -count=1 -run '^TestOLM' ./test/operators/...
	@go run ./hack/ring passed $@

.PHONY: e2e-console
e2e-console: console build localkube ## Use the web console in Chromium (needs node 20, npm, chromium)
	$(GOTEST) -count=1 -run '^TestBrowser' ./test/console/...
	@go run ./hack/ring passed $@

.PHONY: conformance
conformance: build localkube ## Use programs that are not ours (needs node 20, npm, chromium, aws, boto3, openssl)
	@go run ./hack/suite --keep bin/tests --count 1 --run '$(CLIENTS)' $(TESTFLAGS) . test/handoff
	@go run ./hack/ring passed $@

.PHONY: interop
interop: build localkube ocm clusteradm ## Use the programs of Open Cluster Management: operators, hub controller, agents, clusteradm
	$(GOTEST) -count=1 -run '^TestOCM' ./test/hub/...
	@go run ./hack/ring passed $@

.PHONY: demo
demo: build localkube ## Tell the story on this machine, in two chapters (KEEP=1 leaves the lab running)
	@go run ./hack/demo

.PHONY: demo-hub
demo-hub: build localkube ocm ## Tell the story of an Open Cluster Management hub and a cluster that joins it, on this machine (a minute or two)
	@go run ./hack/demo hub

.PHONY: generate
generate: ## Write everything that is generated: deepcopy, config, docs/reference, the chart's README, the bundle
	$(GEN) object crd paths=./api/... output:crd:dir=config/crd
	@# No marker says it of a map's values: null is let in, for a rule to refuse it. The API server drops it before rules otherwise.
	sed -i 's/^\( *\)additionalProperties:$$/&\n\1  nullable: true/' config/crd/services.k8s.aws_iamroleselectors.yaml config/crd/identity.tabard.dev_iamrolechoices.yaml
	$(GEN) object paths=./examples/bucket-controller/bucket
	@for name in $(patsubst internal/controller/%/controller.go,%,$(wildcard internal/controller/*/controller.go)); do $(GEN) rbac:roleName=tabard-$$name,fileName=$$name.yaml paths=./internal/controller/$$name/... output:rbac:dir=config/rbac || exit 1; done
	$(GEN) rbac:roleName=tabard-webhook,fileName=webhook.yaml paths=./internal/webhook output:rbac:dir=config/rbac
	$(GEN) rbac:roleName=tabard-ocm,fileName=ocm.yaml paths=./internal/webhook/ocm output:rbac:dir=config/rbac
	go run ./hack/reference
	go run ./hack/consoletypes internal/console/web/src/api/types.ts
	cd hack/chart && go run . ../..
	go run ./hack/bundle
	cd hack/rights && go run . --page ../../docs/reference/rights.md ../../config/manifests ../../config/rbac

.PHONY: site
site: site/node_modules/.package-lock.json ## Write the docs as a site with search into bin/site (needs node 20, npm; SITE_BASE=/tabard/ for one below a path)
	site/node_modules/.bin/vitepress build site

.PHONY: site-check
site-check: site ## Open every page of the site in Chromium: links, widths, contrast, search (a minute; CHROMIUM=PROGRAM for one that is not on the PATH)
	node site/check.mjs bin/site

# npm writes this file last.
site/node_modules/.package-lock.json: site/package.json site/package-lock.json site/.npmrc
	cd site && npm ci

.PHONY: lint
lint: ## Check style, known mistakes, import rules, sizes, and ways from one account to another
	go run ./hack/imports
	go run ./hack/shape
	cd hack/rights && go run . ../../config/manifests ../../config/rbac
	@for module in $(MODULES) $(OLDER) localkube test/ocm test/clusteradm test/olm; do (cd $$module && go mod tidy -diff) || exit 1; done
	@for module in $(MODULES) $(OLDER); do (cd $$module && $(TOOL) golangci-lint run ./...) || exit 1; done

.PHONY: verify
verify: generate lint ## Lint, and fail if what is generated is not what is committed
	git diff --exit-code -- $(GENERATED)
	@new=$$(git ls-files --others --exclude-standard -- $(GENERATED)); test -z "$$new" || { echo "generated and not committed: $$new"; exit 1; }

.PHONY: fuzz
fuzz: ## Run each fuzz test for FUZZTIME (30s)
	@for file in $$(grep -rlE '^func Fuzz' --include='*_test.go' . | sort); do \
		for name in $$(sed -n 's/^func \(Fuzz[A-Za-z0-9_]*\)(.*/\1/p' $$file); do \
			echo "$$file $$name"; \
			(cd $$(dirname $$file) && go test -run '^$$' -fuzz "^$$name$$" -fuzztime $(FUZZTIME) .) || exit 1; \
		done; \
	done

.PHONY: bench
bench: ## Run the benchmarks
	@for module in $(MODULES); do (cd $$module && go test -run '^$$' -bench . -benchmem ./...) || exit 1; done

.PHONY: load
load: build localkube ## Measure the local AWS, the webhook and the capacity controller as processes: time, calls, memory
	go run ./hack/load

.PHONY: race
race: ## Run the unit tests under the race detector (needs a C compiler)
	@for module in $(MODULES); do (cd $$module && CGO_ENABLED=1 go test -race -skip '$(FOREIGN)' $$(go list ./... | grep -v /test/)) || exit 1; done

# Those whose values several goroutines share, and that finish in minutes.
RACE := ./internal/core/... ./internal/webhook/... $(patsubst %,github.com/tabard-dev/tabard/%/...,$(LIBRARIES))

.PHONY: race-core
race-core: localkube ## The same for the decisions, the webhook and the libraries (minutes)
	CGO_ENABLED=1 $(GOTEST) -race -skip '$(FOREIGN)' $(RACE)

.PHONY: clean
clean: ## Remove bin, dist and what make site installs; the cache of localkube stays
	rm -rf bin dist site/node_modules site/.vitepress/cache site/.vitepress/.temp internal/console/web/node_modules
	find internal/console/web/dist -mindepth 1 ! -name .gitkeep -delete
