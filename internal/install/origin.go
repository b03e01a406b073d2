package install

import (
	"maps"
	"slices"
)

// Origin describes a settings file before our entries were added, as far as the entries do not show
// it. It names lists by path: "" is the root, then "hooks", "hooks/Stop", "env". Of the file's
// content, it only holds white space and what we wrote.
type Origin struct {
	Unknown bool              `json:"unknown,omitempty"` // our entries were there first: lists that we empty count as ours
	Missing bool              `json:"missing,omitempty"` // there was no file
	Folder  bool              `json:"folder,omitempty"`  // we created the file's folder
	Blank   *string           `json:"blank,omitempty"`   // the content of a file with only white space
	Made    []string          `json:"made,omitempty"`    // lists that we created
	Empty   map[string]string `json:"empty,omitempty"`   // white space before the closing bracket of empty lists
	Env     []Var             `json:"env,omitempty"`     // variables that we set
}

func (o *Origin) clone() *Origin {
	if o == nil {
		return nil
	}
	c := *o
	c.Made, c.Empty, c.Env = slices.Clone(o.Made), maps.Clone(o.Empty), slices.Clone(o.Env)
	return &c
}

// setCreated stores that we created a list.
func (o *Origin) setCreated(path string) {
	o.forget(path)
	o.Made = append(o.Made, path)
}

// wasCreated reports whether we created a list.
func (o *Origin) wasCreated(path string) bool {
	_, known := o.Empty[path]
	return slices.Contains(o.Made, path) || o.Unknown && !known
}

// setEmpty stores the white space of a list that was empty, unless we created it.
func (o *Origin) setEmpty(path, inside string) {
	if slices.Contains(o.Made, path) {
		return
	}
	if o.Empty == nil {
		o.Empty = map[string]string{}
	}
	o.Empty[path] = inside
}

// forget deletes what is stored about a list, since someone else changed it.
func (o *Origin) forget(path string) {
	delete(o.Empty, path)
	o.Made = slices.DeleteFunc(o.Made, func(p string) bool { return p == path })
}

// setVariable stores that we set a variable.
func (o *Origin) setVariable(v Var) {
	o.Env = slices.DeleteFunc(o.Env, func(old Var) bool { return old.Name == v.Name })
	o.Env = append(o.Env, v)
}
