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
	kiroFile           = regex.New(`(^|/)\.kiro/specs/[^/]+/tasks\.md$`)
	kiroSign           = regex.New(`(?m)^[ \t]+[-*][ \t]+_(?:Requirements|Depends|Boundary): [^\n]*_[ \t]*\r?$`)
	kiroParallel       = regex.New(`^\(P\)\s+|\s+\(P\)$`)
	kiroTag            = regex.New(`\s+_(?:Requirements|Depends|Boundary): [^_]*_`)
	kiroDepends        = regex.New(`_Depends:\s*([\d., ]+)_`)
	kiroRefs           = regex.New(`(?:_Requirements:|\bRequirements?)\s+(\d+(?:\.\d+)*(?:\s*,\s*\d+(?:\.\d+)*)*)`)
	requirementHeading = regex.New(`^(?i:requirement)\s+(\d+)\b`)
	criteriaHeading    = regex.New(`^(?i:acceptance criteria)\b`)
)

// isKiro reports whether the file is where Kiro keeps its plans, or has a line only Kiro writes.
func isKiro(name string, d *document) bool {
	return kiroFile.MatchString(name) || kiroSign.Match(d.data)
}

// refineKiro reads dependencies from "_Depends: 1.1_", and removes "(P)" from titles.
func refineKiro(d *document, r *parseResult, index map[*item]int) {
	below := make(map[string][]string) // the tasks at or below an item, by the item's id
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
		if tags := kiroTag.FindAllString(t.Title, -1); tags != nil { // tags from the line below the title
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
					r.addDependency(i, id, func(int) bool { return false })
				}
			}
		}
	}
}

// kiroCriteria returns the acceptance criteria of requirements.md that a task refers to.
func kiroCriteria(dir string, t plan.Task) []string {
	var refs []string
	text := strings.Join(append([]string{t.Detail}, t.Criteria...), "\n")
	if !kiroRefs.MatchString(text) { // use the references of the parent
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
	d := readBeside(dir, "requirements.md")
	var found []string
	for i, h := range d.headings {
		if m := requirementHeading.FindStringSubmatch(h.text); m != nil {
			found = append(found, d.criteriaOf(i, m[1], refs)...)
		}
	}
	if len(found) == 0 {
		return nil
	}
	return []string{"Acceptance criteria, from requirements.md:\n" + strings.Join(found, "\n")}
}

// criteriaOf returns the criteria of a requirement that refs name.
func (d *document) criteriaOf(section int, number string, refs []string) []string {
	h := d.headings[section]
	whole := slices.Contains(refs, number)
	var found []string
	for _, below := range d.headings[section+1:] {
		if below.start >= h.end {
			break
		}
		if !criteriaHeading.MatchString(below.text) {
			continue
		}
		n := 0
		for _, it := range d.itemsIn(below.body, below.end) {
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
