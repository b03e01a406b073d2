package verifyactive

import "strings"

// untyped are the names of the tags around text in a prompt that the user did
// not type: the client sets them, around what was pasted above all.
const untyped = " pasted_content system-reminder system-note task-notification cross-session-message teammate-message" +
	" command-name command-message command-args command-contents local-command-stdout local-command-stderr local-command-caveat" +
	" bash-input bash-stdout bash-stderr mcp-resource-update mcp-polling-update user-prompt-submit-hook untrusted-uploads "

// tagMax is the longest tag that is looked for the end of, in bytes.
const tagMax = 300

// typed is a prompt with line ends in place of the blocks in it that the user
// did not type. Offsets stay. A block reaches to the last place where the same tag
// is closed, attributes and all (a paste has a number of its own), or else to the
// end: whoever wrote what stands in it can end neither it nor a fence around it.
// Blocks in blocks count too, if they are closed: two pastes may name each other.
func typed(text string) string {
	if !strings.Contains(text, "<") {
		return text
	}
	ends, out, until := closed(text), []byte(text), 0
	for at := range out {
		if tag, is := opened(text[at:]); is && ends[tag] > at {
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

// opened is the tag of a block that the text begins with.
func opened(text string) (tag string, is bool) {
	tag, is = strings.CutPrefix(text, "<")
	if !is {
		return "", false
	}
	tag, _, _ = strings.Cut(tag[:min(len(tag), tagMax)], ">")
	name := tag
	if end := strings.IndexAny(tag, " \t\r\n"); end >= 0 {
		name = tag[:end]
	}
	return tag, name != "" && strings.Contains(untyped, " "+name+" ")
}

// closed tells of each tag where it is closed the last time: the offset behind
// that.
func closed(text string) map[string]int {
	ends := map[string]int{}
	for at := 0; ; {
		i := strings.Index(text[at:], "</")
		if i < 0 {
			return ends
		}
		at += i + len("</")
		if tag, _, found := strings.Cut(text[at:min(len(text), at+tagMax)], ">"); found {
			ends[tag] = at + len(tag) + 1
		}
	}
}
