package planfile

import "sort"

// lines are the offsets at which the lines of a file start.
type lines []int

func newLines(data []byte) lines {
	l := lines{0}
	for i, c := range data {
		if c == '\n' {
			l = append(l, i+1)
		}
	}
	return l
}

// of is the 1-based line that an offset stands in.
func (l lines) of(at int) int { return sort.SearchInts(l, at+1) }

// start is where the line of an offset starts.
func (l lines) start(at int) int { return l[l.of(at)-1] }

// next is where the line after that of an offset starts, the offset size
// after the last one.
func (l lines) next(at, size int) int {
	if n := l.of(at); n < len(l) {
		return l[n]
	}
	return size
}
