package planfile

import (
	"cmp"
	"slices"
	"strings"

	"github.com/pawl-dev/pawl/internal/regex"
)

// taskHeading matches "Task 1: title", "Iteration 2.5: title", "Task 2a - title".
var taskHeading = regex.New(`^(?i:task|iteration)\s+(\d+(?:\.\d+)*[a-z]?)\s*(?:[:.–—-]\s*(.*))?$`)

func isRalphex(_ string, d *document) bool {
	return slices.ContainsFunc(d.headings, func(h heading) bool { return h.level > 1 && h.box < 0 && taskHeading.MatchString(h.text) })
}

// readRalphex reads a ralphex plan. A task is a section "### Task N: title", and N is its id. The
// boxes in the section are its criteria, and together its mark: a tick sets them all. Other text in
// the section is its detail. Boxes outside such sections get a warning. The list below "##
// Validation Commands" holds the gates.
func readRalphex(d *document) parseResult {
	r := parseResult{want: `a section "### Task 1: title" with a line "- [ ] item"`}
	d.hasTaskSections = true
	r.plan.Overview = d.overviewText(func(h heading) bool {
		return h.level > 1 && h.box < 0 && taskHeading.MatchString(h.text) || isGateSection(h)
	})
	for i, h := range d.headings {
		m := taskHeading.FindStringSubmatch(h.text)
		if isGateSection(h) {
			end := h.end
			if i+1 < len(d.headings) { // tasks may follow one level below
				end = min(end, d.headings[i+1].start)
			}
			r.plan.Gates = append(r.plan.Gates, d.gateCommands(h.body, end)...)
		}
		if m == nil || h.level < 2 || h.box >= 0 {
			continue
		}
		for _, below := range d.headings[i+1:] {
			if below.start >= h.end || taskHeading.MatchString(below.text) {
				h.end = min(h.end, below.start)
				break
			}
		}
		text := d.withSettings(cmp.Or(m[2], "Task "+m[1]), region{h.start, h.body}, region{h.body, h.end})
		t := r.newTask(d, text, h.start, m[1])
		var marks []mark
		for _, it := range d.itemsIn(h.body, h.end) {
			if it.box >= 0 {
				marks = append(marks, d.readMark(it.box))
			}
		}
		if len(marks) == 0 {
			r.addProblem(t.ID, t.Line, "task "+t.ID+" has no box to tick", `"- [ ] item" below its heading`)
		}
		r.appendSection(d, h, t, marks...)
	}
	return r
}

// isGateSection reports whether a section lists gates.
func isGateSection(h heading) bool { return strings.EqualFold(h.text, "validation commands") }

// gateCommands returns the commands between two offsets: the code or the text of each list item,
// and the lines of fenced code.
func (d *document) gateCommands(from, to int) []string {
	var out []string
	for _, it := range d.itemsIn(from, to) {
		if m := codeSpan.FindStringSubmatch(it.text); m != nil {
			out = append(out, strings.TrimSpace(m[1]))
		} else if it.text != "" {
			out = append(out, it.text)
		}
	}
	for _, f := range d.fences {
		if f.start < from || f.start >= to {
			continue
		}
		for line := range strings.Lines(f.code) {
			if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "#") {
				out = append(out, line)
			}
		}
	}
	return out
}

var codeSpan = regex.New("`([^`]+)`")
