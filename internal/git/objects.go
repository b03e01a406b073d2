package git

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha1" //nolint:gosec // that is how git names objects
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"hash"
	"io"
	"slices"
	"strings"
	"sync"

	"github.com/pawl-dev/pawl/internal/failure"
	"github.com/pawl-dev/pawl/internal/regex"
)

// object is a git object.
type object struct {
	id, kind string // "" if it does not exist, or its name is ambiguous
	data     []byte // nil if it is too large
}

// objectID matches the id of an object, as git prints it: SHA-1 or SHA-256.
const objectID = `[0-9a-f]{40}|[0-9a-f]{64}`

var (
	fullID = regex.New(`^(?:` + objectID + `)$`)
	// fixedRevision matches revisions that always mean the same object: a full id, or its tree or
	// commit.
	fixedRevision = regex.New(`^(?:` + objectID + `)(?:\^\{(?:tree|commit)\})?$`)
)

// readObjects reads objects by name, without the data of those larger than size bytes (0 = any).
func (r *Repo) readObjects(ctx context.Context, names []string, size int) ([]object, error) {
	if len(names) == 0 {
		return nil, nil
	}
	var found []object
	request := []byte(strings.Join(names, "\n") + "\n")
	err := r.askServer(ctx, &r.reader, []string{"cat-file", "--batch"}, request, func(out *bufio.Reader) (err error) {
		found = make([]object, len(names))
		for i := 0; i < len(found) && err == nil; i++ {
			found[i], err = readObject(out, size)
		}
		return err
	})
	for i := 0; i < len(found) && err == nil; i++ {
		err = found[i].verify()
	}
	return found, err
}

// readObject reads a response of cat-file --batch: id, type and size, a line end, the content, a
// line end.
func readObject(out *bufio.Reader, size int) (object, error) {
	line, err := out.ReadString('\n')
	if err != nil {
		return object{}, err
	}
	if strings.HasSuffix(line, " missing\n") || strings.HasSuffix(line, " ambiguous\n") {
		return object{}, nil
	}
	var o object
	var n int64
	if _, err := fmt.Sscanf(line, "%s %s %d\n", &o.id, &o.kind, &n); err != nil || !fullID.MatchString(o.id) || n < 0 {
		return object{}, fmt.Errorf("unexpected answer %q", line)
	}
	if size > 0 && n > int64(size) {
		_, err = io.CopyN(io.Discard, out, n)
	} else {
		var data bytes.Buffer // grows with the input: a forged object may claim any size
		_, err = io.CopyN(&data, out, n)
		o.data = append([]byte{}, data.Bytes()...)
	}
	if err == nil {
		_, err = out.Discard(1)
	}
	return o, err
}

// verify checks that an object's content matches its id. Git does not check that when it reads. So
// whoever can write to the repository can put other content under an old id, for example today's
// tests into yesterday's tree.
func (o object) verify() error {
	if o.data == nil || o.sum() == o.id {
		return nil
	}
	return failure.New(failure.Error, "something wrote into git's object store; see what:  git fsck",
		"the content of %s %s in git's object store does not match its name", o.kind, o.id)
}

// sum returns the id that the content has, by the hash of the id.
func (o object) sum() string {
	var sum hash.Hash = sha1.New() //nolint:gosec // that is how git names objects
	if len(o.id) == hex.EncodedLen(sha256.Size) {
		sum = sha256.New()
	}
	fmt.Fprintf(sum, "%s %d\x00", o.kind, len(o.data))
	sum.Write(o.data)
	return hex.EncodeToString(sum.Sum(nil))
}

// VerifyObjects reads trees (or commits) with all their subtrees by a git without a cache. The
// error names the first object whose content does not match its id.
func (r *Repo) VerifyObjects(ctx context.Context, trees []string) error {
	r.reader.end()
	todo := slices.Clone(trees)
	for _, rev := range trees {
		todo = append(todo, rev+"^{tree}")
	}
	seen := map[string]bool{}
	for len(todo) > 0 {
		found, err := r.readObjects(ctx, todo, 0)
		if err != nil {
			return fmt.Errorf("read objects: %w", err)
		}
		var below []string
		for i, o := range found {
			if o.kind == "" {
				return failure.New(failure.Error, "look at what is damaged: git fsck", "%w object %s", ErrLost, todo[i])
			}
			if o.kind != "tree" {
				continue
			}
			err := eachEntry(o.data, len(o.id), func(mode, _, id []byte) {
				if string(mode) != "40000" && string(mode) != modeTree {
					return
				}
				if name := hex.EncodeToString(id); !seen[name] {
					seen[name], below = true, append(below, name)
				}
			})
			if err != nil {
				return fmt.Errorf("read tree %s: %w", o.id, err)
			}
		}
		todo = below
	}
	return nil
}

// objects reads objects by name, from the cache if the name always means the same object.
func (r *Repo) objects(ctx context.Context, names ...string) ([]object, error) {
	named := func(name string) bool { return !fixedRevision.MatchString(name) }
	if r.of != nil && !slices.ContainsFunc(names, named) {
		return r.of.objects(ctx, names...)
	}
	found := make([]object, len(names))
	var asked []string
	var places []int // indexes of these in names
	for i, name := range names {
		o, known := r.answers.get(name)
		if found[i] = o; !known {
			asked, places = append(asked, name), append(places, i)
		}
	}
	read, err := r.readObjects(ctx, asked, 0)
	if err != nil {
		return nil, err
	}
	for i, o := range read {
		found[places[i]] = o
		if o.id != "" && fixedRevision.MatchString(asked[i]) {
			r.answers.keep(asked[i], o)
		}
	}
	return found, nil
}

// CheckTree returns ErrLost if git does not have a tree any more. Git deletes a tree with all that no
// other tree needs, so its subtrees and files are there if it is.
func (r *Repo) CheckTree(ctx context.Context, id string) error {
	if r.of != nil {
		return r.of.CheckTree(ctx, id)
	}
	found, err := r.readObjects(ctx, []string{id}, maxAnswer)
	if err == nil && found[0].kind == "" {
		err = missingContent(id)
	}
	return err
}

// Blobs reads blobs by id. It asks git each time, so that it detects a forged object.
func (r *Repo) Blobs(ctx context.Context, ids []string) (map[string][]byte, error) {
	found, err := r.readObjects(ctx, ids, 0)
	return blobsOf(ids, found, err)
}

// KnownBlobs is Blobs with a cache, for callers that do not need the check.
func (r *Repo) KnownBlobs(ctx context.Context, ids []string) (map[string][]byte, error) {
	found, err := r.objects(ctx, ids...)
	return blobsOf(ids, found, err)
}

func blobsOf(ids []string, found []object, err error) (map[string][]byte, error) {
	if err != nil {
		return nil, fmt.Errorf("read %d files: %w", len(ids), err)
	}
	blobs := map[string][]byte{}
	for i, o := range found {
		if o.kind == "" {
			return nil, missingContent(ids[i])
		}
		blobs[o.id] = o.data
	}
	return blobs, nil
}

// maxAnswers limits the size of the cached objects, and maxAnswer that of each, in bytes.
const (
	maxAnswers = 4 << 20
	maxAnswer  = 1 << 20
)

// answers caches objects by names that always mean the same object. A claim reads some of them ten
// times.
type answers struct {
	mu   sync.Mutex
	said map[string]object
	size int
}

// get returns a copy of a cached object.
func (a *answers) get(name string) (object, bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	o, ok := a.said[name]
	o.data = bytes.Clone(o.data)
	return o, ok
}

// keep caches a copy of an object. If the cache is full it is emptied first, because later reads
// are mostly of newer objects.
func (a *answers) keep(name string, o object) {
	size := len(o.data) + len(name) + len(o.id)
	if size > maxAnswer {
		return
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.said == nil || a.size > maxAnswers {
		a.said, a.size = map[string]object{}, 0
	}
	o.data = bytes.Clone(o.data)
	a.said[name] = o
	a.size += size
}
