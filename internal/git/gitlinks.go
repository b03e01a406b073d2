package git

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/pawl-dev/pawl/internal/atomicfile"
)

// removeLogLinks removes links in the places of the logs that a call appends to. git makes none, and
// would append the subject of a commit, which may be an agent's words, to the file that a link leads
// to: a start-up file of the user's shell, for example. Links of folders stay, since other tools
// share logs by them.
func (r *Repo) removeLogLinks(c call) error {
	logs := []string{filepath.Join(r.gitDir, "logs", "HEAD")}
	refs := c.args
	if head, err := atomicfile.Read(filepath.Join(r.gitDir, "HEAD"), maxConfigBytes); err == nil {
		ref, _ := strings.CutPrefix(strings.TrimSpace(string(head)), "ref: ")
		refs = append([]string{ref}, refs...)
	}
	for _, ref := range refs {
		if strings.HasPrefix(ref, "refs/") {
			logs = append(logs, filepath.Join(r.commonDir, "logs", filepath.FromSlash(ref)))
		}
	}
	for _, log := range logs {
		if info, err := os.Lstat(log); err == nil && info.Mode().Type() == fs.ModeSymlink {
			if err := os.Remove(log); err != nil {
				return fmt.Errorf("remove a link in place of a log of git: %w", err)
			}
		}
	}
	return nil
}

// unlinkIndex replaces a link in the place of the index by a copy of what it leads to, which git would
// replace: the index of another repository, for example.
func (r *Repo) unlinkIndex() error {
	index := filepath.Join(r.gitDir, "index")
	if info, err := os.Lstat(index); err != nil || info.Mode().Type() != fs.ModeSymlink {
		return nil // git says what is wrong with it
	}
	s, err := r.newScratchDir()
	if err != nil {
		return err
	}
	defer s.close()
	if _, err = copyIndex(index, s.index); err == nil {
		err = os.Rename(s.index, index)
	} else if errors.Is(err, fs.ErrNotExist) {
		err = os.Remove(index)
	}
	if err != nil {
		return fmt.Errorf("replace a link in place of the index: %w", err)
	}
	return nil
}
