package place

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// A session without a loop inspects another tool's files once, not at each stop: a loop
// that has ended, or belongs to another session, leaves its files for ever.

const (
	// maxFeatureFolders bounds the folders of feature lists that are inspected.
	maxFeatureFolders = 32
	// modTimeTolerance is the possible error of file times: some file systems count in
	// steps of two seconds. A file written more recently may change again with the same
	// time.
	modTimeTolerance = 2 * time.Second
)

// Fingerprint identifies the state of the files that decide whether the session may
// follow another tool's loop: equal fingerprints mean equal files. It is "" if that
// cannot be told.
func (p Project) Fingerprint(now time.Time) string {
	paths := append(p.VerifyActivePaths(), p.RalphLoopPath(), p.ThLoopPath())
	folders, ok := p.featureFolders()
	if !ok {
		return ""
	}
	for _, db := range p.VerifyActivePaths() { // recent writes to a database are in its log
		if filepath.Ext(db) == ".db" {
			paths = append(paths, db+"-wal")
		}
	}
	for _, dir := range folders {
		paths = append(paths, dir, filepath.Join(dir, "feature_list.json"), filepath.Join(dir, "progress.txt"))
	}
	paths = append(paths, p.path(".claude", "settings.json"), p.path(".claude", "settings.local.json"))
	if p.ClientConfig != "" {
		paths = append(paths, filepath.Join(p.ClientConfig, "settings.json"))
	}
	var seen strings.Builder
	for _, path := range paths {
		info, err := os.Lstat(path)
		if path == "" || os.IsNotExist(err) {
			continue
		}
		if err != nil || info.ModTime().After(now.Add(-modTimeTolerance)) {
			return ""
		}
		for _, n := range []int64{info.ModTime().UnixNano(), info.Size(), int64(info.Mode())} {
			seen.WriteString(strconv.FormatInt(n, 36) + " ")
		}
		seen.WriteString(path + "\n")
	}
	return seen.String()
}

// featureFolders returns the folders that may contain a feature list. It returns false if
// there are too many.
func (p Project) featureFolders() ([]string, bool) {
	if named := p.FeatureLoopDir(); named != "" {
		return []string{named}, true
	}
	all := p.FeatureLoopsDir()
	entries, err := os.ReadDir(all)
	if err != nil || len(entries) > maxFeatureFolders {
		return nil, os.IsNotExist(err)
	}
	folders := []string{all}
	for _, e := range entries {
		folders = append(folders, filepath.Join(all, e.Name()))
	}
	return folders, true
}

// InspectedPath returns the file with the fingerprint of the files that a session
// inspected without finding a loop.
func (f Folder) InspectedPath(id string) string { return filepath.Join(string(f), id+".inspected") }

// WasInspected reports whether the session has inspected files with this fingerprint. A
// damaged record counts as none.
func (f Folder) WasInspected(id, fingerprint string) bool {
	if fingerprint == "" || !IsValidID(id) {
		return false
	}
	kept, err := os.ReadFile(f.InspectedPath(id))
	return err == nil && string(kept) == fingerprint
}

// RecordInspection records that the session has inspected files with this fingerprint.
func (f Folder) RecordInspection(id, fingerprint string) error {
	if fingerprint == "" || !IsValidID(id) || f.WasInspected(id, fingerprint) {
		return nil
	}
	if err := os.MkdirAll(string(f), 0o700); err != nil {
		return err
	}
	return os.WriteFile(f.InspectedPath(id), []byte(fingerprint), 0o600)
}

// EndTextPath returns the file with the text to print at the end of an unattended
// session. Before its end the client prints nothing of a hook's.
func (f Folder) EndTextPath(id string) string { return filepath.Join(string(f), id+".last") }

// SaveEndText stores a text to print at the end of an unattended session.
func (f Folder) SaveEndText(id, text string) error {
	if !IsValidID(id) {
		return nil
	}
	if err := os.MkdirAll(string(f), 0o700); err != nil {
		return err
	}
	return os.WriteFile(f.EndTextPath(id), []byte(text), 0o600)
}

// ForgetSession removes what is stored about a session that ends, and returns the text to
// print.
func (f Folder) ForgetSession(id string) (last []byte) {
	if !IsValidID(id) {
		return nil
	}
	_ = os.Remove(f.InspectedPath(id)) // one that stays does no harm
	path := f.EndTextPath(id)
	last, err := os.ReadFile(path)
	if err != nil || os.Remove(path) != nil {
		return nil
	}
	return last
}
