package verifyactive

import (
	"fmt"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/pawl-dev/pawl/internal/core/plan"
	"github.com/pawl-dev/pawl/internal/failure"
)

// Prompt is a prompt in which a user asked for a verify loop.
type Prompt struct {
	Goal    string // the prompt without the request for the loop, "" = nothing else
	Command string // the command that must succeed
	Preset  string // fast, full, extended; "" = none
	Loop    bool   // loop:true was given
	Max     int    // checks, 1 or more
	Timeout time.Duration
}

// ParsePrompt searches a prompt for
//
//	:: verify:"COMMAND" [:fast|:full|:extended] [loop:true|false] [max:N] [timeout:SECONDS]
//
// at the beginning or after white space, on one line. COMMAND is in ", ' or typographic quotes. A
// backslash escapes the closing quote; other backslashes are part of the command. Options follow the
// command directly, in any order; max and timeout override a preset.
//
// It ignores code, quoted lines (>), quotations, and pasted text that the client marks. found is false
// if there is no request. For an invalid request, such as a misspelt option, found is true and there is
// an error: the option must not become a part of the goal, and no loop must start.
func ParsePrompt(text string) (p Prompt, found bool, err error) {
	if !strings.Contains(text, "::") {
		return Prompt{}, false, nil
	}
	w := walker{text: blankUntyped(text)}
	at, found := w.next()
	if !found {
		return Prompt{}, false, nil
	}
	m, err := readMarker(text, at)
	if err != nil {
		return Prompt{}, true, err
	}
	if err = m.checkTrailing(text); err != nil {
		return Prompt{}, true, err
	}
	w.at = m.end
	if _, again := w.next(); again {
		return Prompt{}, true, failure.New(failure.Usage, `join the commands: verify:"npm run lint && npm test"`, "the prompt has more than one verify")
	}
	m.prompt.Goal = cutSpan(text, span{m.start, m.end})
	return m.prompt, true, nil
}

// cutSpan returns the text without a span and the blanks around it.
func cutSpan(text string, s span) string {
	before := strings.TrimRight(text[:s.at], " \t")
	after := strings.TrimLeft(text[s.end:], " \t")
	if next, _ := utf8.DecodeRuneInString(after); before != "" && !strings.HasSuffix(before, "\n") && !strings.ContainsRune("\r\n"+punctuation, next) {
		after = " " + after
	}
	return strings.TrimSpace(before + after)
}

// punctuation may follow a word directly.
const punctuation = ".,;!?)…。，；！？）"

// marker is where a prompt asks for a loop, with its options.
type marker struct {
	start, end int
	prompt     Prompt
	given      map[string]bool // options
}

// command returns the command of a marker at the offset, on the line that ends at end: the text in
// quotes, and the offset after them. past is 0 if there is no marker. inner is empty and at 0 for a
// marker without a command in quotes.
func command(text string, at, end int) (inner span, past int) {
	const name = "verify:"
	skip := func(at int) int { return end - len(strings.TrimLeft(text[at:end], " \t")) }
	if !strings.HasPrefix(text[at:end], "::") {
		return span{}, 0
	}
	at = skip(at + len("::"))
	if end-at < len(name) || !strings.EqualFold(text[at:at+len(name)], name) {
		return span{}, 0
	}
	at += len(name)
	open := skip(at)
	quote, size := utf8.DecodeRuneInString(text[open:end])
	shut := closingQuote(quote)
	switch {
	case shut == 0 && (open > at || quote == '\r' || size == 0):
		return span{}, 0 // prose, like "note :: verify: it works"
	case shut == 0:
		return span{}, at
	}
	escaped := false
	for i, r := range text[open+size : end] {
		if i += open + size; r == shut && !escaped {
			return span{open + size, i}, i + utf8.RuneLen(shut)
		}
		escaped = r == '\\'
	}
	return span{}, end
}

// readMarker reads the marker at the offset.
func readMarker(text string, at int) (marker, error) {
	line, _, _ := strings.Cut(text[at:], "\n")
	inner, end := command(text, at, at+len(line))
	if inner == (span{}) {
		return marker{}, failure.New(failure.Usage, `write it as  :: verify:"npm test"`, "the command of verify: does not stand in quotes on one line")
	}
	quote := text[inner.end:end]
	m := marker{start: at, end: end, given: map[string]bool{}}
	m.prompt.Command = strings.ReplaceAll(text[inner.at:inner.end], `\`+quote, quote)
	if why := commandProblem(m.prompt.Command); why != "" {
		return marker{}, failure.New(failure.Usage, `write it as  :: verify:"npm test"`, "verify: %s", why)
	}
	if next, _ := utf8.DecodeRuneInString(strings.TrimLeft(text[end:], punctuation)); end < len(text) && text[end] != ':' && next != utf8.RuneError && !unicode.IsSpace(next) {
		return marker{}, failure.New(failure.Usage, `put the other quotes around it, or \ before the quotes in it`, "the command of verify: ends in the middle of a word: %s", plan.OneLine(m.prompt.Command, 60))
	}
	for {
		word, behind := nextWord(text, m.end)
		name, value, is := option(word)
		if !is {
			break
		}
		if err := m.set(name, value, word); err != nil {
			return marker{}, err
		}
		m.end = behind
	}
	m.resolve()
	return m, nil
}

// nextWord returns the next word of the line without punctuation at its end, and where it ends.
func nextWord(text string, at int) (word string, end int) {
	rest := strings.TrimLeft(text[at:], " \t")
	at = len(text) - len(rest)
	if stop := strings.IndexAny(rest, " \t\r\n"); stop >= 0 {
		rest = rest[:stop]
	}
	rest = strings.TrimRight(rest, punctuation)
	return rest, at + len(rest)
}

// option splits a word that looks like an option: :name, name:value, or name=value with a known
// name.
func option(word string) (name, value string, is bool) {
	if preset, found := strings.CutPrefix(word, ":"); found {
		return "preset", strings.ToLower(preset), hasOnlyLetters(preset)
	}
	name, value, found := strings.Cut(word, ":")
	name = strings.ToLower(name)
	if found && hasOnlyLetters(name) {
		return name, value, isOptionName(name) || value != "" && !strings.HasPrefix(value, "//")
	}
	name, _, found = strings.Cut(strings.ToLower(word), "=")
	return name, "", found && isOptionName(name)
}

func isOptionName(name string) bool { return name == "loop" || name == "max" || name == "timeout" }

func hasOnlyLetters(word string) bool {
	return word != "" && strings.Trim(strings.ToLower(word), "abcdefghijklmnopqrstuvwxyz_-") == ""
}

// set sets an option.
func (m *marker) set(name, value, word string) error {
	if m.given[name] {
		return optionError(word, "there is one before it already")
	}
	m.given[name] = true
	p := &m.prompt
	switch name {
	case "preset":
		if _, _, known := presetLimits(value); !known {
			return optionError(word, "the presets are :fast :full :extended")
		}
		p.Preset = value
	case "loop":
		p.Loop = strings.EqualFold(value, "true")
		if !p.Loop && !strings.EqualFold(value, "false") {
			return optionError(word, "write loop:true or loop:false")
		}
	case "max":
		n, ok := parseCount(value, maxIterations)
		if !ok {
			return optionError(word, fmt.Sprintf("write max:N, from 1 to %d", maxIterations))
		}
		p.Max = n
	case "timeout":
		n, ok := parseCount(value, int(maxTimeout.Seconds()))
		if !ok {
			return optionError(word, fmt.Sprintf("write timeout:SECONDS, from 1 to %.0f", maxTimeout.Seconds()))
		}
		p.Timeout = time.Duration(n) * time.Second
	default:
		return optionError(word, "the options are :fast :full :extended loop:true max:N timeout:SECONDS; what belongs to the goal stands before the ::")
	}
	return nil
}

func optionError(word, hint string) error {
	return failure.New(failure.Usage, hint, "verify does not understand %q", plan.OneLine(word, 40))
}

// parseCount reads a number from 1 to most.
func parseCount(text string, most int) (int, bool) {
	n, err := strconv.Atoi(text)
	return n, err == nil && n >= 1 && n <= most && strings.Trim(text, "0123456789") == ""
}

func presetLimits(name string) (most int, timeout time.Duration, known bool) {
	switch name {
	case "fast":
		return 1, 30 * time.Second, true
	case "full":
		return 5, 300 * time.Second, true
	case "extended":
		return 10, 600 * time.Second, true
	}
	return 0, 0, false
}

// resolve sets the options that were not given.
func (m *marker) resolve() {
	p := &m.prompt
	most, timeout, known := presetLimits(p.Preset)
	if !known {
		most, timeout = DefaultMax, DefaultTimeout
		if p.Loop {
			most = DefaultMaxLoop
		}
	}
	if p.Max == 0 {
		p.Max = most
	}
	if p.Timeout == 0 {
		p.Timeout = timeout
	}
}

// checkTrailing returns an error for options that other text separates from the command. They would become a
// part of the goal unnoticed.
func (m *marker) checkTrailing(text string) error {
	line, _, _ := strings.Cut(text[m.end:], "\n")
	for word := range strings.FieldsSeq(line) {
		word = strings.TrimRight(word, punctuation)
		name, value, is := option(word)
		if !is || !isOptionName(name) && name != "preset" {
			continue
		}
		if err := (&marker{given: map[string]bool{}}).set(name, value, word); err == nil {
			return failure.New(failure.Usage, `options stand right behind the command; what belongs to the goal stands before the :: or on another line`,
				"verify has the option %q behind other text", plan.OneLine(word, 40))
		}
	}
	return nil
}
