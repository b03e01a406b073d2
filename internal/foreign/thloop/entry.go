package thloop

import (
	"strings"
	"unicode"

	"github.com/pawl-dev/pawl/internal/core/claim"
)

// News is the new text in a channel.
type News struct {
	First bool // the first read: everything is new
	Parts []Part
	Stops []Stop
}

// Part is a run of new lines.
type Part struct {
	File        string
	First, Last int    // numbers of its lines, from 1
	Text        string // to the byte
	Own         bool   // in an entry of the agent's own
}

// Stop is a new line with only the word stop, outside of quotes and code.
type Stop struct {
	File string
	Line int
	Own  bool // in an entry of the agent's own
	Last bool // only white space follows
}

// read adds the text between two offsets of a file. It scans the lines before for the start of a
// code block.
func (n *News) read(file Source, start, end int, me string) {
	e := entries{me: me}
	text := string(file.Data[:end])
	stops := len(n.Stops)
	for at, number := 0, 1; at < end; number++ {
		line, _, _ := strings.Cut(text[at:], "\n")
		next := min(at+len(line)+1, end)
		said := at + len(strings.TrimRightFunc(line, unicode.IsSpace)) // end of the visible text
		line = strings.TrimSpace(strings.TrimPrefix(line, "\ufeff"))
		code := e.inCode(line)
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
			n.Stops = append(n.Stops, Stop{File: file.Name, Line: number, Own: e.isOwn, Last: true})
		}
		n.add(Part{File: file.Name, First: number, Last: number, Text: text[max(at, start):next], Own: e.isOwn})
		at = next
	}
}

// add appends a line to the last part if it continues that part, else as a new part.
func (n *News) add(line Part) {
	if last := len(n.Parts) - 1; last >= 0 && n.Parts[last].File == line.File && n.Parts[last].Own == line.Own {
		n.Parts[last].Last = line.Last
		n.Parts[last].Text += line.Text
		return
	}
	n.Parts = append(n.Parts, line)
}

// Ranks of heads that are not headings. A heading's rank is its level, 1 to 6.
const (
	ruleRank  = 0 // a line between entries, which ends them all
	stampRank = 7 // a line that begins with a time: an entry up to the next blank line
)

// entries tracks whether a line is in one of the agent's own entries. These begin with a head that
// names the agent, and end at the next head of the same or a higher rank.
type entries struct {
	me    string
	fence string // the mark that began the current code block, "" = none
	isOwn bool
	rank  int // of the agent's own entry
}

// inCode reports whether a trimmed line is in a code block or begins or ends one.
func (e *entries) inCode(line string) bool {
	if e.fence == "" {
		e.fence = claim.OpeningFence(line)
		return e.fence != ""
	}
	if claim.ClosesFence(line, e.fence) {
		e.fence = ""
	}
	return true
}

// line processes a line outside of code, with the text after it.
func (e *entries) line(line, behind string) {
	if line == "" {
		e.isOwn = e.isOwn && e.rank != stampRank
		return
	}
	rank, title, ok := entryHeading(line)
	if !ok || e.isOwn && rank > e.rank {
		return
	}
	name, _ := parseAuthor(title)
	if name == "" && rank != ruleRank {
		below, _, _ := strings.Cut(strings.TrimLeft(behind, " \t\r\n"), "\n")
		if by, colon := parseAuthor(below); colon {
			name = by
		}
	}
	e.isOwn, e.rank = e.me != "" && strings.EqualFold(name, e.me), rank
}

// entryHeading reports whether a line begins or ends an entry, with its rank and title.
func entryHeading(line string) (rank int, title string, ok bool) {
	if text := strings.TrimLeft(line, "#"); len(text) < len(line) {
		rank = len(line) - len(text)
		return rank, text, rank <= 6 && (text == "" || text[0] == ' ' || text[0] == '\t')
	}
	if bare := strings.ReplaceAll(line, " ", ""); len(bare) >= 3 && strings.ContainsRune("-*_", rune(bare[0])) && strings.Trim(bare, bare[:1]) == "" {
		return ruleRank, "", true
	}
	_, stamped := cutTimestamp(line)
	return stampRank, line, stamped
}

// cutTimestamp returns a text without the time at its beginning.
func cutTimestamp(text string) (rest string, stamped bool) {
	text = strings.TrimLeft(text, "-*•[(<_ \t")
	end := strings.IndexFunc(text, func(r rune) bool { return !unicode.IsDigit(r) && !strings.ContainsRune("-/.:TZ+", r) })
	if end < 0 {
		end = len(text)
	}
	if word := text[:end]; word == "" || !unicode.IsDigit(rune(word[0])) || !strings.ContainsAny(strings.TrimRight(word, "-/.:+"), "-/:") {
		return text, false
	}
	if again, more := cutTimestamp(text[end:]); more { // a date, then a time
		return again, true
	}
	return text[end:], true
}

// parseAuthor returns the name that a text begins with, after a date, a time and a word such as from.
// colon means that it is marked as a name: "from NAME", or "NAME:".
func parseAuthor(text string) (name string, colon bool) {
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
			// part of the time
		default:
			return word, colon || strings.HasPrefix(strings.TrimLeft(text, "*_]) "), ":")
		}
	}
}
