# What a contributor runs; .ci/run calls the same.

FUZZTIME ?= 30s
# All of the long tests: go test by itself runs a sample.
export PAWL_PART ?= 1/1
LINT = go tool -modfile=tools/go.mod golangci-lint

.PHONY: build fmt check types cross test cover race steps fuzz e2e browser bench bench-faults bench-hook bench-peers bench-soak bench-trust bench-lists demo picture release release-test nightly

build: ## bin/pawl and bin/pawl-hook
	go build -trimpath -o bin/ ./cmd/pawl ./cmd/pawl-hook

fmt: ## formats, and fixes what lint can fix by itself
	$(LINT) fmt
	$(LINT) run --fix

check: types ## format, lint with vet, words, types on other systems, generated files
	$(LINT) fmt --diff
	go mod tidy -diff
	$(LINT) run
	go test -C tools ./words ./picture ./types
	go run -C tools ./words -root ..
	.ci/generated

types: ## what types tell on the systems that this one is not
	go run -C tools ./types -root .. $(filter-out $(shell go env GOHOSTOS),linux darwin windows)

cross: ## compiles, tests too, for every system that is supported
	.ci/cross

test: ## every test that needs neither network nor agents
	go test -count=1 ./...

cover: ## the tests, and how much of the code they reach
	.ci/cover

race: ## the packages in which goroutines meet
	go test -race ./internal/daemon ./internal/dirwatch ./internal/mcpserver ./internal/page ./internal/proc/... ./internal/runner/... ./internal/session/... ./internal/store/... ./internal/watch

steps: ## every case of long tables, faults at every step, many kills, long random walks: make test does a part
	PAWL_EVERY_STEP=1 go test -count=1 -timeout 1h ./internal/git ./internal/runner
	PAWL_EVERY_STEP=1 go test -count=1 -timeout 1h ./internal/verify -claims 40
	PAWL_E2E=1 PAWL_EVERY_STEP=1 go test -count=1 -timeout 1h -run '^TestClient(Cheats|Lists|OnPawlItself)$$' ./internal/e2e
	go test -count=1 -run '^TestRandomWalksKeepInvariants$$' ./internal/core/loop -walk-events 2000000
	go test -count=1 -timeout 2h -run '^TestKills$$|^TestHandoverKills$$' ./internal/e2e -kills 200
	go test -count=1 -timeout 1h -run '^TestKilled' ./internal/hook ./internal/store ./internal/store/journal -kills 200

fuzz: ## each fuzz target, for FUZZTIME
	.ci/fuzz $(FUZZTIME)

e2e: ## the tests with the real clients, against a scripted model on loopback
	.ci/clients
	PAWL_E2E=1 go test -count=1 -timeout 1h ./...

browser: ## the pages of pawl serve and of reports in Chromium (a package of Debian's), checked by axe-core; a loop that is steered by them alone
	.ci/clients
	PAWL_BROWSER=1 go test -count=1 -run Browser ./internal/page ./internal/e2e

bench: ## the bounds of docs/DESIGN.md, measured side by side
	go run ./bench

bench-hook: ## those of the hook; AGAINST=SCRIPT compares it with another Stop hook
	go run ./bench hook $(if $(AGAINST),-against '$(AGAINST)')

bench-peers: ## ten tasks on a bare loop around the client and on Pawl, in turn; PEER='NAME=COMMAND' adds a tool
	go run ./bench peers $(if $(PEER),-peer '$(PEER)')

bench-faults: ## single faults injected into a loop, each call of each kind in turn; Linux
	go run ./bench faults

bench-soak: ## a loop of 10,000 iterations with seven failures of an agent: memory, files, disk; Linux
	go run ./bench soak

bench-lists: ## the same of lists whose authors had not seen Pawl's checks, counted
	for list in $$(ls bench/trust/lists); do go run ./bench trust -list $$list || exit 1; done

bench-trust: ## agents that cheat, and honest ones, each played to its end
	go run ./bench trust

nightly: cross release-test cover race e2e steps fuzz browser bench-trust bench-lists bench-faults bench-soak bench bench-hook ## what .ci/run has no time for; hours

release: ## dist/: what a release consists of; TAG=v1.0.0, else the last commit; ONLY=linux/amd64
	rm -rf dist
	go run -C tools/release . -root $(CURDIR) -out $(CURDIR)/dist $(if $(ONLY),-only $(ONLY)) $(or $(TAG),-snapshot)

release-test: ## builds all of it twice, installs what can be installed here, and runs the demo by npx
	PAWL_RELEASE=all go test -C tools/release -count=1 -timeout 60m .
	.ci/npx

demo: ## the whole of it, in a temporary folder, with a scripted agent
	go run ./cmd/pawl demo

picture: ## docs/demo.svg, docs/watch.svg and docs/serve.png, from a run of the demo; needs tmux and Chromium
	.ci/picture
