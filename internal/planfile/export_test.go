package planfile

import "reflect"

// SameReading reports whether two files were parsed the same, with the offset of each mark.
func SameReading(a, b *File) bool {
	if whole, err := a.withLocations(); err == nil {
		a.locations = whole.locations // JSON files get them when they are needed
	}
	return a.name == b.name && string(a.data) == string(b.data) && reflect.DeepEqual(a.parseResult, b.parseResult)
}
