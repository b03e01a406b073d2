// Package place names the files by which the hooks of a session find its loop:
//
//	$PAWL_HOME/sessions/<session id>.json   which loop lives in it (package session)
//	$PAWL_HOME/sessions/<session id>.sock   where its keeper listens (package keeper)
//	$PAWL_HOME/sessions/<session id>.looked what it knows of other tools' files (Glance)
//	$PAWL_HOME/sessions/<session id>.last   what is said at its end (KeepWords)
//	$PAWL_HOME/sessions/waiting.json        loops that wait for their session's id
//
// and where the files of other tools' loops lie, that one may begin with (Project).
//
// It is small because the program that starts at every event links it: a few
// looks at the disk tell whether there is anything to do.
package place

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
)

// Folder is the folder of sessions in a $PAWL_HOME.
type Folder string

// Of names the folder in a $PAWL_HOME.
func Of(home string) Folder { return Folder(filepath.Join(home, "sessions")) }

// Valid session ids can be names of files everywhere; clients use UUIDs.
func Valid(id string) bool {
	for _, c := range []byte(id) {
		if (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && (c < '0' || c > '9') && c != '-' && c != '_' {
			return false
		}
	}
	return id != "" && len(id) <= 128 && id != "waiting"
}

// Binding is the file that says which loop lives in a session.
func (f Folder) Binding(id string) string { return filepath.Join(string(f), id+".json") }

// Socket is where the session's keeper listens.
func (f Folder) Socket(id string) string { return filepath.Join(string(f), id+".sock") }

// Waiting is the file that lists the loops that wait for their session's id.
func (f Folder) Waiting() string { return filepath.Join(string(f), "waiting.json") }

// Bound tells, by one look at the disk, whether a loop lives in a session, or may:
// who reads the binding says why it cannot be read.
func (f Folder) Bound(id string) bool { return Valid(id) && there(f.Binding(id)) }

// Awaited tells, by one look at the disk, whether any loop waits for its session.
func (f Folder) Awaited() bool { return there(f.Waiting()) }

func there(path string) bool {
	_, err := os.Lstat(path)
	return err == nil || errors.Is(err, fs.ErrPermission)
}
