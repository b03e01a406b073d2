package planfile

import "sort"

// lineOffsets are the offsets of the lines of a file.
type lineOffsets []int

func newLines(data []byte) lineOffsets {
	l := lineOffsets{0}
	for i, c := range data {
		if c == '\n' {
			l = append(l, i+1)
		}
	}
	return l
}

// lineAt returns the 1-based line of an offset.
func (l lineOffsets) lineAt(at int) int { return sort.SearchInts(l, at+1) }

// lineStart returns the start of the line of an offset.
func (l lineOffsets) lineStart(at int) int { return l[l.lineAt(at)-1] }

// nextLineStart returns the start of the line after that of an offset, or size for the last line.
func (l lineOffsets) nextLineStart(at, size int) int {
	if n := l.lineAt(at); n < len(l) {
		return l[n]
	}
	return size
}
