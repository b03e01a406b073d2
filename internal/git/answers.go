package git

import (
	"bytes"
	"sync"
)

// maxAnswers bounds the objects that are kept in memory, and maxAnswer one of them, in
// bytes.
const (
	maxAnswers = 4 << 20
	maxAnswer  = 1 << 20
)

// answers are objects that git was asked for, by names that stand for them for ever: a
// claim asks for some of them ten times.
type answers struct {
	mu   sync.Mutex
	said map[string]object
	size int
}

// get is a copy of an object.
func (a *answers) get(name string) (object, bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	o, ok := a.said[name]
	o.data = bytes.Clone(o.data)
	return o, ok
}

// keep keeps a copy of an object. Where that would be too much, all others go: what is
// asked for next is mostly newer.
func (a *answers) keep(name string, o object) {
	size := len(o.data) + len(name) + len(o.id)
	if size > maxAnswer {
		return
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.said == nil || a.size > maxAnswers {
		a.said, a.size = map[string]object{}, 0
	}
	o.data = bytes.Clone(o.data)
	a.said[name] = o
	a.size += size
}
