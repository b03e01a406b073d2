package verifyactive

import "strings"

// untypedTags are the names of tags around text in a prompt that the user did not type. The client sets
// them, mostly around pasted text.
const untypedTags = " pasted_content system-reminder system-note task-notification cross-session-message teammate-message" +
	" command-name command-message command-args command-contents local-command-stdout local-command-stderr local-command-caveat" +
	" bash-input bash-stdout bash-stderr mcp-resource-update mcp-polling-update user-prompt-submit-hook untrusted-uploads "

// maxTagBytes limits the length of a tag, in bytes.
const maxTagBytes = 300

// blankUntyped returns a prompt with line ends in place of the blocks that the user did not type. Offsets
// stay the same. A block ends where the same tag, with its attributes, is closed for the last time,
// or else at the end, so that its text cannot end it. Closed blocks inside of blocks count, too:
// two pastes may name each other.
func blankUntyped(text string) string {
	if !strings.Contains(text, "<") {
		return text
	}
	ends, out, until := closingTags(text), []byte(text), 0
	for at := range out {
		if tag, is := openingTag(text[at:]); is && ends[tag] > at {
			until = max(until, ends[tag])
		} else if is && at >= until {
			until = len(text)
		}
		if at < until {
			out[at] = '\n'
		}
	}
	return string(out)
}

// openingTag returns the tag of a block that the text begins with.
func openingTag(text string) (tag string, is bool) {
	tag, is = strings.CutPrefix(text, "<")
	if !is {
		return "", false
	}
	tag, _, _ = strings.Cut(tag[:min(len(tag), maxTagBytes)], ">")
	name := tag
	if end := strings.IndexAny(tag, " \t\r\n"); end >= 0 {
		name = tag[:end]
	}
	return tag, name != "" && strings.Contains(untypedTags, " "+name+" ")
}

// closingTags returns the offset after the last closing of each tag.
func closingTags(text string) map[string]int {
	ends := map[string]int{}
	for at := 0; ; {
		i := strings.Index(text[at:], "</")
		if i < 0 {
			return ends
		}
		at += i + len("</")
		if tag, _, found := strings.Cut(text[at:min(len(text), at+maxTagBytes)], ">"); found {
			ends[tag] = at + len(tag) + 1
		}
	}
}
