package frontmatter

import "strings"

// WithoutComment returns the value without anything that looks like a comment, for numbers and names.
func (f Field) WithoutComment() string {
	if f.Quote != 0 {
		return f.Value
	}
	if at := strings.Index(strings.ReplaceAll(f.Value, "\t#", " #"), " #"); at >= 0 {
		return strings.TrimRight(f.Value[:at], " \t")
	}
	return f.Value
}

// IsNull reports whether the value is YAML's null.
func (f Field) IsNull() bool {
	return f.Quote == 0 && (f.Value == "~" || strings.EqualFold(f.Value, "null"))
}

// readValue reads the text after a colon as scripts write it. Inner quotes are not escaped: the
// first and the last quote of a line belong together. A comment begins with a # between blanks, so
// that "TASK #1" needs no quotes.
func readValue(text string) Field {
	at := len(text) - len(strings.TrimLeft(text, " \t"))
	value := text[at:]
	if value == "" {
		return Field{}
	}
	if q := value[0]; q == '"' || q == '\'' {
		if end := quoteEnd(value); end > 0 {
			return Field{Value: value[1:end], Quote: q, at: span{at: at + 1}}
		}
	}
	switch cut := commentStart(value); {
	case cut == 0:
		return Field{}
	case cut > 0:
		value = strings.TrimRight(value[:cut], " \t")
	}
	return Field{Value: value, at: span{at: at}}
}

// quoteEnd returns the offset of the closing quote: the last in the line, or the first before a
// comment; 0 if there is none.
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

// commentStart returns where a comment begins in a text without quotes, or -1.
func commentStart(text string) int {
	for at := range len(text) {
		before := at == 0 || text[at-1] == ' ' || text[at-1] == '\t'
		after := at+1 == len(text) || text[at+1] == ' ' || text[at+1] == '\t'
		if text[at] == '#' && before && after {
			return at
		}
	}
	return -1
}
