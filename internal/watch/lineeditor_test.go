package watch

import (
	"strings"
	"testing"
	"unicode/utf8"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"
)

// keyNamed is the key that a terminal reports, for example "ctrl+w"; any other text is typed.
func keyNamed(name string) tea.KeyPressMsg {
	rest, mod := name, tea.KeyMod(0)
	if r, ok := strings.CutPrefix(rest, "ctrl+"); ok {
		rest, mod = r, tea.ModCtrl
	} else if r, ok := strings.CutPrefix(rest, "alt+"); ok {
		rest, mod = r, tea.ModAlt
	}
	special := map[string]rune{
		"left": tea.KeyLeft, "right": tea.KeyRight, "home": tea.KeyHome, "end": tea.KeyEnd,
		"backspace": tea.KeyBackspace, "delete": tea.KeyDelete,
	}
	if code, ok := special[rest]; ok {
		return tea.KeyPressMsg{Code: code, Mod: mod}
	}
	if mod != 0 {
		return tea.KeyPressMsg{Code: []rune(rest)[0], Mod: mod}
	}
	return tea.KeyPressMsg{Code: tea.KeyExtended, Text: name}
}

func TestLineEditorKeys(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		begins string
		keys   []string
		want   string
	}{
		"type in the middle":               {"ac", []string{"left", "b"}, "abc"},
		"the ends":                         {"b", []string{"home", "a", "end", "c", "ctrl+a", "<", "ctrl+e", ">"}, "<abc>"},
		"backspace, delete":                {"abcd", []string{"backspace", "home", "delete", "delete", "delete", "delete", "backspace"}, ""},
		"a word back":                      {"one two  ", []string{"ctrl+w"}, "one "},
		"a word on":                        {"one two", []string{"home", "alt+d"}, " two"},
		"words":                            {"one two six", []string{"alt+b", "alt+left", "-", "alt+f", "+"}, "one -two+ six"},
		"the rest":                         {"one two", []string{"alt+b", "ctrl+k"}, "one "},
		"all before":                       {"one two", []string{"alt+b", "ctrl+u"}, "two"},
		"a letter and its accent":          {"ae\u0301", []string{"backspace"}, "a"},
		"a family of joined emoji":         {"a👩‍👩‍👧b", []string{"left", "backspace"}, "ab"},
		"an accent typed behind":           {"e", []string{"\u0301", "left", "x"}, "xe\u0301"},
		"keys without text change nothing": {"a", []string{"ctrl+x", "alt+q"}, "a"},
	} {
		e := newLineEditor("> ", tt.begins, 40)
		for _, k := range tt.keys {
			e.handleKey(keyNamed(k))
		}
		if got := e.value(); got != tt.want {
			t.Errorf("%s: %q, want %q", name, got, tt.want)
		}
	}
}

func TestLineEditorMakesOneLineOfWhatIsPasted(t *testing.T) {
	t.Parallel()
	e := newLineEditor("> ", "", 40)
	e.insert("one\r\ntwo\tthree\x1b[31m\x00")
	if got := e.value(); got != "one two three[31m" {
		t.Errorf("%q", got)
	}
}

// The cursor stands behind what comes before it, also behind characters that are two columns wide.
func TestLineEditorCursor(t *testing.T) {
	t.Parallel()
	e := newLineEditor("> ", "日本語", 40)
	if row, column := e.view(); row != "> 日本語" || column != 8 {
		t.Errorf("%q, column %d", row, column)
	}
	e.handleKey(keyNamed("left"))
	if _, column := e.view(); column != 6 {
		t.Errorf("column %d", column)
	}
}

// FuzzLineEditor types any text and keys into a line of any width: the row fits, with a column for the cursor
// behind what is typed before it, and what leaves the line is typed again.
func FuzzLineEditor(f *testing.F) {
	f.Add("one two 日本", "lhkb", uint8(12), uint8(20))
	f.Add("a\u0301\u0301👩‍👩‍👧", "bblr", uint8(1), uint8(0))
	f.Fuzz(func(t *testing.T, text, keys string, width, then uint8) {
		if len(text) > 500 || len(keys) > 100 {
			t.Skip("longer texts take long and show nothing new")
		}
		e := newLineEditor("> ", text, int(width))
		for _, r := range keys {
			names := map[rune]string{'l': "left", 'r': "right", 'h': "home", 'e': "end", 'b': "backspace", 'w': "ctrl+w", 'k': "ctrl+k"}
			if n, ok := names[r]; ok {
				e.handleKey(keyNamed(n))
			} else {
				e.insert(string(r))
			}
			row, column := e.view()
			if w := ansi.StringWidth(row); w > max(1, e.width) || column > max(0, e.width-1) || e.cursor > len(e.text) || e.first > e.cursor {
				t.Fatalf("%q of %d columns in %d, cursor %d, %+v", row, w, e.width, column, e)
			}
		}
		e.resize(int(then))
		if v := e.value(); strings.ContainsAny(v, "\n\t\x1b") || !utf8.ValidString(v) {
			t.Fatalf("%q", v)
		}
	})
}
