package testdiff

import (
	"regexp"
	"strings"

	"github.com/pawl-dev/pawl/internal/regex"
)

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
