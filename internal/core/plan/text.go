package plan

import (
	"fmt"
	"hash/fnv"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"
)

// slugMax bounds a slug, in bytes: short enough for a path segment below a deep
// folder on any system, and to be read in a branch name.
const slugMax = 48

// Slug makes an id or a title safe as a path segment, a part of a branch name
// or a commit scope: lower-case ASCII letters, digits and single hyphens, 1 to
// 48 bytes, neither beginning nor ending with a hyphen, and no name that
// Windows reserves. Where letters were lost a short hash of the whole text
// is put at its end, so that 任务一 and 任务二 differ; still, two texts may
// have one slug ("US 1" and "us-1"), and it is no substitute for an id.
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
	if slug == "" || reservedName.MatchString(slug) {
		slug, lost = strings.TrimSuffix("task-"+slug, "-"), true
	}
	if lost || len(slug) > slugMax {
		sum := fnv.New32a()
		sum.Write([]byte(text))
		tail := fmt.Sprintf("-%08x", sum.Sum32())
		slug = strings.TrimRight(slug[:min(len(slug), slugMax-len(tail))], "-") + tail
	}
	return slug
}

// reservedName matches what Windows takes for a device in any folder.
var reservedName = regexp.MustCompile(`^(con|prn|aux|nul|com[0-9]|lpt[0-9])$`)

// Scope is the id as it stands in a commit's subject, `feat(US-001): …`: as
// written if it is short, plain ASCII (letters, digits, . _ -) and begins with
// a letter or digit, and its slug otherwise.
func Scope(id string) string {
	if plainScope.MatchString(id) {
		return id
	}
	return Slug(id)
}

var plainScope = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,47}$`)

// OneLine makes hostile text fit for one line of a terminal, a commit subject
// or a list: terminal escape sequences, control characters, invisible ones
// (bidi overrides, zero width) and invalid UTF-8 are removed, white space is
// folded to single spaces, backticks become apostrophes. What is longer than
// limit characters (runes) is cut and ends in "…"; limit ≤ 0 means no bound.
func OneLine(text string, limit int) string {
	text = escapeSequence.ReplaceAllString(text, "")
	var b strings.Builder
	n := 0
	space := false
	for i, r := range text {
		switch {
		case unicode.IsSpace(r):
			space = n > 0
			continue
		case r == '`':
			r = '\''
		case r == utf8.RuneError && !strings.HasPrefix(text[i:], "\uFFFD"),
			unicode.In(r, unicode.Cc, unicode.Cf, unicode.Co):
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

// escapeSequence matches what a terminal would act on: CSI, OSC (and the other
// strings that end in BEL or ST) and two-byte escapes.
var escapeSequence = regexp.MustCompile(`(?:\x1b\[|\x{9b})[0-?]*[ -/]*[@-~]|(?:\x1b[\]PX^_]|[\x{90}\x{98}\x{9d}-\x{9f}])[^\x07\x1b\x{9c}]*(?:\x07|\x1b\\|\x{9c})?|\x1b[ -/]*[0-~]`)
