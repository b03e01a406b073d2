package verify

import (
	"encoding/json"
	"os"
	"path/filepath"

	"github.com/pawl-dev/pawl/internal/atomicfile"
	"github.com/pawl-dev/pawl/internal/core/gate"
)

// Kept results are files, one for each question: the first result, and that of
// a repeat where there was one. They are a cache: what cannot be read is not
// there, what cannot be written is found out again.

func (v *Verifier) keptFile(key string) string {
	return filepath.Join(v.Dir, "results", key+".json")
}

func (v *Verifier) kept(key string) []gate.Result {
	b, err := os.ReadFile(v.keptFile(key))
	if err != nil {
		return nil
	}
	var results []gate.Result
	if json.Unmarshal(b, &results) != nil {
		return nil
	}
	return results
}

func (v *Verifier) keep(key string, results []gate.Result) {
	b, err := json.Marshal(results)
	if err != nil {
		return
	}
	if os.MkdirAll(filepath.Dir(v.keptFile(key)), 0o700) == nil {
		_ = atomicfile.Write(v.keptFile(key), b, 0o600)
	}
}
