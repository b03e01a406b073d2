package git

import (
	"bytes"
	"context"
	"fmt"
	"strconv"
	"strings"
)

// Blobs reads files by the ids of their contents.
func (r *Repo) Blobs(ctx context.Context, ids []string) (map[string][]byte, error) {
	if len(ids) == 0 {
		return nil, nil
	}
	out, err := r.run(ctx, call{args: []string{"cat-file", "--batch"}, stdin: []byte(strings.Join(ids, "\n") + "\n")})
	if err != nil {
		return nil, fmt.Errorf("read %d files: %w", len(ids), err)
	}
	blobs := map[string][]byte{}
	for len(out) > 0 {
		line, rest, _ := bytes.Cut(out, []byte("\n"))
		head := strings.Fields(string(line)) // id, type, size
		if len(head) != 3 {
			return nil, fmt.Errorf("read %d files: unexpected record %q", len(ids), line)
		}
		n, err := strconv.Atoi(head[2])
		if err != nil || n < 0 || n >= len(rest) {
			return nil, fmt.Errorf("read %d files: unexpected record %q", len(ids), line)
		}
		blobs[head[0]], out = rest[:n], rest[n+1:]
	}
	return blobs, nil
}
