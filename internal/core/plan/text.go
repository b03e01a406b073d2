package plan

import (
	"fmt"
	"hash/fnv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// maxSlugBytes limits a slug, so that it fits into paths on any system and is readable in a branch's
// name.
const maxSlugBytes = 48

// Slug converts an id or a title for a path segment, a branch name or a commit scope: 1 to 48
// lower-case ASCII letters, digits and single hyphens, without hyphens at the ends, and no name that
// Windows reserves. If letters are lost, it ends with a short hash of the text, so that 任务一 and
// 任务二 differ. Slugs are not unique: "US 1" and "us-1" have the same.
func Slug(text string) string {
	var b strings.Builder
	lost := false
	for _, r := range text {
		switch {
		case r >= 'A' && r <= 'Z':
			b.WriteRune(r + ('a' - 'A'))
		case r >= 'a' && r <= 'z', r >= '0' && r <= '9':
			b.WriteRune(r)
		default:
			lost = lost || unicode.IsLetter(r) || unicode.IsDigit(r) || r == utf8.RuneError
			if b.Len() > 0 && !strings.HasSuffix(b.String(), "-") {
				b.WriteByte('-')
			}
		}
	}
	slug := strings.TrimSuffix(b.String(), "-")
	if slug == "" || isReservedName(slug) {
		slug, lost = strings.TrimSuffix("task-"+slug, "-"), true
	}
	if lost || len(slug) > maxSlugBytes {
		sum := fnv.New32a()
		sum.Write([]byte(text))
		tail := fmt.Sprintf("-%08x", sum.Sum32())
		slug = strings.TrimRight(slug[:min(len(slug), maxSlugBytes-len(tail))], "-") + tail
	}
	return slug
}

// isReservedName reports whether Windows reserves the name for a device.
func isReservedName(name string) bool {
	switch name {
	case "con", "prn", "aux", "nul":
		return true
	}
	port := strings.TrimRight(name, "0123456789")
	return (port == "com" || port == "lpt") && len(name) == len(port)+1
}

// Scope returns the id for a commit's subject, as in `feat(US-001): …`. It is the id itself if that is
// short, consists of ASCII letters, digits, dots, underscores and hyphens, and begins with a letter or
// digit, or if it is the number of an issue (#12). Otherwise it is the slug.
func Scope(id string) string {
	name := strings.TrimPrefix(id, "#")
	plain := name != "" && len(id) <= maxSlugBytes && !strings.ContainsRune("._-", rune(name[0]))
	for _, r := range name {
		letter := r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z'
		digit := r >= '0' && r <= '9'
		plain = plain && (digit || name == id && (letter || strings.ContainsRune("._-", r)))
	}
	if plain {
		return id
	}
	return Slug(id)
}

// OneLine makes hostile text safe for one line of a terminal, a commit subject or a list. It removes
// escape sequences, control characters and invisible characters (bidi overrides, zero width), quotes
// bytes that are not UTF-8 (Visible), and folds white space to single spaces. Text of more than limit
// runes is cut and ends in "…"; limit ≤ 0 means no limit.
func OneLine(text string, limit int) string {
	text = Visible(text)
	var b strings.Builder
	n := 0
	space := false
	for text != "" {
		if skip := escapeLen(text); skip > 0 {
			text = text[skip:]
			continue
		}
		r, size := utf8.DecodeRuneInString(text)
		text = text[size:]
		switch {
		case unicode.IsSpace(r):
			space = n > 0
			continue
		case unicode.In(r, unicode.Cc, unicode.Cf, unicode.Co):
			continue
		}
		if space {
			b.WriteByte(' ')
			n++
			space = false
		}
		b.WriteRune(r)
		n++
	}
	return cut(b.String(), n, limit)
}

// Visible quotes bytes that are not UTF-8, as git does in file names. Without these bytes, a name
// would be that of another file.
func Visible(text string) string {
	if utf8.ValidString(text) {
		return text
	}
	var b strings.Builder
	for text != "" {
		r, size := utf8.DecodeRuneInString(text)
		if r == utf8.RuneError && size == 1 {
			fmt.Fprintf(&b, "\\%03o", text[0])
		} else {
			b.WriteString(text[:size])
		}
		text = text[size:]
	}
	return b.String()
}

// cut shortens text of n runes to limit runes.
func cut(text string, n, limit int) string {
	if limit <= 0 || n <= limit {
		return text
	}
	kept := 0
	for i := range text {
		if kept == limit-1 {
			return strings.TrimRight(text[:i], " ") + "…"
		}
		kept++
	}
	return text
}

// escapeLen returns the length of the escape sequence at the beginning of text, 0 for none: CSI, OSC and
// other strings, and two-byte escapes. It uses no regular expression, since that costs each start of
// the hook 0.1 ms.
func escapeLen(text string) int {
	r, size := utf8.DecodeRuneInString(text)
	if r == '\x1b' && len(text) > 1 {
		size++
		switch c := text[1]; {
		case c == '[':
			r = '\u009b'
		case strings.IndexByte("]PX^_", c) >= 0:
			r = '\u009d'
		case c >= ' ' && c <= '~':
			return sequenceEnd(text, runEnd(text, 1, ' ', '/'), '0')
		}
	}
	switch r {
	case '\u009b':
		return sequenceEnd(text, runEnd(text, runEnd(text, size, '0', '?'), ' ', '/'), '@')
	case '\u0090', '\u0098', '\u009d', '\u009e', '\u009f':
		end := strings.IndexAny(text[size:], "\a\x1b\u009c")
		switch {
		case end < 0:
			return len(text)
		case strings.HasPrefix(text[size+end:], "\x1b\\"):
			return size + end + 2
		case text[size+end] == '\x1b':
			return size + end
		}
		_, last := utf8.DecodeRuneInString(text[size+end:])
		return size + end + last
	}
	return 0
}

// runEnd returns the end of the run of bytes between first and last that begins at an offset.
func runEnd(text string, at int, first, last byte) int {
	for at < len(text) && text[at] >= first && text[at] <= last {
		at++
	}
	return at
}

// sequenceEnd returns the offset after the final byte of a sequence, if the byte is there.
func sequenceEnd(text string, at int, first byte) int {
	if at < len(text) && text[at] >= first && text[at] <= '~' {
		return at + 1
	}
	return at
}

// Few joins the first names of a list: "a, b and 3 more".
func Few(names []string, most int) string {
	text := Visible(strings.Join(names[:min(len(names), most)], ", "))
	if more := len(names) - most; more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}
