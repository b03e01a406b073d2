package term_test

import (
	"strconv"
	"strings"
	"sync"
	"testing"
	"unicode/utf8"
)

// screen simulates a terminal as far as the live printer needs it. It wraps, scrolls, moves up,
// erases, and knows wide runes.
type screen struct {
	mu     sync.Mutex
	t      *testing.T
	cols   int
	lines  [][]rune
	row    int
	col    int
	hidden bool
	writes int
}

func newScreen(t *testing.T, cols int) *screen {
	return &screen{t: t, cols: cols, lines: [][]rune{nil}}
}

func (s *screen) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.writes++
	for b := p; len(b) > 0; {
		if b[0] == 0x1b {
			b = b[s.control(b):]
			continue
		}
		r, n := utf8.DecodeRune(b)
		b = b[n:]
		switch r {
		case '\n':
			s.row, s.col = s.row+1, 0
			s.grow()
		case '\r':
			s.col = 0
		default:
			if r < ' ' || r >= 0x7f && r < 0xa0 {
				s.t.Errorf("control character %q reached the terminal", r)
			}
			s.put(r)
		}
	}
	return len(p), nil
}

func (s *screen) put(r rune) {
	w := 1
	if r >= 0x3000 && r <= 0xffff || r >= 0x1f300 {
		w = 2
	}
	if s.col+w > s.cols {
		s.row, s.col = s.row+1, 0
		s.grow()
	}
	line := s.lines[s.row]
	for len(line) < s.col+w {
		line = append(line, ' ')
	}
	line[s.col] = r
	if w == 2 {
		line[s.col+1] = 0
	}
	s.lines[s.row] = line
	s.col += w
}

func (s *screen) grow() {
	for len(s.lines) <= s.row {
		s.lines = append(s.lines, nil)
	}
}

func (s *screen) control(b []byte) int {
	end := 2
	for end < len(b) && (b[end] < 0x40 || b[end] > 0x7e) {
		end++
	}
	args, final := string(b[2:end]), b[end]
	switch {
	case final == 'A':
		n, err := strconv.Atoi(args)
		if err != nil || n > s.row {
			s.t.Errorf("cursor up by %q in row %d", args, s.row)
		}
		s.row = max(0, s.row-n)
	case final == 'J' && args == "":
		s.lines = s.lines[:s.row+1]
		s.lines[s.row] = s.lines[s.row][:min(s.col, len(s.lines[s.row]))]
	case final == 'm':
	case args == "?25" && final == 'l', args == "?25" && final == 'h':
		s.hidden = final == 'l'
	default:
		s.t.Errorf("unknown control sequence %q", b[:end+1])
	}
	return end + 1
}

// resize wraps the content again, as terminals do.
func (s *screen) resize(cols int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	var lines [][]rune
	for i, l := range s.lines {
		if i == s.row {
			s.row = len(lines) + max(0, len(l)-1)/cols
		}
		for len(l) > cols {
			lines = append(lines, l[:cols])
			l = l[cols:]
		}
		lines = append(lines, l)
	}
	s.cols, s.lines = cols, lines
	s.col = len(lines[s.row])
}

func (s *screen) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	var b strings.Builder
	for _, l := range s.lines {
		b.WriteString(strings.TrimRight(strings.ReplaceAll(string(l), "\x00", ""), " "))
		b.WriteByte('\n')
	}
	return strings.TrimRight(b.String(), "\n") + "\n"
}
