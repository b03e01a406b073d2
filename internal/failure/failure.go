// Package failure has the errors that a user reads: what failed, what to do, and
// the exit code. The command line prints them as
//
//	pawl: error: the work tree has changes that are not committed (a.go)
//	pawl: hint: commit or stash them; or --worktree to run without them
//
// Packages below the command line return them where they know a hint; anything
// else that wraps such an error keeps its hint and code.
package failure

import (
	"errors"
	"fmt"
)

// Code is the exit code an error stands for.
type Code int

// The codes that errors may carry; outcomes of loops have their own (core/loop).
const (
	Error Code = 1 // Pawl or the agent could not continue
	Usage Code = 2 // wrong flags, unreadable plan, dirty tree refused
)

type failure struct {
	code Code
	hint string
	err  error
}

func (f *failure) Error() string { return f.err.Error() }
func (f *failure) Unwrap() error { return f.err }

// New makes an error from a format (which may wrap with %w), with a hint that
// says what to do; "" for none.
func New(code Code, hint, format string, args ...any) error {
	return &failure{code: code, hint: hint, err: fmt.Errorf(format, args...)}
}

// Hint is the hint of the outermost failure in err's chain that has one, else what to do about a full
// or read-only disk, or "".
func Hint(err error) string {
	for f, ok := errors.AsType[*failure](err); ok; f, ok = errors.AsType[*failure](f.err) {
		if f.hint != "" {
			return f.hint
		}
	}
	return diskHint(err)
}

// CodeOf is the code of the outermost failure in err's chain: 0 for nil, Error
// for errors that carry none.
func CodeOf(err error) Code {
	if err == nil {
		return 0
	}
	if f, ok := errors.AsType[*failure](err); ok {
		return f.code
	}
	return Error
}
