package sign

import (
	"github.com/pawl-dev/pawl/internal/regex"
	"github.com/pawl-dev/pawl/internal/source"
)

// override is a method of a script's class that overrides one of a built-in type.
type override struct {
	last int
	name string // of the class
}

var (
	builtInClass  = regex.New(`\bclass\s+([\w$]+)\s+extends\s+(?:Array|Map|Set|String|Number|Boolean|Date|Promise|RegExp|Object)\s*\{`)
	builtInMethod = regex.New(`(?m)^[ \t]*(?:(?:static|async|get|\*)\s+)*(?:every|some|includes|indexOf|find|filter|map|has|get|size|length|keys|values|entries|at|join|toString|valueOf|toJSON|equals|slice|reduce|test|then|getTime|\[Symbol\.\w+\])\s*\(`)
)

// overridingMethods returns the methods that assertions use (every, includes) and that override one of a
// built-in type, by their first line: they can decide the results of tests. If tests or the task name the
// type, that is the work and no sign.
func overridingMethods(file, code string) map[int]override {
	found := map[int]override{}
	if !source.HasExtension(script, file) {
		return found
	}
	bare := source.Source{Text: code, Code: code}
	for _, m := range builtInClass.FindAllStringSubmatchIndex(code, -1) {
		for _, f := range builtInMethod.FindAllStringIndex(code[m[1]:bare.Block(m[1]-1)], -1) {
			first, last := bare.LineOf(m[1]+f[0])-1, bare.LineOf(m[1]+f[1])-1
			found[first] = override{last, code[m[2]:m[3]]}
		}
	}
	return found
}

// overrideRule finds these methods. Its replacement renames them.
func overrideRule() rule {
	return rule{
		kind: Equality, does: "answers for a built-in type in its own way", names: script, overrides: true, everyLine: true,
		replacements: []replacement{{regex.New(`^(\s*(?:(?:static|async|get|\*)\s+)*)(?:\w+|\[Symbol\.\w+\])(\s*\()`), "${1}" + absent + "${2}"}},
	}
}
