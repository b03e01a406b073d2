package planfile

import "reflect"

// SameReading reports whether both files were read as the same, to the place of each mark.
func SameReading(a, b *File) bool {
	return a.name == b.name && string(a.data) == string(b.data) && reflect.DeepEqual(a.reading, b.reading)
}
