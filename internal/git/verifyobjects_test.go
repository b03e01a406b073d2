package git

import (
	"bytes"
	"compress/zlib"
	"context"
	"fmt"
	"os"
	"strings"
	"testing"
)

// forge stores a content under the id of another object.
func (b *sandbox) forge(id, kind, content string) {
	b.Helper()
	var packed bytes.Buffer
	w := zlib.NewWriter(&packed)
	_, err := fmt.Fprintf(w, "%s %d\x00%s", kind, len(content), content)
	b.must(err)
	b.must(w.Close())
	b.must(os.Chmod(b.path(".git/objects/"+id[:2]+"/"+id[2:]), 0o644))
	b.write(".git/objects/"+id[:2]+"/"+id[2:], packed.String())
}

// raw returns an object's content, as git stores it.
func (b *sandbox) raw(kind, id string) string {
	out, err := b.repo.run(context.Background(), call{args: []string{"cat-file", kind, id}})
	b.must(err)
	return string(out)
}

func TestForgedObjectsAreFound(t *testing.T) {
	for _, format := range []string{"sha1", "sha256"} {
		t.Run(format, func(t *testing.T) {
			t.Setenv("GIT_DEFAULT_HASH", format)
			b := newRepo(t, "a", "old", "d/e/b", "old", "d/c", "c")
			was := b.snapshot()
			blob := b.git("rev-parse", was+":d/e/b")
			sound := func() error {
				err := b.repo.VerifyObjects(t.Context(), []string{was, b.git("rev-parse", "HEAD")})
				if err == nil {
					_, err = b.repo.Blobs(t.Context(), []string{blob})
				}
				return err
			}
			b.must(sound())
			b.write("d/e/b", "new")
			now := b.snapshot()
			for _, forged := range []struct{ kind, from, to string }{
				{"blob", was + ":d/e/b", now + ":d/e/b"}, {"tree", was + ":d/e", now + ":d/e"}, {"tree", was + "^{tree}", now + "^{tree}"},
			} {
				id := b.git("rev-parse", forged.from)
				old := b.raw(forged.kind, id)
				b.forge(id, forged.kind, b.raw(forged.kind, b.git("rev-parse", forged.to)))
				if err := sound(); err == nil { // git itself detects some
					t.Errorf("%s %s: %v", forged.kind, id, err)
				}
				b.forge(id, forged.kind, old)
				b.must(sound())
			}
			if err := b.repo.VerifyObjects(t.Context(), []string{strings.Repeat("1", len(blob))}); err == nil {
				t.Error("an object that is not there is sound")
			}
		})
	}
}
