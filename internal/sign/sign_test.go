package sign_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pawl-dev/pawl/internal/sign"
)

func TestSignsAreFoundInEachLanguage(t *testing.T) {
	t.Parallel()
	for line, want := range map[string]string{
		// What is a sign.
		"a.py\tif \"PYTEST_CURRENT_TEST\" in os.environ:": "asks whether it is being tested",
		"a.py\tif 'pytest' in sys.modules:":               "asks whether it is being tested",
		"a.go\tif testing.Testing() { return want }":      "asks whether it is being tested",
		"a.js\tif (process.env.NODE_ENV === 'test') {":    "asks whether it is being tested",
		"a.rs\tif cfg!(test) { return 5 }":                "asks whether it is being tested",
		"a.py\tcaller = inspect.stack()[1]":               "looks at who calls it",
		"a.py\tos._exit(3)":                               "ends the process",
		"a.go\tos.Exit(2)":                                "ends the process",
		"a.mjs\tprocess.exit(1)":                          "ends the process",
		"a.py\tatexit.register(done)":                     "does something when the process ends",
		"a.js\tprocess.on('exit', () => {})":              "does something when the process ends",
		"a.ts\tconst x = y as any":                        "switches a check off",
		"a.ts\t// @ts-ignore":                             "switches a check off",
		"a.js\t/* eslint-disable no-undef */":             "switches a check off",
		"a.py\tx = f()  # type: ignore[arg-type]":         "switches a check off",
		"a.py\timport os  # noqa: F401":                   "switches a check off",
		"a.py\tdef f():  # pragma: no cover":              "switches a check off",
		"a.go\tx := f() //nolint:errcheck":                "switches a check off",
		"a.rs\t#[allow(dead_code)]":                       "switches a check off",
		"A.java\t@SuppressWarnings(\"unchecked\")":        "switches a check off",
		"a.py\texcept Exception: pass":                    "drops an error",
		"a.js\ttry { f() } catch (e) {}":                  "drops an error",
		"a.go\tdefer func() { recover() }()":              "drops an error",
		"a.sh\tmake test || true":                         "drops an error",

		"a.py\tsys.modules['calc'] = fake":              "changes another module while it runs",
		"a.js\tif (Date.now() > 1893456000000) throw 1": "decides by the date",
		"a.go\tif time.Now().After(end) { return nil }": "decides by the date",
		// What only looks like one.
		"a.py\tprint('os._exit(0) is not called here')": "",
		"a.py\t# os._exit(0) would be wrong":            "",
		"a.go\treturn errors.New(\"os.Exit(0)\")":       "",
		"a.go\tstart := time.Now()":                     "",
		"a.go\tfunc any() { x := anything() }":          "",
		"a.js\tconst any = list.some(Boolean)":          "",
		"a.py\texcept KeyError: return default":         "",
		"a.js\t} catch (e) { report(e) }":               "",
		"a.py\turl = 'https://example.org/tmp/x'":       "",
		"a.txt\tos._exit(0)":                            "",
		"a.rs\tlet x = f().ok_or(Error::Empty)?;":       "",
		"a.sh\tif test -f x || test -f y; then":         "",
	} {
		file, text, _ := strings.Cut(line, "\t")
		got := ""
		for _, s := range sign.NewChange(file, nil, []byte("\n"+text+"\n")).Signs() {
			got = s.Does
			if s.Line != 2 || s.Text != strings.TrimSpace(text) {
				t.Errorf("%s: %d %q", line, s.Line, s.Text)
			}
		}
		if got != want {
			t.Errorf("%s\n\tis %q, not %q", line, got, want)
		}
	}
}

func TestOnlyAddedLinesCount(t *testing.T) {
	t.Parallel()
	before := "import os\nos._exit(1)\nx = 1\n"
	after := "import os\n\n    os._exit(1)\nx = 2\nos._exit(1)\n"
	want := []sign.Sign{{Path: "a.py", Line: 5, Kind: sign.Exit, Does: "ends the process", Text: "os._exit(1)"}}
	if diff := cmp.Diff(want, sign.NewChange("a.py", []byte(before), []byte(after)).Signs()); diff != "" {
		t.Error(diff)
	}
}

// Whatever a file holds, its lines are found where they stand.
func FuzzSignsAreOnTheirLines(f *testing.F) {
	f.Add("a.py", []byte("\"\"\"\nos._exit(0)"))
	f.Add("a.js", []byte("`\nprocess.exit(0)\n`"))
	f.Fuzz(func(t *testing.T, file string, content []byte) {
		lines := strings.Split(string(content), "\n")
		for _, s := range sign.NewChange(file, nil, content).Signs() {
			if s.Line < 1 || s.Line > len(lines) {
				t.Errorf("line %d of %d", s.Line, len(lines))
			}
		}
	})
}

// What is made from other files is named where none of those was changed.
func TestHandEditedGeneratedFilesAreNamed(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		changed []string
		want    int
	}{
		{[]string{"dist/clamp.js"}, 1},
		{[]string{"dist/clamp.js", "src/clamp.ts"}, 0},
		{[]string{"api/v1.pb.go", "README.md"}, 1},
		{[]string{"api/v1.pb.go", "api/v1.proto"}, 0},
		{[]string{"src/build.rs", "distance.py"}, 0},
		{[]string{"out/new.txt"}, 0},
		{[]string{"new.pb.go"}, 1},
		{[]string{"marked.go"}, 1},
		{[]string{"marked.go", "gen.py"}, 0},
		{[]string{"new.marked.go"}, 0},
		{nil, 0},
	} {
		edited := func(file string) bool { return !strings.Contains(file, "new.") }
		saysSo := func(file string) bool { return strings.HasSuffix(file, "marked.go") }
		if got := sign.GeneratedFileSigns(c.changed, edited, saysSo); len(got) != c.want {
			t.Errorf("%q: %v", c.changed, got)
		}
	}
}

func TestExportedNamesAreFound(t *testing.T) {
	t.Parallel()
	for file, want := range map[string]string{
		"a.py\tdef add(): pass\ndef _own(): pass\nclass P: pass\n# def no(): pass":                             "add P",
		"a.ts\texport const a = 1\nexport default function b() {}\nconst c = 1":                                "a b",
		"a.js\texports.plural = (w) => w":                                                                      "plural",
		"a.go\tfunc Add() {}\nfunc add() {}\nfunc (p P) Sub() {}\ntype P int":                                  "Add Sub P",
		"a.rs\tpub fn parse() {}\nfn own() {}":                                                                 "parse",
		"A.java\tpublic class A {\n  public static int add(int a) { return a; }\n  int own() { return 1; }\n}": "A add",
		"a.txt\tdef add(): pass":                                                                               "",
	} {
		name, text, _ := strings.Cut(file, "\t")
		if got := strings.Join(sign.Exported(name, []byte(text)), " "); got != want {
			t.Errorf("%s: %q, not %q", name, got, want)
		}
	}
}

// Many signs of one kind, in files that come first, do not crowd out one of another kind.
func TestRareSignsComeFirst(t *testing.T) {
	t.Parallel()
	var all []sign.Sign
	for i := range 12 {
		all = append(all, sign.Sign{Path: "a.py", Line: i + 1, Kind: sign.Suppression})
	}
	all = append(all, sign.Sign{Path: "z.py", Line: 1, Kind: sign.Exit})
	got := sign.RareFirst(all)
	if len(got) != 13 || got[0] != all[0] || got[1] != all[12] || got[2] != all[1] {
		t.Errorf("%v", got)
	}
	if few := sign.RareFirst(all[10:]); few[0] != all[10] || few[2] != all[12] {
		t.Errorf("few are sorted too: %v", few)
	}
}
