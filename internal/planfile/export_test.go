package planfile

import "reflect"

// SameReading reports whether both files were read as the same, to the place of each mark.
func SameReading(a, b *File) bool {
	if whole, err := a.withParts(); err == nil {
		a.parts = whole.parts // of JSON they are looked for when they are needed
	}
	return a.name == b.name && string(a.data) == string(b.data) && reflect.DeepEqual(a.reading, b.reading)
}
