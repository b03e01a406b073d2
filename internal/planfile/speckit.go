package planfile

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/pawl-dev/pawl/internal/core/plan"
	"github.com/pawl-dev/pawl/internal/regex"
)

var (
	specKitID    = regex.New(`^\**T\d{3,5}\b`)
	specKitPhase = regex.New(`^(?i:phase)\s+[\w.]+\b`)
	specKitFile  = regex.New(`(^|/)specs/[^/]+/tasks\.md$`)
	parallelMark = regex.New(`^\[P\]\s*`)
	storyMark    = regex.New(`^\[(US\d+)\]\s*`)
	dependsOn    = regex.New(`(?i)\bdepends on:?\s+(T\d+(?:(?:\s*,\s*(?:and\s+)?|\s+and\s+)T\d+)*)`)
	taskNumber   = regex.New(`T\d+`)
)

// isSpecKit reports whether the file has tasks T001 in phases, or where spec-kit keeps its plans.
func isSpecKit(name string, d *document) bool {
	return slices.ContainsFunc(d.items, func(it *item) bool { return it.box >= 0 && specKitID.MatchString(it.text) }) &&
		(specKitFile.MatchString(name) || slices.ContainsFunc(d.headings, func(h heading) bool { return h.level > 1 && specKitPhase.MatchString(h.text) }))
}

// refineSpecKit removes spec-kit's tags from titles, and adds dependencies: on the phase before,
// and on the tasks that a text names.
func refineSpecKit(d *document, r *parseResult, index map[*item]int) {
	phases := r.specKitPhases(d, index)
	before := make([][]string, len(phases.ids)) // by phase: the tasks of the previous phase
	var last []string
	for p := range phases.ids {
		before[p] = last
		if len(phases.ids[p]) > 0 {
			last = phases.ids[p]
		}
	}
	for i := range r.plan.Tasks {
		t := &r.plan.Tasks[i]
		title := parallelMark.ReplaceAllString(t.Title, "")
		if m := storyMark.FindStringSubmatch(title); m != nil {
			title = title[len(m[0]):]
			t.Detail = paragraphs("Story: "+m[1], t.Detail)
		}
		if title = parallelMark.ReplaceAllString(title, ""); title != "" {
			t.Title = title
		}
		t.DependsOn = append(t.DependsOn, slices.Clip(before[phases.of[i]])...)
		for _, m := range dependsOn.FindAllStringSubmatch(t.Title+"\n"+t.Detail, -1) {
			for _, id := range taskNumber.FindAllString(m[1], -1) {
				r.addDependency(i, id, func(other int) bool { return phases.of[other] > phases.of[i] })
			}
		}
	}
}

// specKitPhases holds the tasks of each phase and the phase of each task.
type specKitPhases struct {
	ids [][]string // without optional tasks, which come last
	of  []int
}

func (r *parseResult) specKitPhases(d *document, index map[*item]int) specKitPhases {
	found := specKitPhases{ids: [][]string{nil}, of: make([]int, len(r.plan.Tasks))}
	heading, phase := -1, 0
	for _, it := range d.items {
		i, ok := index[it]
		if !ok {
			continue
		}
		in := d.section(it.start)
		for in >= 0 && !specKitPhase.MatchString(d.headings[in].text) {
			in = d.headings[in].parent
		}
		if in >= 0 && in != heading {
			heading = in
			phase++
			found.ids = append(found.ids, nil)
		}
		found.of[i] = phase
		if t := r.plan.Tasks[i]; !t.Optional {
			found.ids[phase] = append(found.ids[phase], t.ID)
		}
	}
	return found
}

// addDependency makes a task depend on another one that its text names. If the id is unknown or
// ruledOut, it only warns, since the text may be prose.
func (r *parseResult) addDependency(i int, id string, ruledOut func(other int) bool) {
	if r.byID == nil {
		r.byID = r.plan.Index()
	}
	t := &r.plan.Tasks[i]
	other, known := r.byID[id]
	switch {
	case slices.Contains(t.DependsOn, id):
	case !known:
		r.warn(t.Line, fmt.Sprintf("task %s depends on %s, which is not in the plan: ignored", clean(t.ID), clean(id)), "the id of a task of this plan")
	case other == i || ruledOut(other):
		r.warn(t.Line, fmt.Sprintf("task %s depends on %s, which comes later: ignored", clean(t.ID), clean(id)), "a dependency on a task of the same phase, or of one before it")
	default:
		t.DependsOn = append(slices.Clip(t.DependsOn), id)
	}
}

// specKitStory returns the user story of a task, from spec.md beside the plan.
func specKitStory(dir string, t plan.Task) []string {
	story, ok := strings.CutPrefix(strings.SplitN(t.Detail, "\n", 2)[0], "Story: US")
	if !ok {
		return nil
	}
	d := readBeside(dir, "spec.md")
	wanted := regex.New(`^(?i:user story)\s+` + regexp.QuoteMeta(story) + `\b`)
	for _, h := range d.headings {
		if wanted.MatchString(h.text) {
			return []string{h.text + "\n\n" + d.prose(h.body, h.end, nil)}
		}
	}
	return nil
}
