package store

import (
	"encoding/json"
	"hash/fnv"
	"io"
	"reflect"
	"strconv"
	"sync"
)

// typeHash returns a hash of a type and the types in it, as far as JSON shows them. A
// derived file contains it: a file of another type would be read with empty fields, and
// is derived again. A type that encodes itself as one of several types names them by Variants.
func typeHash(t reflect.Type) string { return typeHashes()(t) }

// typeHashes keeps the hashes: a walk through the state's type takes half a millisecond, and
// each event of a session reads the state and writes it.
var typeHashes = sync.OnceValue(func() func(reflect.Type) string {
	var known sync.Map // reflect.Type: string
	return func(t reflect.Type) string {
		hash, ok := known.Load(t)
		if !ok {
			sum := fnv.New64a()
			writeType(sum, t, map[reflect.Type]bool{})
			hash = strconv.FormatUint(sum.Sum64(), 36)
			known.Store(t, hash)
		}
		return hash.(string)
	}
})

// writeType writes a description of t, without the types in seen.
func writeType(w io.Writer, t reflect.Type, seen map[reflect.Type]bool) {
	if t == nil {
		return
	}
	_, _ = io.WriteString(w, t.String()+"{") // never fails
	if seen[t] {
		return
	}
	seen[t] = true
	if t.Kind() != reflect.Pointer && t.Implements(reflect.TypeFor[json.Marshaler]()) { // encoded by its own method
		if v, ok := reflect.TypeAssert[interface{ Variants() []any }](reflect.Zero(t)); ok {
			for _, p := range v.Variants() {
				writeType(w, reflect.TypeOf(p), seen)
			}
		}
		return
	}
	switch t.Kind() {
	case reflect.Struct:
		for f := range t.Fields() {
			_, _ = io.WriteString(w, f.Name+" "+string(f.Tag)+" ")
			writeType(w, f.Type, seen)
		}
	case reflect.Map, reflect.Slice, reflect.Array, reflect.Pointer:
		writeType(w, t.Elem(), seen)
	default:
		_, _ = io.WriteString(w, t.Kind().String())
	}
	_, _ = io.WriteString(w, "}")
}
