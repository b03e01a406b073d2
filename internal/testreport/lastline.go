package testreport

import "strings"

// LastLine returns the last line of an output, at most 200 bytes of it.
func LastLine(tail string) string {
	tail = strings.TrimSpace(tail)
	line := strings.TrimSpace(tail[strings.LastIndexByte(tail, '\n')+1:])
	if len(line) > 200 {
		line = strings.ToValidUTF8(line[:200], "") + "…"
	}
	return line
}
