package mutant

import (
	"fmt"
	"go/ast"
	"go/token"
	"path"
	"strings"

	"github.com/pawl-dev/pawl/internal/regex"
)

// An equality that a change made lenient passes each comparison in tests. A strict mutant compares
// all fields instead.

// EqualityFunctions returns the added or changed functions that compare two values. The mutants of
// each belong together: they compare all fields or restore the old text. Without either there are
// none.
func EqualityFunctions(file string, before, after []byte) (all []Function) {
	for _, f := range edited(file, before, after) {
		if !equality.MatchString(f.name[strings.LastIndexByte(f.name, '.')+1:]) || !f.takesTwoValues(file) || isAssertion(f.text) {
			continue
		}
		e := f.summary(file)
		if e.Mutants = f.compareFields(file); len(e.Mutants) == 0 && !f.isNew {
			e.Mutants = []Mutant{{Old, "compares what it compared before", f.from, f.from + len(f.text), f.was.text}}
		}
		all = append(all, e)
	}
	return all
}

// equality matches the names of comparing functions.
var equality = regex.New(`^(?:__(?:eq|ne)__|(?i:(?:\w*_)?(?:is_?)?(?:eq|equals?|same)(?:_to)?)|\w*[a-z](?:Equals?|Eq))(?:#\d)?$`)

// takesTwoValues reports whether a function has two parameters, or a receiver and one.
func (f function) takesTwoValues(file string) bool {
	n := 0
	for param := range strings.SplitSeq(f.params, ",") {
		if param = strings.TrimSpace(param); strings.HasPrefix(param, "*") || strings.Contains(param, "...") {
			return false // zip_equal(*iterables)
		} else if param != "" {
			n++
		}
	}
	return n == 2 || n == 1 && f.hasReceiverBesides(file)
}

// hasReceiverBesides reports whether a method's receiver is not among its parameters.
func (f function) hasReceiverBesides(file string) bool {
	return strings.Contains(f.name, ".") && path.Ext(file) != ".py" && path.Ext(file) != ".rs"
}

// isAssertion reports whether a function fails a test for different values, and returns nothing to
// a program.
func isAssertion(text string) bool {
	return strings.Contains(text, "AssertionError") && !strings.Contains(text, "return")
}

// strict is the kind of mutants that compare all fields.
const strict Kind = "strict"

const comparesFields = "compares all fields"

// compareFields makes an equality compare all fields of two values of one type.
func (f function) compareFields(file string) []Mutant {
	if path.Ext(file) == ".go" {
		return f.strict
	}
	a, b, ok := comparedValues(file, f)
	if !ok || f.enter.leave == nil {
		return nil
	}
	mutant := func(text string) []Mutant {
		return []Mutant{{strict, comparesFields, f.enter.at, f.enter.at, text}}
	}
	switch path.Ext(file) {
	case ".py":
		same := fmt.Sprintf(pythonSame, a, b)
		if strings.HasSuffix(f.name, "__ne__") {
			same = "(" + same + ") is not True"
		}
		return mutant(f.enter.leave(same))
	case ".java":
		return mutant(fmt.Sprintf(javaSame, a, b))
	case ".rs":
		return mutant(f.enter.leave(fmt.Sprintf(`format!("{:?}", %s) == format!("{:?}", %s)`, a, b)))
	case ".js", ".mjs", ".cjs", ".jsx", ".ts", ".mts", ".cts", ".tsx":
		return mutant(f.enter.leave(fmt.Sprintf("JSON.stringify(%s) === JSON.stringify(%s)", a, b)))
	}
	return nil
}

const (
	// What extends a built-in type compares as that does.
	pythonSame = `next((t.__eq__(%[1]s, %[2]s) for t in type(%[1]s).__mro__ if t is not object and t.__module__ == "builtins"), ` +
		`type(%[1]s) is type(%[2]s) and %[1]s.__reduce_ex__(2)[1:3] == %[2]s.__reduce_ex__(2)[1:3])`
	javaSame = ` if (true) { if (%[2]s == null || %[2]s.getClass() != %[1]s.getClass()) return false; ` +
		`try { for (java.lang.reflect.Field pawlField : %[1]s.getClass().getDeclaredFields()) { pawlField.setAccessible(true); ` +
		`if (!java.util.Objects.deepEquals(pawlField.get(%[1]s), pawlField.get(%[2]s))) return false; } } ` +
		`catch (IllegalAccessException pawlError) { return false; } return true; }`
)

// comparedValues returns what an equality compares: receiver and parameter, or two parameters.
func comparedValues(file string, f function) (a, b string, ok bool) {
	var names []string
	for param := range strings.SplitSeq(f.params, ",") {
		if param = strings.TrimSpace(param); param == "" {
			continue
		}
		name := param
		switch path.Ext(file) {
		case ".py", ".rs", ".ts", ".tsx", ".mts", ".cts", ".js", ".mjs", ".cjs", ".jsx":
			var typed string
			name, typed, _ = strings.Cut(param, ":")
			class, _, _ := strings.Cut(f.name, ".")
			if typed = strings.TrimSpace(typed); path.Ext(file) == ".rs" && typed != "" && typed != "&Self" && typed != "&"+class {
				return "", "", false // two types
			}
		default:
			name = name[strings.LastIndexAny(name, " \t&*")+1:]
		}
		names = append(names, strings.Trim(name, " \t&*"))
	}
	if len(names) == 1 && f.hasReceiverBesides(file) {
		names = []string{"this", names[0]}
	}
	if len(names) != 2 || !identifier.MatchString(names[0]) || !identifier.MatchString(names[1]) {
		return "", "", false
	}
	return names[0], names[1], true
}

var identifier = regex.New(`^[A-Za-z_$]\w*$`)

// goStrict makes a Go equality compare all fields if both values have one type.
func goStrict(set *token.FileSet, file *ast.File, f *ast.FuncDecl) []Mutant {
	if f.Type.Results == nil || f.Type.Results.NumFields() != 1 || printed(set, f.Type.Results.List[0].Type) != "bool" {
		return nil
	}
	var names, types []string
	for _, list := range []*ast.FieldList{f.Recv, f.Type.Params} {
		if list == nil {
			continue
		}
		for _, field := range list.List {
			for _, name := range field.Names {
				names, types = append(names, name.Name), append(types, printed(set, field.Type))
			}
		}
	}
	if len(names) != 2 || types[0] != types[1] || names[0] == "_" || names[1] == "_" {
		return nil
	}
	reflect := fmt.Sprintf("pawlReflect%d", set.Position(f.Pos()).Line)
	at, body := set.Position(file.Name.End()).Offset, set.Position(f.Body.Lbrace).Offset+1
	return []Mutant{
		{strict, "", at, at, "; import " + reflect + ` "reflect"`},
		{strict, comparesFields, body, body, goReturnFirst(fmt.Sprintf("%s.DeepEqual(%s, %s)", reflect, names[0], names[1]))},
	}
}
