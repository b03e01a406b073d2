package planfile

import (
	"bytes"
	"sort"
	"strings"

	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"

	"github.com/pawl-dev/pawl/internal/regex"
)

// document is the outline of a Markdown file: headings and list items with their offsets. It
// contains no code, comments or front matter. The parser only reads blocks; the codecs read the
// text of a line.
type document struct {
	source          []byte
	data            []byte // the source with spaces in place of its front matter
	boxes           []mark // of headings and items, in order
	dialect         dialect
	hasTaskSections bool // the tasks are sections
	lines           lineOffsets
	headings        []heading // at the top level, in order
	items           []*item   // in order, a parent before its children
	fences          []fence   // at the top level, in order
	code            []region  // code blocks, in order
	pawlComments    [][]int   // see commentsForPawl
	readComments    map[int]bool
}

// fence is a fenced code block.
type fence struct {
	start int // of its first line
	code  string
}

// heading begins a section, which ends at the next heading of its level or above.
type heading struct {
	level     int
	text      string   // without the box
	box       int      // offset after the opening bracket, -1 = no box
	start     int      // of the line
	context   []string // see contextOfSection
	body, end int      // the section below the heading
	parent    int      // index of the heading of the section around it, -1 = none
}

// item is an item of a list.
type item struct {
	text      string   // its first paragraph as one line, without the box
	box       int      // offset after the opening bracket, -1 = no box
	start     int      // of the line
	body, end int      // the text below the first paragraph, with sub-items
	group     bool     // there is a box below it
	id        string   // the number or id that begins its text, see assignIDs
	rest      string   // the text after the id
	context   []string // see contextOfItem
	parent    *item
	children  []*item
}

// outline reads the blocks of a Markdown file. The parser reads no inline syntax: splitBox finds
// boxes, because users write more kinds of them than GitHub knows.
func outline(data []byte) *document {
	d := &document{source: data, data: blankFrontMatter(data), lines: newLines(data)}
	blocks := parser.NewParser(parser.WithBlockParsers(parser.DefaultBlockParsers()...))
	d.walk(blocks.Parse(text.NewReader(d.data)), nil)
	d.nest()
	d.findBoxes()
	return d
}

// nest finds the end and the parent of each section.
func (d *document) nest() {
	open := -1
	for i := range d.headings {
		h := &d.headings[i]
		for open >= 0 && d.headings[open].level >= h.level {
			d.headings[open].end = h.start
			open = d.headings[open].parent
		}
		h.end, h.parent = len(d.data), open
		open = i
	}
}

// section returns the index of the innermost heading above an offset, -1 for none.
func (d *document) section(at int) int {
	return sort.Search(len(d.headings), func(i int) bool { return d.headings[i].start > at }) - 1
}

func (d *document) walk(n ast.Node, parent *item) {
	for c := n.FirstChild(); c != nil; c = c.NextSibling() {
		switch c := c.(type) {
		case *ast.Heading:
			if n.Kind() == ast.KindDocument && c.Lines().Len() > 0 {
				d.headings = append(d.headings, d.heading(c))
			}
		case *ast.CodeBlock:
			d.addCode(c)
		case *ast.FencedCodeBlock:
			d.addCode(c)
			if n.Kind() == ast.KindDocument {
				d.fences = append(d.fences, fence{start: d.lines.lineStart(max(c.Pos(), 0)), code: string(c.Lines().Value(d.data))})
			}
		case *ast.ListItem:
			it := d.item(c)
			if it == nil {
				d.walk(c, parent)
				continue
			}
			d.add(it, parent)
			d.walk(c, it)
		default:
			if c.Type() == ast.TypeBlock && c.HasChildren() {
				d.walk(c, parent)
			}
		}
	}
}

// addCode stores where a code block is.
func (d *document) addCode(n ast.Node) {
	if lines := n.Lines(); lines.Len() > 0 {
		d.code = append(d.code, region{lines.At(0).Start, lines.At(lines.Len() - 1).Stop})
	}
}

func (d *document) add(it, parent *item) {
	d.items = append(d.items, it)
	if parent == nil {
		return
	}
	parent.children = append(parent.children, it)
	it.moveBelow(parent)
}

// moveBelow makes an item a child of another one.
func (it *item) moveBelow(parent *item) {
	it.parent = parent
	for up := parent; it.box >= 0 && up != nil && !up.group; up = up.parent {
		up.group = true
	}
}

func (d *document) heading(n *ast.Heading) heading {
	first := n.Lines().At(0)
	last := n.Lines().At(n.Lines().Len() - 1)
	h := heading{level: n.Level, start: d.lines.lineStart(first.Start), body: d.lines.nextLineStart(last.Start, len(d.data))}
	// The underline of a heading is not part of the section.
	if under := d.data[h.body:d.lines.nextLineStart(h.body, len(d.data))]; d.data[h.start+d.indent(h.start)] != '#' && underline.Match(under) {
		h.body += len(under)
	}
	whole := d.joinLines(n.Lines())
	if h.text, h.box = d.splitBox(whole, first.Start); h.box >= 0 && bracketedNumber.MatchString(whole) {
		h.text, h.box = whole, -1
	}
	return h
}

var underline = regex.New(`^ {0,3}(=+|-+)\s*$`)

// item returns a list item that begins with text, nil for any other.
func (d *document) item(n *ast.ListItem) *item {
	first := n.FirstChild()
	if first == nil || first.Kind() != ast.KindTextBlock && first.Kind() != ast.KindParagraph || first.Lines().Len() == 0 {
		return nil
	}
	lines := first.Lines()
	at := lines.At(0).Start
	it := &item{start: d.lines.lineStart(at), body: d.lines.nextLineStart(lines.At(lines.Len()-1).Start, len(d.data))}
	it.text, it.box = d.splitBox(d.joinLines(lines), at)
	it.end = max(d.startOfNext(n), it.body)
	return it
}

// joinLines returns a paragraph as one line.
func (d *document) joinLines(lines *text.Segments) string {
	var b strings.Builder
	for i := range lines.Len() {
		s := lines.At(i)
		if i > 0 {
			b.WriteByte(' ')
		}
		b.Write(bytes.TrimRight(s.Value(d.data), "\r\n"))
	}
	return strings.TrimSpace(b.String())
}

// startOfNext returns the start of the block that follows a node.
func (d *document) startOfNext(n ast.Node) int {
	for ; n != nil; n = n.Parent() {
		if next := n.NextSibling(); next != nil {
			return d.lines.lineStart(max(next.Pos(), 0))
		}
	}
	return len(d.data)
}

func (d *document) indent(at int) int {
	n := 0
	for at+n < len(d.data)-1 && (d.data[at+n] == ' ' || d.data[at+n] == '\t') {
		n++
	}
	return n
}

// prose returns the text between two offsets as written, without these items and without the indent
// that all lines share.
func (d *document) prose(from, to int, without []*item) string {
	var b strings.Builder
	for _, it := range without {
		if it.start >= from && it.end <= to {
			b.Write(d.withOpenBoxes(d.data, from, it.start))
			from = it.end
		}
	}
	b.Write(d.withOpenBoxes(d.data, from, to))
	lines := strings.Split(strings.ReplaceAll(b.String(), "\r\n", "\n"), "\n")
	shared := -1
	for _, l := range lines {
		if n := len(l) - len(strings.TrimLeft(l, " \t")); strings.TrimSpace(l) != "" && (shared < 0 || n < shared) {
			shared = n
		}
	}
	for i, l := range lines {
		lines[i] = strings.TrimRight(l[min(max(shared, 0), len(l)):], " \t")
	}
	return strings.Trim(strings.Join(lines, "\n"), "\n")
}

// maxIndent limits the characters before the text of a line, in bytes. The time to parse a file
// grows with the square of its nesting.
const maxIndent = 512

// tooDeepLine returns the first line with a longer indent, 0 for none.
func tooDeepLine(data []byte) int {
	n := 0
	for line := range bytes.Lines(data) {
		n++
		line = bytes.TrimRight(line, " \t\r\n")
		if len(line)-len(bytes.TrimLeft(line, " \t>-*+.)0123456789")) > maxIndent {
			return n
		}
	}
	return 0
}

// blankFrontMatter returns data with spaces in place of front matter between lines of "---", so
// that offsets stay the same.
func blankFrontMatter(data []byte) []byte {
	m := frontMatter.FindIndex(data)
	if m == nil {
		return data
	}
	data = bytes.Clone(data)
	for i, c := range data[:m[1]] {
		if c != '\n' && c != '\r' {
			data[i] = ' '
		}
	}
	return data
}

var frontMatter = regex.New(`^ {0,3}---[ \t]*\r?\n(?s:.*?\n)??---[ \t]*(\r?\n|$)`)
