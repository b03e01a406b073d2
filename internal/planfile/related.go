package planfile

import (
	"path/filepath"
	"strings"

	"github.com/pawl-dev/pawl/internal/atomicfile"
	"github.com/pawl-dev/pawl/internal/core/plan"
)

// Related is what files beside a plan say of a task: the acceptance criteria of
// formats that keep those apart. What is not there, or cannot be read, says
// nothing. It is for the prompt, and no part of the plan: nothing is judged by it.
func Related(path string, p plan.Plan, t plan.Task) []string {
	for _, c := range codecs() {
		if c.Name == p.Format && c.related != nil {
			return c.related(filepath.Dir(path), t)
		}
	}
	return nil
}

// relatedMax bounds a file beside a plan, in bytes.
const relatedMax = 1 << 20

// beside reads a Markdown file in the folder of a plan; without a heading if it
// cannot be read.
func beside(dir, name string) *document {
	data, err := atomicfile.Read(filepath.Join(dir, name), relatedMax)
	if _, readable := unreadable(data); err != nil || !readable || tooDeep(data) > 0 {
		return &document{}
	}
	return outline(blankBOM(data))
}

// scenariosMost bounds how many specs of an OpenSpec change are read.
const scenariosMost = 20

// scenarios are the requirements and scenarios of an OpenSpec change.
func scenarios(dir string, _ plan.Task) []string {
	specs, err := filepath.Glob(filepath.Join(globSafe(dir), "specs", "*", "spec.md"))
	if err != nil {
		return nil
	}
	var found []string
	for _, path := range specs[:min(len(specs), scenariosMost)] {
		d := beside(filepath.Dir(path), "spec.md")
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

// globSafe is a path in which nothing is a pattern.
func globSafe(path string) string {
	return strings.NewReplacer(`\`, `\\`, "*", `\*`, "?", `\?`, "[", `\[`).Replace(path)
}
