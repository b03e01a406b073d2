package git

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"strings"
)

// withChanges creates a tree that equals base with the To side of changes.
func (r *Repo) withChanges(ctx context.Context, base string, changes []Change) (string, error) {
	tree, err := r.TreeOf(ctx, base)
	if err != nil || len(changes) == 0 {
		return tree, err
	}
	if tree, err = r.changeFolder(ctx, tree, changes); err == nil && tree == "" {
		tree, err = r.makeTree(ctx, nil)
	}
	if err != nil {
		return "", fmt.Errorf("make a tree: %w", err)
	}
	return tree, nil
}

// changeFolder creates the tree of a folder with changes, whose paths are relative to it. It only
// reads and writes folders in which something changes. The tree is "" for a missing or empty
// folder.
func (r *Repo) changeFolder(ctx context.Context, tree string, changes []Change) (string, error) {
	found, err := r.treesOrNone(ctx, []string{tree})
	if err != nil {
		return "", err
	}
	entries := found[0]
	if entries == nil {
		entries = map[string]Entry{}
	}
	below := map[string][]Change{}
	for _, c := range changes { // deletions first: a folder may replace a file
		name, rest, inFolder := strings.Cut(c.Path, "/")
		switch {
		case inFolder:
			c.Path = rest
			below[name] = append(below[name], c)
		case c.Status == 'D' && entries[name].Mode != modeTree:
			delete(entries, name)
		}
	}
	for name, changes := range below {
		was := entries[name]
		if was.Mode != modeTree {
			was.ID = ""
		}
		switch id, err := r.changeFolder(ctx, was.ID, changes); {
		case err != nil:
			return "", err
		case id != "":
			entries[name] = Entry{Mode: modeTree, ID: id}
		case was.ID != "":
			delete(entries, name)
		}
	}
	for _, c := range changes {
		if c.Status != 'D' && !strings.Contains(c.Path, "/") {
			entries[c.Path] = c.To
		}
	}
	if len(entries) == 0 {
		return "", nil
	}
	return r.makeTree(ctx, entries)
}

// makeTree writes a tree with these entries.
func (r *Repo) makeTree(ctx context.Context, entries map[string]Entry) (string, error) {
	if r.of != nil {
		return r.of.makeTree(ctx, entries)
	}
	var in bytes.Buffer
	for name, e := range entries {
		kind := "blob"
		switch e.Mode {
		case modeTree:
			kind = "tree"
		case modeSubmodule:
			kind = "commit"
		}
		fmt.Fprintf(&in, "%s %s %s\t%s\x00", e.Mode, kind, e.ID, name)
	}
	in.WriteByte(0) // ends the tree
	var id string
	// --missing: in a partial clone, the check would fetch every blob.
	err := r.askServer(ctx, &r.writer, []string{"mktree", "-z", "--missing", "--batch"}, in.Bytes(), func(out *bufio.Reader) error {
		line, err := out.ReadString('\n')
		id = strings.TrimSpace(line)
		return err
	})
	return id, err
}
