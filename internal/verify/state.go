package verify

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/pawl-dev/pawl/internal/atomicfile"
)

// Records from before the first turn, and results, are files in the Verifier's Dir.

// readState reads a state file into state. It returns false if there is none.
func readState(file string, state any) (bool, error) {
	b, err := atomicfile.Read(file, atomicfile.Large)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err == nil {
		err = json.Unmarshal(b, state)
	}
	if err != nil {
		return false, fmt.Errorf("read %s: %w", file, err)
	}
	return true, nil
}

// writeState writes a state file.
func writeState(file string, state any) error {
	b, err := json.Marshal(state)
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
