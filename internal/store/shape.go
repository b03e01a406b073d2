package store

import (
	"encoding/json"
	"hash/fnv"
	"io"
	"reflect"
	"strconv"
)

// shapeOf tells the types that a value of t is made of from others, by what JSON
// shows of them. A file that is derived says with it which types it was made of: one
// of another shape would be read with fields left empty, and is derived anew.
func shapeOf(t reflect.Type) string {
	sum := fnv.New64a()
	writeShape(sum, t, map[reflect.Type]bool{})
	return strconv.FormatUint(sum.Sum64(), 36)
}

// writeShape writes the shape of t, in which each type of seen stands already.
func writeShape(w io.Writer, t reflect.Type, seen map[reflect.Type]bool) {
	if t == nil {
		return
	}
	_, _ = io.WriteString(w, t.String()+"{") // a hash takes everything
	if seen[t] || t.Implements(reflect.TypeFor[json.Marshaler]()) {
		return // it stands there already, or it says itself how it is written
	}
	seen[t] = true
	switch t.Kind() {
	case reflect.Struct:
		for f := range t.Fields() {
			_, _ = io.WriteString(w, f.Name+" "+string(f.Tag)+" ")
			writeShape(w, f.Type, seen)
		}
	case reflect.Map, reflect.Slice, reflect.Array, reflect.Pointer:
		writeShape(w, t.Elem(), seen)
	default:
		_, _ = io.WriteString(w, t.Kind().String())
	}
	_, _ = io.WriteString(w, "}")
}
