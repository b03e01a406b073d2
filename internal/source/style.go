package source

import (
	"path"
	"strings"
)

// Style is how a language writes comments and strings.
type Style struct {
	Lines  []string    // what begins a comment that ends with the line
	Blocks [][2]string // what begins and ends one that may be longer
	Quotes []string    // the longest first; what a string begins with ends it
	Char   bool        // ' holds one character and is not a string
	Raw    bool        // r"…" and r#"…"# are strings in which nothing is escaped, as in Rust
	Words  bool        // a comment begins where a word may, so $# is none
}

// StyleOf returns the style of a file's language by its extension, and whether it is known.
func StyleOf(file string) (Style, bool) {
	switch path.Ext(file) {
	case ".py", ".pyi":
		return Style{Lines: []string{"#"}, Quotes: []string{`"""`, "'''", `"`, "'"}}, true
	case ".ex", ".exs":
		return Style{Lines: []string{"#"}, Quotes: []string{`"""`, `"`}}, true
	case ".rb", ".t":
		return Style{Lines: []string{"#"}, Quotes: []string{`"`, "'"}}, true
	case ".sh", ".bash", ".zsh", ".bats":
		return Style{Lines: []string{"#"}, Quotes: []string{`"`, "'"}, Words: true}, true
	case ".php":
		return Style{Lines: []string{"//", "#"}, Blocks: cBlocks(), Quotes: []string{`"`, "'"}}, true
	case ".js", ".jsx", ".mjs", ".cjs", ".ts", ".tsx", ".mts", ".cts", ".vue", ".svelte":
		return cStyle("`", `"`, "'"), true
	case ".dart":
		return cStyle(`"""`, "'''", `"`, "'"), true
	case ".swift":
		return cStyle(`"""`, `"`), true
	case ".json":
		return cStyle(`"`), true
	}
	s := cStyle(`"`)
	s.Char = true
	switch path.Ext(file) {
	case ".go":
		s.Quotes = []string{"`", `"`}
	case ".java", ".kt", ".kts", ".scala", ".groovy":
		s.Quotes = []string{`"""`, `"`}
	case ".rs":
		s.Raw = true
	case ".c", ".h", ".cc", ".cpp", ".cxx", ".hh", ".hpp", ".hxx", ".inl", ".ipp", ".cs", ".zig":
	default:
		return Style{}, false
	}
	return s, true
}

func cBlocks() [][2]string { return [][2]string{{"/*", "*/"}} }

// cStyle is that of languages like C, with these quotes.
func cStyle(quotes ...string) Style {
	return Style{Lines: []string{"//"}, Blocks: cBlocks(), Quotes: quotes}
}

// BareFile is Bare in the style of a file's language. The text of an unknown language stays.
func BareFile(file, text string) Source {
	s, _ := StyleOf(file)
	return Bare(text, s)
}

// UncommentedFile is Uncommented in the style of a file's language.
func UncommentedFile(file, text string) string {
	s, _ := StyleOf(file)
	return Uncommented(text, s)
}

// HasExtension reports whether a file has one of these extensions: "*.js *.jsx".
func HasExtension(globs, file string) bool {
	ext := path.Ext(file)
	for ext != "" && globs != "" {
		glob, rest, _ := strings.Cut(globs, " ")
		if glob[1:] == ext {
			return true
		}
		globs = rest
	}
	return false
}
