package term

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// wide holds the runes that take two columns (East Asian wide and full width,
// emoji), in coarse ranges: too wide is only cut too early, never wrapped.
var wide = &unicode.RangeTable{
	R16: []unicode.Range16{
		{0x1100, 0x115f, 1},
		{0x231a, 0x231b, 1},
		{0x2329, 0x232a, 1},
		{0x23e9, 0x23ec, 1},
		{0x23f0, 0x23f3, 3},
		{0x25fd, 0x25fe, 1},
		{0x2614, 0x2615, 1},
		{0x2648, 0x2653, 1},
		{0x267f, 0x267f, 1},
		{0x2693, 0x2693, 1},
		{0x26a1, 0x26a1, 1},
		{0x26aa, 0x26ab, 1},
		{0x26bd, 0x26be, 1},
		{0x26c4, 0x26c5, 1},
		{0x26ce, 0x26d4, 6},
		{0x26ea, 0x26ea, 1},
		{0x26f2, 0x26f3, 1},
		{0x26f5, 0x26fa, 5},
		{0x26fd, 0x26fd, 1},
		{0x2705, 0x2705, 1},
		{0x270a, 0x270b, 1},
		{0x2728, 0x2728, 1},
		{0x274c, 0x274e, 2},
		{0x2753, 0x2755, 1},
		{0x2757, 0x2757, 1},
		{0x2795, 0x2797, 1},
		{0x27b0, 0x27bf, 15},
		{0x2b1b, 0x2b1c, 1},
		{0x2b50, 0x2b55, 5},
		{0x2e80, 0x303e, 1},
		{0x3041, 0x33ff, 1},
		{0x3400, 0x4dbf, 1},
		{0x4e00, 0xa4cf, 1},
		{0xa960, 0xa97f, 1},
		{0xac00, 0xd7a3, 1},
		{0xf900, 0xfaff, 1},
		{0xfe10, 0xfe19, 1},
		{0xfe30, 0xfe6f, 1},
		{0xff00, 0xff60, 1},
		{0xffe0, 0xffe6, 1},
	},
	R32: []unicode.Range32{
		{0x16fe0, 0x18dff, 1},
		{0x1aff0, 0x1b2ff, 1},
		{0x1f004, 0x1f004, 1},
		{0x1f0cf, 0x1f0cf, 1},
		{0x1f18e, 0x1f18e, 1},
		{0x1f191, 0x1f19a, 1},
		{0x1f1e6, 0x1f320, 1},
		{0x1f32d, 0x1f64f, 1},
		{0x1f680, 0x1f6ff, 1},
		{0x1f7e0, 0x1f7f0, 1},
		{0x1f90c, 0x1f9ff, 1},
		{0x1fa70, 0x1faff, 1},
		{0x20000, 0x3fffd, 1},
	},
}

func runeWidth(r rune) int {
	switch {
	case r < 0x300:
		return 1
	case unicode.In(r, unicode.Mn, unicode.Me, unicode.Cf):
		return 0
	case unicode.Is(wide, r):
		return 2
	}
	return 1
}

// width is the number of columns s takes; s is clean.
func width(s string) int {
	n := 0
	for _, r := range s {
		n += runeWidth(r)
	}
	return n
}

// cut shortens s to at most n columns, with … where something is missing.
func cut(s string, n int) string {
	if width(s) <= n {
		return s
	}
	used := 0
	for i, r := range s {
		w := runeWidth(r)
		if used+w > n-1 {
			return s[:i] + strings.Repeat("…", min(1, n))
		}
		used += w
	}
	return s
}

// pad fills s up to n columns.
func pad(s string, n int) string { return s + strings.Repeat(" ", max(0, n-width(s))) }

// Clean makes hostile text fit for one line of a terminal: escape sequences go
// as a whole, other control characters and everything that reorders or hides
// text go too, white space is folded.
func Clean(s string) string {
	const most = 4096 // bytes of one field; more was never meant for a line
	if len(s) > most {
		s = strings.ToValidUTF8(s[:most], "") + "…"
	}
	var b strings.Builder
	for i := 0; i < len(s); {
		if n := escape(s[i:]); n > 0 {
			i += n
			continue
		}
		r, n := utf8.DecodeRuneInString(s[i:])
		i += n
		switch {
		case unicode.IsSpace(r):
			b.WriteByte(' ')
		case unicode.IsControl(r) || unicode.In(r, unicode.Cf, unicode.Co, unicode.Zl, unicode.Zp):
		default:
			b.WriteRune(r)
		}
	}
	return strings.Join(strings.Fields(b.String()), " ")
}

// escape is the length of the escape sequence that s begins with, 0 for none.
func escape(s string) int {
	c1, size := utf8.DecodeRuneInString(s)
	kind := byte(0)
	switch {
	case c1 == 0x1b && len(s) > 1:
		kind, size = s[1], 2
	case c1 >= 0x80 && c1 < 0xa0:
		kind = byte(c1 - 0x40) // the 8-bit form of ESC kind
	default:
		return 0
	}
	switch kind {
	case '[': // CSI: up to its final byte
		for i := size; i < len(s); i++ {
			if s[i] < 0x20 || s[i] > 0x3f {
				return min(len(s), i+1)
			}
		}
		return len(s)
	case ']', 'P', 'X', '^', '_': // strings: up to BEL or ST
		for i := size; i < len(s); i++ {
			switch {
			case s[i] == 0x07:
				return i + 1
			case s[i] == 0x1b && i+1 < len(s) && s[i+1] == '\\':
				return i + 2
			case strings.HasPrefix(s[i:], "\u009c"):
				return i + 2
			case s[i] == '\n':
				return i // never closed: do not swallow what follows
			}
		}
		return len(s)
	}
	return size
}
