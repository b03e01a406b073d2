package testdiff

import (
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/pawl-dev/pawl/internal/regex"
	"github.com/pawl-dev/pawl/internal/source"
)

// InlineTests returns the text of tests inside a program's source file: test modules and functions,
// examples in documentation, and what can change their meaning (macros, imports). Two versions with
// equal lists have the same tests.
func InlineTests(file string, content []byte) []string {
	text := strings.ReplaceAll(string(content), "\r\n", "\n")
	switch path.Ext(file) {
	case ".rs":
		return rustTests(text)
	case ".py":
		return pythonTests(text)
	case ".ex":
		return sessionExamples(text, "iex> ", "iex(")
	case ".zig":
		return bracedBlocks(source.BareFile(file, text), zigTest)
	}
	return nil
}

var (
	rustTest     = regex.New(`(?m)^[ \t]*#!?\[[^\n]*\b(?:test|tests|rstest|bench|should_panic|ignore)\b[^\n]*|\b(?:macro_rules!|proptest!|quickcheck!)`)
	rustFunction = regex.New(`\bfn\s+\w+`)
	rustAssert   = regex.New(`\b(?:debug_)?assert\w*!|\bpanic!`)
	zigTest      = regex.New(`(?m)^[ \t]*test\b`)
	rustLint     = regex.New(`^#!\[(?:warn|deny|forbid|allow)\b`) // no test does anything else by it
	rustNames    = regex.New(`(?m)^[ \t]*(?:#\[(?:macro_use|path)[^\n]*|#!\[[^\n]*|(?:pub[^\n]* )?use\b[^;]*\b(?:assert|panic|matches)[^;]*;)`)
)

// OnlyAddsInlineTests reports whether a source file keeps all its tests, and only adds tests that
// cannot change them. Session examples must follow the old ones in the same documentation.
func OnlyAddsInlineTests(file string, before, after []byte) bool {
	return OnlyAddsTests(InlineTests(file, before), InlineTests(file, after))
}

// OnlyAddsTests reports the same for several files, as InlineTests returns them: tests may move
// between files.
func OnlyAddsTests(before, after []string) bool {
	left := slices.Clone(after)
	for _, test := range before {
		i := slices.IndexFunc(left, func(t string) bool { return t == test || strings.HasPrefix(t, test+"\n>>> ") })
		if i < 0 {
			return false
		}
		left = slices.Delete(left, i, i+1)
	}
	old := strings.Join(before, "\n")
	return !slices.ContainsFunc(left, func(t string) bool {
		return !slices.Contains(before, t) && (!startsTest.MatchString(t) && !isNewItem(t, old) || strings.Contains(t, "macro_rules!"))
	})
}

// startsTest matches the beginning of a test, an example or a test module.
var startsTest = regex.New("^(?:#\\[(?:\\w+::)*test\\b|#\\[cfg\\(test\\)|```|>>> |iex|test )")

// Program returns a source file without its test modules, which only Rust has.
func Program(file string, content []byte) []byte {
	if path.Ext(file) != ".rs" {
		return content
	}
	program, _ := withoutModules(string(content))
	return []byte(program)
}

var rustModule = regex.New(`(?m)^#\[cfg\(test\)\]\s*mod\s+\w+\s*\{`)

// withoutModules removes the test modules from a Rust file.
func withoutModules(text string) (program string, modules []string) {
	s := bareRust(text)
	end := 0
	for _, m := range rustModule.FindAllStringIndex(s.Code, -1) {
		if m[0] >= end {
			program += text[end:m[0]]
			end = s.Block(m[0])
			modules = append(modules, text[m[0]:end])
		}
	}
	return program + text[end:], modules
}

func bareRust(text string) source.Source { return source.BareFile(".rs", text) }

// rustTests returns marked items up to the end of their block or statement. Items of a test module
// count one by one; of comments, only examples count.
func rustTests(text string) []string {
	program, modules := withoutModules(text)
	s := bareRust(program)
	found := append(bracedBlocks(s, rustTest), slices.DeleteFunc(rustNames.FindAllString(s.Code, -1), rustLint.MatchString)...)
	for _, module := range modules {
		head := rustModule.FindString(module)
		tests := bracedBlocks(bareRust(module[len(head):]), rustTest)
		for _, test := range tests {
			module = strings.Replace(module, test, "", 1)
		}
		found = append(append(found, tests...), rustItems(module)...)
	}
	inside := false
	for line := range strings.Lines(program) {
		doc, ok := strings.CutPrefix(strings.TrimSpace(line), "///")
		if !ok {
			doc, ok = strings.CutPrefix(strings.TrimSpace(line), "//!")
		}
		fence := ok && strings.HasPrefix(strings.TrimSpace(doc), "```")
		switch {
		case ok && inside:
			found[len(found)-1] += "\n" + strings.TrimSpace(doc)
		case fence:
			found = append(found, strings.TrimSpace(doc))
		}
		inside = ok && inside != fence
	}
	if len(found) > 0 && hasBlockDocs(text) { // their content is not split into tests
		return []string{text}
	}
	for _, fn := range bracedBlocks(s, rustFunction) {
		if rustAssert.MatchString(fn) { // tests may call it to assert
			found = append(found, fn)
		}
	}
	return found
}

// hasBlockDocs reports whether a Rust file has documentation comments over several lines, or doc
// attributes. A string may contain their beginning: "src/**".
func hasBlockDocs(text string) bool {
	said := source.UncommentedFile(".rs", text)
	for at := range text {
		if (strings.HasPrefix(text[at:], "/**") || strings.HasPrefix(text[at:], "/*!")) && said[at] == ' ' {
			return true
		}
	}
	return strings.Contains(bareRust(text).Code, "#[doc")
}

// bracedBlocks returns the texts from each match to the end of its braces or statement.
func bracedBlocks(s source.Source, begins *regex.Regex) (found []string) {
	end := 0
	for _, m := range begins.FindAllStringIndex(s.Code, -1) {
		if m[0] < end {
			continue // in the one before
		}
		end = s.Block(m[1])
		if brace, stop := strings.IndexByte(s.Code[m[1]:], '{'), strings.IndexByte(s.Code[m[1]:], ';'); stop >= 0 && (brace < 0 || stop < brace) {
			end = m[1] + stop + 1
		}
		found = append(found, strings.TrimSpace(s.Text[m[0]:end]))
	}
	return found
}

var (
	// pythonTest begins what runners of tests take for a test, or for a part of one.
	pythonTest = regex.New(`(?m)^[ \t]*(?:(?:async\s+)?def\s+(?:test|setup|setUp|teardown|tearDown|pytest_)\w*|class\s+(?:Test\w*|\w+\([^)]*TestCase[^)]*\))|if\s+__name__\b|__test__\b|pytest\w*\s*=)`)
	pythonDef  = regex.New(`(?m)^[ \t]*(?:async\s+)?def\s+\w+`)
	pythonMark = regex.New(`(?m)^[ \t]*@.*(?:pytest|unittest|fixture|skip|patch|mock).*$`)
)

// pythonTests returns tests, and functions that assert, since tests may call them, to the end of
// their indentation.
func pythonTests(text string) []string {
	s := source.BareFile(".py", text)
	found := sessionExamples(text, ">>> ")
	tests := indentedBlocks(s, pythonTest)
	if len(found)+len(tests) == 0 {
		return nil
	}
	found = append(append(found, tests...), pythonMark.FindAllString(s.Code, -1)...)
	for _, def := range indentedBlocks(s, pythonDef) {
		if strings.Contains(def, "assert") {
			found = append(found, def)
		}
	}
	return found
}

// indentedBlocks returns the texts from each match to the end of what is indented further.
func indentedBlocks(s source.Source, begins *regex.Regex) (found []string) {
	end := 0
	for _, m := range begins.FindAllStringIndex(s.Code, -1) {
		if m[0] >= end {
			end = s.Indented(m[0]+source.Indent(s.Code[m[0]:m[1]]), "")
			found = append(found, strings.TrimSpace(s.Text[m[0]:end]))
		}
	}
	return found
}

// TestsAnotherFile reports whether the tests in a source file may be about another file. If so, a
// file known as a test only by its name is no program. local reports whether a module is in the
// project.
func TestsAnotherFile(file string, content []byte, local func(module string) bool) bool {
	if path.Ext(file) != ".py" {
		return false
	}
	if len(sessionExamples(string(content), ">>> ")) > 0 && !pythonTest.Match(content) {
		return false
	}
	if reaches.Match(content) {
		return true
	}
	return slices.ContainsFunc(imports.FindAllSubmatch(content, -1), func(m [][]byte) bool {
		for name := range strings.FieldsFuncSeq(string(m[1])+","+string(m[2]), func(r rune) bool { return r == ',' || r == ' ' || r == '\t' }) {
			module, _, _ := strings.Cut(name, ".")
			if module == "" || local(module) {
				return true
			}
		}
		return false
	})
}

var (
	imports = regex.New(`(?m)^[ \t]*(?:import[ \t]+([^\n#]+)|from[ \t]+(\S+)[ \t]+import\b)`)
	// reaches is what leads out of a file without an import of its own.
	reaches = regex.New(`\b(?:subprocess|importlib|__import__|runpy|exec|eval|open|system|popen|spawn\w*|socket|urllib|requests|ctypes|read_text|sys\.path)\b`)
)

// sessionExamples returns the sessions in triple-quoted documentation, each from its prompt to the
// next blank line.
func sessionExamples(text string, prompts ...string) (found []string) {
	inside, more := false, false
	for line := range strings.Lines(text) {
		plain := strings.TrimSpace(line)
		more = more && !strings.Contains(plain, `"""`) && !strings.Contains(plain, "'''")
		if slices.ContainsFunc(prompts, func(p string) bool { return strings.HasPrefix(plain+" ", p) }) {
			inside = true
		}
		inside = inside && plain != "" && plain != `"""` && plain != "'''"
		switch {
		case inside && more:
			found[len(found)-1] += "\n" + plain
		case inside:
			found, more = append(found, plain), true
		}
	}
	return found
}

// rustItems returns the items of a test module besides its tests, each in one line: head, imports,
// helpers with their attributes.
func rustItems(module string) []string {
	head := rustModule.FindString(module)
	body := bareRust(strings.TrimSuffix(strings.TrimSpace(module[len(head):]), "}"))
	items := []string{oneLine(head)}
	for at := 0; at < len(body.Code); {
		end := len(body.Code)
		brace, stop := strings.IndexByte(body.Code[at:], '{'), strings.IndexByte(body.Code[at:], ';')
		switch {
		case stop >= 0 && (brace < 0 || stop < brace):
			end = at + stop + 1
		case brace >= 0:
			end = body.Block(at)
			if rest := body.Code[end:]; strings.IndexAny(strings.TrimSpace(rest), ";)") == 0 { // use a::{b, c};
				end += strings.IndexByte(rest, ';') + 1
			}
		}
		if end <= at {
			end = len(body.Code)
		}
		if item := oneLine(rust.comment.ReplaceAllString(body.Text[at:end], "")); item != "" {
			items = append(items, item)
		}
		at = end
	}
	return items
}

func oneLine(text string) string { return strings.Join(strings.Fields(text), " ") }

// rustWords are expressions for Rust items, compiled at first use.
type rustWords struct {
	item     *regex.Regex // begins an item that may be added beside tests
	declares *regex.Regex // what it declares
	about    *regex.Regex // the type of an impl
	used     *regex.Regex // the imported names
	comment  *regex.Regex
}

var rust = rustWords{
	item:     regex.New(`^(?:#\[derive\([^\]]*\)\] )*(?:pub )?(?:(?:const |async )?fn|struct|enum|trait|type|const|static|impl|use)\b|^thread_local!`),
	declares: regex.New(`\b(?:fn|struct|enum|trait|type|const|static)\s+(\w+)`),
	about:    regex.New(`^impl(?:<[^>]*>)? (?:[^{]* for )?(\w+)`),
	used:     regex.New(`\b(\w+)\b(?:\s+as\s+(\w+))?\s*(?:[,;}]|$)`),
	comment:  regex.New(`(?m)^[ \t]*//.*$`),
}

// isNewItem reports whether an added item cannot change the old tests: no name that it declares,
// imports or implements is in them.
func isNewItem(item, old string) bool {
	if !rust.item.MatchString(item) || strings.Contains(item, "*;") {
		return false
	}
	names := rust.declares.FindAllStringSubmatch(item, -1)
	switch {
	case strings.HasPrefix(item, "use "):
		names = rust.used.FindAllStringSubmatch(item, -1)
	case strings.HasPrefix(item, "impl"):
		names = rust.about.FindAllStringSubmatch(item, 1)
	}
	if len(names) == 0 {
		return false
	}
	for _, m := range names {
		for _, name := range m[1:] {
			if name != "" && regex.New(`\b`+regexp.QuoteMeta(name)+`\b`).MatchString(old) {
				return false
			}
		}
	}
	return true
}
