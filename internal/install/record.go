package install

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/pawl-dev/pawl/internal/atomicfile"
	"github.com/pawl-dev/pawl/internal/failure"
)

// record is what Pawl's home stores about an edited settings file.
type record struct {
	Path   string  `json:"path"` // for users who look
	Origin *Origin `json:"origin"`
}

// recordPath returns the path of the record of a settings file.
func recordPath(home, settings string) string {
	sum := sha256.Sum256([]byte(settings))
	return filepath.Join(home, "install", hex.EncodeToString(sum[:8])+".json")
}

// readRecord returns the recorded origin of a settings file, nil if there is none.
func readRecord(home, settings string) (*Origin, error) {
	path := recordPath(home, settings)
	data, err := atomicfile.Read(path, atomicfile.Large)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read what was installed: %w", err)
	}
	var r record
	if err := json.Unmarshal(data, &r); err != nil || r.Origin == nil {
		return nil, failure.New(failure.Error, "delete it: the hooks are found without it, but the file may not be restored to the byte",
			"the record of what was installed is damaged (%s)", path)
	}
	return r.Origin, nil
}

func writeRecord(home, settings string, origin *Origin) error {
	path := recordPath(home, settings)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return fmt.Errorf("record what is installed: %w", err)
	}
	return atomicfile.WriteIndentedJSON(path, record{settings, origin})
}

func deleteRecord(home, settings string) error {
	if err := os.Remove(recordPath(home, settings)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("forget what was installed: %w", err)
	}
	return nil
}
