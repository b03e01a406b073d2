package loop

import (
	"bytes"
	"encoding/json"
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

// variant is one of the types of a payload.
type variant[P any] struct {
	zero   P
	decode func(data []byte) (P, error)
}

func variantOf[T, P any]() variant[P] {
	convert := func(v T) P { p, _ := any(v).(P); return p }
	var zero T
	return variant[P]{convert(zero), func(data []byte) (P, error) {
		var v T
		err := json.Unmarshal(data, &v)
		return convert(v), err
	}}
}

// decode decodes the payload of a kind. It returns unknown if no variant is of that kind.
func decode[K ~string, P payload[K]](data []byte, kind K, variants []variant[P], unknown P) (P, error) {
	for _, v := range variants {
		if v.zero.kind() == kind {
			return v.decode(data)
		}
	}
	return unknown, nil
}
