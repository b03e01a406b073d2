package planfile

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/pawl-dev/pawl/internal/regex"
)

// ownNumber matches the number or short id that begins a task: "T012 …",
// "2.3 …", "2. …", "**2.3** …", "[T012] …", "#123 …", "W1: …". A bare "2" needs a dot, a
// colon or a bracket behind it, since "2 bytes too many" is a text, and an id with another
// letter than T a colon, since "V8 crashes" is one.
var ownNumber = regex.New(`^(?:\*\*(T\d{1,5}[a-z]?|\d+(?:\.\d+)*|#\d+)[.:)]?\*\*:?|[\[(](T\d{1,5}[a-z]?|\d+(?:\.\d+)+|#\d+)[\])]:?|(T\d{1,5}[a-z]?|\d+(?:\.\d+)+|#\d+)[.:)]?|(\d+)[.:)]|([A-Z]\d{1,5}[a-z]?):)(?:\s+(?:[-–—]\s+)?(\S.*))?$`)

// prefixedID matches an id of a tracker that begins a task with nothing behind it: "US-001 …", "JIRA-123 …".
var prefixedID = regex.New(`^([A-Z][A-Z0-9]*)(-\d+[a-z]?):?\s+(\S.*)$`)

// sharePrefix reports whether there are several tasks and all begin with such ids of one tracker: then "UTF-8 in
// file names" is not among them.
func (d *document) sharePrefix() bool {
	tasks, prefix := 0, ""
	for _, it := range d.items {
		if it.box < 0 || it.group {
			continue
		}
		m := prefixedID.FindStringSubmatch(strings.TrimSpace(comment.ReplaceAllString(it.text, "")))
		if m == nil || prefix != "" && m[1] != prefix {
			return false
		}
		tasks, prefix = tasks+1, m[1]
	}
	return tasks > 1
}

// numberItems gives the boxes the numbers and ids that begin their texts, if no two
// have the same: a list that counts from 1 under each heading has none.
func (d *document) numberItems(r *reading) {
	taken := make(map[string]*item)
	tasks, prefixed := 0, d.sharePrefix()
	for _, it := range d.items {
		if it.box < 0 {
			continue
		}
		if !it.group {
			tasks++
		}
		id, rest, own := ownID(it.text)
		if m := prefixedID.FindStringSubmatch(it.text); id == "" && prefixed && m != nil {
			id, rest, own = m[1]+m[2], m[3], true
		}
		if id == "" && !it.group {
			id = strconv.Itoa(tasks)
		}
		if other := taken[id]; other != nil && (own || other.id != "") {
			d.forgetIDs(r, id, other, it)
			return
		}
		if id != "" {
			taken[id] = it
		}
		if own {
			it.id, it.rest = id, rest
		}
	}
	d.nestNumbers(taken)
}

// ownID is the number or id that begins the text of a box and what follows it, or
// else the id by which the box is known otherwise, "" for none.
func ownID(text string) (id, rest string, own bool) {
	if m := directive.FindStringSubmatch(text); m != nil {
		for word := range strings.FieldsSeq(m[1]) {
			if id, ok := strings.CutPrefix(word, "id="); ok {
				return clean(id), "", false
			}
		}
	}
	if m := leadingID.FindStringSubmatch(strings.TrimSpace(comment.ReplaceAllString(text, ""))); m != nil {
		return m[1] + m[2] + m[3], "", false
	}
	m := ownNumber.FindStringSubmatch(strings.TrimSpace(text))
	if m == nil {
		return "", "", false
	}
	return m[1] + m[2] + m[3] + m[4] + m[5], m[6], true
}

// forgetIDs leaves the numbers in the titles. Ids that look like more than a
// numbering of the list are named.
func (d *document) forgetIDs(r *reading, id string, first, second *item) {
	for _, it := range d.items {
		it.id, it.rest = "", ""
	}
	if strings.ContainsAny(id, "T#.-") {
		r.note(d.lines.of(second.box), fmt.Sprintf("%s begins two tasks, first on line %d: the tasks are numbered by their place", clean(id), d.lines.of(first.box)), "an id of its own for each task")
	}
}

// nestNumbers makes the boxes 2.1 and 2.2 parts of the box 2 before them, where the
// list is flat.
func (d *document) nestNumbers(byID map[string]*item) {
	for _, it := range d.items {
		dot := strings.LastIndexByte(it.id, '.')
		if it.box < 0 || dot < 0 {
			continue
		}
		up := byID[it.id[:dot]]
		if up != nil && up.id != "" && up.start < it.start && it.parent == up.parent {
			it.join(up)
		}
	}
}
