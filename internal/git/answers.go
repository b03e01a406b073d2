package git

import (
	"bytes"
	"context"
	"regexp"
	"strings"
	"sync"
)

// maxAnswers bounds what is kept of git's answers, and maxAnswer one of them, in bytes.
const (
	maxAnswers = 4 << 20
	maxAnswer  = 1 << 20
)

// answers are what git said of objects by their full ids. What an id names never changes,
// so the same question needs no second process; a claim asks some of them ten times.
type answers struct {
	mu   sync.Mutex
	said map[string][]byte
	size int
}

// ask runs git with arguments that name objects by full ids alone, once for all times. The
// answer is the caller's.
func (r *Repo) ask(ctx context.Context, args ...string) ([]byte, error) {
	question := strings.Join(args, "\x00")
	if out, ok := r.answers.get(question); ok {
		return out, nil
	}
	out, err := r.run(ctx, call{args: args})
	if err == nil {
		r.answers.keep(question, bytes.Clone(out))
	}
	return out, err
}

// get is a copy of an answer.
func (a *answers) get(question string) ([]byte, bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	out, ok := a.said[question]
	return bytes.Clone(out), ok
}

// keep keeps an answer. Where that would be too much, all others go: what is asked next is
// mostly of newer trees.
func (a *answers) keep(question string, out []byte) {
	if len(out)+len(question) > maxAnswer {
		return
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.said == nil || a.size > maxAnswers {
		a.said, a.size = map[string][]byte{}, 0
	}
	a.said[question] = out
	a.size += len(question) + len(out)
}

// fixedRevision matches revisions that stand for the same object for ever: a full id, SHA-1
// or SHA-256, or the tree or commit that it leads to.
var fixedRevision = regexp.MustCompile(`^(?:` + objectID + `)(?:\^\{(?:tree|commit)\})?$`)
