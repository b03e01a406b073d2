package git

import (
	"bytes"
	"context"
	"fmt"
	"strconv"
	"strings"
)

// Contents reads files of a tree, by path: the first ones in the order of their paths
// that are wanted, each no larger than a size.
func (r *Repo) Contents(ctx context.Context, tree string, most, size int, wanted func(path string) bool) (map[string][]byte, error) {
	id, err := r.TreeOf(ctx, tree)
	if err != nil {
		return nil, err
	}
	out, err := r.run(ctx, call{args: []string{"ls-tree", "-r", "-l", "-z", "--full-tree", id}})
	if err != nil {
		return nil, fmt.Errorf("list files of %s: %w", tree, err)
	}
	var paths []string
	var ids bytes.Buffer
	for _, rec := range fields(out) { // mode, type, id, size, a tab, the path
		about, path, _ := strings.Cut(rec, "\t")
		parts := strings.Fields(about)
		if len(parts) != 4 || parts[0] != "100644" && parts[0] != "100755" || !wanted(path) {
			continue
		}
		if n, err := strconv.Atoi(parts[3]); err != nil || n > size {
			continue
		}
		if paths = append(paths, path); len(paths) > most {
			paths = paths[:most]
			break
		}
		ids.WriteString(parts[2] + "\n")
	}
	if len(paths) == 0 {
		return nil, nil
	}
	if out, err = r.run(ctx, call{args: []string{"cat-file", "--batch"}, stdin: ids.Bytes()}); err != nil {
		return nil, fmt.Errorf("read files of %s: %w", tree, err)
	}
	files := map[string][]byte{}
	for _, path := range paths {
		head, rest, _ := bytes.Cut(out, []byte("\n"))
		parts := strings.Fields(string(head)) // id, type, size
		if len(parts) != 3 {
			return nil, fmt.Errorf("read %s: unexpected answer %q", path, head)
		}
		n, err := strconv.Atoi(parts[2])
		if err != nil || n < 0 || n >= len(rest) {
			return nil, fmt.Errorf("read %s: unexpected size in %q", path, head)
		}
		files[path], out = rest[:n:n], rest[n+1:]
	}
	return files, nil
}
