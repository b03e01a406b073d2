package testreport_test

import (
	"testing"

	"github.com/pawl-dev/pawl/internal/testreport"
)

func TestACommandForSomeTestsOnly(t *testing.T) {
	t.Parallel()
	for command, want := range map[string]string{
		"go test ./...":                  `go test -run '^(TestA|TestB)$' ./...`,
		"go test -race ./... -count=1":   `go test -run '^(TestA|TestB)$' -race ./... -count=1`,
		"go test -run TestA ./...":       "",
		"go test ./... -run=TestA":       "",
		"go test ./... && go vet ./...":  "",
		"make test":                      "",
		"npm test":                       "",
		"pytest -q":                      `pytest -q -k 'TestA or TestB'`,
		"python3 -m pytest tests":        `python3 -m pytest tests -k 'TestA or TestB'`,
		"pytest -k sums":                 "",
		"pytest -ksums":                  "",
		"python3 -m unittest -v":         "python3 -m unittest -v -k TestA -k TestB",
		"python3.11 -m unittest -q -k x": "",
		"python3 run.py -m unittest":     "",
		"cargo test":                     "cargo test -- TestA TestB",
		"cargo test --quiet":             "cargo test --quiet -- TestA TestB",
		"cargo test sums":                "",
		"pytest | tee log":               "",
	} {
		got, ok := testreport.Only(command, []string{"calc.TestA", "example.com/calc.TestB/a case", "calc.TestA/b.c", "t::TestB[1-2]", "TestA (t.TestA)"})
		if ok != (want != "") || ok && got != want || !ok && got != command {
			t.Errorf("%s: %q %v, want %q", command, got, ok, want)
		}
	}
	for _, names := range [][]string{nil, {"a case with blanks"}, {"TestA", ""}, {"a/b"}} {
		if got, ok := testreport.Only("go test ./...", names); ok {
			t.Errorf("%q: %s", names, got)
		}
	}
}
