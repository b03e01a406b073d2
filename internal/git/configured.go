package git

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/pawl-dev/pawl/internal/atomicfile"
)

// configuration holds all settings of git, and a fingerprint of their files.
type configuration struct {
	files  []string
	stamp  string
	values map[string]string // the last value of each; names are in lower case except for a subsection
}

// setting returns git's value of a setting, by its name in lower case, and whether it is set. It
// asks git once for all settings, and again after one of the files changed.
func (r *Repo) setting(ctx context.Context, key string) (value string, set bool, err error) {
	r.mu.Lock()
	c := r.config
	r.mu.Unlock()
	if c.stamp == "" || c.stamp != fingerprints(c.files) {
		if c, err = r.readConfiguration(ctx); err != nil {
			return "", false, fmt.Errorf("read git's configuration: %w", err)
		}
		r.mu.Lock()
		r.config = c
		r.mu.Unlock()
	}
	value, set = c.values[key]
	return value, set, nil
}

// boolSetting returns a setting that is true or false, or false if it is not set.
func (r *Repo) boolSetting(ctx context.Context, key string) (bool, error) {
	value, set, err := r.setting(ctx, key)
	if err != nil || !set || isTrue(value) {
		return set && err == nil, err
	}
	switch strings.ToLower(value) {
	case "false", "no", "off", "0", "":
		return false, nil
	}
	value, err = r.git(ctx, "config", "--type=bool", key)
	if err != nil && !isExitOne(err) {
		return false, fmt.Errorf("read %s: %w", key, err)
	}
	return value == "true", nil
}

func (r *Repo) readConfiguration(ctx context.Context) (configuration, error) {
	files := r.configFiles()
	before := fingerprints(files)
	out, err := r.run(ctx, call{args: []string{"config", "--list", "--show-origin", "-z"}, hooks: true})
	if err != nil {
		return configuration{}, err
	}
	c := configuration{files: files, values: map[string]string{}}
	for pair := range slices.Chunk(splitNul(out), 2) { // file, setting
		if len(pair) < 2 {
			return c, fmt.Errorf("unexpected entry %q", pair[0])
		}
		file, inFile := strings.CutPrefix(pair[0], "file:")
		if inFile && !filepath.IsAbs(file) {
			file = filepath.Join(r.root, file)
		}
		s := parseSetting(pair[1])
		c.values[s.Key] = s.Value
		if inFile {
			c.files = append(c.files, file)
		}
		if strings.HasPrefix(s.Key, "include") && strings.HasSuffix(s.Key, ".path") { // the file may be missing
			c.files = append(c.files, includedFile(s.Value, filepath.Dir(file)))
		}
	}
	slices.Sort(c.files)
	c.files = slices.Compact(c.files)
	if c.stamp = fingerprints(c.files); before != fingerprints(files) {
		c.stamp = "" // it changed meanwhile: do not cache it
	}
	return c, nil
}

// configFiles returns the files that git may read settings from, existing or not, and HEAD, because
// an include may depend on its branch.
func (r *Repo) configFiles() []string {
	files := []string{filepath.Join(r.commonDir, "config"), filepath.Join(r.gitDir, "config.worktree"), filepath.Join(r.gitDir, "HEAD"), "/etc/gitconfig"}
	if home, err := os.UserHomeDir(); err == nil {
		files = append(files, filepath.Join(home, ".gitconfig"))
	}
	if dir, err := os.UserConfigDir(); err == nil {
		files = append(files, filepath.Join(dir, "git", "config"))
	}
	for _, kv := range (&exec.Cmd{}).Environ() {
		if name, file, _ := strings.Cut(kv, "="); name == "GIT_CONFIG_GLOBAL" || name == "GIT_CONFIG_SYSTEM" {
			files = append(files, file)
		}
	}
	return files
}

// includedFile resolves the path of an include, relative to the folder of the including file.
func includedFile(path, dir string) string {
	if below, inHome := strings.CutPrefix(path, "~/"); inHome {
		if home, err := os.UserHomeDir(); err == nil {
			return filepath.Join(home, filepath.FromSlash(below))
		}
	}
	if !filepath.IsAbs(path) {
		return filepath.Join(dir, filepath.FromSlash(path))
	}
	return path
}

func fingerprints(files []string) string {
	var b strings.Builder
	for _, file := range files {
		b.WriteString(atomicfile.Fingerprint(file, maxConfigBytes) + "\n")
	}
	return b.String()
}

// maxConfigBytes limits the size of git's configuration and attributes files.
const maxConfigBytes = 8 << 20

// Converters returns the settings with which git sees other content than files have, or runs a
// program, by name (filter.lfs.clean). The value of info/attributes is a checksum.
func (r *Repo) Converters(ctx context.Context) (map[string]string, error) {
	out, err := r.run(ctx, call{args: []string{"config", "-z", "--get-regexp", `^(filter\..*|gpg\..*program|core\.(attributesfile|worktree))$`}})
	if err != nil && !isExitOne(err) {
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
