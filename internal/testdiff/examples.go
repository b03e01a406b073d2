package testdiff

import (
	"path"
	"regexp"
	"slices"
	"strings"
)

// AddsExamples reports whether a Python file holds all tests that it held before, and
// beyond them no more than examples in documentation, each behind the old ones of its
// function: there it cannot change what these do.
func AddsExamples(file string, before, after []byte) bool {
	if path.Ext(file) != ".py" {
		return false
	}
	was, now := sessionsOf(before), sessionsOf(after)
	if len(was.lines) == 0 || !slices.Equal(was.rest, now.rest) {
		return false
	}
	for name, lines := range was.lines {
		behind := now.lines[name]
		if now.times[name] != was.times[name] || len(behind) < len(lines) || !slices.Equal(behind[:len(lines)], lines) {
			return false
		}
		if len(behind) > len(lines) && !strings.HasPrefix(behind[len(lines)], ">>>") {
			return false // it would be more of the last one
		}
	}
	return true
}

// sessions are the examples of a Python file.
type sessions struct {
	lines map[string][]string // by the function or class that they are written in
	times map[string]int      // how often one of that name is defined
	rest  []string            // all other tests in the file
}

var pythonNamed = regexp.MustCompile(`^[ \t]*(?:async\s+)?(?:def|class)\s+\w+`)

func sessionsOf(content []byte) sessions {
	text := strings.ReplaceAll(string(content), "\r\n", "\n")
	s := sessions{lines: map[string][]string{}, times: map[string]int{}}
	name, part := "", ""
	end := func() {
		if lines := examples(part, ">>> "); len(lines) > 0 {
			s.lines[name] = append(s.lines[name], lines...)
		}
	}
	for line := range strings.Lines(text) {
		if head := pythonNamed.FindString(line); head != "" {
			end()
			name, part = strings.Join(strings.Fields(head), " "), ""
			s.times[name]++
		}
		part += line
	}
	end()
	if all := embeddedPython(text); len(all) > 0 {
		s.rest = all[len(examples(text, ">>> ")):]
	}
	return s
}
