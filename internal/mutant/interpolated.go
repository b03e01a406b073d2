package mutant

import (
	"path"
	"strings"

	"github.com/pawl-dev/pawl/internal/regex"
)

// interpolation is how a language writes code inside strings.
type interpolation struct {
	begins *regex.Regex // a string with code in it, up to its first quote, which group 1 matches
	opens  string       // begins code
}

// interpolationOf returns how the language of a file writes code inside strings; nil = it does not.
func interpolationOf(file string) *interpolation {
	switch path.Ext(file) {
	case ".py":
		return &interpolation{formatString, "{"}
	case ".js", ".jsx", ".ts", ".tsx", ".mjs", ".cjs", ".mts", ".cts":
		return &interpolation{templateLiteral, "${"}
	case ".rs":
		return &interpolation{macroString, "{"}
	}
	return nil
}

var (
	formatString    = regex.New(`(?i)\b(?:f|fr|rf)("""|'''|"|')`) // of Python
	templateLiteral = regex.New("(`)")                            // of JavaScript
	macroString     = regex.New(`!\(.*?(")`)                      // of Rust: format!("{n}")
)

// interpolated returns the code inside a text's strings, such as total(n) of f"{total(n):.2f}".
func interpolated(file, text string) string {
	in := interpolationOf(file)
	if in == nil {
		return ""
	}
	code := Code(file, []byte(text))
	var all strings.Builder
	end := 0
	for _, m := range in.begins.FindAllStringSubmatchIndex(code, -1) {
		if m[0] < end {
			continue
		}
		to := strings.Index(code[m[1]:], code[m[2]:m[3]])
		if to < 0 {
			break
		}
		end = m[1] + to
		all.WriteString(placeholders(text[m[1]:end], in.opens))
	}
	return all.String()
}

// placeholders returns the code of a string, in which doubled brackets are no code.
func placeholders(text, opens string) string {
	var all strings.Builder
	for at := strings.Index(text, opens); at >= 0; at = strings.Index(text, opens) {
		if text = text[at+len(opens):]; strings.HasPrefix(text, "{") && opens == "{" {
			text = text[1:]
			continue
		}
		depth, to := 1, 0
		for ; to < len(text) && depth > 0; to++ {
			switch text[to] {
			case '{':
				depth++
			case '}':
				depth--
			}
		}
		all.WriteString(text[:to] + " ")
		text = text[to:]
	}
	return all.String()
}
