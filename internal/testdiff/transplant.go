package testdiff

import (
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/pawl-dev/pawl/internal/source"
)

// Transplant is a source file as it was before, with the tests that were added to the
// module of tests in it: what they say of the code of before can be found out. It is
// false where anything else of the tests differs, or what was added is more than
// tests. Only Rust has such modules.
func Transplant(file string, before, after []byte) ([]byte, bool) {
	if path.Ext(file) != ".rs" {
		return nil, false
	}
	was, ok := splitTests(string(before))
	now, both := splitTests(string(after))
	if !ok || !both || !slices.Equal(Embedded(file, []byte(was.around())), Embedded(file, []byte(now.around()))) || !addsTests(was.tests, now.tests) {
		return nil, false
	}
	return []byte(was.head + now.tests + was.tail), true
}

// Program is a source file without the module of tests in it. Other files, and those in
// which the module cannot be told apart, are returned as they are.
func Program(file string, content []byte) []byte {
	if path.Ext(file) != ".rs" {
		return content
	}
	s, ok := splitTests(string(content))
	if !ok {
		return content
	}
	return []byte(s.around())
}

// split is a source file with one module of tests in it.
type split struct{ head, tests, tail string }

func (s split) around() string { return s.head + s.tail }

var rustTestModule = regexp.MustCompile(`(?m)^#\[cfg\(test\)\]\s*mod\s+\w+\s*\{`)

func splitTests(text string) (split, bool) {
	s := bareRust(text)
	found := rustTestModule.FindAllStringIndex(s.Code, -1)
	if len(found) != 1 {
		return split{}, false
	}
	from := found[0][0]
	end := s.Block(from)
	return split{text[:from], text[from:end], text[end:]}, true
}

var (
	rustNewTest = regexp.MustCompile(`^[ \t]*#\[(?:\w+::)*test\][ \t]*$`)
	rustNewFn   = regexp.MustCompile(`^[ \t]*(?:async )?fn \w+\(\)[^{]*\{`)
)

// addsTests reports whether all that one text has beyond another is whole tests, in
// one place: functions without parameters that are marked as tests and nothing else.
func addsTests(before, after string) bool {
	was, now := strings.Split(before, "\n"), strings.Split(after, "\n")
	same := 0
	for same < len(was) && same < len(now) && was[same] == now[same] {
		same++
	}
	rest := len(was) - same
	// Two tests begin alike: what stands before the one stands also before the other.
	for same > 0 && !atTopOf(was[:same]) && len(now) > rest && now[len(now)-rest-1] == was[same-1] {
		same, rest = same-1, rest+1
	}
	if rest == 0 || len(now)-same <= rest || !slices.Equal(was[same:], now[len(now)-rest:]) {
		return false
	}
	if !atTopOf(was[:same]) {
		return false
	}
	added, tests := now[same:len(now)-rest], 0
	for len(added) > 0 {
		if strings.TrimSpace(added[0]) == "" {
			added = added[1:]
			continue
		}
		n := wholeTest(added)
		if n == 0 {
			return false
		}
		added, tests = added[n:], tests+1
	}
	return tests > 0
}

// atTopOf reports whether lines end in the module itself: in none of its functions,
// and behind no attribute, which would be of what follows.
func atTopOf(lines []string) bool {
	s := bareRust(strings.Join(lines, "\n"))
	last := strings.TrimSpace(s.Code)
	return strings.Count(s.Code, "{")-strings.Count(s.Code, "}") == 1 && (strings.HasSuffix(last, "}") || strings.HasSuffix(last, "{") || strings.HasSuffix(last, ";"))
}

// wholeTest is how many lines the test takes that begins with the first, 0 if none
// does.
func wholeTest(lines []string) int {
	if len(lines) < 2 || !rustNewTest.MatchString(lines[0]) || !rustNewFn.MatchString(lines[1]) {
		return 0
	}
	text := strings.Join(lines, "\n")
	s := bareRust(text)
	end := s.Block(len(lines[0]))
	if rest := s.Code[end:]; strings.TrimSpace(rest[:source.LineEnd(rest)]) != "" {
		return 0
	}
	if strings.Contains(text[:end], "macro_rules!") {
		return 0
	}
	return strings.Count(text[:end], "\n") + 1
}

func bareRust(text string) source.Source {
	return source.Bare(text, source.Style{Lines: []string{"//"}, Blocks: [][2]string{{"/*", "*/"}}, Quotes: []string{`"`}, Char: true, Raw: true})
}
