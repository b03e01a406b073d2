package install

import (
	"maps"
	"slices"
)

// Origin is how a settings file was before our entries came into it: just what
// they do not tell themselves. Lists are named by their path: "" is the root,
// then "hooks", "hooks/Stop", "env". It holds nothing of the file's content but
// white space, and what we wrote.
type Origin struct {
	Unknown bool              `json:"unknown,omitempty"` // our entries were there first: lists that we empty are taken for ours
	Missing bool              `json:"missing,omitempty"` // there was no file
	Folder  bool              `json:"folder,omitempty"`  // nor the folder that it is in
	Blank   *string           `json:"blank,omitempty"`   // all of a file in which nothing was
	Made    []string          `json:"made,omitempty"`    // lists that were not there
	Empty   map[string]string `json:"empty,omitempty"`   // the white space before the closing bracket of lists that were empty
	Env     []Var             `json:"env,omitempty"`     // variables that were not set
}

func (o *Origin) clone() *Origin {
	if o == nil {
		return nil
	}
	c := *o
	c.Made, c.Empty, c.Env = slices.Clone(o.Made), maps.Clone(o.Empty), slices.Clone(o.Env)
	return &c
}

// made says that a list was not there.
func (o *Origin) made(path string) {
	o.forget(path)
	o.Made = append(o.Made, path)
}

// isMade reports whether a list was not there.
func (o *Origin) isMade(path string) bool {
	_, known := o.Empty[path]
	return slices.Contains(o.Made, path) || o.Unknown && !known
}

// wasEmpty says that a list was empty but for white space, unless we made it.
func (o *Origin) wasEmpty(path, inside string) {
	if slices.Contains(o.Made, path) {
		return
	}
	if o.Empty == nil {
		o.Empty = map[string]string{}
	}
	o.Empty[path] = inside
}

// forget drops what was known of a list that is somebody else's by now.
func (o *Origin) forget(path string) {
	delete(o.Empty, path)
	o.Made = slices.DeleteFunc(o.Made, func(p string) bool { return p == path })
}

// set says that a variable was not set.
func (o *Origin) set(v Var) {
	o.Env = slices.DeleteFunc(o.Env, func(old Var) bool { return old.Name == v.Name })
	o.Env = append(o.Env, v)
}
