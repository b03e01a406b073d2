package planfile

import (
	"bytes"
	"fmt"
	"slices"
	"sort"
	"strings"

	"github.com/pawl-dev/pawl/internal/core/plan"
	"github.com/pawl-dev/pawl/internal/regex"
)

// opening matches what a comment begins with that says something: a word, perhaps a colon,
// and the rest.
var opening = regex.New(`^<!--\s*([A-Za-z]+)\s*(:?)((?s:.*?))-->$`)

// notSettings names the comments that were meant for Pawl, to judge by their first word, and
// that it does not read: "pawl evidence=unproven" without the colon, "pwal: …", and one that
// belongs to no task, or to one that has another.
func (r *reading) notSettings(d *document) {
	for _, at := range d.directives() {
		if !d.readAt[at[0]] {
			text := string(d.data[at[0]:at[1]])
			r.note(d.lines.of(at[0]), fmt.Sprintf("this comment is not read: %s", plan.OneLine(text, 60)), "one such comment a task, beside its title or below it")
		}
	}
	for _, at := range comment.FindAllSubmatchIndex(d.data, -1) {
		text := string(d.data[at[0]:at[1]])
		m := opening.FindStringSubmatch(text)
		if m == nil || directive.MatchString(text) || !meantForPawl(m[1], m[2] != "", m[3]) {
			continue
		}
		line := bytes.Count(d.data[:at[0]], []byte("\n")) + 1
		r.note(line, fmt.Sprintf("this comment is not read: %s", plan.OneLine(text, 60)), `"<!-- pawl: … -->", with the colon`)
	}
}

// meantForPawl reports whether a comment with this first word was meant to be one of Pawl's.
func meantForPawl(word string, colon bool, rest string) bool {
	letters := []byte(strings.ToLower(word))
	slices.Sort(letters)
	return string(letters) == "alpw" && (colon || strings.Contains(rest, "="))
}

// withSettings returns the text of a task with the comment that holds its settings: the one in
// its head, else the first one in these regions, which are below it or tell of it.
func (d *document) withSettings(text string, head region, below ...region) string {
	if directive.MatchString(text) {
		if at := d.nextDirective(head); at != nil {
			d.markRead(at[0])
		}
		return text
	}
	for _, in := range below {
		if at := d.nextDirective(in); at != nil && !d.readAt[at[0]] {
			d.markRead(at[0])
			return text + " " + string(d.data[at[0]:at[1]])
		}
	}
	return text
}

// nextDirective returns where the first comment for Pawl in a region is, nil without one.
func (d *document) nextDirective(in region) []int {
	all := d.directives()
	i := sort.Search(len(all), func(i int) bool { return all[i][0] >= in.from })
	if i == len(all) || all[i][0] >= in.to {
		return nil
	}
	return all[i]
}

// markRead notes that a comment is read.
func (d *document) markRead(at int) {
	if d.readAt == nil {
		d.readAt = map[int]bool{}
	}
	d.readAt[at] = true
}

// directives returns where the comments for Pawl are, without those in code.
func (d *document) directives() [][]int {
	if d.forPawl == nil {
		d.forPawl = slices.DeleteFunc(directive.FindAllSubmatchIndex(d.data, -1), func(at []int) bool {
			i := sort.Search(len(d.code), func(i int) bool { return d.code[i].to > at[0] })
			return i < len(d.code) && d.code[i].from <= at[0] || at[0] > 0 && d.data[at[0]-1] == '`'
		})
	}
	return d.forPawl
}
