package arch

import (
	"fmt"
	"go/ast"
	"go/doc"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// mapPage is the page that shows the packages; UPDATE=1 writes it.
const mapPage = "docs/explanation/architecture.md"

//go:generate env UPDATE=1 go test -run TestArchitecturePageIsCurrent .

// behaviours say where each begins: a file from internal/ and a function in it. Words are
// those that a reader would search for.
const behaviours = `
	state machine: events in, actions out            core/loop/step.go Step
	end of a turn                                    core/loop/turn.go turnEnded
	claim refused once, for want of evidence         core/loop/claim.go refusal
	retry ladder: same session, fresh, restore, skip core/loop/ladder.go nextAttempt
	usage limit, overload, login, crash of the agent core/loop/agentfailure.go agentFailed
	limits: iterations, duration, cost, tokens       core/loop/limit.go limit
	outcome of a loop, exit codes                    core/loop/outcome.go ExitCode
	handover between session and background          core/loop/handover.go startHandover
	fresh session when the context is full           core/loop/handover.go ContextFull
	takeover after the owner died                    core/loop/takeover.go ownerChanged
	fold of the journal                              core/memory/fold.go Fold
	whose a change is: agent's, user's, Pawl's       attribution/changes.go Attribute
	author of a new file, author of an edit          core/authorship/authorship.go NewFileAuthor
	verdict on a claim                               core/gate/verdict.go Decide
	evidence: table of findings and demerits         core/gate/findings.go findings
	gate runs of a claim                             verify/claim.go Claim
	baseline of a task                               verify/baseline.go Baseline
	gate inputs, found by bisection                  verify/gateinputs.go findNeededInputs
	isolated checkout                                checkout/checkout.go CheckOut
	canary                                           verify/canary.go runCanary
	mutation testing                                 mutant/mutant.go Changed
	signs in a diff                                  sign/sign.go NewChange
	work or gate input                               work/work.go IsWork
	tests that the agent removed                     verify/testchanges.go filesWithRemovedTests
	test weakened, deleted, skipped                  testdiff/testdiff.go Compare
	protected files, restored                        protected/files.go Restore
	tool call allowed or denied                      core/guard/guard.go Check
	commands in a shell script                       core/shell/shell.go Read
	prompt of a turn                                 prompt/prompt.go Render
	plan formats, done marks                         planfile/planfile.go Decode
	commit with the plan's tick                      runner/commit.go commit
	edits of the plan during a loop                  workplan/inspect.go Inspect
	checkpoint                                       git/checkpoint.go Checkpoint
	restore                                          git/restore.go Restore
	undone work of one task: pawl restore --task     restore/target.go TaskWork
	journal, fsync, hash chain                       store/journal/write.go Append
	hook event of a session                          hook/hook.go Run
	daemon of a session                              daemon/daemon.go Serve
	Claude Code's stream                             agent/claude/turn.go Turn
	notifications                                    core/notice/notice.go Decide
	quiet hours of notifications                     core/notice/receiver.go QuietUntil
	replies by Telegram and Slack                    notify/listen.go Listen
	options from files, environment, flags           config/decode.go Resolve
	sandbox                                          confine/build.go Build
	report                                           report/report.go Text
	screen of a loop, live                           watch/model.go Update
	request for a loop in a session                  launch/beginrequest.go ReadBeginRequest
	loop of another tool's file                      launch/adoptfile.go AdoptNamed
	loop continued in a background process           launch/background.go StartDriver
	loop in the background, attach                   cli/attach.go watch
	detach from the terminal by a key                cli/terminal.go runDriver
	estimate of the time and cost left               core/loop/estimate.go Estimate
`

// TestArchitecturePageIsCurrent compares docs/explanation/architecture.md with the code.
func TestArchitecturePageIsCurrent(t *testing.T) {
	files := sources(t)
	want := mapText(t, files)
	if os.Getenv("UPDATE") != "" {
		if err := os.WriteFile(filepath.Join(root(t), mapPage), []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if got := string(read(t, mapPage)); got != want {
		t.Errorf("%s is out of date: run go generate ./internal/arch", mapPage)
	}
}

func mapText(t *testing.T, files []source) string {
	var b strings.Builder
	b.WriteString(`# Architecture: the packages

For engineers who read or change the code. Do not edit this page: it is generated (` + "`go generate ./internal/arch`" + `).

Start with ` + "`core/loop`" + `: a pure function that takes a state and an event and returns a new state and actions. ` + "`runner`" + `
performs these actions for loops in the background, ` + "`hook`" + ` for loops in a user's session. [The design](../DESIGN.md) says what must be true,
[the decisions](decisions/README.md) give the reasons.

## Where a behaviour begins

| behaviour | file | function |
|---|---|---|
`)
	for line := range strings.Lines(strings.TrimSpace(behaviours)) {
		f := strings.Fields(line)
		name, file := f[len(f)-1], f[len(f)-2]
		if !declares(files, "internal/"+file, name) {
			t.Errorf("no function %s in internal/%s", name, file)
		}
		fmt.Fprintf(&b, "| %s | [`internal/%s`](../../internal/%s) | `%s` |\n", strings.Join(f[:len(f)-2], " "), file, file, name)
	}
	b.WriteString("\n## What each package is for\n\nA package imports only packages from its ring and from the rings above it in this table.\n\n")
	imported := packageImports(files)
	synopses := packageDocs(files)
	groups := rings()
	b.WriteString("| package | |\n|---|---|\n")
	for _, g := range groups {
		heading := fmt.Sprintf("| **%s** | |\n", g.name)
		for _, p := range slices.Sorted(maps.Keys(imported)) {
			if covers(g.patterns, p) {
				fmt.Fprintf(&b, "%s| `%s` | %s |\n", heading, p, synopses[p])
				heading = ""
			}
		}
	}
	b.WriteString("\n## Imports\n\nThe diagram leaves out indirect imports, and packages that nearly all others import.\n\n")
	b.WriteString(diagram(groups, imported))
	return b.String()
}

// declares reports whether the file has a function or method of that name.
func declares(files []source, file, name string) bool {
	for _, s := range files {
		if s.path != file {
			continue
		}
		for _, d := range s.ast.Decls {
			if f, ok := d.(*ast.FuncDecl); ok && f.Name.Name == name {
				return true
			}
		}
	}
	return false
}

// ring is a part of the import policy, under its comment.
type ring struct {
	name     string
	patterns []string
}

// rings reads the policy's comments as headings. The first sentence is the name.
func rings() []ring {
	var all []ring
	begun := false
	for line := range strings.Lines(imports) {
		line = strings.TrimSpace(line)
		if heading, ok := strings.CutPrefix(line, "# "); ok {
			if !begun {
				name, _, _ := strings.Cut(heading, ". ")
				all = append(all, ring{name: strings.TrimSuffix(name, ".")})
			}
			begun = true
			continue
		}
		begun = false
		if left, _, ok := strings.Cut(line, "<"); ok && len(all) > 0 {
			last := &all[len(all)-1]
			last.patterns = append(last.patterns, strings.Fields(left)...)
		}
	}
	return all
}

// packageImports maps each folder to the folders that it imports, tests aside.
func packageImports(files []source) map[string][]string {
	all := map[string][]string{}
	for _, s := range files {
		if s.test || strings.HasPrefix(s.folder, "bench") || strings.HasPrefix(s.folder, "tools") || s.folder == "arch" || s.folder == "e2e" {
			continue
		}
		if _, ok := all[s.folder]; !ok {
			all[s.folder] = nil
		}
		for _, spec := range s.ast.Imports {
			p, _ := strconv.Unquote(spec.Path.Value)
			if p, ours := strings.CutPrefix(p, module+"/"); ours {
				p = strings.TrimPrefix(p, "internal/")
				if !slices.Contains(all[s.folder], p) {
					all[s.folder] = append(all[s.folder], p)
				}
			}
		}
	}
	for _, list := range all {
		slices.Sort(list)
	}
	return all
}

// packageDocs are the first sentences of the package comments, without "Package x".
func packageDocs(files []source) map[string]string {
	all := map[string]string{}
	for _, s := range files {
		if s.test || s.ast.Doc == nil {
			continue
		}
		text := new(doc.Package).Synopsis(s.ast.Doc.Text())
		for _, kind := range []string{"Package ", "Command "} {
			text = strings.TrimPrefix(text, kind+path.Base(s.folder)+" ")
		}
		all[s.folder] = strings.ReplaceAll(strings.TrimSuffix(text, ":"), "|", `\|`)
	}
	return all
}

// everywhere is imported by so many packages that an arrow to it says nothing.
const everywhere = 12

// diagram draws the rings with their packages, for Mermaid. Packages below another are
// one node with it.
func diagram(groups []ring, imported map[string][]string) string {
	node := func(p string) string {
		if head, _, ok := strings.Cut(p, "/"); ok && head != "core" && head != "cmd" {
			return head
		}
		return p
	}
	edges := map[string]map[string]bool{}
	users := map[string]int{}
	for p, list := range imported {
		for _, q := range list {
			users[q]++
		}
		if edges[node(p)] == nil {
			edges[node(p)] = map[string]bool{}
		}
	}
	for p, list := range imported {
		for _, q := range list {
			if users[q] <= everywhere && node(p) != node(q) {
				edges[node(p)][node(q)] = true
			}
		}
	}
	var b strings.Builder
	b.WriteString("```mermaid\nflowchart TD\n")
	drawn := map[string]bool{}
	for i, g := range slices.Backward(groups) {
		var names []string
		for p := range imported {
			if n := node(p); covers(g.patterns, p) && !drawn[n] {
				drawn[n] = true
				names = append(names, n)
			}
		}
		if slices.Sort(names); len(names) > 0 {
			fmt.Fprintf(&b, "  subgraph ring%d[\"%s\"]\n    %s\n  end\n", i, g.name, strings.Join(names, "\n    "))
		}
	}
	for _, p := range slices.Sorted(maps.Keys(edges)) {
		for _, q := range slices.Sorted(maps.Keys(edges[p])) {
			if !indirect(edges, p, q) {
				fmt.Fprintf(&b, "  %s --> %s\n", p, q)
			}
		}
	}
	return b.String() + "```\n"
}

// indirect reports whether p reaches q through another package that it imports.
func indirect(edges map[string]map[string]bool, p, q string) bool {
	seen := map[string]bool{}
	var reaches func(string) bool
	reaches = func(at string) bool {
		if at == q {
			return true
		}
		if seen[at] {
			return false
		}
		seen[at] = true
		return slices.ContainsFunc(slices.Collect(maps.Keys(edges[at])), reaches)
	}
	for via := range edges[p] {
		if via != q && via != p && reaches(via) {
			return true
		}
	}
	return p == q
}
