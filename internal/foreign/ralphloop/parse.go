package ralphloop

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/pawl-dev/pawl/internal/core/plan"
	"github.com/pawl-dev/pawl/internal/failure"
)

// Parse reads a state file. An error reads "PATH:LINE: what is wrong: expected
// …" and has a hint. The data is kept, not copied.
func Parse(data []byte) (*File, error) {
	if len(data) > MaxSize {
		return nil, fault(1, fmt.Sprintf("the file has %d bytes", len(data)), fmt.Sprintf("at most %d", MaxSize))
	}
	if before, _, found := bytes.Cut(data, []byte{0}); found {
		return nil, fault(1+bytes.Count(before, []byte("\n")), "this is not UTF-8 text", "a file saved as UTF-8")
	}
	r := reader{text: string(data), keys: map[string]int{}}
	r.at = len(r.text) - len(strings.TrimPrefix(r.text, "\ufeff"))
	if !r.next() || r.line != fence {
		return nil, fault(1, "the file does not begin with front matter", "a line with --- alone")
	}
	f := &File{Active: true, data: data}
	for {
		if !r.next() {
			return nil, fault(1, "the front matter that begins here does not end", "a second line with --- alone")
		}
		if r.line == fence {
			break
		}
		if err := r.read(f); err != nil {
			return nil, err
		}
	}
	if f.digits == (span{}) {
		return nil, fault(r.number, "there is no iteration above this line", "a line like iteration: 1")
	}
	f.Prompt = prompt(r.text[:r.at], r.text[r.at:])
	if strings.TrimSpace(f.Prompt) == "" {
		return nil, fault(r.number, "nothing follows the front matter", "the prompt")
	}
	return f, nil
}

// fence is the line before and after the front matter.
const fence = "---"

// prompt is what follows the front matter, without the blank line that sets it
// off and the line end that ends the file: layout, none of the person's text.
func prompt(front, text string) string {
	text, crlf := strings.CutPrefix(text, "\r\n")
	if !crlf {
		text = strings.TrimPrefix(text, "\n")
	}
	text, ended := strings.CutSuffix(text, "\n")
	if ended && (crlf || strings.HasSuffix(front, "\r\n")) {
		text = strings.TrimSuffix(text, "\r")
	}
	return text
}

// reader walks over the lines of a file.
type reader struct {
	text   string
	at     int            // where the next line begins
	line   string         // the last one, without the white space at its end
	start  int            // where it begins
	number int            // of it, from 1
	keys   map[string]int // the lines of the keys that were read
}

func (r *reader) next() bool {
	if r.at == len(r.text) {
		return false
	}
	line, _, _ := strings.Cut(r.text[r.at:], "\n")
	r.start, r.at = r.at, min(r.at+len(line)+1, len(r.text))
	r.line = strings.TrimRight(line, " \t\r")
	r.number++
	return true
}

// read takes over what the line says, if it has a key that we know. Anything
// else is somebody's own: comments, other keys and what is nested in them.
func (r *reader) read(f *File) error {
	key, text, ok := strings.Cut(r.line, ":")
	switch key {
	case "active", "iteration", "max_iterations", "completion_promise", "session_id", "started_at":
	default:
		return nil
	}
	if !ok {
		return fault(r.number, key+" has no value", key+": and a value")
	}
	if first := r.keys[key]; first > 0 {
		return fault(r.number, key+" is set twice", fmt.Sprintf("only the one on line %d", first))
	}
	r.keys[key] = r.number
	if strings.ContainsFunc(text, func(c rune) bool { return unicode.IsControl(c) && c != '\t' }) {
		return fault(r.number, key+" holds a control character", "plain text")
	}
	v := readValue(text)
	switch key {
	case "active":
		f.Active, ok = truth(v.text)
		if !ok {
			return fault(r.number, wrong(key, v), "true or false")
		}
	case "iteration":
		n, ok := number(v.text)
		if !ok {
			return fault(r.number, wrong(key, v), "a whole number")
		}
		at := r.start + len(key) + 1 + v.at
		f.Iteration, f.digits = n, span{at, at + len(v.text)}
	case "max_iterations":
		if v.text == "" {
			break // as if it were left out
		}
		if f.MaxIterations, f.MaxGiven = number(v.text); !f.MaxGiven {
			return fault(r.number, wrong(key, v), "a whole number, 0 for unlimited")
		}
	case "completion_promise":
		f.Promise = v.promise()
	case "session_id":
		if !v.null() {
			f.SessionID = v.text
		}
	case "started_at":
		// It only informs, so that what cannot be read is no reason to refuse.
		f.StartedAt, _ = time.Parse(time.RFC3339, v.text)
	}
	return nil
}

// value is what stands after a key's colon, without quotes and comment.
type value struct {
	text  string
	at    int  // where it begins, after the colon
	quote byte // " or ' that stood around it, or 0
}

// readValue reads as the plugin writes: inner quotes are not escaped, the first
// and the last of a line belong together. A comment begins with a # between
// blanks, so that a promise may be "TASK #1" without quotes.
func readValue(text string) value {
	v := value{at: len(text) - len(strings.TrimLeft(text, " \t"))}
	v.text = text[v.at:]
	if v.text == "" {
		return v
	}
	if q := v.text[0]; q == '"' || q == '\'' {
		if end := quoteEnd(v.text); end > 0 {
			return value{text: v.text[1:end], at: v.at + 1, quote: q}
		}
	}
	if at := comment(v.text); at >= 0 {
		v.text = strings.TrimRight(v.text[:at], " \t")
	}
	return v
}

// quoteEnd finds the quote that ends the quoted text: the last of the line, or
// the first that only a comment follows; 0 if there is none.
func quoteEnd(text string) int {
	if last := len(text) - 1; last > 0 && text[last] == text[0] {
		return last
	}
	for at := 1; at < len(text); at++ {
		if text[at] != text[0] || text[at+1] != ' ' && text[at+1] != '\t' {
			continue
		}
		rest := strings.TrimLeft(text[at+1:], " \t")
		if rest[0] == '#' {
			return at
		}
		at = len(text) - len(rest) - 1
	}
	return 0
}

// comment is where a comment begins in a text without quotes, or -1.
func comment(text string) int {
	for at := range len(text) {
		before := at == 0 || text[at-1] == ' ' || text[at-1] == '\t'
		after := at+1 == len(text) || text[at+1] == ' ' || text[at+1] == '\t'
		if text[at] == '#' && before && after {
			return at
		}
	}
	return -1
}

func (v value) null() bool {
	return v.quote == 0 && (v.text == "~" || strings.EqualFold(v.text, "null"))
}

// promise is the text that must be said: the plugin's double quotes escape
// nothing, a single quote that somebody doubled as YAML wants it is one.
func (v value) promise() string {
	switch {
	case v.null():
		return ""
	case v.quote == '\'':
		return strings.TrimSpace(strings.ReplaceAll(v.text, "''", "'"))
	}
	return strings.TrimSpace(v.text)
}

func truth(text string) (value, ok bool) {
	switch strings.ToLower(text) {
	case "", "true", "yes", "on", "1":
		return true, true
	case "false", "no", "off", "0":
		return false, true
	}
	return false, false
}

// number reads decimal digits and nothing else; 08 is eight.
func number(text string) (int, bool) {
	if text == "" || strings.Trim(text, "0123456789") != "" {
		return 0, false
	}
	n, err := strconv.Atoi(text)
	return n, err == nil
}

// wrong shows a value that was not expected.
func wrong(key string, v value) string {
	return fmt.Sprintf("%s is %q", key, plan.OneLine(v.text, 40))
}

func fault(line int, what, want string) error {
	return failure.New(failure.Usage, "correct the file, or delete it to end the loop; pawl leaves it as it is",
		"%s:%d: %s: expected %s", Path, line, what, want)
}
