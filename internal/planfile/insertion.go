package planfile

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/pawl-dev/pawl/internal/atomicfile"
	"github.com/pawl-dev/pawl/internal/core/plan"
	"github.com/pawl-dev/pawl/internal/regex"
)

// itemLocation returns where an item is.
func (d *document) itemLocation(it *item) taskLocation {
	at := func(it *item) taskLocation {
		p := taskLocation{block: region{it.start, it.end}, head: region{it.box, it.body}, box: it.box, id: it.id}
		if p.id == "" {
			if m := leadingID.FindStringSubmatch(strings.TrimSpace(comment.ReplaceAllString(it.text, ""))); m != nil {
				p.id = m[1] + m[2] + m[3]
			}
		}
		return p
	}
	p := at(it)
	for up := it.parent; up != nil; up = up.parent {
		if up.box >= 0 {
			root := at(up)
			p.root = &root
		}
	}
	return p
}

// taskTexts returns texts for a new task in the style of an existing one: with an id if that task
// has one, and without.
func (f *File) taskTexts(beside taskLocation, title string) []string {
	id := f.nextID(cmp.Or(beside.id, f.plan.Tasks[len(f.plan.Tasks)-1].ID))
	if beside.box < 0 {
		t := plan.Task{ID: id, Title: title}
		var b bytes.Buffer
		n, _ := strconv.Atoi(id)
		writeTask(&b, t, f.plan.Format, n)
		return []string{b.String()}
	}
	lead := string(f.data[beside.block.from:beside.box])
	mark := " ] "
	texts := []string{lead + mark + title + "\n"}
	if beside.id == "" || id == "" || beginsWithID(title) {
		return texts
	}
	head := string(f.data[beside.head.from:beside.head.to])
	_, head, _ = strings.Cut(head, "]")
	before, after, found := strings.Cut(strings.TrimPrefix(head, "*"), beside.id)
	if !found {
		return texts
	}
	between := after[:len(after)-len(strings.TrimLeft(after, ".:)]* \t"))]
	if strings.TrimSpace(after) == "" {
		between = " "
	}
	return []string{lead + " ]" + before + id + between + title + "\n", texts[0]}
}

// beginsWithID reports whether a title begins with an id.
func beginsWithID(title string) bool {
	_, _, own := leadingItemID(title)
	return own || leadingID.MatchString(title)
}

// countedID matches an id that ends in a number.
var countedID = regex.New(`^(.*?)(\d{1,9})[a-z]?$`)

// nextID returns the next unused id after one that ends in a number. It returns "" for issue
// numbers and for other ids.
func (f *File) nextID(id string) string {
	m := countedID.FindStringSubmatch(id)
	if m == nil || m[1] == "#" {
		return ""
	}
	n, _ := strconv.Atoi(m[2])
	for {
		n++
		next := fmt.Sprintf("%s%0*d", m[1], len(m[2]), n)
		if !slices.ContainsFunc(f.plan.Tasks, func(t plan.Task) bool { return t.ID == next }) {
			return next
		}
	}
}

// objectInsertions returns a JSON plan with a new task at an index.
func (f *File) objectInsertions(place int, title string) [][]byte {
	last := len(f.plan.Tasks) - 1
	p := f.locations[min(place, last)]
	if place > last && p.root != nil {
		p = *p.root
	}
	list := p.list.elements
	i := slices.Index(list, p.object)
	if place > last {
		i = len(list) - 1
	}
	sample := list[i]
	object := f.newObject(sample, list, title)
	lead, sep := f.listSeparators(p.list)
	if place > last {
		return [][]byte{f.splice(region{sample.end, sample.end}, sep+object)}
	}
	if i == 0 {
		return [][]byte{f.splice(region{p.list.start + 1, sample.start}, lead+object+sep)}
	}
	return [][]byte{f.splice(region{sample.start, sample.start}, object+sep)}
}

// listSeparators returns the text before the first element of a list and between two elements.
func (f *File) listSeparators(list *jsonValue) (lead, sep string) {
	e := list.elements
	lead = string(f.data[list.start+1 : e[0].start])
	if len(e) > 1 {
		return lead, string(f.data[e[0].end:e[1].start])
	}
	return lead, "," + cmp.Or(lead, " ")
}

// newObject returns an open task with the same fields as an existing one.
func (f *File) newObject(sample *jsonValue, list []*jsonValue, title string) string {
	named, mark := false, false
	var members []string
	colon := ": "
	for _, m := range sample.members {
		text := ""
		v := m.value
		switch m.name {
		case "id":
			text = f.newID(v, list)
		case "title", "name", "description":
			if text = `""`; !named {
				text, named = quoteJSON(title), true
			}
		case "details", "testStrategy", "notes":
			text = `""`
		case "acceptanceCriteria", "acceptance_criteria", "steps", "dependsOn", "depends_on", "dependencies", "subtasks":
			text = "[]"
		case "passes", "completed":
			text, mark = "false", true
		case "status":
			text, mark = `"pending"`, true
		case "category":
			text = string(f.data[v.start:v.end])
		case "priority":
			text = string(f.data[v.start:v.end])
			if v.kind == '0' {
				text = strconv.Itoa(maxNumber(list, m.name) + 1)
			}
		}
		if text != "" {
			colon = string(f.data[m.end:v.start])
			members = append(members, quoteJSON(m.name)+colon+text)
		}
	}
	if !named {
		members = append(members, `"title"`+colon+quoteJSON(title))
	}
	if key := f.markKey(); !mark && key != "" {
		members = append(members, quoteJSON(key)+colon+"false")
	}
	first, last := sample.members[0], sample.members[len(sample.members)-1]
	sep := ", "
	if len(sample.members) > 1 {
		second := sample.members[1]
		sep = "," + string(f.data[second.after:second.start])
	}
	return string(f.data[sample.start:first.start]) + strings.Join(members, sep) + string(f.data[last.value.end:sample.end])
}

// markKey returns the field that a new task needs as its mark, "" = none.
func (f *File) markKey() string {
	for _, c := range jsonCodecs() {
		if c.Name == f.plan.Format && c.listField != "" {
			return c.markField
		}
	}
	return ""
}

// newID returns the JSON id of a new task: a number if the sample's id is one.
func (f *File) newID(v *jsonValue, list []*jsonValue) string {
	if v.kind == '0' {
		return strconv.Itoa(maxNumber(list, "id") + 1)
	}
	return quoteJSON(cmp.Or(f.nextID(v.text), strconv.Itoa(len(f.plan.Tasks)+1)))
}

// maxNumber returns the largest number of a field in a list of objects.
func maxNumber(list []*jsonValue, name string) int {
	most := 0
	for _, v := range list {
		if n, err := strconv.Atoi(v.firstText(name)); err == nil {
			most = max(most, n)
		}
	}
	return most
}

// withObjectMoved returns a JSON plan with a task moved to the place of another in its list.
func (f *File) withObjectMoved(from, to int) []byte {
	list := f.locations[from].list
	if f.locations[to].list != list {
		return nil
	}
	order := slices.Clone(list.elements)
	i, j := slices.Index(order, f.locations[from].object), slices.Index(order, f.locations[to].object)
	order = slices.Insert(slices.Delete(order, i, i+1), j, list.elements[i])
	var out bytes.Buffer
	last := 0
	for n, place := range list.elements {
		out.Write(f.data[last:place.start])
		out.Write(f.data[order[n].start:order[n].end])
		last = place.end
	}
	out.Write(f.data[last:])
	return out.Bytes()
}

// quoteJSON returns text as a JSON string.
func quoteJSON(text string) string {
	quoted, err := atomicfile.EncodeJSON(text)
	if err != nil {
		return strconv.Quote(text) // not reached: every string can be encoded
	}
	return strings.TrimSpace(string(quoted))
}
