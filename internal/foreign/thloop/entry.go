package thloop

import (
	"strings"
	"unicode"
)

// News is what is new in a channel.
type News struct {
	First bool // nothing was read of it before: all that stands there is new
	Parts []Part
	Stops []Stop
}

// Part is a run of new lines.
type Part struct {
	File        string
	First, Last int    // numbers of its lines, from 1
	Text        string // to the byte
	Own         bool   // an entry of the agent's own
}

// Stop is a new line that holds the word stop alone, outside of quotes and code.
type Stop struct {
	File string
	Line int
	Own  bool // in an entry of the agent's own
	Last bool // nothing but white space follows
}

// read adds what stands between two offsets of a file. The lines before are looked
// at for the code they may have begun.
func (n *News) read(file Source, start, end int, me string) {
	e := entries{me: me}
	text := string(file.Data[:end])
	stops := len(n.Stops)
	for at, number := 0, 1; at < end; number++ {
		line, _, _ := strings.Cut(text[at:], "\n")
		next := min(at+len(line)+1, end)
		said := at + len(strings.TrimRightFunc(line, unicode.IsSpace)) // how far it says something
		line = strings.TrimSpace(strings.TrimPrefix(line, "\ufeff"))
		code := e.code(line)
		if next <= start {
			at = next
			continue
		}
		if !code {
			e.line(line, text[next:])
		}
		if line != "" {
			for i := range n.Stops[stops:] {
				n.Stops[stops+i].Last = false
			}
		}
		if !code && said > start && strings.EqualFold(line, "stop") {
			n.Stops = append(n.Stops, Stop{File: file.Name, Line: number, Own: e.own(), Last: true})
		}
		n.add(Part{File: file.Name, First: number, Last: number, Text: text[max(at, start):next], Own: e.own()})
		at = next
	}
}

// add puts a line to the part that it continues with.
func (n *News) add(line Part) {
	if last := len(n.Parts) - 1; last >= 0 && n.Parts[last].File == line.File && n.Parts[last].Own == line.Own {
		n.Parts[last].Last = line.Last
		n.Parts[last].Text += line.Text
		return
	}
	n.Parts = append(n.Parts, line)
}

// Ranks of heads that are not headings: those have their level, 1 to 6.
const (
	ruleRank  = 0 // a line between entries: it ends them all
	stampRank = 7 // a line that begins with a time: an entry to the next blank line
)

// entries knows whose entry a line is in. Only the agent's own are told from the
// rest: they begin with a head that names it, and end with the next of the same
// rank or a higher one.
type entries struct {
	me    string
	fence string // what the code at hand began with; "" outside of code
	mine  bool
	rank  int // of the agent's own entry
}

func (e *entries) own() bool { return e.mine }

// code reports whether the line, without white space around it, is code or begins or
// ends some.
func (e *entries) code(line string) bool {
	mark := ""
	if line != "" && (line[0] == '`' || line[0] == '~') {
		mark = line[:len(line)-len(strings.TrimLeft(line, line[:1]))]
	}
	switch {
	case e.fence != "":
		if len(mark) >= len(e.fence) && mark[0] == e.fence[0] && mark == line {
			e.fence = ""
		}
		return true
	case len(mark) >= 3 && (mark[0] == '~' || !strings.Contains(line[len(mark):], "`")):
		e.fence = mark
		return true
	}
	return false
}

// line takes in a line outside of code, and what follows it.
func (e *entries) line(line, behind string) {
	if line == "" {
		e.mine = e.mine && e.rank != stampRank
		return
	}
	rank, title, ok := head(line)
	if !ok || e.mine && rank > e.rank {
		return
	}
	name, _ := author(title)
	if name == "" && rank != ruleRank {
		below, _, _ := strings.Cut(strings.TrimLeft(behind, " \t\r\n"), "\n")
		if by, colon := author(below); colon {
			name = by
		}
	}
	e.mine, e.rank = e.me != "" && strings.EqualFold(name, e.me), rank
}

// head reports whether a line begins or ends an entry, and what it says.
func head(line string) (rank int, title string, ok bool) {
	if text := strings.TrimLeft(line, "#"); len(text) < len(line) {
		rank = len(line) - len(text)
		return rank, text, rank <= 6 && (text == "" || text[0] == ' ' || text[0] == '\t')
	}
	if bare := strings.ReplaceAll(line, " ", ""); len(bare) >= 3 && strings.ContainsRune("-*_", rune(bare[0])) && strings.Trim(bare, bare[:1]) == "" {
		return ruleRank, "", true
	}
	_, stamped := unstamped(line)
	return stampRank, line, stamped
}

// unstamped is a text without the time that it begins with.
func unstamped(text string) (rest string, stamped bool) {
	text = strings.TrimLeft(text, "-*•[(<_ \t")
	end := strings.IndexFunc(text, func(r rune) bool { return !unicode.IsDigit(r) && !strings.ContainsRune("-/.:TZ+", r) })
	if end < 0 {
		end = len(text)
	}
	if word := text[:end]; word == "" || !unicode.IsDigit(rune(word[0])) || !strings.ContainsAny(strings.TrimRight(word, "-/.:+"), "-/:") {
		return text, false
	}
	if again, more := unstamped(text[end:]); more { // a date, then a time
		return again, true
	}
	return text[end:], true
}

// author is the name that a text begins with, behind a date, a time and a word like
// from. Colon says that it stands there as one: "from NAME", or "NAME:".
func author(text string) (name string, colon bool) {
	for {
		text = strings.TrimLeftFunc(text, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
		end := strings.IndexFunc(text, func(r rune) bool {
			return !unicode.IsLetter(r) && !unicode.IsDigit(r) && r != '-' && r != '_' && r != '.'
		})
		if end < 0 {
			end = len(text)
		}
		word := text[:end]
		text = text[end:]
		switch lower := strings.ToLower(word); {
		case lower == "from" || lower == "by" || lower == "author":
			colon = true
		case word != "" && word[0] <= '9' || lower == "am" || lower == "pm" || lower == "utc" || lower == "jst":
			// of the time
		default:
			return word, colon || strings.HasPrefix(strings.TrimLeft(text, "*_]) "), ":")
		}
	}
}
