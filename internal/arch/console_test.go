package arch

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"
	"time"
)

// example is a fenced block of a document. In a document's examples
//
//	```console
//	$ pawl plan next plan.md
//	US-002  Greet by name
//	```
//
// is run and must print just that, where … stands for any text and, alone on a
// line, for any lines. A block whose info string has a second word, as in
// "```markdown plan.md", is that file. The examples of one document share a
// folder, in the order in which they stand.
type example struct {
	language, file string
	line           int // of its first line in the document
	text           string
}

func examples(text string) []example {
	var all []example
	var open *example
	for i, line := range strings.Split(text, "\n") {
		info, fence := strings.CutPrefix(line, "```")
		switch {
		case fence && open != nil:
			all, open = append(all, *open), nil
		case fence:
			open = &example{line: i + 2}
			words := strings.Fields(info)
			if len(words) > 0 {
				open.language = words[0]
			}
			if len(words) > 1 {
				open.file = words[1]
			}
		case open != nil:
			open.text += line + "\n"
		}
	}
	return all
}

// command is one "$ …" line of a console and what it should print.
type command struct{ line, output string }

func (e example) commands() []command {
	var all []command
	for line := range strings.Lines(e.text) {
		if c, ok := strings.CutPrefix(line, "$ "); ok {
			all = append(all, command{line: strings.TrimSpace(c)})
		} else if len(all) > 0 {
			all[len(all)-1].output += line
		}
	}
	return all
}

// prints reports whether c may print out.
func (c command) prints(out string) bool {
	p := "^"
	for line := range strings.Lines(c.output) {
		line = strings.TrimRight(line, " \n")
		if line == "…" {
			p += `(?:.*\n)*`
			continue
		}
		p += strings.ReplaceAll(regexp.QuoteMeta(line), "…", ".*") + ` *\n`
	}
	if out = strings.TrimRight(out, "\n"); out != "" {
		out += "\n"
	}
	return regexp.MustCompile(p + "$").MatchString(out)
}

func runExamples(t *testing.T, tool, text string) {
	t.Helper()
	if _, err := exec.LookPath("sh"); err != nil {
		t.Skip("the examples are written for a POSIX shell, and there is none")
	}
	dir := t.TempDir()
	home := t.TempDir()
	for _, e := range examples(text) {
		if e.file != "" {
			path := filepath.Join(dir, filepath.FromSlash(e.file))
			if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, []byte(e.text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		if e.language != "console" {
			continue
		}
		for _, c := range e.commands() {
			ctx, cancel := context.WithTimeout(t.Context(), exampleTimeout)
			cmd := exec.CommandContext(ctx, "sh", "-c", c.line)
			cmd.Dir, cmd.Env, cmd.WaitDelay = dir, environment(tool, home), time.Second
			out, _ := cmd.CombinedOutput() // what it printed tells, and some examples are of errors
			cancel()
			if !c.prints(string(out)) {
				t.Errorf("line %d: $ %s\nshould print:\n%s\nprinted:\n%s", e.line, c.line, c.output, out)
			}
		}
	}
}

// exampleTimeout ends an example that hangs. One that runs a whole loop took over a minute on a
// machine with a load of 30.
const exampleTimeout = 10 * time.Minute

// environment is that of somebody who has just begun: an empty home, and git
// with a name.
func environment(tool, home string) []string {
	return append(os.Environ(),
		"PATH="+filepath.Dir(tool)+string(os.PathListSeparator)+os.Getenv("PATH"),
		"HOME="+home, "PAWL_HOME="+filepath.Join(home, "pawl"), "XDG_CONFIG_HOME="+filepath.Join(home, "config"),
		"GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL="+os.DevNull,
		"GIT_AUTHOR_NAME=Ann", "GIT_AUTHOR_EMAIL=ann@example.org",
		"GIT_COMMITTER_NAME=Ann", "GIT_COMMITTER_EMAIL=ann@example.org",
		"NO_COLOR=1", "TERM=dumb", "TZ=UTC", "LC_ALL=C.UTF-8",
	)
}

// TestToolStartsQuicklyAndRunsItsExamples builds the tool as a user would get it. (Every source file is read
// above, so that the result is not cached when one of them changes.)
func TestToolStartsQuicklyAndRunsItsExamples(t *testing.T) {
	t.Parallel()
	sources(t)
	tool := build(t, "pawl")
	fakeClient(t, filepath.Dir(tool))
	t.Run("starts within its budget", func(t *testing.T) { testStart(t, toolBudget, tool, "version") })
	for doc, text := range documents(t) {
		t.Run(doc, func(t *testing.T) {
			t.Parallel()
			runExamples(t, tool, text)
		})
	}
}

// fakeClient puts a claude beside the tool that says its version, and nothing more:
// the examples ask for no more, on machines with a client and without.
func fakeClient(t *testing.T, dir string) {
	t.Helper()
	name, script := "claude", "#!/bin/sh\necho '2.1.332 (Claude Code)'\n"
	if runtime.GOOS == "windows" {
		name, script = "claude.bat", "@echo 2.1.332 (Claude Code)\r\n"
	}
	if err := os.WriteFile(filepath.Join(dir, name), []byte(script), 0o700); err != nil {
		t.Fatal(err)
	}
}

// build makes one of the commands and returns its path.
func build(t *testing.T, name string, flags ...string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if runtime.GOOS == "windows" {
		path += ".exe"
	}
	cmd := exec.CommandContext(t.Context(), "go", append(append([]string{"build", "-trimpath", "-o", path}, flags...), "./cmd/"+name)...)
	cmd.Dir = root(t)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return path
}

func TestExamplesAreRead(t *testing.T) {
	t.Parallel()
	text := "```markdown plan.md\n- [ ] one\n```\ntext\n```console\n$ cat plan.md\n- [ ] one\n$ printf 'a\\nb 17 c\\n'\n…\nb … c\n$ true\n```\n"
	runExamples(t, "sh", text)
	got := examples(text)[1].commands()
	if len(got) != 3 || got[0].prints("- [ ] two\n") || got[1].prints("b 17 d\n") || got[2].prints("x\n") {
		t.Errorf("a wrong output passes: %+v", got)
	}
}
