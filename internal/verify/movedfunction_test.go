//go:build unix

package verify_test

import (
	"strings"
	"testing"

	"github.com/pawl-dev/pawl/internal/core/gate"
	"github.com/pawl-dev/pawl/internal/verify"
)

// A function moves from the top folder into a package of its own, and its test moves along, as the task asks.
func TestFunctionMovedIntoAPackageIsProven(t *testing.T) {
	t.Parallel()
	const (
		program = "package main\n\nfunc human(n int) string { return \"x\" }\n"
		test    = "package main\n\nimport \"testing\"\n\nfunc TestHuman(t *testing.T) {\n\tif human(1) != \"x\" {\n\t\tt.Error(\"human\")\n\t}\n}\n"
	)
	moved := func(text string) string {
		return strings.NewReplacer("package main", "package size", " human(", " Bytes(").Replace(text)
	}
	b := newBench(t, files{"go.mod": "module du\n\ngo 1.21\n", "main.go": "package main\n\nfunc main() { println(human(1)) }\n", "human.go": program, "human_test.go": test}, nil)
	work := files{
		"human.go": "", "human_test.go": "", "size/size.go": moved(program), "size/size_test.go": moved(test),
		"main.go": "package main\n\nimport \"du/size\"\n\nfunc main() { println(size.Bytes(1)) }\n",
	}
	f := b.claim(gates("go test ./..."), work, func(r *verify.Request) {
		r.Asked = "move human into a package size, as size.Bytes, with its test"
	})
	if v := f.Verdict; v.Status != gate.Pass || v.NeedsChangedInputs {
		t.Errorf("%+v", v)
	}
}
