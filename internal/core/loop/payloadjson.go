package loop

import (
	"bytes"
	"encoding/json"
	"reflect"
	"slices"
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

// decode decodes the payload of a kind into the type that has it. It returns unknown if none has.
func decode[K ~string, P payload[K]](data []byte, kind K, types []P, unknown P) (P, error) {
	i := slices.IndexFunc(types, func(p P) bool { return p.kind() == kind })
	if i < 0 {
		return unknown, nil
	}
	v := reflect.New(reflect.TypeOf(types[i]))
	err := json.Unmarshal(data, v.Interface())
	p, _ := reflect.TypeAssert[P](v.Elem())
	return p, err
}
