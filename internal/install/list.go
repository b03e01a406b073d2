package install

import (
	"bytes"
	"slices"

	"github.com/tailscale/hujson"
)

// list is an array or an object, seen as things with commas between them.
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

// before is what stands between the comma (or bracket) before a thing and it.
func (l list) before(i int) *hujson.Extra {
	if l.array != nil {
		return &l.array.Elements[i].BeforeExtra
	}
	return &l.object.Members[i].Name.BeforeExtra
}

// after is what stands between a thing and the comma after it. For the last one
// it is nil where there is no such comma.
func (l list) after(i int) *hujson.Extra {
	if l.array != nil {
		return &l.array.Elements[i].AfterExtra
	}
	return &l.object.Members[i].Value.AfterExtra
}

// tail is what stands before the closing bracket.
func (l list) tail() *hujson.Extra {
	if l.array != nil {
		return &l.array.AfterExtra
	}
	return &l.object.AfterExtra
}

// bare reports whether nothing is left in it, not even a comment.
func (l list) bare() bool { return l.len() == 0 && len(bytes.Trim(*l.tail(), blanks)) == 0 }

// add puts a thing at the end; gap is the white space before it. Comments that
// stand there stay where they are, before it. The name is ignored in an array.
func (l list) add(name string, value hujson.ValueTrimmed, gap string) {
	comments, rest := cut(*l.tail())
	v := hujson.Value{Value: value}
	if n := l.len(); n > 0 && *l.after(n - 1) != nil {
		v.AfterExtra = hujson.Extra{} // a file that ends its lists with a comma continues to
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

// remove takes a thing out, with the white space before it and its comma: what
// add did, backwards. Comments around it stay.
func (l list) remove(i int) {
	comments, gap := cut(*l.before(i))
	comma := *l.after(i) != nil
	after, _ := cut(*l.after(i))
	rest := l.tail()
	if i < l.len()-1 {
		rest = l.before(i + 1)
		if i == 0 && len(bytes.Trim(*rest, blanks)) == 0 {
			*rest = gap // the first stands as the first did
		}
	} else if i > 0 {
		prev := l.after(i - 1)
		if !comma {
			comments, *prev = join(*prev, comments), nil
		} else if *prev == nil {
			*prev = hujson.Extra{}
		}
	}
	*rest = glue(comments, glue(after, *rest))
	if l.array != nil {
		l.array.Elements = slices.Delete(l.array.Elements, i, i+1)
	} else {
		l.object.Members = slices.Delete(l.object.Members, i, i+1)
	}
}

// cut parts what stands before a bracket or a thing into everything up to its
// last comment, and the white space after.
func cut(e hujson.Extra) (comments, rest hujson.Extra) {
	n := len(bytes.TrimRight(e, blanks))
	return e[:n:n], e[n:]
}

func join(parts ...[]byte) hujson.Extra { return slices.Concat(parts...) }

// glue joins two pieces. A comment at the end of the first that has lost the end
// of its line gets one.
func glue(a, b hujson.Extra) hujson.Extra {
	if a.IsValid() || bytes.HasPrefix(bytes.TrimLeft(b, " \t\r"), []byte("\n")) {
		return join(a, b)
	}
	return join(a, []byte("\n"), b)
}
