// Package regex compiles regular expressions at their first use instead of at the start.
//
// Pawl knows some hundred expressions, for the reports of test runners, languages and
// plans, and a call needs few of them: `pawl version` and each hook none. Compiled
// when the program starts, as package variables of regexp are, all of them together
// cost a third of such a call's time, most of it for memory that is touched for the
// first time. The methods are those of regexp.Regexp that are in use; what each does is told there.
package regex

import (
	"regexp"
	"sync"
)

// Regex is a regular expression. It is safe for use by several goroutines.
type Regex struct {
	expression string
	once       sync.Once
	regexp     *regexp.Regexp
}

// New is the expression in the syntax of package regexp. One that is not valid
// panics at its first use; internal/arch tests those that are written as constants.
// It is so small that the compiler lays package variables out in the program's data:
// the start of a program that has hundreds of them runs nothing for them.
func New(expression string) *Regex { return &Regex{expression: expression} }

// compiled is the compiled expression. Callers quote texts in it that users and agents wrote, in
// any encoding. A byte that is not UTF-8 becomes U+FFFD, which matches each such byte; package
// regexp refuses it.
func (r *Regex) compiled() *regexp.Regexp {
	r.once.Do(func() { r.regexp = regexp.MustCompile(string([]rune(r.expression))) })
	return r.regexp
}

// MatchString is that of regexp.Regexp.
// MatchString is that of regexp.Regexp.
func (r *Regex) MatchString(s string) bool { return r.compiled().MatchString(s) }

// Match is that of regexp.Regexp.
func (r *Regex) Match(b []byte) bool { return r.compiled().Match(b) }

// String is that of regexp.Regexp.
func (r *Regex) String() string { return r.expression }

// SubexpNames is that of regexp.Regexp.
func (r *Regex) SubexpNames() []string { return r.compiled().SubexpNames() }

// SubexpIndex is that of regexp.Regexp.
func (r *Regex) SubexpIndex(name string) int { return r.compiled().SubexpIndex(name) }

// Find is that of regexp.Regexp.
func (r *Regex) Find(b []byte) []byte { return r.compiled().Find(b) }

// FindIndex is that of regexp.Regexp.
func (r *Regex) FindIndex(b []byte) []int { return r.compiled().FindIndex(b) }

// FindSubmatch is that of regexp.Regexp.
func (r *Regex) FindSubmatch(b []byte) [][]byte { return r.compiled().FindSubmatch(b) }

// FindSubmatchIndex is that of regexp.Regexp.
func (r *Regex) FindSubmatchIndex(b []byte) []int { return r.compiled().FindSubmatchIndex(b) }

// FindAllSubmatchIndex is that of regexp.Regexp.
func (r *Regex) FindAllSubmatchIndex(b []byte, n int) [][]int {
	return r.compiled().FindAllSubmatchIndex(b, n)
}

// FindAllSubmatch is that of regexp.Regexp.
func (r *Regex) FindAllSubmatch(b []byte, n int) [][][]byte {
	return r.compiled().FindAllSubmatch(b, n)
}

// FindString is that of regexp.Regexp.
func (r *Regex) FindString(s string) string { return r.compiled().FindString(s) }

// FindStringIndex is that of regexp.Regexp.
func (r *Regex) FindStringIndex(s string) []int { return r.compiled().FindStringIndex(s) }

// FindStringSubmatch is that of regexp.Regexp.
func (r *Regex) FindStringSubmatch(s string) []string { return r.compiled().FindStringSubmatch(s) }

// FindStringSubmatchIndex is that of regexp.Regexp.
func (r *Regex) FindStringSubmatchIndex(s string) []int {
	return r.compiled().FindStringSubmatchIndex(s)
}

// FindAllString is that of regexp.Regexp.
func (r *Regex) FindAllString(s string, n int) []string { return r.compiled().FindAllString(s, n) }

// FindAllStringIndex is that of regexp.Regexp.
func (r *Regex) FindAllStringIndex(s string, n int) [][]int {
	return r.compiled().FindAllStringIndex(s, n)
}

// FindAllStringSubmatch is that of regexp.Regexp.
func (r *Regex) FindAllStringSubmatch(s string, n int) [][]string {
	return r.compiled().FindAllStringSubmatch(s, n)
}

// FindAllStringSubmatchIndex is that of regexp.Regexp.
func (r *Regex) FindAllStringSubmatchIndex(s string, n int) [][]int {
	return r.compiled().FindAllStringSubmatchIndex(s, n)
}

// ReplaceAll is that of regexp.Regexp.
func (r *Regex) ReplaceAll(src, repl []byte) []byte { return r.compiled().ReplaceAll(src, repl) }

// ReplaceAllFunc is that of regexp.Regexp.
func (r *Regex) ReplaceAllFunc(src []byte, repl func([]byte) []byte) []byte {
	return r.compiled().ReplaceAllFunc(src, repl)
}

// ReplaceAllString is that of regexp.Regexp.
func (r *Regex) ReplaceAllString(src, repl string) string {
	return r.compiled().ReplaceAllString(src, repl)
}

// ReplaceAllStringFunc is that of regexp.Regexp.
func (r *Regex) ReplaceAllStringFunc(src string, repl func(string) string) string {
	return r.compiled().ReplaceAllStringFunc(src, repl)
}
