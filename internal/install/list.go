package install

import (
	"bytes"
	"slices"

	"github.com/tailscale/hujson"
)

// list is an array or an object, as elements with commas between them.
type list struct {
	array  *hujson.Array
	object *hujson.Object
}

func (l list) len() int {
	if l.array != nil {
		return len(l.array.Elements)
	}
	return len(l.object.Members)
}

// before returns the bytes before an element, up to the comma or bracket.
func (l list) before(i int) *hujson.Extra {
	if l.array != nil {
		return &l.array.Elements[i].BeforeExtra
	}
	return &l.object.Members[i].Name.BeforeExtra
}

// after returns the bytes between an element and the comma after it. It points to nil if the last
// element has no comma.
func (l list) after(i int) *hujson.Extra {
	if l.array != nil {
		return &l.array.Elements[i].AfterExtra
	}
	return &l.object.Members[i].Value.AfterExtra
}

// tail returns the bytes before the closing bracket.
func (l list) tail() *hujson.Extra {
	if l.array != nil {
		return &l.array.AfterExtra
	}
	return &l.object.AfterExtra
}

// isBare reports whether a list has neither elements nor comments.
func (l list) isBare() bool { return l.len() == 0 && len(bytes.Trim(*l.tail(), blanks)) == 0 }

// add appends an element with the white space gap before it. Comments at the end of the list stay
// before it. An array ignores the name.
func (l list) add(name string, value hujson.ValueTrimmed, gap string) {
	comments, rest := splitAfterComments(*l.tail())
	v := hujson.Value{Value: value}
	if n := l.len(); n > 0 && *l.after(n - 1) != nil {
		v.AfterExtra = hujson.Extra{} // keep the trailing comma
	}
	before := join(comments, []byte(gap))
	*l.tail() = rest
	if l.array != nil {
		v.BeforeExtra = before
		l.array.Elements = append(l.array.Elements, v)
		return
	}
	l.object.Members = append(l.object.Members, hujson.ObjectMember{
		Name: hujson.Value{BeforeExtra: before, Value: hujson.String(name)}, Value: v,
	})
}

// remove removes an element, the white space before it, and its comma. It undoes add. Comments
// stay.
func (l list) remove(i int) {
	comments, gap := splitAfterComments(*l.before(i))
	comma := *l.after(i) != nil
	after, _ := splitAfterComments(*l.after(i))
	rest := l.tail()
	if i < l.len()-1 {
		rest = l.before(i + 1)
		if i == 0 && len(bytes.Trim(*rest, blanks)) == 0 {
			*rest = gap // the new first element is placed like the old one
		}
	} else if i > 0 {
		prev := l.after(i - 1)
		if !comma {
			comments, *prev = join(*prev, comments), nil
		} else if *prev == nil {
			*prev = hujson.Extra{}
		}
	}
	*rest = joinWithLineEnd(comments, joinWithLineEnd(after, *rest))
	if l.array != nil {
		l.array.Elements = slices.Delete(l.array.Elements, i, i+1)
	} else {
		l.object.Members = slices.Delete(l.object.Members, i, i+1)
	}
}

// splitAfterComments splits the bytes before an element or a bracket after the last comment.
func splitAfterComments(e hujson.Extra) (comments, rest hujson.Extra) {
	n := len(bytes.TrimRight(e, blanks))
	return e[:n:n], e[n:]
}

func join(parts ...[]byte) hujson.Extra { return slices.Concat(parts...) }

// joinWithLineEnd joins two pieces. It adds a line end if the first ends in a comment without one.
func joinWithLineEnd(a, b hujson.Extra) hujson.Extra {
	if a.IsValid() || bytes.HasPrefix(bytes.TrimLeft(b, " \t\r"), []byte("\n")) {
		return join(a, b)
	}
	return join(a, []byte("\n"), b)
}
