package git

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"path/filepath"

	"github.com/pawl-dev/pawl/internal/atomicfile"
)

// maxConfigBytes bounds a configuration or attributes file of git's.
const maxConfigBytes = 8 << 20

// Converters returns the settings that make git see another content than a file has, or
// run a program: by name, such as filter.lfs.clean. The value of info/attributes is a
// checksum.
func (r *Repo) Converters(ctx context.Context) (map[string]string, error) {
	out, err := r.run(ctx, call{args: []string{"config", "-z", "--get-regexp", `^(filter\..*|gpg\..*program|core\.(attributesfile|worktree))$`}})
	if err != nil && !saidNo(err) {
		return nil, fmt.Errorf("read git's converters: %w", err)
	}
	found := map[string]string{}
	for _, s := range parseSettings(out) {
		found[s.Key] += s.Value
	}
	b, err := atomicfile.Read(filepath.Join(r.commonDir, "info", "attributes"), maxConfigBytes)
	switch {
	case err == nil:
		sum := sha256.Sum256(b)
		found["info/attributes"] = hex.EncodeToString(sum[:8])
	case !isAbsent(err):
		return nil, fmt.Errorf("read git's converters: %w", err)
	}
	return found, nil
}
