package planfile

import (
	"path/filepath"
	"slices"
	"strings"

	"github.com/pawl-dev/pawl/internal/atomicfile"
	"github.com/pawl-dev/pawl/internal/core/plan"
)

// WithRelated returns a task of the plan at path whose context also has its acceptance criteria
// from files beside the plan, in formats that have such files. It ignores files that do not exist
// or cannot be read. These criteria are only shown: they are not part of the plan and decide nothing.
func WithRelated(path string, p plan.Plan, t plan.Task) plan.Task {
	for _, c := range codecs() {
		if c.Name == p.Format && c.related != nil {
			t.Context = slices.Concat(t.Context, c.related(filepath.Dir(path), t))
		}
	}
	return t
}

// maxRelatedBytes limits a file beside a plan, in bytes.
const maxRelatedBytes = 1 << 20

// readBeside reads a Markdown file in the folder of a plan. It returns an empty document if the
// file cannot be read.
func readBeside(dir, name string) *document {
	data, err := atomicfile.Read(filepath.Join(dir, name), maxRelatedBytes)
	if _, readable := unreadable(data); err != nil || !readable || tooDeepLine(data) > 0 {
		return &document{}
	}
	return outline(blankBOM(data))
}

// maxOpenSpecFiles limits how many specs of an OpenSpec change are read.
const maxOpenSpecFiles = 20

// openSpecRequirements returns the requirements and scenarios of an OpenSpec change.
func openSpecRequirements(dir string, _ plan.Task) []string {
	specs, err := filepath.Glob(filepath.Join(escapeGlob(dir), "specs", "*", "spec.md"))
	if err != nil {
		return nil
	}
	var found []string
	for _, path := range specs[:min(len(specs), maxOpenSpecFiles)] {
		d := readBeside(filepath.Dir(path), "spec.md")
		for _, h := range d.headings {
			if strings.HasPrefix(h.text, "Requirement:") {
				found = append(found, h.text+"\n\n"+d.prose(h.body, h.end, nil))
			}
		}
	}
	if len(found) == 0 {
		return nil
	}
	return []string{"Requirements of this change:\n\n" + strings.Join(found, "\n\n")}
}

// escapeGlob returns a glob that only matches this path.
func escapeGlob(path string) string {
	return strings.NewReplacer(`\`, `\\`, "*", `\*`, "?", `\?`, "[", `\[`).Replace(path)
}
