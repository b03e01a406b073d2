package watch

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/pawl-dev/pawl/internal/record"
	"github.com/pawl-dev/pawl/internal/report"
)

// double is a Source with fixed loops. It keeps the commands.
type double struct {
	mu       sync.Mutex
	loops    []record.Summary
	detail   Detail
	calls    []record.Call
	says     string
	err      error
	commands []string
	news     map[string][]string
}

func (d *double) Loops() ([]record.Summary, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	return slices.Clone(d.loops), d.err
}

func (d *double) Loop(string) (Detail, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.detail, d.err
}

func (d *double) News(id string) ([]string, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	lines := d.news[id]
	delete(d.news, id)
	return lines, d.err
}

func (d *double) Diff(_ context.Context, _, task string) ([]report.DiffLine, error) {
	if task != "US-1" {
		return nil, d.err
	}
	text := []report.DiffLine{
		{Kind: "file", Text: "--- a/main.go"},
		{Kind: "file", Text: "+++ b/main.go"},
		{Kind: "at", Text: "@@ -1,2 +1,60 @@"},
		{Text: " package main"},
		{Kind: "del", Text: "-old\x1b[2J"},
	}
	for i := range 60 {
		text = append(text, report.DiffLine{Kind: "add", Text: fmt.Sprintf("+\tline %d of the log-out button, which is long enough for any screen of eighty columns and of more", i)})
	}
	return append(text, report.DiffLine{Text: "… and 7 more lines"}), d.err
}

func (d *double) Calls(string) ([]record.Call, error) { return d.calls, d.err }

func (d *double) Command(_ context.Context, args ...string) (string, error) {
	d.commands = append(d.commands, strings.Join(args, " "))
	return d.says, nil
}
