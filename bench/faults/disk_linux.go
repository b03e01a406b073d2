package faults

import (
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"syscall"

	"golang.org/x/sys/unix"
)

// write is not a Kind of its own: a single write that fails is a disk that is full.
const write Kind = "write"

// changesDisk reports whether calls of a kind change what is on the disk.
func changesDisk(kind Kind) bool {
	return slices.Contains([]Kind{write, Open, Mkdir, Rename, Unlink}, kind)
}

// diskErrno returns the error of any process's call on the disk of a lasting fault, 0
// if it succeeds. A full disk still opens, renames and removes files.
func diskErrno(lasting, kind Kind, call notification) syscall.Errno {
	switch {
	case lasting == ReadOnly && changesDisk(kind):
		return syscall.EROFS
	case lasting == Full && (kind == write || kind == Mkdir || kind == Open && call.Args[2]&unix.O_EXCL != 0):
		return syscall.ENOSPC
	}
	return 0
}

// program is the name of the program that makes a call, "" if it is gone.
func program(call notification) string {
	exe, err := os.Readlink("/proc/" + strconv.Itoa(int(call.PID)) + "/exe")
	if err != nil {
		return ""
	}
	return filepath.Base(exe)
}
