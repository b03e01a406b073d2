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

// backlogTasks is the folder in which Backlog.md keeps its tasks.
const backlogTasks = "backlog/tasks"

// backlogConfig is the settings file of Backlog.md, relative to the folder of tasks.
const backlogConfig = "../config.yml"

const backlogWant = "front matter with id, title and status, as Backlog.md writes it"

// backlogReader collects the tasks of a folder of Backlog.md.
type backlogReader struct {
	parseResult
	data     []byte
	statuses []string // the last one means done
	tasks    []backlogTask
}

// backlogTask is a task with the parts of its file that plan.Task does not hold.
type backlogTask struct {
	plan.Task
	marks    []mark // the status, then the acceptance criteria
	location taskLocation
	ordinal  float64 // 0 = none
	parent   string
	file     string
	ignored  []region // dates and notes, which change with the work
}

// isBacklogTask reports whether a file is a task of Backlog.md.
func isBacklogTask(text []byte) bool {
	m := frontMatter.FindIndex(text)
	if m == nil {
		return false
	}
	head := yamlFrontMatter{text, region{m[0], m[1]}}
	return head.text("id") != "" && head.has("status")
}

// readBacklog reads a folder in which each file is a task. The mark of a task is its status with
// the boxes of its acceptance criteria. A tick writes the last status of the settings and ticks
// those boxes. A parent task depends on its subtasks.
func readBacklog(data []byte) parseResult {
	b := backlogReader{data: data, statuses: []string{"To Do", "In Progress", "Done"}}
	b.want = backlogWant
	for _, m := range folderFiles(data) {
		if m.name == backlogConfig {
			if list := (yamlFrontMatter{data, m.body}).list("statuses"); len(list) > 1 {
				b.statuses = list
			}
			continue
		}
		b.readTask(m)
	}
	b.plan.Format, b.wantMarks = Backlog, strings.Join(b.statuses, ", ")
	slices.SortStableFunc(b.tasks, func(x, y backlogTask) int {
		if x.ordinal != y.ordinal && x.ordinal != 0 && y.ordinal != 0 {
			return cmp.Compare(x.ordinal, y.ordinal)
		}
		return slices.Compare(idNumbers(x.ID), idNumbers(y.ID))
	})
	b.resolveDependencies()
	var edits []mark
	for _, t := range b.tasks {
		b.locations = append(b.locations, t.location)
		b.appendTask(t.Task, t.marks...)
		b.plan.Tasks[len(b.plan.Tasks)-1].Done = t.marks[0].set // the criteria do not count
		for _, r := range t.ignored {
			edits = append(edits, mark{at: r.from, end: r.to, set: true})
		}
		for i, m := range t.marks {
			if m.set = true; i == 0 { // with its quotes and the spaces around it
				m.open, m.at = "", bytes.LastIndexByte(data[:m.at], ':')+1
				line, _, _ := bytes.Cut(data[m.end:], []byte("\n"))
				m.end += len(bytes.TrimRight(line, "\r"))
			}
			edits = append(edits, m)
		}
	}
	b.text = applyMarks(data, edits, false)
	return b.parseResult
}

// readTask reads the file of one task.
func (b *backlogReader) readTask(m taskFile) {
	head := frontMatter.FindIndex(b.data[m.body.from:m.body.to])
	if head == nil {
		b.addProblem("", 1, clean(m.name)+" is not a task", backlogWant)
		return
	}
	front := yamlFrontMatter{b.data, region{m.body.from, m.body.from + head[1]}}
	t := backlogTask{file: m.name, parent: front.text("parent_task_id", "parent"), location: taskLocation{box: -1, block: m.body}}
	t.ID = clean(front.text("id"))
	t.Priority = priorities[strings.ToLower(front.text("priority"))]
	t.ordinal, _ = strconv.ParseFloat(front.text("ordinal"), 64)
	for _, id := range front.list("dependencies") {
		t.DependsOn = append(t.DependsOn, clean(id))
	}
	setTitle(&t.Task, cmp.Or(front.text("title"), t.ID))
	t.location.head, _ = front.valueRegion("title")
	if r, ok := front.valueRegion("updated_date"); ok {
		t.ignored = []region{r}
	}
	at, ok := front.valueRegion("status")
	if t.ID == "" || !ok {
		b.addProblem(t.ID, 1, clean(m.name)+" has no id or no status", backlogWant)
		return
	}
	t.Line = 1 + bytes.Count(b.data[m.body.from:at.from], []byte("\n"))
	t.marks = []mark{b.statusMark(at)}
	body := region{front.in.to, m.body.to}
	b.readTaskSettings(&t)
	for _, name := range []string{"DESCRIPTION", "PLAN", "NOTES"} {
		r := b.sectionBetweenMarkers(body, "SECTION:"+name)
		if name == "NOTES" { // Backlog.md leaves them to the agent
			t.ignored = append(t.ignored, r)
		}
		if text := strings.TrimSpace(string(b.data[r.from:r.to])); text != "" {
			t.Detail = paragraphs(t.Detail, text)
		}
	}
	if !bytes.Contains(b.data[body.from:body.to], []byte(":BEGIN -->")) { // written by hand
		t.Detail = strings.TrimSpace(string(b.data[body.from:body.to]))
	}
	for _, name := range []string{"AC", "DOD"} {
		r := b.sectionBetweenMarkers(body, name)
		section := b.data[r.from:r.to]
		for _, box := range numberedBox.FindAllSubmatchIndex(section, -1) {
			t.Criteria = append(t.Criteria, strings.TrimSpace(string(section[box[4]:box[5]])))
			if name == "AC" { // the user ticks the definition of done
				from := r.from + box[2]
				t.marks = append(t.marks, mark{at: from, end: from + 1, open: " ", done: "x", set: b.data[from] != ' '})
			}
		}
	}
	b.tasks = append(b.tasks, t)
}

// readTaskSettings reads the first comment for Pawl in a task's file, and warns of the others.
func (b *backlogReader) readTaskSettings(t *backlogTask) {
	in := t.location.block
	for i, at := range pawlComment.FindAllSubmatchIndex(b.data[in.from:in.to], -1) {
		text := string(b.data[in.from+at[0] : in.from+at[1]])
		if i == 0 {
			b.readSettings(&t.Task, string(b.data[in.from+at[2]:in.from+at[3]]))
			t.Title = cmp.Or(strings.TrimSpace(strings.ReplaceAll(t.Title, text, "")), t.ID)
			continue
		}
		line := 1 + bytes.Count(b.data[in.from:in.from+at[0]], []byte("\n"))
		b.warn(line, fmt.Sprintf("%s: this comment is ignored: %s", clean(t.file), plan.OneLine(text, 60)), "one such comment per task")
	}
}

// numberedBox matches a criterion: "- [ ] #1 text".
var numberedBox = regex.New(`(?m)^[ \t]*- \[([ xX])\] (?:#\d+ )?(.+?)\r?$`)

// sectionBetweenMarkers returns the text between the BEGIN and END markers of a section.
func (b *backlogReader) sectionBetweenMarkers(body region, name string) region {
	before, rest, found := bytes.Cut(b.data[body.from:body.to], []byte("<!-- "+name+":BEGIN -->"))
	text, _, ended := bytes.Cut(rest, []byte("<!-- "+name+":END -->"))
	if !found || !ended {
		return region{}
	}
	from := body.from + len(before) + len("<!-- "+name+":BEGIN -->")
	return region{from, from + len(text)}
}

// statusMark returns the mark at a task's status.
func (b *backlogReader) statusMark(at region) mark {
	first, last := b.statuses[0], b.statuses[len(b.statuses)-1]
	written := string(b.data[at.from:at.to])
	is := unquoteYAML(written)
	quote := ""
	if is != written {
		quote = written[:1]
	}
	m := mark{at: at.from, end: at.to, open: quoteYAML(first, quote), done: quoteYAML(last, quote), set: strings.EqualFold(is, last)}
	if written == "" { // keep spaces around the new value
		m.done = " " + m.done + " "
		m.open = " " + m.open + " "
	}
	if !m.set && !slices.ContainsFunc(b.statuses, func(s string) bool { return strings.EqualFold(s, is) }) {
		m.unknown = is
	}
	return m
}

// resolveDependencies replaces the dependencies by the ids of tasks in the folder. A task that is
// not in the folder is done or archived: it gets a warning. Parents depend on their subtasks.
func (b *backlogReader) resolveDependencies() {
	byID := map[string]int{}
	for i, t := range b.tasks {
		byID[strings.ToLower(t.ID)] = i
	}
	for i := range b.tasks {
		t := &b.tasks[i]
		var known []string
		for _, id := range t.DependsOn {
			if other, ok := byID[strings.ToLower(id)]; ok {
				known = append(known, b.tasks[other].ID)
				continue
			}
			b.warn(t.Line, fmt.Sprintf("%s depends on %s, which is not in the folder: Pawl does not wait for it", clean(t.file), id), "the id of a task in the folder")
		}
		t.DependsOn = known
	}
	for _, t := range b.tasks {
		if up, ok := byID[strings.ToLower(t.parent)]; ok && t.parent != "" && !slices.Contains(t.DependsOn, b.tasks[up].ID) {
			b.tasks[up].DependsOn = append(b.tasks[up].DependsOn, t.ID)
		}
	}
}

// idNumbers returns the numbers in an id. Tasks are sorted by them: task-9 before task-10.
func idNumbers(id string) []int {
	var out []int
	for part := range strings.FieldsFuncSeq(id, func(r rune) bool { return r < '0' || r > '9' }) {
		n, _ := strconv.Atoi(part)
		out = append(out, n)
	}
	return out
}

// yamlFrontMatter is a part of a file with "key: value" lines and lists.
type yamlFrontMatter struct {
	data []byte
	in   region
}

// valueRegion returns where the value of a key is, without a comment after it.
func (y yamlFrontMatter) valueRegion(key string) (region, bool) {
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

func (y yamlFrontMatter) has(key string) bool {
	_, ok := y.valueRegion(key)
	return ok
}

// text returns the value of the first of these keys that exists, without quotes.
func (y yamlFrontMatter) text(keys ...string) string {
	for _, key := range keys {
		if r, ok := y.valueRegion(key); ok {
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

// quoteYAML returns text as a YAML value, in the given quotes. With quote "", it uses double quotes
// if the text needs any.
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

// list returns a list: in brackets, or with a dash on each following line.
func (y yamlFrontMatter) list(key string) []string {
	r, ok := y.valueRegion(key)
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
