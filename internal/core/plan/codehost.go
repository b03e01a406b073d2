package plan

import (
	"strings"

	"github.com/pawl-dev/pawl/internal/regex"
)

// markup escapes what has a meaning in Markdown. GitHub looks for mentions and for references to
// issues in the rendered text, where an escape or an entity is the character again: only a comment
// after the character stops it.
var markup = strings.NewReplacer(
	"@", "@<!-- -->", "#", `\#<!-- -->`, "<", "&lt;", "&", "&amp;", "://", ":&#47;/",
	`\`, `\\`, "`", "\\`", "*", `\*`, "_", `\_`, "{", `\{`, "}", `\}`, "[", `\[`, "]", `\]`,
	"|", `\|`, "~", `\~`, "!", `\!`, ">", `\>`,
)

// shortReference matches an address without a scheme and a reference such as GH-12.
var shortReference = regex.New(`(?i)\b(www|gh)([.-])`)

// Markdown returns text as one line that code hosts show as it is. It contains no link, mention,
// image or HTML, and closes no issue.
func Markdown(text string) string {
	return shortReference.ReplaceAllString(markup.Replace(OneLine(text, 0)), "${1}<!-- -->${2}")
}
