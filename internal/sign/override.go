package sign

import (
	"sync"

	"github.com/pawl-dev/pawl/internal/regex"
	"github.com/pawl-dev/pawl/internal/source"
)

// A type that extends a built-in type and overrides the methods that assertions use (every,
// contains, ==) can decide the results of tests. If tests or the task name the type, that is
// the work and no sign.

// overridingMethods returns the methods that override one of a built-in type, by their first
// line.
func overridingMethods(file, code string) map[int]override {
	found := map[int]override{}
	l, ok := overrideSyntaxFor(file)
	if !ok {
		return found
	}
	bare := source.Source{Text: code, Code: code}
	for _, m := range l.class.FindAllStringSubmatchIndex(code, -1) {
		end := 0
		if l.indented {
			end = bare.Indented(m[1]-1, "")
		} else {
			end = bare.Block(m[1] - 1)
		}
		for _, f := range l.method.FindAllStringIndex(code[m[1]:end], -1) {
			first, last := bare.LineOf(m[1]+f[0])-1, bare.LineOf(m[1]+f[1])-1
			found[first] = override{last, code[m[2]:m[3]]}
		}
	}
	return found
}

// override is a method that overrides one of a built-in type.
type override struct {
	last int
	name string // of the program's type
}

// overrideSyntax matches types that extend a built-in one, and the methods that assertions use,
// in one language.
type overrideSyntax struct {
	class, method *regex.Regex
	indented      bool
}

func overrideSyntaxFor(file string) (overrideSyntax, bool) {
	switch {
	case hasExtension(python, file):
		return overrideSyntaxes()[0], true
	case hasExtension(script, file):
		return overrideSyntaxes()[1], true
	case hasExtension(jvm, file):
		return overrideSyntaxes()[2], true
	}
	return overrideSyntax{}, false
}

var overrideSyntaxes = sync.OnceValue(func() []overrideSyntax {
	re := regex.New
	return []overrideSyntax{
		{
			class:    re(`(?m)^[ \t]*class\s+(\w+)\(\s*(?:int|float|str|bytes|list|dict|set|tuple|frozenset|complex|Decimal|Fraction|UserList|UserDict|UserString)\b[^)\n]*\):`),
			method:   re(`(?m)^[ \t]+def (?:__(?:contains|len|iter|getitem|bool|hash|str|repr|format|abs|round|sub|rsub|lt|le|gt|ge|int|float|index|instancecheck)__|count|index|get|keys|items|values|startswith|endswith|strip|lower|upper|split|find|issubset|isdigit)\(`),
			indented: true,
		},
		{
			class:  re(`\bclass\s+([\w$]+)\s+extends\s+(?:Array|Map|Set|String|Number|Boolean|Date|Promise|RegExp|Object)\s*\{`),
			method: re(`(?m)^[ \t]*(?:(?:static|async|get|\*)\s+)*(?:every|some|includes|indexOf|find|filter|map|has|get|size|length|keys|values|entries|at|join|toString|valueOf|toJSON|equals|slice|reduce|test|then|getTime|\[Symbol\.\w+\])\s*\(`),
		},
		{
			class:  re(`\bclass\s+(\w+)(?:<[^{>]*>)?\s+extends\s+(?:ArrayList|LinkedList|HashMap|TreeMap|LinkedHashMap|HashSet|TreeSet|Abstract(?:List|Map|Set|Collection)|Number|Thread)\b[^{]*\{`),
			method: re(`(?m)^[ \t]*(?:@Override\s+)?public\s+[\w<>\[\], ?]+\s(?:equals|hashCode|contains|containsAll|containsKey|size|isEmpty|get|indexOf|iterator|toString|toArray|compareTo|stream)\s*\(`),
		},
	}
})

// overrideRules find these methods. Their replacements rename them.
func overrideRules() []rule {
	re := regex.New
	const does = "answers for a built-in type in its own way"
	return []rule{
		{kind: Equality, does: does, names: python, overrides: true, everyLine: true, replacements: []replacement{{re(`\bdef (\w+)\(`), "def " + absent + "_${1}("}}},
		{kind: Equality, does: does, names: script, overrides: true, everyLine: true, replacements: []replacement{{re(`^(\s*(?:(?:static|async|get|\*)\s+)*)(?:\w+|\[Symbol\.\w+\])(\s*\()`), "${1}" + absent + "${2}"}}},
		{kind: Equality, does: does, names: jvm, overrides: true, everyLine: true, replacements: []replacement{{re(`@Override\b`), ""}, {re(`\b(equals|hashCode|contains|containsAll|containsKey|size|isEmpty|get|indexOf|iterator|toString|toArray|compareTo|stream)(\s*\()`), absent + "_${1}${2}"}}},
		{
			kind: Equality, does: "answers whatever it is asked", names: python + " " + script, allowedBy: `proxy|delegat|wrap|lazy|mock|dynamic|attribute`,
			code: re(`\bnew Proxy\(|\bdef __(?:getattr|getattribute|missing|call_missing)__\(`),
		},
		{
			kind: Equality, does: does, names: script, code: re(`^\s*\w+\.(?:every|some|includes|indexOf|find|filter|has|at)\s*=(?:[^=>]|$)`),
			replacements: []replacement{{re(`^(\s*)\w+\.\w+(\s*=)`), "${1}globalThis." + absent + "${2}"}},
		},
	}
}
