package git

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// ownCommit is a commit by Pawl, with Pawl's name whatever the user's configuration says.
type ownCommit struct {
	tree    string
	parents []string
	message string
	at      time.Time
}

// ownCommit writes a commit by Pawl and returns its id.
func (r *Repo) ownCommit(ctx context.Context, c ownCommit) (string, error) {
	by := fmt.Sprintf("%s %d %s", pawlIdentity, c.at.Unix(), c.at.Format("-0700"))
	var parents strings.Builder
	for _, id := range c.parents {
		fmt.Fprintf(&parents, "parent %s\n", id)
	}
	return r.writeCommit(ctx, fmt.Appendf(nil, "tree %s\n%sauthor %s\ncommitter %s\n\n%s", c.tree, parents.String(), by, by, c.message))
}

// writeCommit writes a commit with a git server, and returns its id.
func (r *Repo) writeCommit(ctx context.Context, text []byte) (string, error) {
	if r.of != nil {
		return r.of.writeCommit(ctx, text)
	}
	s, err := r.newScratchDir()
	if err != nil {
		return "", err
	}
	defer s.close()
	file := filepath.Join(s.dir, "commit")
	if err := os.WriteFile(file, text, 0o600); err != nil {
		return "", err
	}
	var id string
	args := []string{"hash-object", "-t", "commit", "-w", "--no-filters", "--stdin-paths"}
	err = r.askServer(ctx, &r.committer, args, []byte(quoted(file)+"\n"), func(out *bufio.Reader) error {
		line, err := out.ReadString('\n')
		id = strings.TrimSpace(line)
		return err
	})
	if err != nil {
		return "", fmt.Errorf("make a commit: %w", err)
	}
	return id, nil
}

// quoted returns a path as git reads it from a line.
func quoted(path string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`).Replace(filepath.ToSlash(path)) + `"`
}
