package install

import (
	"encoding/json"
	"reflect"
	"slices"

	"github.com/tailscale/hujson"
)

// editor changes a document and keeps account of it.
type editor struct {
	*document
	layout  layout
	origin  *Origin
	changed bool
}

func newEditor(file []byte) (*editor, error) {
	d, err := parse(file)
	if err != nil {
		return nil, err
	}
	return &editor{document: d, layout: d.layout()}, nil
}

// begin takes over what is known of the time before our entries. Where none of
// them is left, that time is now.
func (e *editor) begin(file []byte, was *Origin) {
	hooks, _ := e.object("hooks")
	installed := false
	for i := 0; hooks != nil && i < len(hooks.Members) && !installed; i++ {
		_, groups := ownEvent(hooks, i)
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
		if e.blank && file != nil {
			all := string(file)
			e.origin.Blank = &all
		}
	case len(e.origin.Env) == 0:
		e.origin.forget("env")
	case !installed:
		e.origin.forget("hooks")
	}
}

// isSet reports whether a variable has just this value.
func (e *editor) isSet(v Var) bool {
	env, _ := e.object("env")
	if env == nil {
		return false
	}
	value, ok := text(last(env, v.Name))
	return ok && value == v.Value
}

// object is a member of the root that is an object; nil where there is none.
func (e *editor) object(name string) (*hujson.Object, error) {
	v := last(e.root, name)
	if v == nil {
		return nil, nil
	}
	obj, ok := v.Value.(*hujson.Object)
	if !ok {
		return nil, e.fault(v.StartOffset, "%q is %s, not an object", name, kindName(*v))
	}
	return obj, nil
}

// section is that object, made where it is missing, and where its members stand.
func (e *editor) section(name string) (*hujson.Object, place, error) {
	obj, err := e.object(name)
	if err != nil {
		return nil, place{}, err
	}
	if obj == nil {
		obj = &hujson.Object{}
		e.add(list{object: e.root}, step{"", name, around()}, obj)
		e.origin.made(name)
	}
	return obj, e.at(e.root, name, around()), nil
}

// at is the place of a member: what is in it is indented from there.
func (e *editor) at(in *hujson.Object, name string, outer place) place {
	p := e.layout.inside(list{object: in}, outer)
	if indent, ok := indentation(in.Members[lastIndex(in, name)].Name.BeforeExtra); ok {
		return place{true, indent}
	}
	return p
}

// step is the way to something new: the path of the list that it goes into, its
// name there, and where that list stands.
type step struct {
	path, name string
	outer      place
}

// add puts something at the end of a list.
func (e *editor) add(in list, to step, value hujson.ValueTrimmed) {
	gap, end := e.layout.gap(in, to.outer)
	empty := in.len() == 0
	n := in.len()
	if empty {
		_, rest := cut(*in.tail())
		e.origin.wasEmpty(to.path, string(rest))
	}
	in.add(to.name, value, gap)
	if empty {
		*in.tail() = hujson.Extra(end)
	}
	if in.object != nil {
		in.object.Members[n].Value.BeforeExtra = hujson.Extra(e.layout.colon(gap))
	}
	e.changed = true
}

// event makes the groups of an event that are ours those that are wanted.
func (e *editor) event(want Event) error {
	hooks, outer, err := e.section("hooks")
	if err != nil {
		return err
	}
	path := eventPath(want.Name)
	v := last(hooks, want.Name)
	if v == nil {
		e.add(list{object: hooks}, step{"hooks", want.Name, outer}, &hujson.Array{})
		e.origin.made(path)
		v = last(hooks, want.Name)
	} else if groups, ok := v.Value.(*hujson.Array); !ok {
		return e.fault(v.StartOffset, "%q is %s, not a list", "hooks."+want.Name, kindName(*v))
	} else if !holdsOwn(groups) {
		e.origin.forget(path)
	}
	groups, _ := v.Value.(*hujson.Array)
	at := e.at(hooks, want.Name, outer)
	rest, err := e.replace(groups, want.Groups, at)
	if err != nil {
		return err
	}
	for _, g := range rest {
		value, err := e.layout.render(g, e.layout.inside(list{array: groups}, at))
		if err != nil {
			return err
		}
		e.add(list{array: groups}, step{path: path, outer: at}, value)
	}
	return nil
}

// replace puts the wanted groups into the places of those that are ours, and
// returns those for which there was none. What is left of ours goes.
func (e *editor) replace(groups *hujson.Array, want []Group, at place) ([]Group, error) {
	for i := 0; i < len(groups.Elements); i++ {
		group := &groups.Elements[i]
		hooks, mine, all := own(*group)
		switch {
		case !all:
			e.strip(hooks, mine)
		case len(want) == 0 && len(groups.Elements) > 1:
			e.take(list{array: groups}, i)
			i--
		case len(want) > 0:
			if !same(*group, want[0]) {
				value, err := e.layout.render(want[0], e.layout.standing(*group, at))
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

// strip takes our hooks out of a group that has others too.
func (e *editor) strip(hooks *hujson.Array, mine []int) {
	for _, i := range slices.Backward(mine) {
		e.take(list{array: hooks}, i)
	}
}

func (e *editor) take(in list, i int) {
	in.remove(i)
	e.changed = true
}

// same reports whether a group in the file says what is wanted, however it is
// written.
func same(group hujson.Value, want Group) bool {
	have, err := plain(group)
	if err != nil {
		return false
	}
	data, err := compact(want)
	if err != nil {
		return false
	}
	var wanted any
	err = json.Unmarshal(data, &wanted)
	return err == nil && reflect.DeepEqual(have, wanted)
}

// dropUnwanted takes our hooks out of all events but the wanted ones.
func (e *editor) dropUnwanted(wanted []string) {
	hooks, _ := e.object("hooks")
	if hooks == nil {
		return
	}
	dropped := false
	for i := range slices.Backward(hooks.Members) {
		name, groups := ownEvent(hooks, i)
		if groups == nil || slices.Contains(wanted, name) {
			continue
		}
		dropped = true
		for j, group := range slices.Backward(groups.Elements) {
			if inner, mine, all := own(group); all {
				e.take(list{array: groups}, j)
			} else {
				e.strip(inner, mine)
			}
		}
		e.restoreEmptied(list{array: groups}, list{object: hooks}, eventPath(name), i)
	}
	switch {
	case !dropped || len(hooks.Members) > 0:
	case len(wanted) > 0 && (list{object: hooks}).bare() && e.origin.isMade("hooks"): // and more will go in
		e.origin.made("hooks")
	case len(wanted) > 0:
		e.refill(list{object: hooks}, "hooks")
	default:
		e.restoreEmptied(list{object: hooks}, list{object: e.root}, "hooks", lastIndex(e.root, "hooks"))
	}
}

// restoreEmptied gives a list that we emptied the inside it had, or takes it out where
// it was not there before.
func (e *editor) restoreEmptied(l, in list, path string, i int) {
	if l.len() > 0 {
		return
	}
	if l.bare() && e.origin.isMade(path) {
		e.take(in, i)
		if in.len() == 0 && in.object == e.root {
			e.refill(in, "")
		}
		return
	}
	e.refill(l, path)
}

// refill puts the white space back that an empty list had.
func (e *editor) refill(l list, path string) {
	comments, rest := cut(*l.tail())
	if inside, ok := e.origin.Empty[path]; ok {
		*l.tail() = join(comments, []byte(inside))
	} else if len(comments) == 0 {
		*l.tail() = nil
	} else {
		*l.tail() = join(comments, rest)
	}
}

// variable sets a variable, unless there is one of that name.
func (e *editor) variable(want Var) error {
	env, err := e.object("env")
	if err != nil {
		return err
	}
	if env != nil && last(env, want.Name) != nil {
		return nil
	}
	env, outer, err := e.section("env")
	if err != nil {
		return err
	}
	e.add(list{object: env}, step{"env", want.Name, outer}, hujson.String(want.Value))
	e.origin.set(want)
	return nil
}

// dropVariables takes out the variables that we set and nobody changed since.
func (e *editor) dropVariables() {
	env, _ := e.object("env")
	if env == nil {
		return
	}
	for _, v := range e.origin.Env {
		if !e.isSet(v) {
			continue
		}
		e.take(list{object: env}, lastIndex(env, v.Name))
		e.restoreEmptied(list{object: env}, list{object: e.root}, "env", lastIndex(e.root, "env"))
	}
}

func eventPath(name string) string { return "hooks/" + name }
