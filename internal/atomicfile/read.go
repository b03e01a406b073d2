package atomicfile

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
)

// Large is the limit, in bytes, for files that Pawl wrote itself. A larger one is damaged.
const Large = 1 << 30

// Open opens a regular file for reading. It follows links. It never waits: it returns ErrNotRegular for
// a pipe, a device or a folder, also for one that takes the file's place during the call. Its errors
// name the path.
func Open(path string) (*os.File, error) {
	// Stat comes first, because opening a device can have effects. The second Stat finds a file that
	// was replaced in between.
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, refused(path)
	}
	f, err := os.OpenFile(path, os.O_RDONLY|nonblock, 0)
	if err != nil {
		return nil, err
	}
	if info, err = f.Stat(); err == nil && !info.Mode().IsRegular() {
		err = refused(path)
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

func refused(path string) error {
	return &fs.PathError{Op: "open", Path: path, Err: ErrNotRegular}
}

// Read returns the content of a regular file of at most most bytes. It never waits, see Open. Its errors
// name the path.
func Read(path string, most int64) ([]byte, error) {
	f, err := Open(path)
	if err != nil {
		return nil, err
	}
	tooLarge := &fs.PathError{Op: "read", Path: path, Err: fmt.Errorf("it is larger than %d bytes", most)}
	info, err := f.Stat()
	if err == nil && info.Size() > most {
		err = tooLarge
	}
	var data []byte
	if err == nil {
		whole := bytes.NewBuffer(make([]byte, 0, info.Size()+bytes.MinRead)) // io.ReadAll allocates five times as much
		_, err = whole.ReadFrom(io.LimitReader(f, most+1))                   // it may be growing
		data = whole.Bytes()
	}
	if err = errors.Join(err, f.Close()); err == nil && int64(len(data)) > most {
		err = tooLarge
	}
	if err != nil {
		return nil, err
	}
	return data, nil
}

// Fingerprint returns a text that differs for each state of the file at path. It is made from the
// content or, for more than most bytes and for special files, from the file's metadata. It is
// "unreadable" for a file that cannot be read.
func Fingerprint(path string, most int64) string {
	info, err := os.Stat(path)
	if err != nil {
		return "unreadable"
	}
	if info.IsDir() {
		return "folder"
	}
	if !info.Mode().IsRegular() || info.Size() > most {
		return fmt.Sprint(info.Mode(), info.Size(), info.ModTime().UnixNano())
	}
	data, err := Read(path, most)
	if err != nil {
		return "unreadable"
	}
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}
