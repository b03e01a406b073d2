package faults

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// numbers are the system calls of each kind.
func numbers() map[uint32]Kind {
	return map[uint32]Kind{
		unix.SYS_FSYNC: Fsync, unix.SYS_FDATASYNC: Fsync,
		unix.SYS_RENAMEAT: Rename, unix.SYS_RENAMEAT2: Rename,
		unix.SYS_OPENAT: Open, unix.SYS_UNLINKAT: Unlink, unix.SYS_MKDIRAT: Mkdir,
		unix.SYS_FLOCK: Flock, unix.SYS_EXECVE: Start,
		unix.SYS_WRITE: write, unix.SYS_PWRITE64: write, unix.SYS_COPY_FILE_RANGE: write,
	}
}

// Offsets into struct seccomp_data, which the filter reads.
const (
	dataNumber   = 0
	dataArgument = 16 // of the first argument, 8 bytes each
)

// filter is a BPF program that hands the calls of all kinds to the supervisor,
// openat only where it may write.
func filter() []unix.SockFilter {
	load := func(at uint32) unix.SockFilter {
		return unix.SockFilter{Code: unix.BPF_LD | unix.BPF_W | unix.BPF_ABS, K: at}
	}
	give := func(action uint32) unix.SockFilter {
		return unix.SockFilter{Code: unix.BPF_RET | unix.BPF_K, K: action}
	}
	program := []unix.SockFilter{load(dataNumber)}
	for number := range numbers() {
		if number == unix.SYS_OPENAT {
			continue
		}
		program = append(program,
			unix.SockFilter{Code: unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, Jf: 1, K: number},
			give(unix.SECCOMP_RET_USER_NOTIF))
	}
	return append(program,
		unix.SockFilter{Code: unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, Jt: 1, K: unix.SYS_OPENAT},
		give(unix.SECCOMP_RET_ALLOW),
		load(dataArgument+2*8),
		unix.SockFilter{Code: unix.BPF_JMP | unix.BPF_JSET | unix.BPF_K, Jf: 1, K: unix.O_WRONLY | unix.O_RDWR | unix.O_CREAT},
		give(unix.SECCOMP_RET_USER_NOTIF),
		give(unix.SECCOMP_RET_ALLOW))
}

// listenerPipe is the file descriptor on which Enter tells the supervisor the number
// of its listener.
const listenerPipe = 3

// Enter becomes a program whose calls are handed to the supervisor that started this
// process. It returns only if that fails.
func Enter(program string, argv []string) error {
	runtime.LockOSThread() // the filter is this thread's, and so is what it becomes
	defer runtime.UnlockOSThread()
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return fmt.Errorf("give up new privileges: %w", err)
	}
	code := filter()
	prog := unix.SockFprog{Len: uint16(len(code)), Filter: &code[0]}
	listener, err := install(&prog)
	runtime.KeepAlive(code)
	if err != nil {
		return fmt.Errorf("install the filter: %w", err)
	}
	// Not by write, whose calls nobody answers yet.
	if _, err := unix.Writev(listenerPipe, [][]byte{[]byte(strconv.Itoa(listener) + "\n")}); err != nil {
		return fmt.Errorf("name the listener: %w", err)
	}
	unix.CloseOnExec(listenerPipe)
	return fmt.Errorf("start %s: %w", program, syscall.Exec(program, append([]string{program}, argv...), os.Environ()))
}

// install installs a filter for this thread. Since Linux 5.19 a signal does not take
// a call back that the supervisor has seen.
func install(prog *unix.SockFprog) (listener int, err error) {
	for _, extra := range []uintptr{unix.SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV, 0} {
		fd, _, errno := unix.Syscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER,
			unix.SECCOMP_FILTER_FLAG_NEW_LISTENER|extra, uintptr(unsafe.Pointer(prog)))
		if errno == 0 {
			return int(fd), nil
		}
		if errno != unix.EINVAL {
			return 0, errno
		}
	}
	return 0, unix.EINVAL
}

// notification is struct seccomp_notif.
type notification struct {
	ID     uint64
	PID    uint32
	Flags  uint32
	Number int32
	Arch   uint32
	IP     uint64
	Args   [6]uint64
}

// response is struct seccomp_notif_resp.
type response struct {
	ID    uint64
	Value int64
	Error int32
	Flags uint32
}

// supervisor answers the calls of one run.
type supervisor struct {
	program string
	point   Point
	kinds   map[uint32]Kind
	calls   Calls
	watch   func(Kind, string) // nil = nobody
	lasting bool               // the lasting fault has begun
}

// supervise runs a command that calls Enter, to its end, and makes the call of a
// point fail. It returns the calls of the program itself, not of those it starts; watch,
// if any, is told each in turn.
func supervise(ctx context.Context, cmd *exec.Cmd, p Point, watch func(Kind, string)) (Calls, error) {
	r, w, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	defer func() { _ = r.Close() }()
	cmd.ExtraFiles = []*os.File{w}
	err = cmd.Start()
	_ = w.Close()
	if err != nil {
		return nil, err
	}
	listener, err := listenerOf(cmd.Process.Pid, r)
	if err != nil {
		_ = cmd.Process.Kill()
		return nil, errors.Join(err, cmd.Wait())
	}
	s := &supervisor{program: filepath.Base(cmd.Args[3]), point: p, kinds: numbers(), calls: Calls{}, watch: watch}
	gone := make(chan error, 1)
	go func() { gone <- s.serve(ctx, listener) }()
	_ = cmd.Wait() // the exit code is in the command
	err = <-gone
	return s.calls, errors.Join(err, unix.Close(listener))
}

// listenerOf takes a copy of the listener whose number the process tells.
func listenerOf(pid int, told *os.File) (int, error) {
	line := make([]byte, 16)
	n, err := told.Read(line)
	if err != nil {
		return 0, fmt.Errorf("no filter was installed: %w", err)
	}
	number, err := strconv.Atoi(strings.TrimSpace(string(line[:n])))
	if err != nil {
		return 0, err
	}
	process, err := unix.PidfdOpen(pid, 0)
	if err != nil {
		return 0, fmt.Errorf("open process %d: %w", pid, err)
	}
	defer func() { _ = unix.Close(process) }()
	return unix.PidfdGetfd(process, number, 0)
}

// serve answers calls until no process has the filter any more, or the context ends.
// What outlives that finds that its calls fail.
func (s *supervisor) serve(ctx context.Context, listener int) error {
	const pause = 100 // milliseconds
	for ctx.Err() == nil {
		fds := []unix.PollFd{{Fd: int32(listener), Events: unix.POLLIN}}
		n, err := unix.Poll(fds, pause)
		switch {
		case errors.Is(err, unix.EINTR) || n == 0:
			continue
		case err != nil:
			return err
		case fds[0].Revents&unix.POLLIN == 0:
			return nil // nobody is left
		}
		var call notification
		if err := control(listener, unix.SECCOMP_IOCTL_NOTIF_RECV, unsafe.Pointer(&call)); err != nil {
			continue // the caller has died
		}
		answer := response{ID: call.ID, Flags: unix.SECCOMP_USER_NOTIF_FLAG_CONTINUE}
		kind, path, counts := s.look(call)
		if errno := s.fails(kind, path, counts, call); errno != 0 {
			answer.Flags, answer.Error = 0, -int32(errno)
			path += "  <- fails"
		}
		if err := control(listener, unix.SECCOMP_IOCTL_NOTIF_SEND, unsafe.Pointer(&answer)); err == nil && counts {
			s.note(kind, path)
		}
	}
	return ctx.Err()
}

// fails returns what a call fails with, 0 if it does not. A lasting fault begins with the
// program's own call.
func (s *supervisor) fails(kind Kind, path string, counts bool, call notification) syscall.Errno {
	lasting := s.point.Kind
	if !lasting.Lasts() {
		if counts && kind == s.point.Kind && s.point.N == len(s.calls[kind])+1 {
			return kind.errno()
		}
		return 0
	}
	s.lasting = s.lasting || counts && changesDisk(kind) && s.point.N == len(s.calls[lasting])+1
	if !s.lasting || path == "" {
		return 0
	}
	return diskErrno(lasting, kind, call)
}

// note adds a call of the program to those it made.
func (s *supervisor) note(kind Kind, path string) {
	if changesDisk(kind) {
		for _, lasting := range []Kind{Full, ReadOnly} {
			s.calls[lasting] = append(s.calls[lasting], string(kind)+" "+path)
		}
	}
	if kind == write {
		return
	}
	s.calls[kind] = append(s.calls[kind], path)
	if s.watch != nil {
		s.watch(kind, path)
	}
}

func control(fd int, request uintptr, arg unsafe.Pointer) error {
	if _, _, errno := unix.Syscall(unix.SYS_IOCTL, uintptr(fd), request, uintptr(arg)); errno != 0 {
		return errno
	}
	return nil
}

// look returns the kind and path of a system call, and whether it is the program's own. The path is ""
// if the call concerns no file of a disk, or is another program's while there is no lasting fault.
func (s *supervisor) look(call notification) (kind Kind, path string, counts bool) {
	kind = s.kinds[uint32(call.Number)]
	own := program(call) == s.program
	if !own && !s.lasting {
		return kind, "", false
	}
	proc := "/proc/" + strconv.Itoa(int(call.PID))
	switch call.Number {
	case unix.SYS_FSYNC, unix.SYS_FDATASYNC, unix.SYS_FLOCK:
		path, _ = os.Readlink(proc + "/fd/" + strconv.Itoa(int(int32(call.Args[0]))))
	case unix.SYS_WRITE, unix.SYS_PWRITE64, unix.SYS_COPY_FILE_RANGE:
		at := call.Args[0]
		if call.Number == unix.SYS_COPY_FILE_RANGE {
			at = call.Args[2] // what it writes to
		}
		if path, _ = os.Readlink(proc + "/fd/" + strconv.Itoa(int(int32(at)))); !strings.HasPrefix(path, "/") {
			return kind, "", false // a pipe, a socket
		}
	case unix.SYS_RENAMEAT, unix.SYS_RENAMEAT2:
		path = text(proc, call.Args[3])
	case unix.SYS_EXECVE:
		path = text(proc, call.Args[0]) + arguments(proc, call.Args[1])
	default:
		path = text(proc, call.Args[1])
	}
	for _, system := range []string{"/dev/", "/proc/", "/sys/", "/memfd:"} {
		if strings.HasPrefix(path, system) {
			return kind, "", false
		}
	}
	return kind, path, own
}

// text reads a string of another process.
func text(proc string, at uint64) string {
	found, _, whole := bytes.Cut(memory(proc, at, 4096), []byte{0})
	if !whole {
		return ""
	}
	return string(found)
}

// arguments are those of a command that is about to be started, without the settings
// that each git is given.
func arguments(proc string, at uint64) string {
	const word, most = 8, 64
	var words []string
	for i := range uint64(most) {
		b := memory(proc, at+(i+1)*word, word)
		if len(b) < word {
			break
		}
		next := binary.NativeEndian.Uint64(b)
		if next == 0 {
			break
		}
		words = append(words, text(proc, next))
	}
	var said []string
	for i, w := range words {
		if w != "-c" && (i == 0 || words[i-1] != "-c") && !strings.Contains(w, "\n") {
			said = append(said, w)
		}
	}
	return " " + strings.Join(said, " ")
}

// memory reads up to so many bytes of another process, fewer where a page ends.
func memory(proc string, at uint64, size int) []byte {
	f, err := os.Open(proc + "/mem")
	if err != nil {
		return nil
	}
	defer func() { _ = f.Close() }()
	b := make([]byte, size)
	n, _ := f.ReadAt(b, int64(at))
	if n == 0 { // the page behind it is not there
		n, _ = f.ReadAt(b[:4096-int(at%4096)], int64(at))
	}
	return b[:n]
}
