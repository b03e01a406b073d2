package mutant

import (
	"strconv"
	"strings"
	"unicode"

	"github.com/pawl-dev/pawl/internal/regex"
)

// testValue is a string, number or truth value in a test.
type testValue struct {
	kind       byte // 's', 'n' or 'b'
	from, to   int  // without quotes
	begin, end int  // with them
	text       string
	around     []bracket
}

// isDistinctive reports whether a value is unlikely by chance.
func (l testValue) isDistinctive() bool {
	switch l.kind {
	case 's':
		return strings.ContainsFunc(l.text, func(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) })
	case 'n':
		return len(l.text) > 1
	}
	return false
}

// number returns the first number in a text, as a text, or l if there is none. A script that greps for
// a result finds it among all numbers, too.
func (l testValue) number() testValue {
	if m := aNumber.FindStringIndex(l.text); l.kind == 's' && m != nil {
		l.from, l.to, l.text = l.from+m[0], l.from+m[1], l.text[m[0]:m[1]]
	}
	return l
}

var aNumber = regex.New(`\d+`)

// nudge returns a slightly different value: comparing prefixes or lengths alone does not notice.
// Adjacent numbers nudge differently, so that equal input and expected values differ afterwards.
func (l testValue) nudge(number int) Mutant {
	step := 1 + number%maxStep
	text := l.text
	switch l.kind {
	case 'b':
		text = negations[text]
	case 'n':
		text = scaled(text, 2, int64(step))
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

// maxStep is less than the number of digits, so that no digit maps to itself.
const maxStep = 7

// rotate returns a value that keeps only the form of the old one.
func (l testValue) rotate() (Mutant, bool) {
	text := l.text
	switch l.kind {
	case 'b':
		return Mutant{}, false
	case 'n':
		text = scaled(text, 7, 13)
	default:
		if strings.HasPrefix(text, ".") {
			return Mutant{}, false // a path
		}
		text = shifted(text)
	}
	return Mutant{another, "is asked for " + text, l.from, l.to, text}, text != l.text
}

// mix returns a value without the old form, different for each of a file's values.
func (l testValue) mix(number int) (Mutant, bool) {
	m, ok := l.rotate()
	switch {
	case !ok:
	case l.kind == 'n':
		m.text = scaled(l.text, int64(1+number%2*2), int64(101+number*37%89))
	default:
		m.text += strings.Repeat(" "+m.text, 1+number%3)
	}
	m.Does = "is asked for " + m.text
	return m, ok
}

// scaled returns a number times one plus another, in its old form.
func scaled(text string, times, plus int64) string {
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

// changeable reports whether a byte is a letter or digit without an escape before it.
func changeable(b []byte, i int) bool {
	c := b[i]
	if i > 0 && (b[i-1] == '\\' || b[i-1] == '%') {
		return false
	}
	return c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
}

// shifted returns a text with each letter and digit one step on.
func shifted(text string) string {
	b := []byte(text)
	for i := range b {
		if changeable([]byte(text), i) {
			b[i] = next(b[i])
		}
	}
	return string(b)
}

// next returns the next letter or digit. A number's first digit stays valid.
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
