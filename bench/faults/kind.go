// Package faults injects faults into a loop and checks that nothing is lost: the
// N-th system call of a kind that Pawl makes fails, once, as on a busy machine, or
// from then on the disk is full or read-only for all processes. Then `pawl resume`
// continues without a fault, and the loop must end as if there had been none.
//
// The calls are intercepted by a seccomp filter whose notifications this process
// answers (inject_linux.go); it takes Linux 5.0 and no privileges.
package faults

import (
	"errors"
	"fmt"
	"strings"
	"syscall"
)

// Kind is a kind of system call that can be made to fail.
type Kind string

// The kinds. Open is opening a file for writing, Start starting a process.
const (
	Fsync  Kind = "fsync"
	Rename Kind = "rename"
	Open   Kind = "open"
	Unlink Kind = "unlink"
	Mkdir  Kind = "mkdir"
	Flock  Kind = "flock"
	Start  Kind = "start"
)

// The lasting faults: from the N-th call on that changes what is on the disk, each fails,
// of any process.
const (
	Full     Kind = "full"
	ReadOnly Kind = "readonly"
)

// Kinds are all kinds, in the order of the table.
func Kinds() []Kind {
	return []Kind{Fsync, Rename, Open, Unlink, Mkdir, Flock, Start, Full, ReadOnly}
}

// Lasts reports whether the fault stays until the loop is resumed.
func (k Kind) Lasts() bool { return k == Full || k == ReadOnly }

// ParseKind reads the name of a kind.
func ParseKind(name string) (Kind, error) {
	var names []string
	for _, k := range Kinds() {
		if string(k) == name {
			return k, nil
		}
		names = append(names, string(k))
	}
	return "", fmt.Errorf("no kind %q: choose %s", name, strings.Join(names, ", "))
}

// errno returns the error with which a call of the kind fails.
func (k Kind) errno() syscall.Errno {
	switch k {
	case Fsync, Unlink:
		return syscall.EIO
	case Start:
		return syscall.EAGAIN
	case Flock:
		return syscall.ENOLCK
	case ReadOnly:
		return syscall.EROFS
	case Rename, Open, Mkdir, Full:
	}
	return syscall.ENOSPC
}

// Point is one fault: the N-th call of a kind fails. N = 0 is not a fault.
type Point struct {
	Kind Kind
	N    int
}

func (p Point) String() string {
	if p.N == 0 {
		return "no fault"
	}
	return fmt.Sprintf("%s %d", p.Kind, p.N)
}

// Calls are the calls that a run made, by kind, as the paths that they were about.
type Calls map[Kind][]string

// ErrUnsupported: this system has no way to make a system call fail.
var ErrUnsupported = errors.New("faults can be injected on Linux only")
