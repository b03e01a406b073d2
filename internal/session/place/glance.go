package place

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// A session without a loop in whose project another tool left files looks into
// them once, not at each stop: a loop that has ended, or was somebody else's,
// leaves them for ever.

const (
	// foldersMax bounds the folders of feature lists that are looked at.
	foldersMax = 32
	// coarse is by how much the times of files may be off: some file systems count
	// in steps of two seconds. What was written just now may be written once more
	// at what seems to be the same time.
	coarse = 2 * time.Second
)

// Glance is what a few looks at the disk show of the files that say whether the
// session may follow another tool's loop: two that are the same show the same
// files. It is "" where that cannot be told.
func (p Project) Glance(now time.Time) string {
	paths := append(p.VerifyActive(), p.RalphLoop(), p.ThLoop())
	folders, ok := p.featureFolders()
	if !ok {
		return ""
	}
	for _, db := range p.VerifyActive() { // what a newer version writes stands beside its file for a while
		if filepath.Ext(db) == ".db" {
			paths = append(paths, db+"-wal")
		}
	}
	for _, dir := range folders {
		paths = append(paths, dir, filepath.Join(dir, "feature_list.json"), filepath.Join(dir, "progress.txt"))
	}
	paths = append(paths, p.in(".claude", "settings.json"), p.in(".claude", "settings.local.json"))
	if p.Home != "" {
		paths = append(paths, filepath.Join(p.Home, ".claude", "settings.json"))
	}
	var seen strings.Builder
	for _, path := range paths {
		info, err := os.Lstat(path)
		if path == "" || os.IsNotExist(err) {
			continue
		}
		if err != nil || info.ModTime().After(now.Add(-coarse)) {
			return ""
		}
		for _, n := range []int64{info.ModTime().UnixNano(), info.Size(), int64(info.Mode())} {
			seen.WriteString(strconv.FormatInt(n, 36) + " ")
		}
		seen.WriteString(path + "\n")
	}
	return seen.String()
}

// featureFolders are those that a feature list may lie in. It is not ok where
// there are too many.
func (p Project) featureFolders() ([]string, bool) {
	if named := p.FeatureLoop(); named != "" {
		return []string{named}, true
	}
	all := p.RalphLoops()
	entries, err := os.ReadDir(all)
	if err != nil || len(entries) > foldersMax {
		return nil, os.IsNotExist(err)
	}
	folders := []string{all}
	for _, e := range entries {
		folders = append(folders, filepath.Join(all, e.Name()))
	}
	return folders, true
}

// Looked is the file that keeps the glance that a session had when it looked into
// those files and there was none to follow.
func (f Folder) Looked(id string) string { return filepath.Join(string(f), id+".looked") }

// Knows tells whether a session has looked into the files that a glance shows. A
// mark that is damaged is none: whatever it says must be the same to the byte.
func (f Folder) Knows(id, glance string) bool {
	if glance == "" || !Valid(id) {
		return false
	}
	kept, err := os.ReadFile(f.Looked(id))
	return err == nil && string(kept) == glance
}

// Look has a session know a glance.
func (f Folder) Look(id, glance string) error {
	if glance == "" || !Valid(id) || f.Knows(id, glance) {
		return nil
	}
	if err := os.MkdirAll(string(f), 0o700); err != nil {
		return err
	}
	return os.WriteFile(f.Looked(id), []byte(glance), 0o600)
}

// LastWords is the file that keeps what is to be said at the end of a session that
// nobody sits at: until then its client prints nothing of a hook's.
func (f Folder) LastWords(id string) string { return filepath.Join(string(f), id+".last") }

// KeepWords has something said at the end of a session.
func (f Folder) KeepWords(id, text string) error {
	if !Valid(id) {
		return nil
	}
	if err := os.MkdirAll(string(f), 0o700); err != nil {
		return err
	}
	return os.WriteFile(f.LastWords(id), []byte(text), 0o600)
}

// Forget ends what a session knows, when it ends, and returns its last words.
func (f Folder) Forget(id string) (last []byte) {
	if !Valid(id) {
		return nil
	}
	_ = os.Remove(f.Looked(id)) // mostly there is none; one that stays does no harm
	path := f.LastWords(id)
	last, err := os.ReadFile(path)
	if err != nil || os.Remove(path) != nil {
		return nil
	}
	return last
}
