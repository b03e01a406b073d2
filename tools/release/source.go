package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"time"
)

// source is a commit, checked out by itself.
type source struct {
	dir    string
	tag    string // "" for a snapshot
	commit string
	time   time.Time // of the commit: the only one in what is made
}

// version matches a tag of a release, with or without a part for a pre-release.
var version = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^v\d+\.\d+\.\d+(-[0-9A-Za-z.-]+)?$`)
})

func isVersion(tag string) bool { return version().MatchString(tag) }

// checkOut clones the repository at root into dir, at a tag or, without one, at HEAD:
// files that are not committed have no part in a release.
func checkOut(ctx context.Context, root, tag, dir string) (source, error) {
	root, err := filepath.Abs(root)
	if err != nil {
		return source{}, err
	}
	s := source{dir: dir, tag: tag}
	what := "HEAD"
	if tag != "" {
		what = "refs/tags/" + tag
	}
	found, err := output(ctx, root, nil, "git", "rev-parse", "--verify", what+"^{commit}")
	if err != nil {
		return source{}, err
	}
	s.commit = strings.TrimSpace(found)
	for _, args := range [][]string{
		{"clone", "--quiet", "--no-checkout", root, dir},
		{"-C", dir, "-c", "core.autocrlf=false", "checkout", "--quiet", "--detach", s.commit},
	} {
		if _, err := output(ctx, root, nil, "git", args...); err != nil {
			return source{}, err
		}
	}
	stamp, err := output(ctx, dir, nil, "git", "show", "--no-patch", "--format=%ct", s.commit)
	if err != nil {
		return source{}, err
	}
	seconds, err := strconv.ParseInt(strings.TrimSpace(stamp), 10, 64)
	if err != nil {
		return source{}, fmt.Errorf("read the time of commit %s: %w", s.commit, err)
	}
	s.time = time.Unix(seconds, 0).UTC()
	return s, nil
}

// output runs a program in dir, with variables besides those of this process, and
// returns what it printed.
func output(ctx context.Context, dir string, env []string, name string, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir, cmd.Env = dir, append(os.Environ(), env...)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("%s %s: %w\n%s", name, strings.Join(args, " "), err, &stderr)
	}
	return string(out), nil
}
