package planfile

import (
	"bytes"
	"slices"
	"sync"
)

// Reader reads plans and caches the last few, so that the same bytes are not parsed twice. Files do
// not change, so they can be shared. The zero Reader is ready to use.
type Reader struct {
	mu     sync.Mutex
	recent []*File // the most recently used first
}

// maxRecent suffices for a plan and its copy, each before and after a tick.
const maxRecent = 4

// Load is like the function Load, with the cache.
func (r *Reader) Load(path string) (*File, error) {
	data, err := Read(path)
	if err != nil {
		return nil, err
	}
	return r.Decode(path, data)
}

// Decode is like the function Decode, with the cache.
func (r *Reader) Decode(name string, data []byte) (*File, error) {
	return r.cached(name, data, func() (*File, error) { return Decode(name, data) })
}

// cached returns the cached file with these bytes, or adds the one that read returns.
func (r *Reader) cached(name string, data []byte, read func() (*File, error)) (*File, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	i := slices.IndexFunc(r.recent, func(f *File) bool { return f.name == name && bytes.Equal(f.data, data) })
	if i < 0 {
		f, err := read()
		if err != nil {
			return nil, err
		}
		f.reader = r
		r.recent, i = append(r.recent, f), len(r.recent)
	}
	f := r.recent[i]
	r.recent = slices.Insert(slices.Delete(r.recent, i, i+1), 0, f)
	r.recent = r.recent[:min(len(r.recent), maxRecent)]
	return f, nil
}

// derive returns a file made from this one, through the cache of this file's Reader.
func (f *File) derive(data []byte, read func() (*File, error)) (*File, error) {
	if f.reader == nil {
		return read()
	}
	return f.reader.cached(f.name, data, read)
}
