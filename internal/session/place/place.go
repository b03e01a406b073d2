// Package place names the files by which the hooks of a session find its loop:
//
//	$PAWL_HOME/sessions/<session id>.json      the session's binding (package session)
//	$PAWL_HOME/sessions/<session id>.sock      where its daemon listens (package daemon)
//	$PAWL_HOME/sessions/<session id>.inspected which files of other tools it has inspected (Fingerprint)
//	$PAWL_HOME/sessions/<session id>.last      what to print at its end (SaveEndText)
//	$PAWL_HOME/sessions/waiting.json           bindings that wait for a session id
//
// It also names the files of other tools' loops, from which a loop may be started
// (Project).
//
// The package is small since the client shim links it, which runs at every event: a few
// file lookups tell whether there is anything to do.
package place

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
)

// Folder is the folder of sessions in $PAWL_HOME.
type Folder string

// Of returns the folder of sessions in home.
func Of(home string) Folder { return Folder(filepath.Join(home, "sessions")) }

// IsValidID reports whether a session id can be a file name on every system. Clients use
// UUIDs.
func IsValidID(id string) bool {
	for _, c := range []byte(id) {
		if (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && (c < '0' || c > '9') && c != '-' && c != '_' {
			return false
		}
	}
	return id != "" && len(id) <= 128 && id != "waiting"
}

// BindingPath returns the file of a session's binding.
func (f Folder) BindingPath(id string) string { return filepath.Join(string(f), id+".json") }

// SocketPath returns the socket on which the session's daemon listens.
func (f Folder) SocketPath(id string) string { return filepath.Join(string(f), id+".sock") }

// WaitingPath returns the file of the bindings that wait for a session id.
func (f Folder) WaitingPath() string { return filepath.Join(string(f), "waiting.json") }

// HasBinding reports whether the session may have a loop. Reading the binding tells why
// if it cannot be read.
func (f Folder) HasBinding(id string) bool { return IsValidID(id) && exists(f.BindingPath(id)) }

// HasWaiting reports whether any binding waits for a session id.
func (f Folder) HasWaiting() bool { return exists(f.WaitingPath()) }

// exists reports whether a file exists, or may exist in a folder that cannot be read.
func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil || errors.Is(err, fs.ErrPermission)
}
