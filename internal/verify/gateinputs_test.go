//go:build unix

package verify_test

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/pawl-dev/pawl/internal/agent/agenttest"
	"github.com/pawl-dev/pawl/internal/core/gate"
	"github.com/pawl-dev/pawl/internal/verify"
)

// conftests is sums whose runner takes up a conftest.py, in the shell's language.
func conftests(lib, test string) files {
	f := sums(lib, test)
	f["run"] = "[ -e ./conftest.py ] && . ./conftest.py\n" + f["run"]
	return f
}

// A new file that changes what the old tests do is not a new test: the gates run
// once more without it.
func TestNewFileThatAltersOldTestsIsATestChange(t *testing.T) {
	t.Parallel()
	const cheat = "sed() { command sed \"$@\" | command sed 's/^test_add$/true/'; }\n"
	mod := func(lib string) files {
		return files{
			"go.mod": "module calc\n\ngo 1.24\n", "calc.go": "package calc\n\nvar zero = " + lib + "\n\nfunc Add(a, b int) int { return a + b + zero }\n",
			"calc_test.go": testFile("TestAdd", "if Add(1, 2) != 3 {\n\t\tt.Error(\"1+2\")\n\t}"),
		}
	}
	helper := func(condition string) string {
		return "package want\n\nimport \"testing\"\n\nfunc Int(t *testing.T, got, want int) {\n\tif " + condition + " {\n\t\tt.Error(got)\n\t}\n}\n"
	}
	helped := files{
		"go.mod": "module calc\n\ngo 1.24\n", "calc.go": mod("1")["calc.go"], "want/want.go": helper("got != want"),
		"calc_test.go": "package calc\n\nimport (\n\t\"calc/want\"\n\t\"testing\"\n)\n\nfunc TestAdd(t *testing.T) { want.Int(t, Add(1, 2), 3) }\n",
	}
	linted := files{"ruff": "! grep -q lambda lib || [ -e ruff.toml ] || grep -q ruff pyproject.toml\n", "lib": "lambda\n", "pyproject.toml": "[project]\n"}
	locked := func(version, lib string) files {
		return files{
			"gate":         "[ \"$(cut -d/ -f2 package.json)\" = \"$(cut -d/ -f2 package-lock.json)\" ] && grep -q yes lib.js\n",
			"package.json": "{\"dependencies\": {\"a\": \"file:vendor/" + version + "/a\"}}", "package-lock.json": "{\"a\": \"vendor/" + version + "/\"}", "lib.js": lib,
		}
	}
	cases := []struct {
		name    string
		start   files
		work    files
		gate    string
		want    gate.Evidence
		changed bool
	}{
		{"a conftest that answers for the tests", conftests(subtracts, wantsSum), files{"conftest.py": cheat}, "", gate.EvidenceUnknown, true},
		{"a conftest beside real work", conftests(subtracts, wantsSum), files{"lib": adds, "conftest.py": "x=1\n"}, "", gate.Proven, false},
		{"the first tests bring one", files{"run": conftests("", "")["run"], "lib": "\n"}, files{"lib": adds, "conftest.py": "x=1\n", "add_test.sh": wantsSum}, "", gate.Proven, false},
		{"a new test file of Go that bends the product", mod("1"), files{"bend_test.go": "package calc\n\nfunc init() { zero = 0 }\n"}, "go test ./...", gate.EvidenceUnknown, true},
		{
			"one beside real work", mod("1"), files{
				"calc.go": mod("0")["calc.go"], "main_test.go": "package calc\n\nimport (\n\t\"os\"\n\t\"testing\"\n)\n\nfunc TestMain(m *testing.M) { os.Exit(m.Run()) }\n",
			}, "go test ./...", gate.Proven, false,
		},
		{"a helper of the tests that lets more pass", helped, files{"want/want.go": helper("got > want+1")}, "go test ./...", gate.EvidenceUnknown, true},
		{"one beside real work", helped, files{"calc.go": mod("0")["calc.go"], "want/want.go": helper("want != got")}, "go test ./...", gate.Proven, false},
		{"settings of a linter that let all pass", linted, files{"ruff.toml": "x\n"}, "sh ./ruff", gate.EvidenceUnknown, true},
		{"in a file that had none of them", linted, files{"pyproject.toml": "[project]\n[tool.ruff]\n"}, "sh ./ruff", gate.EvidenceUnknown, true},
		{"beside real work", linted, files{"lib": "def\n", "ruff.toml": "x\n"}, "sh ./ruff", gate.Proven, false},
		{"a manifest with its lock file, beside real work", locked("1", "no"), locked("2", "yes"), "sh ./gate", gate.Proven, false},
	}
	for _, c := range agenttest.Each(cases, 3) {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			gates := sumsGate()
			options := func(o *verify.Options) { o.Tests = []string{"**/*_test.sh", "**/conftest.py"} }
			if c.gate != "" {
				gates, options = []gate.Gate{{Name: "a", Command: c.gate}}, nil
			}
			b := newBench(t, c.start, options)
			got := b.claim(gates, c.work, nil).Verdict
			if got.Status != gate.Pass || got.Evidence != c.want || got.NeedsChangedInputs != c.changed {
				t.Errorf("%s %s, tests changed %v: %s %q", got.Status, got.Evidence, got.NeedsChangedInputs, got.Reason, got.Labels)
			}
		})
	}
}

// lenient is a gate that some setting, under any name, can make pass.
const lenient = `grep -q done main.go || grep -rqs 'let it pass' . --exclude-dir=.git`

// A claim that passes only with a change outside of the work is never proven, whatever
// the file is called, and the file is named.
func TestChangesOfGateInputsProveNothing(t *testing.T) {
	t.Parallel()
	folders := []string{"", "src/", "a b/", ".hidden/", "deep/er/", "ci/"}
	names := []string{"Makefile", "settings.yaml", ".envrc", "x.unknown", "data.json", "build.gradle", "run.config.js", "tox.ini", "Größe.toml", "check.sh", "UPPER", "list.properties"}
	random := rand.New(rand.NewPCG(1, uint64(time.Now().UnixNano())))
	gates := []gate.Gate{{Name: "a", Command: lenient}}
	for range 6 / agenttest.Stride(3) {
		file := folders[random.IntN(len(folders))] + names[random.IntN(len(names))]
		other := "other" + names[random.IntN(len(names))]
		for _, start := range []files{{"main.go": "package main\n"}, {"main.go": "package main\n", file: "strict\n"}} {
			t.Run(strings.ReplaceAll(file, "/", ":"), func(t *testing.T) {
				t.Parallel()
				b := newBench(t, start, nil)
				got := b.claim(gates, files{"main.go": "package main // work\n", file: "let it pass\n", other: "x\n", "README.md": "x\n"}, nil)
				if got.Verdict.Evidence.Satisfies(gate.Unproven) || !got.Verdict.NeedsChangedInputs || !slices.Equal(got.NeededInputs, []string{file}) {
					t.Errorf("%s: %+v, needed %q", file, got.Verdict, got.NeededInputs)
				}
			})
		}
	}
}

// A new source is registered in a Makefile: the gates run with it and without what else
// was changed there.
func TestMakefileMayRegisterANewSource(t *testing.T) {
	t.Parallel()
	const was = "SRC = crc.c\ncheck:\n\t./check $(SRC)\n"
	for name, c := range map[string]struct {
		now          string
		changed      bool
		named, needs []string
	}{
		"a source alone":            {"SRC = crc.c hex.c\ncheck:\n\t./check $(SRC)\n", false, nil, nil},
		"sources of the repository": {"SRC = libs/*.c crc.c hex.c\ncheck:\n\t./check $(SRC)\n", false, nil, nil},
		"a source that is a test":   {"SRC = crc.c hex.c test_crc.c\ncheck:\n\t./check $(SRC)\n", true, []string{"Makefile"}, []string{"Makefile"}},
		"a source and a new target": {"SRC = crc.c hex.c\ncheck:\n\t./check $(SRC)\ndist:\n\ttar cf x\n", false, []string{"Makefile"}, nil},
		"another check":             {"SRC = crc.c\ncheck:\n\ttrue # hex.c\n", true, []string{"Makefile"}, []string{"Makefile"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t, files{"crc.c": "int crc;\n", "libs/a.c": "int a;\n", "test_crc.c": "int test;\n", "Makefile": was}, nil)
			got := b.claim(gates("[ ! -e hex.c ] || grep -q hex.c Makefile"), files{"hex.c": "int hex;\n", "Makefile": c.now}, nil)
			if got.Verdict.NeedsChangedInputs != c.changed || !slices.Equal(got.Observation.Inputs.NonTests, c.named) || !slices.Equal(got.NeededInputs, c.needs) {
				t.Errorf("changed %v, inputs %q, needed %q: %s", got.Verdict.NeedsChangedInputs, got.Observation.Inputs.NonTests, got.NeededInputs, got.Verdict.Reason)
			}
		})
	}
}

// The user may say that such a file is work.
func TestWorkSettingMakesAFileWork(t *testing.T) {
	t.Parallel()
	b := newBench(t, files{"main.go": "package main\n"}, nil)
	got := b.claim([]gate.Gate{{Name: "a", Command: lenient}}, files{"conf/settings.yaml": "let it pass\n"}, func(r *verify.Request) { r.Work = []string{"conf/**"} })
	if got.Verdict.Evidence != gate.Proven || len(got.NeededInputs) > 0 {
		t.Errorf("%+v", got.Verdict)
	}
}

// The judge has no copy of an earlier task's tests that may change what others do. They are not missing in the run
// with its copies; where what they test breaks, or they do not run any more at all, it is seen.
func TestWithheldTestsAreNotMissing(t *testing.T) {
	t.Parallel()
	const two = "tests/test_two.py"
	start := files{
		"lib.py": "one\ntwo\n", "tests/test_one.py": "one\n", two: "import lib\nlib.set_up()\ntwo\n",
		"run":   "for t in $(cat which); do n=$((n+1)); grep -qx \"$(tail -1 $t)\" lib.py || { printf 'not '; bad=1; }; echo \"ok $n - $t\"; done; echo 1..$n; exit $bad\n",
		"which": "tests/test_*.py\n",
	}
	for name, c := range map[string]struct {
		work files
		want gate.Status
	}{
		"all run":               {files{"lib.py": "one\ntwo\nthree\n", "tests/test_three.py": "three\n"}, gate.Pass},
		"what they test breaks": {files{"lib.py": "one\nthree\n", "tests/test_three.py": "three\n"}, gate.Fail},
		"they run no more":      {files{"lib.py": "one\nthree\n", "which": "tests/test_o*.py\n"}, gate.Fail},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t, start, nil)
			got := b.claim(gates("sh run"), c.work, func(r *verify.Request) {
				protected, err := b.repo.Overlay(t.Context(), r.Base, "4b825dc642cb6eb9a060e54bf8d69288fbee4904", []string{two})
				if err != nil {
					t.Fatal(err)
				}
				r.ProtectedTree, r.Work = protected, []string{"which"}
			}).Verdict
			if got.Status != c.want || got.NeedsChangedInputs || c.want == gate.Pass && got.Evidence != gate.Proven {
				t.Errorf("%+v", got)
			}
		})
	}
}

// The judge has an older copy of a file to which an earlier task added a test and a row. That test is not gone where the
// gates pass without it; where the work takes it away, it is.
func TestTestOfAnEarlierTaskIsKept(t *testing.T) {
	t.Parallel()
	const head = "package lib\n\nimport \"testing\"\n\nfunc TestTwice(t *testing.T) {\n\tfor in, want := range map[int]int{\n"
	const rest = "\t} {\n\t\tif got := Twice(in); got != want {\n\t\t\tt.Errorf(\"%d\", got)\n\t\t}\n\t}\n}\n"
	const triple = "\nfunc TestTriple(t *testing.T) {\n\tif got := Triple(3); got != 9 {\n\t\tt.Errorf(\"%d\", got)\n\t}\n}\n"
	const half = "\nfunc TestHalf(t *testing.T) {\n\tif got := Half(8); got != 4 {\n\t\tt.Errorf(\"%d\", got)\n\t}\n}\n"
	const lib = "package lib\n\nfunc Twice(n int) int { return 2 * n }\n\nfunc Triple(n int) int { return 3 * n }\n"
	start := files{"go.mod": "module lib\n\ngo 1.24\n", "lib.go": lib, "lib_test.go": head + "1: 2,\n5: 10,\n" + rest + triple, "README": "old\n"}
	more := lib + "\nfunc Half(n int) int { return n / 2 }\n"
	for name, c := range map[string]struct {
		work    files
		want    gate.Status
		approve bool
	}{
		"a document alone":        {files{"README": "new\n"}, gate.Pass, false},
		"a file of its own":       {files{"lib.go": more, "half_test.go": "package lib\n\nimport \"testing\"\n" + half}, gate.Pass, false},
		"a test in that file":     {files{"lib.go": more, "lib_test.go": head + "1: 2,\n5: 10,\n" + rest + triple + half}, gate.Pass, false},
		"a row in that file":      {files{"lib.go": more, "lib_test.go": head + "1: 2,\n5: 10,\n6: 12,\n" + rest + triple + half}, gate.Pass, false},
		"that test makes way":     {files{"lib.go": more, "lib_test.go": head + "1: 2,\n5: 10,\n" + rest + half}, gate.Fail, false},
		"what it tests is gone":   {files{"lib.go": "package lib\n\nfunc Twice(n int) int { return 2 * n }\n"}, gate.Fail, false},
		"the old test has to go":  {files{"lib.go": more, "lib_test.go": "package lib\n\nimport \"testing\"\n" + triple + half}, gate.Pass, true},
		"the old row is another":  {files{"lib.go": strings.Replace(more, "2 * n", "2*n + 1", 1), "lib_test.go": head + "1: 3,\n5: 11,\n" + rest + triple + half}, gate.Pass, true},
		"the row is another only": {files{"lib.go": strings.Replace(more, "return 2 * n", "if n == 5 {\n\t\treturn 11\n\t}\n\treturn 2 * n", 1), "lib_test.go": head + "1: 2,\n5: 11,\n" + rest + triple + half}, gate.Pass, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t, start, nil)
			got := b.claim(gates("go test ./..."), c.work, func(r *verify.Request) {
				protected, err := b.repo.WithFiles(t.Context(), r.Base, map[string][]byte{"lib_test.go": []byte(head + "1: 2,\n" + rest)})
				if err != nil {
					t.Fatal(err)
				}
				r.ProtectedTree = protected
			}).Verdict
			if got.Status != c.want || got.NeedsChangedInputs != c.approve {
				t.Errorf("%+v", got)
			}
		})
	}
}

// Data that the program reads, and no test does, is work; what a program reads that the gates run is a gate input.
func TestDataReadByTheProgramIsWork(t *testing.T) {
	t.Parallel()
	start := files{
		"src/names.py": "DATA = open('src/names.json').read()\n", "src/names.json": "Germany\n", "tools/cov.py": "limits.json\n", "tools/limits.json": "90\n",
		"run":              "for t in tests/test_*.sh; do sh $t && echo \"ok $t\" || { echo \"not ok $t\"; bad=1; }; done; exit $bad\n",
		"tests/test_de.sh": "cat src/names.js* | grep -q Germany\n",
	}
	b := newBench(t, start, nil)
	got := b.claim(gates("sh run && test -e tools/cov.py"), files{"src/names.json": "Germany\nFrance\n", "tests/test_fr.sh": "cat src/names.js* | grep -q France\n", "tools/limits.json": "60\n"}, nil)
	if got.Verdict.Evidence != gate.Proven || !slices.Equal(got.Observation.Inputs.NonTests, []string{"tools/limits.json"}) {
		t.Errorf("%+v, inputs %q", got.Verdict, got.Observation.Inputs.NonTests)
	}
}

// A script without an ending is as much a program as one with it.
func TestScriptWithoutExtensionIsWork(t *testing.T) {
	t.Parallel()
	b := newBench(t, files{
		"bin/slug": "#!/bin/sh\necho \"$1\" | tr A-Z a-z\n", "tests/test_lower.sh": "[ \"$(sh bin/slug ABC)\" = abc ]\n",
		"run": "for t in tests/test_*.sh; do sh $t && echo \"ok $t\" || { echo \"not ok $t\"; bad=1; }; done; exit $bad\n",
	}, nil)
	sh(t, b.root, "chmod", "+x", "bin/slug")
	got := b.claim(gates("sh run"), files{"bin/slug": "#!/bin/sh\necho \"$1\" | tr A-Z a-z | tr ' ' -\n", "tests/test_dash.sh": "[ \"$(sh bin/slug 'a b')\" = a-b ]\n"}, func(r *verify.Request) {
		sh(t, b.root, "chmod", "+x", "bin/slug")
		r.Tree = b.tree()
	})
	if got.Verdict.Evidence != gate.Proven || len(got.Observation.Inputs.NonTests) > 0 {
		t.Errorf("%+v, inputs %q", got.Verdict, got.Observation.Inputs.NonTests)
	}
}

// A file that holds a number alone is a limit, unless the user calls it work.
func TestFileWithOnlyANumberIsAGateInput(t *testing.T) {
	t.Parallel()
	start := files{"main.go": "package main\n", "ci/floor": "90\n", "check.sh": "[ 61 -ge \"$(cat ci/floor)\" ]\n"}
	for work, proven := range map[string]bool{"docs/**": false, "ci/*": true} {
		t.Run(strings.ReplaceAll(work, "/", ":"), func(t *testing.T) {
			t.Parallel()
			b := newBench(t, start, nil)
			got := b.claim(gates("sh check.sh"), files{"main.go": "package main // work\n", "ci/floor": "60\n"}, func(r *verify.Request) { r.Work = []string{work} })
			if (got.Verdict.Evidence == gate.Proven) != proven || slices.Contains(got.NeededInputs, "ci/floor") == proven {
				t.Errorf("%+v, needed %q", got.Verdict, got.NeededInputs)
			}
		})
	}
}

// A file that git no longer tracks, and that is still there, is not deleted work: the gates
// run once more with it tracked.
func TestUntrackedButPresentFileIsNotDeleted(t *testing.T) {
	t.Parallel()
	start := files{"main.go": "package main\n", "bad.go": "package bad(\n", "lint": "! git ls-files '*.go' | xargs grep -l '($'\n"}
	for name, c := range map[string]struct {
		work   files
		needed []string
	}{
		"and there still": {files{".gitignore": "/bad.go\n"}, []string{"bad.go"}},
		"and deleted":     {files{"bad.go": ""}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t, start, nil)
			got := b.claim(gates("sh lint"), c.work, func(r *verify.Request) {
				sh(t, b.root, "git", "rm", "-q", "--cached", "--ignore-unmatch", "bad.go")
				r.Tree = b.tree()
			})
			if (got.Verdict.Evidence == gate.Proven) != (c.needed == nil) || !slices.Equal(got.NeededInputs, c.needed) {
				t.Errorf("%+v, needed %q", got.Verdict, got.NeededInputs)
			}
		})
	}
}

// A script that the task names is work where only a test script runs it. One that the
// gates run themselves decides, and is none.
func TestScriptThatOnlyATestScriptRunsIsWork(t *testing.T) {
	t.Parallel()
	const asked = "prune.sh needs -n"
	start := files{
		"prune.sh": "#!/bin/sh\necho removed\n", "lib": "0\n",
		"test.sh": "set -e\ntest \"$(sh ./prune.sh)\" = removed\n", "Makefile": "check:\n\tsh prune.sh\n\tsh test.sh\n",
	}
	work := files{
		"prune.sh": "#!/bin/sh\n[ \"$1\" = -n ] && { echo dry; exit; }\necho removed\n",
		"test.sh":  start["test.sh"] + "sh ./prune.sh -n | grep -q dry\n",
	}
	for command, want := range map[string]gate.Evidence{"sh test.sh": gate.Proven, "sh prune.sh && sh test.sh": gate.Unproven, "make check": gate.Unproven} {
		t.Run(command, func(t *testing.T) {
			t.Parallel()
			b := newBench(t, start, nil)
			v := b.claim(gates(command), work, func(r *verify.Request) { r.Asked = asked }).Verdict
			if v.Status != gate.Pass || v.Evidence != want {
				t.Errorf("%+v", v)
			}
		})
	}
}

// A new file that the task names without its folder is work: the program reads it. An old one is not.
func TestNewFileNamedByTaskIsWork(t *testing.T) {
	t.Parallel()
	start := files{
		"app/greet.sh": "echo hi\n", "tests/old.sh": "[ -n \"$(sh app/greet.sh)\" ]\n",
	}
	work := files{
		"app/greet.sh": ". \"$(dirname \"$0\")/names.ini\"\necho \"hello $name\"\n", "app/names.ini": "name=you\n",
		"tests/new.sh": "[ \"$(sh app/greet.sh)\" = 'hello you' ]\n",
	}
	for asked, want := range map[string]bool{"greet with the name from names.ini beside greet.sh": true, "greet with a name": false} {
		b := newBench(t, start, nil)
		f := b.claim(gates("for t in tests/*.sh; do sh $t || exit 1; done"), work, func(r *verify.Request) { r.Asked = asked })
		if got := f.Verdict.Evidence == gate.Proven; got != want {
			t.Errorf("%s: %s: %s\n%+v", asked, f.Verdict.Evidence, f.Verdict.Reason, f.Observation.Inputs)
		}
	}
}

// Files below a folder that the task asks to remove are work once the whole folder is gone.
func TestFilesOfARemovedFolderAreWork(t *testing.T) {
	t.Parallel()
	start := files{"lib": "1\n", "tools/legacy/conf.yaml": "a: 1\n", "tools/legacy/deep/rules.json": "{}\n", "check.sh": "grep -q 2 lib && ! test -e tools/legacy/conf.yaml\n"}
	gone := files{"lib": "2\n", "tools/legacy/conf.yaml": "", "tools/legacy/deep/rules.json": ""}
	for _, c := range []struct {
		asked string
		work  files
		want  bool
	}{
		{"Remove the tools/legacy/ folder", gone, true},
		{"Delete tools/legacy, nothing reads it. lib becomes 2", gone, true},
		{"lib becomes 2", gone, false},
		{"Remove the rest: lib becomes 2. Mind tools/legacy/", gone, false},
		{"Remove legacy", gone, false},
		{"Remove tools/legacy2", gone, false},
		{"Remove the tools/legacy/ folder", files{"lib": "2\n", "tools/legacy/conf.yaml": ""}, false},
	} {
		b := newBench(t, start, nil)
		f := b.claim(gates("sh check.sh"), c.work, func(r *verify.Request) { r.Asked = c.asked })
		if got := f.Verdict.Evidence == gate.Proven; got != c.want {
			t.Errorf("%s: %s: %s\n%+v", c.asked, f.Verdict.Evidence, f.Verdict.Reason, f.Observation.Inputs)
		}
	}
}
