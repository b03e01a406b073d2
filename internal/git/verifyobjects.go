package git

import (
	"bytes"
	"context"
	"crypto/sha1" //nolint:gosec // that is how git names objects
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"hash"
	"slices"
	"strconv"
	"strings"

	"github.com/pawl-dev/pawl/internal/failure"
)

// Git believes that an object is what its name says, without counting again. Whoever
// may write into the repository can put another content under an old name, so that
// yesterday's tree has today's tests in it; what is judged by is counted again.

// VerifyObjects checks that trees (or commits) and blobs have the content that their ids
// stand for. The error names the first object that does not.
func (r *Repo) VerifyObjects(ctx context.Context, trees, blobs []string) error {
	ids := slices.Clone(blobs)
	for _, rev := range slices.Compact(slices.Sorted(slices.Values(trees))) {
		tree, err := r.TreeOf(ctx, rev)
		if err != nil {
			return err
		}
		out, err := r.run(ctx, call{args: []string{"ls-tree", "-r", "-d", "-z", "--full-tree", tree}})
		if err != nil {
			return fmt.Errorf("read tree %s: %w", tree, err)
		}
		ids = append(ids, rev, tree)
		for _, rec := range fields(out) { // mode, type, id, a tab, the path
			if parts := strings.Fields(rec); len(parts) > 2 && parts[1] == "tree" {
				ids = append(ids, parts[2])
			}
		}
	}
	slices.Sort(ids)
	ids = slices.Compact(ids)
	if len(ids) == 0 {
		return nil
	}
	out, err := r.run(ctx, call{args: []string{"cat-file", "--batch"}, stdin: []byte(strings.Join(ids, "\n") + "\n")})
	if err != nil {
		return fmt.Errorf("read objects: %w", err)
	}
	return verifyObjects(ids, out)
}

// verifyObjects compares what cat-file --batch printed with the ids.
func verifyObjects(ids []string, out []byte) error {
	for _, id := range ids {
		head, rest, _ := bytes.Cut(out, []byte("\n"))
		parts := strings.Fields(string(head)) // id, type, size
		if len(parts) != 3 || parts[0] != id {
			return failure.New(failure.Error, "look at what is damaged: git fsck", "git has lost object %s: %s", id, head)
		}
		size, err := strconv.Atoi(parts[2])
		if err != nil || size < 0 || size >= len(rest) {
			return fmt.Errorf("read object %s: unexpected size in %q", id, head)
		}
		var sum hash.Hash = sha1.New() //nolint:gosec // see above
		if len(id) == hex.EncodedLen(sha256.Size) {
			sum = sha256.New()
		}
		fmt.Fprintf(sum, "%s %d\x00", parts[1], size)
		sum.Write(rest[:size])
		if hex.EncodeToString(sum.Sum(nil)) != id {
			return failure.New(failure.Error, "somebody wrote into git's objects; look at which: git fsck",
				"the %s %s in git's objects is not what its name says", parts[1], id)
		}
		out = rest[size+1:]
	}
	return nil
}
