package ralphloop

import (
	"strconv"
	"strings"

	"github.com/pawl-dev/pawl/internal/foreign/frontmatter"
)

// Parse reads a state file. Errors read "PATH:LINE: what is wrong: expected …" and have a hint.
// Parse keeps data without a copy.
func Parse(data []byte) (*File, error) {
	t, err := frontmatter.Parse(Path, data, "active", "iteration", "max_iterations", "completion_promise", "session_id", "started_at")
	if err != nil {
		return nil, err
	}
	f := &File{text: t, Promise: promise(t.Field("completion_promise")), Prompt: prompt(t.Front(), t.Body())}
	if id := t.Field("session_id"); !id.IsNull() {
		f.SessionID = id.Value
	}
	var ok bool
	if f.Active, ok = parseBool(t.Field("active").WithoutComment()); !ok {
		return nil, t.ValueError("active", "true or false")
	}
	if f.Iteration, ok, err = t.Number("iteration", "a whole number"); err != nil {
		return nil, err
	}
	switch {
	case ok:
	case t.Field("iteration").Line > 0:
		return nil, t.ValueError("iteration", "a whole number")
	default:
		return nil, t.LineError(t.End(), "there is no iteration above this line", "a line like iteration: 1")
	}
	if f.MaxIterations, f.MaxGiven, err = t.Number("max_iterations", "a whole number, 0 for unlimited"); err != nil {
		return nil, err
	}
	if strings.TrimSpace(f.Prompt) == "" {
		return nil, t.LineError(t.End(), "nothing follows the front matter", "the prompt")
	}
	return f, nil
}

// prompt returns the text after the front matter, without the blank line before it and the line end
// of the file, which are layout.
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

// promise returns the text that the agent must say. The plugin's double quotes escape nothing. A
// doubled single quote counts as one, as in YAML.
func promise(f frontmatter.Field) string {
	switch {
	case f.IsNull():
		return ""
	case f.Quote == '\'':
		return strings.TrimSpace(strings.ReplaceAll(f.Value, "''", "'"))
	}
	return strings.TrimSpace(f.Value)
}

func parseBool(text string) (value, ok bool) {
	switch strings.ToLower(text) {
	case "", "true", "yes", "on", "1":
		return true, true
	case "false", "no", "off", "0":
		return false, true
	}
	return false, false
}

// parseNumber reads decimal digits and nothing else; 08 is eight.
func parseNumber(text string) (int, bool) {
	if text == "" || strings.Trim(text, "0123456789") != "" {
		return 0, false
	}
	n, err := strconv.Atoi(text)
	return n, err == nil
}
