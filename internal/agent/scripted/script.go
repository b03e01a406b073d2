package scripted

import (
	"fmt"
	"path"
	"strconv"
	"strings"
	"time"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/pawl-dev/pawl/internal/core/loop"
)

// Script is the part that the agent plays.
type Script struct {
	byNumber map[int]*part
	from     map[int]*part // by the first turn that they are played in
	byWord   []*part
	reviews  *Script // of sessions that only read
}

// part is one turn of a script.
type part struct {
	word       string
	reply      string
	acts       []act
	sleep      time.Duration
	tools      int
	context    int
	usage      loop.Usage
	background []string
	failure    *loop.Failure
	wait       time.Duration // of the failure: until it is over
}

// act is one tool call: a file that is read, written or edited (old becomes new
// there), one that is deleted, or a command.
type act struct {
	read, write, content, edit, old, new, remove, run string

	unread bool // the file is not read before
}

// Parse reads a script, see the package doc. The error names the section.
func Parse(data []byte) (*Script, error) {
	s := newScript()
	s.reviews = newScript()
	for _, f := range txtar.Parse(data).Files {
		key, section, ok := strings.Cut(f.Name, "/")
		if !ok || key == "" {
			return nil, fmt.Errorf("parse script: section %q is not TURN/WHAT", f.Name)
		}
		of := s
		if turn, review := strings.CutPrefix(key, reviewing); review {
			of, key = s.reviews, turn
		}
		p := of.part(key)
		if err := p.add(section, string(f.Data)); err != nil {
			return nil, fmt.Errorf("parse script: section %q: %w", f.Name, err)
		}
	}
	return s, nil
}

const reviewing = "review-"

func newScript() *Script {
	return &Script{byNumber: map[int]*part{}, from: map[int]*part{}}
}

// part is the one of a turn: a number, a number with a plus, or a word.
func (s *Script) part(key string) *part {
	number, onward := strings.CutSuffix(key, "+")
	n, err := strconv.Atoi(number)
	switch {
	case err == nil && onward:
		return partOf(s.from, n)
	case err == nil:
		return partOf(s.byNumber, n)
	}
	for _, p := range s.byWord {
		if p.word == key {
			return p
		}
	}
	s.byWord = append(s.byWord, newPart(key))
	return s.byWord[len(s.byWord)-1]
}

// partOf is the part of that number, made where there is none yet.
func partOf(parts map[int]*part, n int) *part {
	if parts[n] == nil {
		parts[n] = newPart("")
	}
	return parts[n]
}

// newPart has a price, so that a scripted loop shows figures.
func newPart(word string) *part {
	return &part{word: word, context: 10, usage: loop.Usage{Input: 1200, Output: 300, CacheRead: 8000, CostUSD: 0.02}}
}

func (p *part) add(section, data string) (err error) {
	text := strings.TrimSpace(data)
	if name, ok := strings.CutPrefix(section, "files/"); ok {
		p.acts = append(p.acts, act{write: path.Clean(name), content: data})
		return nil
	}
	if name, ok := strings.CutPrefix(section, "unread/"); ok {
		p.acts = append(p.acts, act{write: path.Clean(name), content: data, unread: true})
		return nil
	}
	if name, ok := strings.CutPrefix(section, "edit/"); ok {
		a := act{edit: path.Clean(name)}
		a.old, a.new, ok = strings.Cut(text, "\n")
		if !ok {
			return fmt.Errorf("an edit is two lines: what is there, and what is to be")
		}
		p.acts = append(p.acts, a)
		return nil
	}
	switch section {
	case "reply":
		p.reply = text
	case "read":
		for _, name := range lines(text) {
			p.acts = append(p.acts, act{read: name})
		}
	case "delete":
		for _, name := range lines(text) {
			p.acts = append(p.acts, act{remove: name})
		}
	case "run":
		p.acts = append(p.acts, act{run: text})
	case "background":
		p.background = lines(text)
	case "sleep":
		p.sleep, err = time.ParseDuration(text)
	case "tools":
		p.tools, err = strconv.Atoi(text)
	case "context":
		p.context, err = strconv.Atoi(text)
	case "cost":
		p.usage.CostUSD, err = strconv.ParseFloat(text, 64)
	case "failure":
		err = p.addFailure(text)
	default:
		return fmt.Errorf("no such section; there are reply, files/PATH, unread/PATH, edit/PATH, read, delete, run, sleep, tools, context, cost, background, failure")
	}
	return err
}

// addFailure reads CLASS [DURATION] [MESSAGE].
func (p *part) addFailure(text string) error {
	class, rest, _ := strings.Cut(text, " ")
	switch c := loop.Class(class); c {
	case loop.UsageLimit, loop.Overloaded, loop.Network, loop.Login, loop.Billing, loop.Refused,
		loop.Crashed, loop.TimedOut, loop.Silent, loop.OverBudget, loop.Interrupted:
		p.failure = &loop.Failure{Class: c}
	default:
		return fmt.Errorf("no such failure class: %q", class)
	}
	first, message, _ := strings.Cut(rest, " ")
	if d, err := time.ParseDuration(first); err == nil {
		p.wait, rest = d, message
	}
	p.failure.Message = strings.TrimSpace(rest)
	if p.failure.Message == "" {
		p.failure.Message = "scripted: " + class
	}
	return nil
}

func lines(text string) []string {
	var out []string
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(line); line != "" {
			out = append(out, line)
		}
	}
	return out
}

// pick returns the part for a turn: by its number, else by the first word that
// the prompt contains, else the last part for all turns from a number on, else
// an empty one.
func (s *Script) pick(number int, prompt string) *part {
	if p := s.byNumber[number]; p != nil {
		return p
	}
	for _, p := range s.byWord {
		if strings.Contains(prompt, p.word) {
			return p
		}
	}
	for n := number; n > 0; n-- {
		if p := s.from[n]; p != nil {
			return p
		}
	}
	p := newPart("")
	p.reply = "The script has nothing for this turn."
	return p
}
