package planfile

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/pawl-dev/pawl/internal/core/plan"
	"github.com/pawl-dev/pawl/internal/regex"
)

var (
	kiroFile     = regex.New(`(^|/)\.kiro/specs/[^/]+/tasks\.md$`)
	kiroSign     = regex.New(`(?m)^[ \t]+[-*][ \t]+_(?:Requirements|Depends|Boundary): [^\n]*_[ \t]*\r?$`)
	kiroParallel = regex.New(`^\(P\)\s+|\s+\(P\)$`)
	kiroTag      = regex.New(`\s+_(?:Requirements|Depends|Boundary): [^_]*_`)
	kiroDepends  = regex.New(`_Depends:\s*([\d., ]+)_`)
	kiroRefs     = regex.New(`(?:_Requirements:|\bRequirements?)\s+(\d+(?:\.\d+)*(?:\s*,\s*\d+(?:\.\d+)*)*)`)
	requirement  = regex.New(`^(?i:requirement)\s+(\d+)\b`)
	acceptance   = regex.New(`^(?i:acceptance criteria)\b`)
)

// isKiro wants the place where Kiro keeps its plans, or a line that only they have.
func isKiro(name string, d *document) bool {
	return kiroFile.MatchString(name) || kiroSign.Match(d.data)
}

// refineKiro makes dependencies of "_Depends: 1.1_", and takes "(P)" off the titles.
func refineKiro(d *document, r *reading, index map[*item]int) {
	below := make(map[string][]string) // the tasks that stand for an id
	for _, it := range d.items {
		i, ok := index[it]
		for up := it; ok && up != nil; up = up.parent {
			if up.id != "" && (up == it || !r.plan.Tasks[i].Optional) {
				below[up.id] = append(below[up.id], r.plan.Tasks[i].ID)
			}
		}
	}
	for i := range r.plan.Tasks {
		t := &r.plan.Tasks[i]
		if tags := kiroTag.FindAllString(t.Title, -1); tags != nil { // they stand on the line below
			t.Detail = paragraphs(t.Detail, strings.TrimSpace(strings.Join(tags, "")))
		}
		t.Title = cmp.Or(kiroParallel.ReplaceAllString(kiroTag.ReplaceAllString(t.Title, ""), ""), t.Title)
		for _, m := range kiroDepends.FindAllStringSubmatch(strings.Join(t.Criteria, "\n")+"\n"+t.Detail, -1) {
			for id := range strings.FieldsFuncSeq(m[1], func(c rune) bool { return c == ',' || c == ' ' }) {
				ids := below[id]
				if ids == nil {
					ids = []string{id}
				}
				for _, id := range ids {
					r.depend(i, id, func(int) bool { return false })
				}
			}
		}
	}
}

// requirements are the acceptance criteria that a task names, from requirements.md
// beside the plan.
func requirements(dir string, t plan.Task) []string {
	var refs []string
	text := strings.Join(append([]string{t.Detail}, t.Criteria...), "\n")
	if !kiroRefs.MatchString(text) { // those of the parent
		text = strings.Join(t.Context, "\n")
	}
	for _, m := range kiroRefs.FindAllStringSubmatch(text, -1) {
		for ref := range strings.SplitSeq(m[1], ",") {
			if ref = strings.TrimSpace(ref); !slices.Contains(refs, ref) {
				refs = append(refs, ref)
			}
		}
	}
	if len(refs) == 0 {
		return nil
	}
	d := beside(dir, "requirements.md")
	var found []string
	for i, h := range d.headings {
		if m := requirement.FindStringSubmatch(h.text); m != nil {
			found = append(found, d.criteriaOf(i, m[1], refs)...)
		}
	}
	if len(found) == 0 {
		return nil
	}
	return []string{"Acceptance criteria, from requirements.md:\n" + strings.Join(found, "\n")}
}

// criteriaOf are the criteria of a requirement that are asked for.
func (d *document) criteriaOf(section int, number string, refs []string) []string {
	h := d.headings[section]
	whole := slices.Contains(refs, number)
	var found []string
	for _, below := range d.headings[section+1:] {
		if below.start >= h.end {
			break
		}
		if !acceptance.MatchString(below.text) {
			continue
		}
		n := 0
		for _, it := range d.items[d.firstItem(below.body):] {
			if it.start >= below.end {
				break
			}
			if it.parent != nil {
				continue
			}
			n++
			if ref := fmt.Sprintf("%s.%d", number, n); whole || slices.Contains(refs, ref) {
				found = append(found, ref+" "+paragraphs(it.text, d.prose(it.body, it.end, nil)))
			}
		}
	}
	if len(found) == 0 && !whole {
		return nil
	}
	return append([]string{h.text}, found...)
}
