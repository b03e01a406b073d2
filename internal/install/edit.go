package install

import (
	"encoding/json"
	"reflect"
	"slices"

	"github.com/tailscale/hujson"

	"github.com/pawl-dev/pawl/internal/atomicfile"
)

// editor changes a document and keeps its origin.
type editor struct {
	*document
	style   style
	origin  *Origin
	changed bool
}

func newEditor(file []byte) (*editor, error) {
	d, err := parse(file)
	if err != nil {
		return nil, err
	}
	return &editor{document: d, style: d.style()}, nil
}

// loadOrigin sets the origin from an earlier one. If no entries of ours are left, the origin is the
// current file.
func (e *editor) loadOrigin(file []byte, was *Origin) {
	hooks, _ := e.object("hooks")
	installed := false
	for i := 0; hooks != nil && i < len(hooks.Members) && !installed; i++ {
		_, groups := pawlEvent(hooks, i)
		installed = groups != nil
	}
	e.origin = &Origin{Unknown: installed}
	if was != nil {
		e.origin = was.clone()
		e.origin.Env = slices.DeleteFunc(e.origin.Env, func(v Var) bool { return !e.isSet(v) })
	}
	switch {
	case len(e.origin.Env) == 0 && !installed:
		e.origin = &Origin{Missing: file == nil}
		if e.isBlank && file != nil {
			all := string(file)
			e.origin.Blank = &all
		}
	case len(e.origin.Env) == 0:
		e.origin.forget("env")
	case !installed:
		e.origin.forget("hooks")
	}
}

// isSet reports whether a variable has this value.
func (e *editor) isSet(v Var) bool {
	env, _ := e.object("env")
	if env == nil {
		return false
	}
	value, ok := stringValue(lastMember(env, v.Name))
	return ok && value == v.Value
}

// object returns a member of the root that is an object, nil if there is none.
func (e *editor) object(name string) (*hujson.Object, error) {
	v := lastMember(e.root, name)
	if v == nil {
		return nil, nil
	}
	obj, ok := v.Value.(*hujson.Object)
	if !ok {
		return nil, e.errorAt(v.StartOffset, "%q is %s, not an object", name, kindName(*v))
	}
	return obj, nil
}

// ensureObject returns such an object, adding it if it is missing, and the placement of its
// members.
func (e *editor) ensureObject(name string) (*hujson.Object, placement, error) {
	obj, err := e.object(name)
	if err != nil {
		return nil, placement{}, err
	}
	if obj == nil {
		obj = &hujson.Object{}
		e.add(list{object: e.root}, insertion{"", name, filePlacement()}, obj)
		e.origin.setCreated(name)
	}
	return obj, e.memberPlace(e.root, name, filePlacement()), nil
}

// memberPlace returns the placement of a member, from which its content is indented.
func (e *editor) memberPlace(in *hujson.Object, name string, outer placement) placement {
	p := e.style.elementPlacement(list{object: in}, outer)
	if indent, ok := indentation(in.Members[lastIndex(in, name)].Name.BeforeExtra); ok {
		return placement{true, indent}
	}
	return p
}

// insertion is where a new element goes: the path of the list, the element's name, and the list's
// placement.
type insertion struct {
	path, name string
	outer      placement
}

// add appends an element to a list.
func (e *editor) add(in list, to insertion, value hujson.ValueTrimmed) {
	gap, end := e.style.gapBefore(in, to.outer)
	empty := in.len() == 0
	n := in.len()
	if empty {
		_, rest := splitAfterComments(*in.tail())
		e.origin.setEmpty(to.path, string(rest))
	}
	in.add(to.name, value, gap)
	if empty {
		*in.tail() = hujson.Extra(end)
	}
	if in.object != nil {
		in.object.Members[n].Value.BeforeExtra = hujson.Extra(e.style.spaceAfterColon(gap))
	}
	e.changed = true
}

// setEvent makes our groups of an event equal to the wanted ones.
func (e *editor) setEvent(want Event) error {
	hooks, outer, err := e.ensureObject("hooks")
	if err != nil {
		return err
	}
	path := eventPath(want.Name)
	v := lastMember(hooks, want.Name)
	if v == nil {
		e.add(list{object: hooks}, insertion{"hooks", want.Name, outer}, &hujson.Array{})
		e.origin.setCreated(path)
		v = lastMember(hooks, want.Name)
	} else if groups, ok := v.Value.(*hujson.Array); !ok {
		return e.errorAt(v.StartOffset, "%q is %s, not a list", "hooks."+want.Name, kindName(*v))
	} else if !hasPawlHook(groups) {
		e.origin.forget(path)
	}
	groups, _ := v.Value.(*hujson.Array)
	at := e.memberPlace(hooks, want.Name, outer)
	rest, err := e.replaceGroups(groups, want.Groups, at)
	if err != nil {
		return err
	}
	for _, g := range rest {
		value, err := e.style.render(g, e.style.elementPlacement(list{array: groups}, at))
		if err != nil {
			return err
		}
		e.add(list{array: groups}, insertion{path: path, outer: at}, value)
	}
	return nil
}

// replaceGroups replaces our groups by the wanted ones, and removes the rest of ours. It returns
// the wanted groups that are left.
func (e *editor) replaceGroups(groups *hujson.Array, want []Group, at placement) ([]Group, error) {
	for i := 0; i < len(groups.Elements); i++ {
		group := &groups.Elements[i]
		hooks, mine, all := pawlHooks(*group)
		switch {
		case !all:
			e.removeHooks(hooks, mine)
		case len(want) == 0 && len(groups.Elements) > 1:
			e.removeElement(list{array: groups}, i)
			i--
		case len(want) > 0:
			if !equalGroup(*group, want[0]) {
				value, err := e.style.render(want[0], e.style.placementOf(*group, at))
				if err != nil {
					return nil, err
				}
				group.Value, e.changed = value, true
			}
			want = want[1:]
		}
	}
	return want, nil
}

// removeHooks removes our hooks from a group that has others, too.
func (e *editor) removeHooks(hooks *hujson.Array, mine []int) {
	for _, i := range slices.Backward(mine) {
		e.removeElement(list{array: hooks}, i)
	}
}

func (e *editor) removeElement(in list, i int) {
	in.remove(i)
	e.changed = true
}

// equalGroup reports whether a group in the file has the wanted values, however it is written.
func equalGroup(group hujson.Value, want Group) bool {
	have, err := decodeValue(group)
	if err != nil {
		return false
	}
	data, err := atomicfile.EncodeJSON(want)
	if err != nil {
		return false
	}
	var wanted any
	err = json.Unmarshal(data, &wanted)
	return err == nil && reflect.DeepEqual(have, wanted)
}

// removeUnwantedHooks removes our hooks from all events but the wanted ones.
func (e *editor) removeUnwantedHooks(wanted []string) {
	hooks, _ := e.object("hooks")
	if hooks == nil {
		return
	}
	dropped := false
	for i := range slices.Backward(hooks.Members) {
		name, groups := pawlEvent(hooks, i)
		if groups == nil || slices.Contains(wanted, name) {
			continue
		}
		dropped = true
		for j, group := range slices.Backward(groups.Elements) {
			if inner, mine, all := pawlHooks(group); all {
				e.removeElement(list{array: groups}, j)
			} else {
				e.removeHooks(inner, mine)
			}
		}
		e.restoreEmptied(list{array: groups}, list{object: hooks}, eventPath(name), i)
	}
	switch {
	case !dropped || len(hooks.Members) > 0:
	case len(wanted) > 0 && (list{object: hooks}).isBare() && e.origin.wasCreated("hooks"): // more will be added
		e.origin.setCreated("hooks")
	case len(wanted) > 0:
		e.restoreWhitespace(list{object: hooks}, "hooks")
	default:
		e.restoreEmptied(list{object: hooks}, list{object: e.root}, "hooks", lastIndex(e.root, "hooks"))
	}
}

// restoreEmptied restores the white space of a list that we emptied, or removes the list if we
// created it.
func (e *editor) restoreEmptied(l, in list, path string, i int) {
	if l.len() > 0 {
		return
	}
	if l.isBare() && e.origin.wasCreated(path) {
		e.removeElement(in, i)
		if in.len() == 0 && in.object == e.root {
			e.restoreWhitespace(in, "")
		}
		return
	}
	e.restoreWhitespace(l, path)
}

// restoreWhitespace restores the white space that an empty list had.
func (e *editor) restoreWhitespace(l list, path string) {
	comments, rest := splitAfterComments(*l.tail())
	if inside, ok := e.origin.Empty[path]; ok {
		*l.tail() = join(comments, []byte(inside))
	} else if len(comments) == 0 {
		*l.tail() = nil
	} else {
		*l.tail() = join(comments, rest)
	}
}

// setVariable sets a variable unless one with that name exists.
func (e *editor) setVariable(want Var) error {
	env, err := e.object("env")
	if err != nil {
		return err
	}
	if env != nil && lastMember(env, want.Name) != nil {
		return nil
	}
	env, outer, err := e.ensureObject("env")
	if err != nil {
		return err
	}
	e.add(list{object: env}, insertion{"env", want.Name, outer}, hujson.String(want.Value))
	e.origin.setVariable(want)
	return nil
}

// removeVariables removes the variables that we set, unless someone changed them.
func (e *editor) removeVariables() {
	env, _ := e.object("env")
	if env == nil {
		return
	}
	for _, v := range e.origin.Env {
		if !e.isSet(v) {
			continue
		}
		e.removeElement(list{object: env}, lastIndex(env, v.Name))
		e.restoreEmptied(list{object: env}, list{object: e.root}, "env", lastIndex(e.root, "env"))
	}
}

func eventPath(name string) string { return "hooks/" + name }
