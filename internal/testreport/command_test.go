package testreport_test

import (
	"testing"

	"github.com/pawl-dev/pawl/internal/testreport"
)

func TestDetectKnowsRunners(t *testing.T) {
	t.Parallel()
	for command, want := range map[string]string{
		"go test -json ./...":                                "go-json",
		"go vet ./... && CGO_ENABLED=0 go test --json ./...": "go-json",
		"go test ./...":                                      "",
		"go test -json ./... | tee log":                      "",
		"go test -json ./... || true":                        "",
		"go test -json $(":                                   "",
		"bats test":                                          "tap",
		"bats --pretty test":                                 "",
		"npx ava --tap":                                      "tap",
		"node --test --test-reporter=tap":                    "tap",
		"npx mocha -R tap":                                   "tap",
		"mocha -R spec":                                      "",
		"pytest --junitxml=out/r.xml -q":                     "junit:out/r.xml",
		"uv run pytest --junit-xml 'my report.xml'":          "junit:my report.xml",
		"python3 -m pytest --junitxml=r.xml":                 "junit:r.xml",
		"python3 x.py":                                       "",
		"./vendor/bin/phpunit --log-junit r.xml":             "junit:r.xml",
		"ctest --output-junit r.xml":                         "junit:r.xml",
		"gotestsum --junitfile r.xml":                        "junit:r.xml",
		`pytest --junitxml="$OUT"`:                           "",
		"":                                                   "",
	} {
		if got := testreport.Detect(command); got != want {
			t.Errorf("Detect(%q) = %q, want %q", command, got, want)
		}
	}
}

func TestAddGoTestJSON(t *testing.T) {
	t.Parallel()
	for command, want := range map[string]string{
		"go test ./...":                        "go test -json ./...",
		"go test":                              "go test -json",
		"CGO_ENABLED=0 'go' test -run 'A|B' .": "CGO_ENABLED=0 'go' test -json -run 'A|B' .",
		"go build ./... && go test ./a && cd sub; go test ./b": "go build ./... && go test -json ./a && cd sub; go test -json ./b",
		"go test -json ./...":       "go test -json ./...",
		"go test ./... | tail":      "go test ./... | tail",
		"go test ./... > log":       "go test ./... > log",
		"go test -c ./a":            "go test -c ./a",
		"make test":                 "make test",
		"if true; then go test; fi": "if true; then go test; fi",
	} {
		got, changed := testreport.AddGoTestJSON(command)
		if got != want || changed != (got != command) {
			t.Errorf("AddGoTestJSON(%q) = %q, %v, want %q", command, got, changed, want)
		}
	}
}
