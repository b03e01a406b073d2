package planfile

import (
	"bytes"
	"slices"
	"sync"
)

// Reader reads plans and keeps the last few, so that bytes that it has read once are not
// parsed again: a File does not change. The zero Reader is ready to use.
type Reader struct {
	mu    sync.Mutex
	known []*File // the last used first
}

// maxKnown is enough for a plan and its copy, each with and without the next mark.
const maxKnown = 4

// Load is the package's Load.
func (r *Reader) Load(path string) (*File, error) {
	data, err := Read(path)
	if err != nil {
		return nil, err
	}
	return r.Decode(path, data)
}

// Decode is the package's Decode.
func (r *Reader) Decode(name string, data []byte) (*File, error) {
	return r.of(name, data, func() (*File, error) { return Decode(name, data) })
}

// of returns the file that is known by these bytes, or else what read makes of them.
func (r *Reader) of(name string, data []byte, read func() (*File, error)) (*File, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	i := slices.IndexFunc(r.known, func(f *File) bool { return f.name == name && bytes.Equal(f.data, data) })
	if i < 0 {
		f, err := read()
		if err != nil {
			return nil, err
		}
		f.by = r
		r.known, i = append(r.known, f), len(r.known)
	}
	f := r.known[i]
	r.known = slices.Insert(slices.Delete(r.known, i, i+1), 0, f)
	r.known = r.known[:min(len(r.known), maxKnown)]
	return f, nil
}

// again is a plan that was made of this one, for who read this one.
func (f *File) again(data []byte, read func() (*File, error)) (*File, error) {
	if f.by == nil {
		return read()
	}
	return f.by.of(f.name, data, read)
}
