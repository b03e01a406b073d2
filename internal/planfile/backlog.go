package planfile

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/pawl-dev/pawl/internal/core/plan"
	"github.com/pawl-dev/pawl/internal/regex"
)

// backlogTasks is the folder of its tasks.
const backlogTasks = "backlog/tasks"

// backlogConfig is where Backlog.md keeps its settings, seen from the tasks.
const backlogConfig = "../config.yml"

const backlogWant = "front matter with id, title and status, as Backlog.md writes it"

// backlog collects the tasks of a folder of Backlog.md.
type backlog struct {
	reading
	data     []byte
	statuses []string // the last one is done
	seen     []backlogTask
}

// backlogTask is a task with what of its file is not in the plan.
type backlogTask struct {
	plan.Task
	marks   []mark // the status, and the criteria
	part    part
	ordinal float64 // 0 = none
	parent  string
	file    string
	dropped []region // what changes with the work: dates and notes
}

// isBacklogTask reports whether a file is a task of Backlog.md.
func isBacklogTask(text []byte) bool {
	m := frontMatter.FindIndex(text)
	if m == nil {
		return false
	}
	head := yamlHead{text, region{m[0], m[1]}}
	return head.text("id") != "" && head.has("status")
}

// readBacklog reads the tasks of a folder. A task is a file; its mark is its status,
// which becomes the last one of those in the settings, with the acceptance criteria
// ticked. A task that has others as its parts is worked on after them.
func readBacklog(data []byte) reading {
	b := backlog{data: data, statuses: []string{"To Do", "In Progress", "Done"}}
	b.want = backlogWant
	for _, m := range folderFiles(data) {
		if m.name == backlogConfig {
			if list := (yamlHead{data, m.body}).list("statuses"); len(list) > 1 {
				b.statuses = list
			}
			continue
		}
		b.task(m)
	}
	b.plan.Format, b.wantMark = Backlog, strings.Join(b.statuses, ", ")
	slices.SortStableFunc(b.seen, func(x, y backlogTask) int {
		if x.ordinal != y.ordinal && x.ordinal != 0 && y.ordinal != 0 {
			return cmp.Compare(x.ordinal, y.ordinal)
		}
		return slices.Compare(idNumbers(x.ID), idNumbers(y.ID))
	})
	b.depend()
	var edits []mark
	for _, t := range b.seen {
		b.parts = append(b.parts, t.part)
		b.add(t.Task, t.marks...)
		b.plan.Tasks[len(b.plan.Tasks)-1].Done = t.marks[0].set // the status decides
		for _, r := range t.dropped {
			edits = append(edits, mark{at: r.from, end: r.to, set: true})
		}
		for i, m := range t.marks {
			if m.set = true; i == 0 { // whatever its quotes and the blanks around it
				m.open, m.at = "", bytes.LastIndexByte(data[:m.at], ':')+1
				line, _, _ := bytes.Cut(data[m.end:], []byte("\n"))
				m.end += len(bytes.TrimRight(line, "\r"))
			}
			edits = append(edits, m)
		}
	}
	b.text = apply(data, edits, false)
	return b.reading
}

// task reads one file.
func (b *backlog) task(m taskFile) {
	head := frontMatter.FindIndex(b.data[m.body.from:m.body.to])
	if head == nil {
		b.problem("", 1, clean(m.name)+" is not a task", backlogWant)
		return
	}
	front := yamlHead{b.data, region{m.body.from, m.body.from + head[1]}}
	t := backlogTask{file: m.name, parent: front.text("parent_task_id", "parent"), part: part{box: -1, block: m.body}}
	t.ID = clean(front.text("id"))
	t.Priority = priorities[strings.ToLower(front.text("priority"))]
	t.ordinal, _ = strconv.ParseFloat(front.text("ordinal"), 64)
	for _, id := range front.list("dependencies") {
		t.DependsOn = append(t.DependsOn, clean(id))
	}
	setTitle(&t.Task, cmp.Or(front.text("title"), t.ID))
	t.part.head, _ = front.at("title")
	if r, ok := front.at("updated_date"); ok {
		t.dropped = []region{r}
	}
	at, ok := front.at("status")
	if t.ID == "" || !ok {
		b.problem(t.ID, 1, clean(m.name)+" has no id or no status", backlogWant)
		return
	}
	t.Line = 1 + bytes.Count(b.data[m.body.from:at.from], []byte("\n"))
	t.marks = []mark{b.status(at)}
	body := region{front.in.to, m.body.to}
	b.settings(&t)
	for _, name := range []string{"DESCRIPTION", "PLAN", "NOTES"} {
		r := b.section(body, "SECTION:"+name)
		if name == "NOTES" { // the agent's own, as the tool has it
			t.dropped = append(t.dropped, r)
		}
		if text := strings.TrimSpace(string(b.data[r.from:r.to])); text != "" {
			t.Detail = paragraphs(t.Detail, text)
		}
	}
	if !bytes.Contains(b.data[body.from:body.to], []byte(":BEGIN -->")) { // written by hand
		t.Detail = strings.TrimSpace(string(b.data[body.from:body.to]))
	}
	for _, name := range []string{"AC", "DOD"} {
		r := b.section(body, name)
		section := b.data[r.from:r.to]
		for _, box := range numberedBox.FindAllSubmatchIndex(section, -1) {
			t.Criteria = append(t.Criteria, strings.TrimSpace(string(section[box[4]:box[5]])))
			if name == "AC" { // what the definition of done asks for is the user's to tick
				from := r.from + box[2]
				t.marks = append(t.marks, mark{at: from, end: from + 1, open: " ", done: "x", set: b.data[from] != ' '})
			}
		}
	}
	b.seen = append(b.seen, t)
}

// settings reads the first comment for Pawl in a task's file, and names the others.
func (b *backlog) settings(t *backlogTask) {
	in := t.part.block
	for i, at := range directive.FindAllSubmatchIndex(b.data[in.from:in.to], -1) {
		text := string(b.data[in.from+at[0] : in.from+at[1]])
		if i == 0 {
			b.readSettings(&t.Task, string(b.data[in.from+at[2]:in.from+at[3]]))
			t.Title = cmp.Or(strings.TrimSpace(strings.ReplaceAll(t.Title, text, "")), t.ID)
			continue
		}
		line := 1 + bytes.Count(b.data[in.from:in.from+at[0]], []byte("\n"))
		b.note(line, fmt.Sprintf("%s: this comment is not read: %s", clean(t.file), plan.OneLine(text, 60)), "one such comment a task")
	}
}

// numberedBox matches a criterion: "- [ ] #1 text".
var numberedBox = regex.New(`(?m)^[ \t]*- \[([ xX])\] (?:#\d+ )?(.+?)\r?$`)

// section is the text between two markers.
func (b *backlog) section(body region, name string) region {
	before, rest, found := bytes.Cut(b.data[body.from:body.to], []byte("<!-- "+name+":BEGIN -->"))
	text, _, ended := bytes.Cut(rest, []byte("<!-- "+name+":END -->"))
	if !found || !ended {
		return region{}
	}
	from := body.from + len(before) + len("<!-- "+name+":BEGIN -->")
	return region{from, from + len(text)}
}

// status is the mark of a task.
func (b *backlog) status(at region) mark {
	first, last := b.statuses[0], b.statuses[len(b.statuses)-1]
	written := string(b.data[at.from:at.to])
	is := unquoteYAML(written)
	quote := ""
	if is != written {
		quote = written[:1]
	}
	m := mark{at: at.from, end: at.to, open: quoteYAML(first, quote), done: quoteYAML(last, quote), set: strings.EqualFold(is, last)}
	if written == "" { // the value stands apart from what is around it
		m.done = " " + m.done + " "
		m.open = " " + m.open + " "
	}
	if !m.set && !slices.ContainsFunc(b.statuses, func(s string) bool { return strings.EqualFold(s, is) }) {
		m.odd = is
	}
	return m
}

// depend finds the tasks that others wait for. One that is in no file here is done or
// put away; it is named.
func (b *backlog) depend() {
	byID := map[string]int{}
	for i, t := range b.seen {
		byID[strings.ToLower(t.ID)] = i
	}
	for i := range b.seen {
		t := &b.seen[i]
		var known []string
		for _, id := range t.DependsOn {
			if other, ok := byID[strings.ToLower(id)]; ok {
				known = append(known, b.seen[other].ID)
				continue
			}
			b.note(t.Line, fmt.Sprintf("%s depends on %s, which is not in the folder: it is not waited for", clean(t.file), id), "the id of a task in the folder")
		}
		t.DependsOn = known
	}
	for _, t := range b.seen {
		if up, ok := byID[strings.ToLower(t.parent)]; ok && t.parent != "" && !slices.Contains(t.DependsOn, b.seen[up].ID) {
			b.seen[up].DependsOn = append(b.seen[up].DependsOn, t.ID)
		}
	}
}

// idNumbers are the numbers in an id, by which tasks are sorted: task-9 before task-10.
func idNumbers(id string) []int {
	var out []int
	for part := range strings.FieldsFuncSeq(id, func(r rune) bool { return r < '0' || r > '9' }) {
		n, _ := strconv.Atoi(part)
		out = append(out, n)
	}
	return out
}

// yamlHead is a part of a file with lines "key: value", and lists.
type yamlHead struct {
	data []byte
	in   region
}

// at is where the value of a key stands, without a comment behind it.
func (y yamlHead) at(key string) (region, bool) {
	at := y.in.from
	for line := range bytes.Lines(y.data[y.in.from:y.in.to]) {
		if rest, ok := bytes.CutPrefix(line, []byte(key+":")); ok && (len(rest) == 0 || rest[0] != ':') {
			from := at + len(line) - len(bytes.TrimLeft(rest, " \t"))
			value := bytes.TrimLeft(rest, " \t")
			if i := bytes.Index(value, []byte(" #")); i >= 0 && !bytes.ContainsAny(value[:1], `"'`) {
				value = value[:i]
			}
			if bytes.HasPrefix(value, []byte("#")) {
				value = nil
			}
			return region{from, from + len(bytes.TrimRight(value, " \t\r\n"))}, true
		}
		at += len(line)
	}
	return region{}, false
}

func (y yamlHead) has(key string) bool {
	_, ok := y.at(key)
	return ok
}

// text is the value of the first of these keys that is there, without quotes.
func (y yamlHead) text(keys ...string) string {
	for _, key := range keys {
		if r, ok := y.at(key); ok {
			return unquoteYAML(string(y.data[r.from:r.to]))
		}
	}
	return ""
}

func unquoteYAML(text string) string {
	text = strings.TrimSpace(text)
	if len(text) > 1 && (text[0] == '\'' || text[0] == '"') && text[len(text)-1] == text[0] {
		quote := text[:1]
		text = text[1 : len(text)-1]
		if quote == "'" {
			return strings.ReplaceAll(text, "''", "'")
		}
		return strings.NewReplacer(`\"`, `"`, `\\`, `\`).Replace(text)
	}
	return text
}

// quoteYAML is a text as a value, in the quotes given or, where it needs some, in others.
func quoteYAML(text, quote string) string {
	switch {
	case quote == "'":
		return "'" + strings.ReplaceAll(text, "'", "''") + "'"
	case quote == "" && plainYAML.MatchString(text):
		return text
	}
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(text) + `"`
}

// plainYAML matches a text that needs no quotes.
var plainYAML = regex.New(`^[\p{L}\p{N}](?:[\p{L}\p{N} _./-]*[\p{L}\p{N}_./-])?$`)

// list is a value of several: in brackets, or with a dash on each line that follows.
func (y yamlHead) list(key string) []string {
	r, ok := y.at(key)
	if !ok {
		return nil
	}
	var out []string
	add := func(text string) {
		if text = unquoteYAML(text); text != "" {
			out = append(out, text)
		}
	}
	if value := string(y.data[r.from:r.to]); value != "" {
		for part := range strings.SplitSeq(strings.Trim(value, "[]"), ",") {
			add(part)
		}
		return out
	}
	rest := y.data[r.to:y.in.to]
	_, rest, _ = bytes.Cut(rest, []byte("\n"))
	for line := range bytes.Lines(rest) {
		item, ok := bytes.CutPrefix(bytes.TrimSpace(line), []byte("- "))
		if !ok {
			break
		}
		add(string(item))
	}
	return out
}
