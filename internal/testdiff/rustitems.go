package testdiff

import (
	"regexp"
	"strings"

	"github.com/pawl-dev/pawl/internal/regex"
)

// rustItems are the items of a module of tests beside its tests, each in one line: its
// head, its imports, and helpers with what is marked to them.
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

// rustWords are the expressions that tell items apart, made when they are first needed.
type rustWords struct {
	item     *regex.Regex // begins an item that a module of tests may get beside its tests
	declares *regex.Regex // what it declares
	about    *regex.Regex // the type that an impl is about
	used     *regex.Regex // the names that it imports
	comment  *regex.Regex
}

var rust = rustWords{
	item:     regex.New(`^(?:#\[derive\([^\]]*\)\] )*(?:pub )?(?:(?:const |async )?fn|struct|enum|trait|type|const|static|impl|use)\b|^thread_local!`),
	declares: regex.New(`\b(?:fn|struct|enum|trait|type|const|static)\s+(\w+)`),
	about:    regex.New(`^impl(?:<[^>]*>)? (?:[^{]* for )?(\w+)`),
	used:     regex.New(`\b(\w+)\b(?:\s+as\s+(\w+))?\s*(?:[,;}]|$)`),
	comment:  regex.New(`(?m)^[ \t]*//.*$`),
}

// isNewItem reports whether an item was added to a module of tests that cannot change what
// the old tests do: nothing that it declares, imports or is about has a name that is in them.
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
