package checkout

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/pawl-dev/pawl/internal/atomicfile"
)

// Records and results are files.

// ReadRecord reads a record from a file. It returns false if the file does not exist.
func ReadRecord(file string, record any) (bool, error) {
	b, err := atomicfile.Read(file, atomicfile.Large)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err == nil {
		err = json.Unmarshal(b, record)
	}
	if err != nil {
		return false, fmt.Errorf("read %s: %w", file, err)
	}
	return true, nil
}

// readOnce returns a record, which it reads until it exists. A missing one is empty.
func readOnce[T any](known **T, file string) (*T, error) {
	if *known != nil {
		return *known, nil
	}
	record := new(T)
	found, err := ReadRecord(file, record)
	if found {
		*known = record
	}
	return record, err
}

// WriteRecord writes a record to a file.
func WriteRecord(file string, record any) error {
	b, err := json.Marshal(record)
	if err == nil {
		err = os.MkdirAll(filepath.Dir(file), 0o700)
	}
	if err == nil {
		err = atomicfile.Write(file, b, 0o600)
	}
	if err != nil {
		return fmt.Errorf("keep %s: %w", file, err)
	}
	return nil
}
