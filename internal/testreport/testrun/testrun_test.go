package testrun_test

import (
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pawl-dev/pawl/internal/testreport/testrun"
)

// files are the files that the commands below use.
var files = map[string]string{
	"package.json": `{"scripts": {"test": "npm run lint && jest --ci", "lint": "eslint .", "test:all": "run-s lint test:unit",
		"test:unit": "vitest run", "masked": "mocha || true", "itself": "npm run itself", "odd-test": "./check",
		"none": "echo \"Error: no test specified\" && exit 1"}}`,
	"web/package.json": `{"scripts": {"test": "playwright test"}}`,
	"Makefile":         "GO ?= go\nall: build test\nbuild:\n\t$(GO) build\ntest: unit\n\t@-bats test\nunit:\n\t@$(GO) test ./...\nloop: loop\n",
}

func read(path string) ([]byte, error) {
	if text, ok := files[path]; ok {
		return []byte(text), nil
	}
	return nil, os.ErrNotExist
}

// show formats calls for a table. Each is a runner, or `?` if only the output can show whether it
// is a test run, and the mask of its exit code.
func show(calls []testrun.Call) string {
	var words []string
	for _, c := range calls {
		word := c.Runner
		if word == "" {
			word = "test"
		}
		if !c.IsTestRun {
			word += "?"
		}
		if c.HasNoTests {
			word += " untested"
		}
		if c.HasTimeLimit {
			word += " limited"
		}
		if c.Mask != "" {
			word += " [" + c.Mask + "]"
		}
		words = append(words, word)
	}
	return strings.Join(words, ", ")
}

func TestReadFindsTestRuns(t *testing.T) {
	t.Parallel()
	for command, want := range map[string]string{
		// runners and other programs
		"go test ./...":                           "go",
		"go vet ./...":                            "",
		"go test -c ./a":                          "",
		"cd a && GOFLAGS=-race go test .":         "go",
		"./node_modules/.bin/jest --ci":           "jest",
		"node node_modules/jest/bin/jest.js":      "jest",
		"node --test":                             "node",
		"node x.js":                               "test?",
		"node -e 'test()'":                        "",
		"python3 -m pytest -q":                    "pytest",
		"python3.12 -m unittest":                  "unittest",
		"python manage.py test shop":              "unittest",
		"python3 test_sum.py":                     "unittest",
		"perl t/sum.t":                            "test",
		"pytest --collect-only":                   "",
		"jest --version":                          "",
		"vitest list":                             "",
		"cargo +nightly test":                     "cargo",
		"cargo build":                             "",
		"./gradlew :app:test":                     "gradle",
		"mvn -q -DskipTests package":              "",
		"bun test ./a.test.js":                    "bun",
		"git commit -m 'npm test | tail'":         "",
		"echo npm test":                           "",
		"cat test.log":                            "",
		"grep -rn 'jest' .":                       "",
		"bash scripts/run-tests.sh":               "test",
		"./deploy":                                "test?",
		"java -cp . org.junit.runner.JUnitCore A": "junit",
		// wrappers
		"npx --yes jest":                          "jest",
		"pnpm exec vitest run":                    "vitest",
		"yarn jest":                               "jest",
		"uv run --with x pytest":                  "pytest",
		"poetry run python -m pytest":             "pytest",
		"env -u CI A=b timeout -k 5 60s npx jest": "jest limited",
		"xvfb-run -a npx playwright test":         "playwright",
		"time go test .":                          "go",
		"coverage run -m pytest":                  "pytest",
		"c8 --lines 90 mocha":                     "mocha",
		"bash -lc 'cd x; go test .'":              "go",
		`eval "go test ."`:                        "go",
		`"go" te"st" .`:                           "go",
		"$RUNNER test":                            "",
		"go $SUB ./...":                           "",
		"docker compose run app pytest":           "pytest",
		"docker compose exec -T app npx jest":     "jest",
		"docker exec -e A=b app pytest -q":        "pytest",
		"docker compose up -d":                    "test?",
		"nix develop -c go test ./...":            "go",
		"doppler run -- npx jest":                 "jest",
		// scripts
		"npm test":                       "jest",
		"npm t -- -u":                    "jest",
		"npm run test:all":               "vitest",
		"npm --prefix web test":          "playwright",
		"cd web && npm test":             "playwright",
		"(cd web && npm test); npm test": "playwright [; npm], jest",
		"npm run masked":                 "mocha [|| true]",
		"npm run none":                   "test untested",
		"npm run itself":                 "",
		"npm run lint":                   "",
		"npm run gone":                   "test?",
		"npm run test:gone":              "test",
		"npm run odd-test":               "test?",
		"npm run build":                  "test?",
		"yarn test:unit":                 "vitest",
		"yarn workspace api test":        "test",
		"make":                           "go, bats [- of make]",
		"make -j 4 unit":                 "go",
		"make -C sub check":              "test",
		"make docs":                      "test?",
		"make loop":                      "test?",
		// exit codes
		"go test . | tail -5":                           "go [| tail]",
		"go test . |& tee log":                          "go [| tee]",
		"set -o pipefail; go test . | tail":             "go",
		"bash -o pipefail -c 'go test . | tail'":        "go",
		"set -euo pipefail\ngo vet .\ngo test . | tail": "go",
		"go test . || true":                             "go [|| true]",
		"go test . || exit 1":                           "go",
		"go test . || { echo red; exit 1; }":            "go",
		"go test . || { echo red; exit; }":              "go [|| …]",
		"go test . && echo ok || echo red":              "go [|| echo]",
		"go test . && echo ok":                          "go",
		"go test .; echo done":                          "go [; echo]",
		"go test .; exit $?":                            "go",
		"go test .; c=$?; cat log; exit $c":             "go",
		"go test . | tail; exit ${PIPESTATUS[0]}":       "go",
		"set -e; go test .; echo done":                  "go",
		"go test . &":                                   "go [&]",
		"! go test .":                                   "go [!]",
		"if go test .; then echo ok; fi":                "go [if]",
		"for p in a b; do go test ./$p; done":           "go [for]",
		"out=$(go test .)":                              "go",
		`echo "$(go test .)"`:                           "go [$( )]",
		"go test ./a && npx jest | tail":                "go, jest [| tail]",
		"go test $(":                                    "",
	} {
		if diff := cmp.Diff(want, show(testrun.Read(command, read))); diff != "" {
			t.Errorf("%q (-want +got):\n%s", command, diff)
		}
	}
}

// A redirection that discards the stream with a runner's summary is reported; the other stream may
// be discarded.
func TestDiscardedSummaryIsReported(t *testing.T) {
	t.Parallel()
	for command, want := range map[string]string{
		"python3 -m unittest":                        "",
		"python3 -m unittest 2>/dev/null":            "2>/dev/null",
		"python3 -m unittest >/dev/null":             "",
		"python3 -m unittest 2>log":                  "",
		"npx jest 2>/dev/null":                       "2>/dev/null",
		"npx jest 2>&-":                              "2>&-",
		"bun test 2>> /dev/null":                     "2>/dev/null",
		"go test ./... 2>/dev/null":                  "",
		"go test ./... >/dev/null":                   ">/dev/null",
		"go test ./... 1>/dev/null":                  ">/dev/null",
		"go test ./... &>/dev/null":                  "&>/dev/null",
		"go test ./... >&/dev/null":                  ">&/dev/null",
		"pytest >/dev/null 2>&1":                     ">/dev/null",
		"pytest 2>&1 >/dev/null":                     ">/dev/null",
		"npx jest 2>&1 >/dev/null":                   "",
		"npx jest >/dev/null 2>&1":                   ">/dev/null",
		"npx jest 2>/dev/null >&2":                   "2>/dev/null",
		"{ go vet ./... && go test .; } > /dev/null": ">/dev/null",
		"(npx jest >log) 2>/dev/null":                "2>/dev/null",
		"npx jest 2>&1 | tail >/dev/null":            "",
		"go test . | tee log >/dev/null":             "",
		"npx jest 2>/dev/null | cat":                 "2>/dev/null",
		"npx jest |& cat":                            "",
		"./run-tests 2>/dev/null":                    "",
		"./run-tests >/dev/null 2>&1":                ">/dev/null",
		"go test . >$LOG":                            "",
		"go test . </dev/null":                       "",
	} {
		calls := testrun.Read(command, nil)
		if len(calls) != 1 || calls[0].Silenced != want {
			t.Errorf("%q: %+v, want %q", command, calls, want)
		}
	}
}

func TestEchoedExitCodeIsRecognized(t *testing.T) {
	t.Parallel()
	for command, want := range map[string]string{
		`npx jest; echo "exit: $?"`:              "exit: \x00",
		`npx jest | tail; echo ${PIPESTATUS[0]}`: "\x00",
		`npx jest | tail; echo $?`:               "",
		`(npx jest || true); echo $?`:            "",
		`npx jest || echo code=$? now`:           "code=\x00 now",
		`npx jest; echo done`:                    "",
		`npx jest; echo "$? $HOME"`:              "",
		`npx jest; echo -n $?`:                   "",
		`npx jest; echo "exit: $?" > log`:        "",
	} {
		calls := testrun.Read(command, nil)
		if len(calls) != 1 || calls[0].EchoLine != want {
			t.Errorf("%q: %+v, want echo %q", command, calls, want)
		}
	}
}

// FuzzRead checks that Read ends for any command and files, and that a command that does not parse
// starts no test run.
func FuzzRead(f *testing.F) {
	for _, seed := range []string{"npm test | tail", "make -C x test; exit $?", "bash -c 'eval \"npx jest\"'", "((((", "if $(go test"} {
		f.Add(seed, `{"scripts":{"test":"npm run test & npm run test"}}`)
	}
	f.Fuzz(func(t *testing.T, command, manifest string) {
		calls := testrun.Read(command, func(path string) ([]byte, error) {
			if strings.HasSuffix(path, "package.json") || strings.HasSuffix(path, "akefile") {
				return []byte(manifest), nil
			}
			return nil, os.ErrNotExist
		})
		if len(calls) > 64 {
			t.Errorf("%d calls", len(calls))
		}
		for _, c := range calls {
			if len(c.Words) == 0 {
				t.Errorf("a call of nothing: %+v", c)
			}
		}
	})
}

// Reach returns the commands that a command runs, and whether their output can be read.
func TestReachFindsCommandsAndTheirOutput(t *testing.T) {
	t.Parallel()
	scripts := map[string]string{
		"check.sh":     "set -e\n. ./lib.sh\n[ \"$(sh greet.sh Ann)\" = hello ]\ncd web\nnpm test\n",
		"lib.sh":       "sh check.sh\n",
		"run":          "#!/bin/sh\nsh deep/a.sh\n",
		"built":        "\x7fELF sh b.sh",
		"deep/a.sh":    "jest\n",
		"web/Makefile": "test: lint\n\t@cd sub && sh ../t.sh\n\tsh u.sh | grep -q ok\nlint: ; ruff check\nother:\n\tmypy\n",
	}
	all := func(path string) ([]byte, error) {
		if text, ok := scripts[path]; ok {
			return []byte(text), nil
		}
		return read(path)
	}
	for command, want := range map[string]string{
		"timeout 9 sh check.sh":              "timeout sh set . sh sh(read) [ cd web:npm web:playwright | check.sh lib.sh web/package.json",
		"make -C web":                        "make web:ruff web:cd web/sub:sh web:sh(read) web:grep | web/Makefile",
		"./run && ./built":                   "./run sh jest ./built | run deep/a.sh",
		"bash -euo pipefail check.sh > out":  "bash(read) set(read) .(read) sh(read) sh(read) [(read) cd(read) web:npm(read) web:playwright(read) | check.sh lib.sh web/package.json",
		"sh -c 'sh gone.sh' || true":         "sh sh true |",
		"n=$(wc -l < work.txt); test $n":     "wc<work.txt test |",
		"while read -r x; do [ $x ]; done<a": "read [ |",
		"sh x.sh >/dev/null 2>&1":            "sh |",
		"":                                   "|",
	} {
		steps, through := testrun.Reach("", command, all)
		var got []string
		for _, s := range steps {
			word := s.Words[0]
			for _, file := range s.Input {
				word += "<" + file
			}
			if s.Dir != "" {
				word = s.Dir + ":" + word
			}
			if s.Compared {
				word += "(read)"
			}
			got = append(got, word)
		}
		if diff := cmp.Diff(want, strings.TrimSpace(strings.Join(append(append(got, "|"), through...), " "))); diff != "" {
			t.Errorf("%s (-want +got):\n%s", command, diff)
		}
	}
}

// The scripts that loops, functions, find and xargs run are known.
func TestReachFindsScripts(t *testing.T) {
	t.Parallel()
	for command, want := range map[string][]string{
		"for t in t/*.sh; do sh \"$t\" >/dev/null 2>&1 || f=1; done":       {"t/*.sh"},
		"for t in a.sh b/*.sh; do if ./${t}; then echo $t; fi; done":       {"./a.sh", "./b/*.sh"},
		"for d in x y; do for t in t/*; do bash $d/$t; done; done":         {"x/t/*", "y/t/*"},
		"for t in $(ls t/*.sh); do sh $t; done; for t; do sh $t; done":     {"t/*.sh"},
		"for t in a.sh; do true; done; sh $t":                              {"a.sh"},
		"run() { sh \"$1\"; }; run t/a.sh; run t/b.sh":                     {"t/a.sh", "t/b.sh"},
		"find t -name '*.sh' | sort | while read -r t; do sh \"$t\"; done": {"t/**/*.sh"},
		"find t -type f -exec sh {} ';'":                                   {"t/**/*"},
		"find t -path '*/x/*' -exec sh {} ';'":                             nil,
		"find t -name '*.sh' -print0 | xargs -0 -n1 bash -e":               {"t/**/*.sh"},
		"git ls-files 't/*.sh' | xargs -I{} sh -c 'sh {}'":                 {"t/**/*.sh"},
		"printf '%s\\n' t/a.sh t/b.sh | while read t; do sh $t; done":      {"t/a.sh", "t/b.sh"},
		"cd \"$UNKNOWN\"; while read t; do sh $t; done < list":             {"t/a.sh", "t/b.sh"},
		"sh bin/all.sh t/c.sh":                                             {"bin/all.sh", "t/c.sh", "./lib.sh", "t/d.sh"},
		"bin/all.sh; bin/all.py; bin/none.sh":                              {"bin/all.sh", "t/*.sh", "./lib.sh", "t/d.sh", "bin/all.py", "bin/none.sh"},
		"sh -n t/a.sh":                                                     nil,
	} {
		var got []string
		steps, _ := testrun.Reach("", command, filesOf(map[string]string{
			"list":       "t/a.sh\nt/b.sh\n",
			"bin/all.sh": "#!/bin/sh\ncd \"$(dirname \"$0\")/..\"\nfor t in ${@:-t/*.sh}; do sh \"$t\"; done\n. ./lib.sh\ncheck d\n",
			"bin/all.py": "#!/usr/bin/env python3\nsh t/e.sh\n",
			"lib.sh":     "check() { sh t/$1.sh; }\n",
		}))
		for _, s := range steps {
			if script := s.Script(); script != "" {
				got = append(got, script)
			}
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", command, diff)
		}
	}
}

// Only output that something checks is compared: a log is not.
func TestReachComparesOutput(t *testing.T) {
	t.Parallel()
	for command, want := range map[string]bool{
		"sh a.sh": false,
		"sh a.sh > out.txt; diff out.txt want.txt":    true,
		"sh a.sh > out.txt; sh b.sh":                  true,
		"sh a.sh > out.txt 2>&1 || cat out.txt":       false,
		"sh a.sh > a.log 2>&1 || exit 1":              false,
		"{ echo start; sh a.sh; } > a.log":            false,
		"sh a.sh > /dev/null":                         false,
		"sh a.sh | grep -q ok":                        true,
		"sh a.sh 2>&1 | tee log":                      false,
		"sh a.sh 2>&1 | tee log | grep -c ok":         true,
		"sh a.sh | sh x.sh | cat":                     true,
		"[ \"$(sh a.sh)\" = hello ]":                  true,
		"out=$(sh a.sh) || exit 1":                    false,
		"diff want.txt <(sh a.sh)":                    true,
		"f() { sh a.sh; }; f | grep -q ok":            true,
		"for t in a.sh; do sh $t; done | tail -n 100": false,
	} {
		steps, _ := testrun.Reach("", command, nil)
		found := false
		for _, s := range steps {
			if s.Script() == "a.sh" {
				found = true
				if s.Compared != want {
					t.Errorf("%s: compared %v, want %v", command, s.Compared, want)
				}
			}
		}
		if !found {
			t.Errorf("%s: a.sh is no step of %v", command, steps)
		}
	}
}

// filesOf returns a reader of some texts.
func filesOf(texts map[string]string) testrun.Files {
	return func(path string) ([]byte, error) {
		if text, ok := texts[path]; ok {
			return []byte(text), nil
		}
		return nil, os.ErrNotExist
	}
}
