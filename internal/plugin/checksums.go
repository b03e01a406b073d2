package plugin

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/pawl-dev/pawl/internal/atomicfile"
	"github.com/pawl-dev/pawl/internal/failure"
)

// checksumsFile lists the files of an export. It distinguishes an export from a user's folder, and
// unchanged files from changed ones.
const checksumsFile = ".pawl-export"

// checksumsHeader is the first line of checksumsFile.
const checksumsHeader = "# Written by pawl: the files of this folder, by their SHA-256.\n"

// checksums holds the valid hashes of each file by path: two while an export replaces the file, else
// one.
type checksums map[string][]string

func newChecksums(files map[string][]byte) checksums {
	l := checksums{}
	for name, content := range files {
		l[name] = []string{hash(content)}
	}
	return l
}

func hash(content []byte) string {
	sum := sha256.Sum256(content)
	return hex.EncodeToString(sum[:])
}

// matches reports whether an export wrote this content under this name.
func (l checksums) matches(name string, content []byte) bool {
	return slices.Contains(l[name], hash(content))
}

// union returns the union of two lists.
func (l checksums) union(other checksums) checksums {
	both := maps.Clone(other)
	for name, sums := range l {
		all := append(slices.Clone(sums), other[name]...)
		slices.Sort(all)
		both[name] = slices.Compact(all)
	}
	return both
}

// format writes lines as sha256sum does.
func (l checksums) format() []byte {
	text := []byte(checksumsHeader)
	for _, name := range slices.Sorted(maps.Keys(l)) {
		for _, sum := range l[name] {
			text = fmt.Appendf(text, "%s  %s\n", sum, name)
		}
	}
	return text
}

// parseChecksums is the inverse of format. It only accepts paths inside the folder, because Remove
// deletes the listed files.
func parseChecksums(text string) (checksums, error) {
	lines, ok := strings.CutPrefix(text, checksumsHeader)
	if !ok {
		return nil, errors.New("it does not begin as one")
	}
	l := checksums{}
	for line := range strings.Lines(lines) {
		sum, name, _ := strings.Cut(strings.TrimSuffix(line, "\n"), "  ")
		if raw, err := hex.DecodeString(sum); err != nil || len(raw) != sha256.Size {
			return nil, fmt.Errorf("%q is not a hash", sum)
		}
		if !fs.ValidPath(name) || name == "." || !filepath.IsLocal(filepath.FromSlash(name)) {
			return nil, fmt.Errorf("%q is not a path in the folder", name)
		}
		l[name] = append(l[name], sum)
	}
	return l, nil
}

// readChecksums returns the checksums of an export, nil if there is none.
func readChecksums(dir string) (checksums, error) {
	text, err := atomicfile.Read(filepath.Join(dir, checksumsFile), atomicfile.Large)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, failure.New(failure.Usage, "name a folder that is new or empty", "look for an earlier export: %w", err)
	}
	l, err := parseChecksums(string(text))
	if err != nil {
		return nil, failure.New(failure.Usage, "delete the folder, or name another",
			"the list of what was exported is damaged (%s): %w", filepath.Join(dir, checksumsFile), err)
	}
	return l, nil
}

func writeChecksums(dir string, l checksums) error {
	if err := atomicfile.Write(filepath.Join(dir, checksumsFile), l.format(), 0o644); err != nil {
		return fmt.Errorf("export the plugin: %w", err)
	}
	return nil
}
