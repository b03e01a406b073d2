package git

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/pawl-dev/pawl/internal/atomicfile"
)

// maxControl bounds a file that git is told something by, in bytes.
const maxControl = 8 << 20

// Converters are the settings by which git takes a file to hold something else than
// it does, or runs a program of somebody's: by name, such as filter.lfs.clean. That
// of info/attributes is a fingerprint.
func (r *Repo) Converters(ctx context.Context) (map[string]string, error) {
	out, err := r.run(ctx, call{args: []string{"config", "-z", "--get-regexp", `^(filter\..*|gpg\..*program|core\.(attributesfile|worktree))$`}})
	if err != nil && !exited(err, 1) {
		return nil, fmt.Errorf("read git's converters: %w", err)
	}
	found := map[string]string{}
	for pair := range strings.SplitSeq(string(out), "\x00") {
		if key, value, _ := strings.Cut(pair, "\n"); key != "" {
			found[key] += value
		}
	}
	b, err := atomicfile.Read(filepath.Join(r.commonDir, "info", "attributes"), maxControl)
	switch {
	case err == nil:
		sum := sha256.Sum256(b)
		found["info/attributes"] = hex.EncodeToString(sum[:8])
	case !absent(err):
		return nil, fmt.Errorf("read git's converters: %w", err)
	}
	return found, nil
}
