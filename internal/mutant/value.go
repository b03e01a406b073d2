package mutant

import (
	"strconv"
	"strings"
	"unicode"

	"github.com/pawl-dev/pawl/internal/regex"
)

// testValue is a string, a number or a truth value in a test.
type testValue struct {
	kind       byte // 's', 'n' or 'b'
	from, to   int  // without quotes
	begin, end int  // with them
	text       string
	around     []bracket
}

// rich tells whether a value is not met by chance.
func (l testValue) rich() bool {
	switch l.kind {
	case 's':
		return strings.ContainsFunc(l.text, func(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) })
	case 'n':
		return len(l.text) > 1
	}
	return false
}

// nudged is the mutant with a value that differs a little: what compares beginnings or
// lengths alone takes it for the same. No two values with one number after the other differ alike: what a test both gives and expects
// is then not the same any more.
func (l testValue) nudged(number int) Mutant {
	step := 1 + number%maxStep
	text := l.text
	switch l.kind {
	case 'b':
		text = map[string]string{"true": "false", "false": "true", "True": "False", "False": "True"}[text]
	case 'n':
		text = calculated(text, 2, int64(step))
	default:
		b := []byte(text)
		i := len(b) - 1
		for i >= 0 && !changeable(b, i) {
			i--
		}
		if i < 0 {
			text += "x"
		} else {
			for range step {
				b[i] = next(b[i])
			}
			text = string(b)
		}
	}
	return Mutant{wrong, "expects " + text, l.from, l.to, text}
}

// maxStep is less than there are digits, so that none comes to stand for itself.
const maxStep = 7

// rotated is the mutant with a value that has nothing of the old one but its form.
func (l testValue) rotated() (Mutant, bool) {
	text := l.text
	switch l.kind {
	case 'b':
		return Mutant{}, false
	case 'n':
		text = calculated(text, 7, 13)
	default:
		if strings.HasPrefix(text, ".") {
			return Mutant{}, false // a path
		}
		b := []byte(text)
		for i := range b {
			if changeable([]byte(text), i) {
				b[i] = next(b[i])
			}
		}
		text = string(b)
	}
	return Mutant{another, "is asked for " + text, l.from, l.to, text}, text != l.text
}

// mixed is the mutant with a value that has not even the form of the old one, another for each of a
// file's values by its number.
func (l testValue) mixed(number int) (Mutant, bool) {
	m, ok := l.rotated()
	switch {
	case !ok:
	case l.kind == 'n':
		m.text = calculated(l.text, int64(1+number%2*2), int64(101+number*37%89))
	default:
		m.text += strings.Repeat(" "+m.text, 1+number%3)
	}
	m.Does = "is asked for " + m.text
	return m, ok
}

// stepped is the mutant with a value so many steps on: numbers in a string count, or else
// its letters. Programs that know the old one know the new one, too.
func (l testValue) stepped(by int64) (Mutant, bool) {
	text := l.text
	switch {
	case l.kind == 'b', strings.HasPrefix(text, "."):
		return Mutant{}, false
	case l.kind == 'n':
		text = counted(text, by)
	case strings.ContainsFunc(text, unicode.IsDigit):
		text = digits.ReplaceAllStringFunc(text, func(n string) string { return counted(n, by) })
	default:
		b := []byte(text)
		for i := range b {
			for range by {
				if changeable([]byte(text), i) {
					b[i] = next(b[i])
				}
			}
		}
		text = string(b)
	}
	return Mutant{another, "is asked for " + text, l.from, l.to, text}, text != l.text
}

var digits = regex.New(`\d+(?:\.\d+)?`)

// counted is a number and some more.
func counted(text string, by int64) string {
	if n, err := strconv.ParseInt(text, 10, 64); err == nil && n < 1<<40 {
		return strconv.FormatInt(n+by, 10)
	}
	if f, err := strconv.ParseFloat(text, 64); err == nil {
		return strconv.FormatFloat(f+float64(by), 'f', -1, 64)
	}
	return text
}

// calculated is a number times one plus another, in the form that it had.
func calculated(text string, times, plus int64) string {
	plain := strings.ReplaceAll(text, "_", "")
	if n, err := strconv.ParseInt(plain, 10, 64); err == nil && n < 1<<24 {
		return strconv.FormatInt(n*times+plus, 10)
	}
	if f, err := strconv.ParseFloat(plain, 64); err == nil && strings.Contains(plain, ".") {
		return strconv.FormatFloat(f*float64(times)+float64(plus)+0.5, 'f', -1, 64)
	}
	b := []byte(plain)
	b[len(b)-1] = next(b[len(b)-1])
	return string(b)
}

// changeable tells whether a byte of a string is a letter or a digit that nothing before
// it gives another meaning.
func changeable(b []byte, i int) bool {
	c := b[i]
	if i > 0 && (b[i-1] == '\\' || b[i-1] == '%') {
		return false
	}
	return c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
}

// next is the letter or digit behind one; what a number may begin with stays so.
func next(c byte) byte {
	switch c {
	case '9':
		return '1'
	case 'z':
		return 'b'
	case 'Z':
		return 'B'
	}
	return c + 1
}
