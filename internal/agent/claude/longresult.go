package claude

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"unicode"
)

const (
	// longResult is the longest line of results that is decoded: the client gives the
	// output of a command in no more than 30,000 characters.
	longResult = 128 << 10

	excerptMax    = 1500 // bytes of JSON that are kept of a longer result
	longestEscape = 12   // bytes of a character in JSON: a pair of surrogates
)

// decodeUser reads what the client tells the model, results of tools with whole
// files in them: nearly all bytes of a stream, of which only the ids and the beginning
// matter. They are found without decoding: within a string the quotes of such a key
// would be escaped.
func decodeUser(b []byte) (line, bool) {
	const key = `"tool_use_id":"`
	if len(b) <= longResult || !bytes.HasPrefix(b, []byte(`{"type":"user",`)) || b[len(b)-1] != '}' {
		return line{}, false
	}
	l, of := line{Type: "user"}, len(b)
	seen := map[string]bool{}
	for {
		i := bytes.Index(b, []byte(key))
		if i < 0 {
			return l, true
		}
		b = b[i+len(key):]
		id := string(b[:max(0, bytes.IndexByte(b, '"'))])
		if !seen[id] {
			seen[id] = true
			l.Message.Content = append(l.Message.Content, block{Type: "tool_result", ToolUseID: id, Content: excerpt(b, of), Excerpt: true})
		}
	}
}

// excerpt returns the beginning of a result's text, and how much of its line follows. b begins with
// the result's id.
func excerpt(b []byte, of int) output {
	text := []byte(nil)
	for _, key := range []string{`"content":"`, `"content":[{"type":"text","text":"`} {
		if i := bytes.Index(b[:min(len(b), 300)], []byte(key)); i >= 0 {
			text = b[i+len(key):]
			break
		}
	}
	kept := text[:min(len(text), excerptMax)]
	said := ""
	if end := stringEnd(kept); end >= 0 {
		kept = kept[:end]
	}
	for range longestEscape { // a part of a character may be left at the end
		if json.Unmarshal(append(append([]byte{'"'}, kept...), '"'), &said) == nil {
			break
		}
		kept = kept[:max(0, len(kept)-1)]
	}
	word := func(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) || r == '_' || r == '-' }
	if i := strings.LastIndexFunc(said, func(r rune) bool { return !word(r) }); i > 0 { // a word that was cut may be a part of a secret
		said = said[:i]
	}
	return output(strings.TrimLeft(said+"\n… "+fmt.Sprintf("%d kB left out", (of-len(kept))>>10), "\n"))
}

// stringEnd returns where a JSON string ends, -1 for one that was cut.
func stringEnd(text []byte) int {
	for i := 0; i < len(text); i++ {
		switch text[i] {
		case '\\':
			i++
		case '"':
			return i
		}
	}
	return -1
}
