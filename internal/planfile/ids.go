package planfile

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/pawl-dev/pawl/internal/regex"
)

// itemNumber matches the number or short id that begins a task: "T012 …", "2.3 …", "2. …", "**2.3**
// …", "[T012] …", "#123 …", "W1: …". A bare "2" needs a dot, a colon or a bracket after it, since
// "2 bytes too many" is text. Ids with another letter than T need a colon, since "V8 crashes" is
// text.
var itemNumber = regex.New(`^(?:\*\*(T\d{1,5}[a-z]?|\d+(?:\.\d+)*|#\d+)[.:)]?\*\*:?|[\[(](T\d{1,5}[a-z]?|\d+(?:\.\d+)+|#\d+)[\])]:?|(T\d{1,5}[a-z]?|\d+(?:\.\d+)+|#\d+)[.:)]?|(\d+)[.:)]|([A-Z]\d{1,5}[a-z]?):)(?:\s+(?:[-–—]\s+)?(\S.*))?$`)

// prefixedID matches a tracker's id at the beginning of a task, without a separator after it:
// "US-001 …", "JIRA-123 …".
var prefixedID = regex.New(`^([A-Z][A-Z0-9]*)(-\d+[a-z]?):?\s+(\S.*)$`)

// sharePrefix reports whether there are several tasks, and all begin with ids of one tracker. This
// excludes texts such as "UTF-8 in file names".
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

// assignIDs gives boxes the numbers and ids that begin their texts, unless two are the same. A list
// that starts again from 1 under each heading gets no such ids.
func (d *document) assignIDs(r *parseResult) {
	taken := make(map[string]*item)
	tasks, prefixed := 0, d.sharePrefix()
	for _, it := range d.items {
		if it.box < 0 {
			continue
		}
		if !it.group {
			tasks++
		}
		id, rest, own := leadingItemID(it.text)
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
	d.nestByNumber(taken)
}

// leadingItemID returns the number or id that begins a box's text, and the rest of the text. If the
// id is in a comment or precedes a title, own is false and there is no rest. The id is "" if there
// is none.
func leadingItemID(text string) (id, rest string, own bool) {
	if m := pawlComment.FindStringSubmatch(text); m != nil {
		for word := range strings.FieldsSeq(m[1]) {
			if id, ok := strings.CutPrefix(word, "id="); ok {
				return clean(id), "", false
			}
		}
	}
	if m := leadingID.FindStringSubmatch(strings.TrimSpace(comment.ReplaceAllString(text, ""))); m != nil {
		return m[1] + m[2] + m[3], "", false
	}
	m := itemNumber.FindStringSubmatch(strings.TrimSpace(text))
	if m == nil {
		return "", "", false
	}
	return m[1] + m[2] + m[3] + m[4] + m[5], m[6], true
}

// forgetIDs leaves the numbers in the titles. It warns if the ids look like more than list numbers.
func (d *document) forgetIDs(r *parseResult, id string, first, second *item) {
	for _, it := range d.items {
		it.id, it.rest = "", ""
	}
	if strings.ContainsAny(id, "T#.-") {
		r.warn(d.lines.lineAt(second.box), fmt.Sprintf("%s begins two tasks, first on line %d: the tasks are numbered by position", clean(id), d.lines.lineAt(first.box)), "a different id for each task")
	}
}

// nestByNumber makes the boxes 2.1 and 2.2 parts of an earlier box 2 in a flat list.
func (d *document) nestByNumber(byID map[string]*item) {
	for _, it := range d.items {
		dot := strings.LastIndexByte(it.id, '.')
		if it.box < 0 || dot < 0 {
			continue
		}
		up := byID[it.id[:dot]]
		if up != nil && up.id != "" && up.start < it.start && it.parent == up.parent {
			it.moveBelow(up)
		}
	}
}
