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

// configuration are all settings that git has, and a fingerprint of the files that they
// come from.
type configuration struct {
	files  []string
	stamp  string
	values map[string]string // the last ones, by names in lower case but for a subsection
}

// setting returns what git's configuration says of a setting, by its name in lower case,
// and whether it does. Git is asked for all of them once, and again where one of the files
// has changed.
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

// boolSetting is a setting that is true or false, and false where there is none.
func (r *Repo) boolSetting(ctx context.Context, key string) (bool, error) {
	value, set, err := r.setting(ctx, key)
	if err != nil || !set {
		return false, err
	}
	switch strings.ToLower(value) {
	case "true", "yes", "on", "1":
		return true, nil
	case "false", "no", "off", "0", "":
		return false, nil
	}
	value, err = r.git(ctx, "config", "--type=bool", key)
	if err != nil && !saidNo(err) {
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
	for pair := range slices.Chunk(fields(out), 2) { // where it stands, the setting
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
		if strings.HasPrefix(s.Key, "include") && strings.HasSuffix(s.Key, ".path") { // it may be missing
			c.files = append(c.files, includedFile(s.Value, filepath.Dir(file)))
		}
	}
	slices.Sort(c.files)
	c.files = slices.Compact(c.files)
	if c.stamp = fingerprints(c.files); before != fingerprints(files) {
		c.stamp = "" // it changed meanwhile: not to be kept
	}
	return c, nil
}

// configFiles are the files that git reads settings from, whether they are there or not,
// and HEAD, whose branch an include may name.
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

// includedFile is where a path of an include leads, from the folder of the file that has it.
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
