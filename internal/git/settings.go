package git

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/pawl-dev/pawl/internal/atomicfile"
	"github.com/pawl-dev/pawl/internal/failure"
)

// Setting is a setting of a git configuration.
type Setting struct {
	Key   string // section, subsection if any, name; in lower case except for the subsection
	Value string // "true" for a name without a value
}

// Settings reads a git configuration in its order, without included files. It returns an error if
// git cannot read it.
func Settings(ctx context.Context, config []byte) ([]Setting, error) {
	out, err := runOnce(ctx, os.TempDir(), call{args: []string{"config", "--file", "-", "--no-includes", "--list", "-z"}, stdin: config})
	if err != nil {
		return nil, fmt.Errorf("read a configuration of git: %w", err)
	}
	return parseSettings(out), nil
}

// parseSettings reads the output of git config -z.
func parseSettings(out []byte) []Setting {
	var settings []Setting
	for _, entry := range splitNul(out) {
		settings = append(settings, parseSetting(entry))
	}
	return settings
}

func parseSetting(entry string) Setting {
	key, value, hasValue := strings.Cut(entry, "\n")
	if !hasValue {
		value = "true"
	}
	return Setting{key, value}
}

// Replace returns a git configuration in which the given settings replace those with chosen keys.
// The rest does not change.
func Replace(ctx context.Context, config []byte, chosen func(key string) bool, settings []Setting) ([]byte, error) {
	now, err := Settings(ctx, config)
	if err != nil {
		return nil, err
	}
	f, err := os.CreateTemp("", "pawl-gitconfig-")
	if err != nil {
		return nil, fmt.Errorf("change a configuration of git: %w", err)
	}
	defer os.Remove(f.Name())
	_, err = f.Write(config)
	if closed := f.Close(); err == nil {
		err = closed
	}
	edit := func(args ...string) {
		if err == nil {
			_, err = runOnce(ctx, os.TempDir(), call{args: slices.Concat([]string{"config", "--file", f.Name()}, args)})
		}
	}
	was, is := valuesOf(settings, chosen), valuesOf(now, chosen)
	for key := range is {
		if !slices.Equal(was[key], is[key]) {
			edit("--unset-all", key)
		}
	}
	for _, s := range settings { // in this order, because some settings affect others
		if !slices.Equal(was[s.Key], is[s.Key]) {
			edit("--add", s.Key, s.Value)
		}
	}
	if err != nil {
		return nil, fmt.Errorf("change a configuration of git: %w", err)
	}
	return atomicfile.Read(f.Name(), maxConfigBytes)
}

// valuesOf returns the values of the chosen settings by key.
func valuesOf(settings []Setting, chosen func(key string) bool) map[string][]string {
	values := map[string][]string{}
	for _, s := range settings {
		if chosen(s.Key) {
			values[s.Key] = append(values[s.Key], s.Value)
		}
	}
	return values
}

// Inert returns the repository for commands that only read. Git then runs no filter of the
// repository's configuration, which it would run to compare a file. Filters of the user's
// configuration (git-lfs) still run. A file whose filter does not run counts as changed if its time
// changed. Changes inside submodules are not seen.
func (r *Repo) Inert(ctx context.Context) (*Repo, error) {
	out, err := r.run(ctx, call{args: []string{"config", "-z", "--show-scope", "--name-only", "--get-regexp", `^filter\..*\.(clean|smudge|process|required)$`}})
	if err != nil && !isExitOne(err) {
		return nil, fmt.Errorf("read git's filters: %w", err)
	}
	inert := []string{"-c", "diff.external="}          // a program that compares files
	for pair := range slices.Chunk(splitNul(out), 2) { // scope, key
		if len(pair) < 2 || pair[0] != "local" && pair[0] != "worktree" {
			continue
		}
		filter := pair[1][:strings.LastIndexByte(pair[1], '.')]
		if strings.Contains(filter, "=") { // it cannot be overridden
			return nil, failure.New(failure.Usage, "look at the configuration: git config --local --list",
				"the repository's configuration names a filter that only looking must not run: %q", filter)
		}
		inert = append(inert, "-c", filter+".clean=", "-c", filter+".smudge=", "-c", filter+".process=", "-c", filter+".required=false")
	}
	return &Repo{
		root: r.root, gitDir: r.gitDir, commonDir: r.commonDir, lockWait: r.lockWait,
		callTime: r.callTime, pipesAfter: r.pipesAfter, inert: inert,
	}, nil
}
