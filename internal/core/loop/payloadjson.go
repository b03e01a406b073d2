package loop

import (
	"bytes"
	"encoding/json"
	"reflect"
)

// payload is what an event or an action brings. Its type decides its kind.
type payload[K ~string] interface{ kind() K }

// kindOf returns the kind of a payload, "" for none.
func kindOf[K ~string](p payload[K]) K {
	if p == nil {
		return ""
	}
	return p.kind()
}

// encode encodes a header and a payload as one JSON object, in which the fields of the payload
// follow those of the header.
func encode(header, payload any) ([]byte, error) {
	object, err := json.Marshal(header)
	if err != nil || payload == nil {
		return object, err
	}
	fields, err := json.Marshal(payload)
	if err != nil || string(fields) == "{}" {
		return object, err
	}
	return append(append(bytes.TrimSuffix(object, []byte("}")), ','), fields[1:]...), nil
}

// decode decodes the payload of a kind. It returns unknown if none of the types is of that kind.
func decode[K ~string, P payload[K]](data []byte, kind K, types []P, unknown P) (P, error) {
	for _, t := range types {
		if t.kind() == kind {
			read := reflect.New(reflect.TypeOf(t))
			err := json.Unmarshal(data, read.Interface())
			p, _ := reflect.TypeAssert[P](read.Elem())
			return p, err
		}
	}
	return unknown, nil
}
