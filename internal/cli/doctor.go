package cli

import (
	"cmp"
	"context"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/pawl-dev/pawl/internal/core/plan"
	"github.com/pawl-dev/pawl/internal/doctor"
	"github.com/pawl-dev/pawl/internal/failure"
	"github.com/pawl-dev/pawl/internal/git"
	"github.com/pawl-dev/pawl/internal/launch"
	"github.com/pawl-dev/pawl/internal/plugin"
	"github.com/pawl-dev/pawl/internal/version"
)

type doctorCmd struct {
	RunHooks bool `name:"run-hooks" help:"also run Stop hooks of other tools, with all they do"`
	Verbose  bool `help:"also list checks that could not run"`
	JSON     bool `name:"json" help:"print a JSON object (docs/reference/doctor.schema.json)"`
}

// doctorResult is the output of --json.
type doctorResult struct {
	OK       bool             `json:"ok" jsonschema:"nothing is broken; there may be warnings"`
	Findings []doctor.Finding `json:"findings" jsonschema:"what each check has to say"`
}

// Run checks the machine and this project.
func (c *doctorCmd) Run(ctx context.Context, a *app) error {
	dir := git.RealPath(a.dir) // as in the root's path
	found := doctor.Examine(doctor.Gather(ctx, doctor.Options{
		Dir: dir, Root: a.root(), ClientConfig: a.env.ClientConfig(), PawlHome: a.env.PawlHome, Vars: a.env.Vars,
		Version: version.String(), PluginVersion: a.pluginVersion, RunHooks: c.RunHooks,
	}))
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if settings, err := a.resolve(a.root(), nil); err != nil { // pawl run and pawl verify read them too
		found = append(found, doctor.Finding{
			Check: "configuration", Status: doctor.Bad, What: "no loop can start and no gate can run: " + err.Error(), Fix: failure.Hint(err),
		})
	} else {
		found = append(append(found, a.notifyFindings(a.root())...), a.telemetryFindings(settings)...)
	}
	for _, words := range launch.NotFollowed(a.env, a.root()) {
		found = append(found, doctor.Finding{Check: "loop-files", Status: doctor.Warn, What: words})
	}
	broken := slices.ContainsFunc(found, func(f doctor.Finding) bool { return f.Status == doctor.Bad })
	return a.conclude(c.JSON, verdict{
		result: doctorResult{OK: !broken, Findings: found},
		text:   func() { a.printf("%s", findingsText(found, c.Verbose, cmp.Or(a.columns, findingsWidth))) },
		code:   map[bool]error{true: codeFailed}[broken],
	})
}

// pluginVersion returns the version of the plugin that this Pawl makes for a hook command.
func (a *app) pluginVersion(command string, args []string) (string, error) {
	hook := plugin.Hook{Command: command, Args: args, Tool: plugin.RepositoryHook().Tool}
	if filepath.IsAbs(command) {
		hook.Tool = a.ownPath()
	}
	p, err := plugin.New(hook)
	return p.Version, err
}

// Widths of the text in columns, if the terminal's width is unknown. Checks that pass share a line,
// each in a cell.
const (
	findingsWidth = 110
	findingColumn = 27
)

// findingsText shows first the checks that passed, then the others with their fixes.
func findingsText(found []doctor.Finding, verbose bool, columns int) string {
	var b strings.Builder
	row := ""
	for _, f := range found {
		if f.Status != doctor.OK {
			continue
		}
		cell := " ✓ " + plan.OneLine(f.What, 0)
		if row != "" && utf8.RuneCountInString(row+cell) > columns {
			b.WriteString(strings.TrimRight(row, " ") + "\n")
			row = ""
		}
		row += cell + strings.Repeat(" ", findingColumn-utf8.RuneCountInString(cell)%findingColumn)
	}
	if row != "" {
		b.WriteString(strings.TrimRight(row, " ") + "\n")
	}
	lines := func(status doctor.Status, mark string) {
		for _, f := range found {
			if f.Status == status {
				b.WriteString(findingLine(mark, f, columns))
			}
		}
	}
	lines(doctor.Bad, " ✗ ")
	lines(doctor.Warn, " ! ")
	if verbose {
		lines(doctor.Skipped, " - ")
	}
	return b.String()
}

// findingLine shows a problem and its fix, on one line if both fit.
func findingLine(mark string, f doctor.Finding, columns int) string {
	line, fix := mark+plan.OneLine(f.What, 0), "fix: "+plan.OneLine(f.Fix, 0)
	switch {
	case f.Fix == "":
		return line + "\n"
	case utf8.RuneCountInString(line+"    "+fix) > columns:
		return line + "\n     " + fix + "\n"
	}
	return line + "    " + fix + "\n"
}
