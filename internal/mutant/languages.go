package mutant

import (
	"slices"
	"strings"
	"sync"

	"github.com/pawl-dev/pawl/internal/regex"
	"github.com/pawl-dev/pawl/internal/source"
)

// language describes functions in a language without a parser here.
type language struct {
	names        string       // globs of file names
	head         *regex.Regex // begins a function up to "(" or "=>" in bare code; group 1 is the name
	class        *regex.Regex // begins what contains functions; group 1 is the name; nil = nothing
	notFunctions *regex.Regex // names that only look like functions
	tests        *regex.Regex // begins a block of inline tests
	inertLines   *regex.Regex // lines without effect, beside those of all languages; nil = none
	indent       bool         // bodies are indented, not in braces
	arrowBodies  bool         // a body may be an expression after =>
	leave        func(value string) string
	types        []typeValues
	result       func(before, after string) string // result type, from the text before the name and the text between ")" and the body
}

// bare lays the code of a file bare.
func (l *language) bare(text string) source.Source { return source.BareFile(l.names, text) }

// typeValues are the values of a type.
type typeValues struct {
	pattern *regex.Regex // matches a type, or a returned expression
	zeros   []string
	others  []string
}

var keywords = regex.New(`^(?:if|for|while|switch|catch|function|return|new|else|do|await|typeof|sizeof|super|match|unsafe|loop|synchronized|constructor)$`)

// values is shorthand for a row of a language's types.
func values(of string, zeros, others []string) typeValues {
	return typeValues{regex.New(of), zeros, others}
}

func list(all ...string) []string { return all }

// languages are the known ones beside Go, compiled when a file is first read.
var languages = sync.OnceValue(func() []language {
	return []language{
		{
			names: "*.py", indent: true,
			head:  regex.New(`(?m)^[ \t]*(?:async[ \t]+)?def[ \t]+(?P<name>\w+)[ \t]*(?:\[[^\]]*\])?\(`),
			class: regex.New(`(?m)^[ \t]*class[ \t]+(?P<name>\w+)`), notFunctions: regex.New(`^__init_subclass__$`),
			tests:  regex.New(`(?m)^[ \t]*(?:class[ \t]+Test\w*|(?:async[ \t]+)?def[ \t]+test)`),
			leave:  func(value string) string { return strings.TrimSuffix("return "+value, " ") },
			result: func(_, after string) string { return strings.Trim(after, " \t->:") },
			types: []typeValues{
				values(`^(?:None|Iterator|Generator|Iterable)\b`, list(""), nil),
				values(` if .+ else `, list("None", "0", textValue), list("[]")),
				values(`^bool$|^(?:True|False)\b|^not |^(?:any|all|bool|isinstance)\(|^[^\[{(]* (?:==|!=|<|>|<=|>=|in|is|and|or) `, list("False"), nil),
				values(`^(?:int|float|complex)$|^-?\d|^(?:len|sum|int|float|abs|round|max|min)\(|^[^"'\[{]*[\w)] (?:[-*/%]|//|\*\*) |^\w+ \+ \w+$`, list("0"), list("77")),
				values(`^(?:str|LiteralString)$|^[rfb]?["']|^str\(|\.(?:join|format|strip|lower|upper|replace)\(`, list(textValue), nil),
				values(`^(?:list|List|Sequence)\b|^\[|^(?:list|sorted)\(`, list("[]"), list(`["pawl"]`)),
				values(`^(?:dict|Dict|Mapping)\b|^\{|^dict\(`, list("{}"), list(`{"pawl": 77}`)),
				values(`^(?:set|Set|frozenset)\b|^set\(`, list("set()"), list(`{"pawl"}`)),
				values(`^(?:tuple|Tuple)\b|^\(`, list("()"), nil),
				values(``, list("None", "0", textValue), list("[]")),
			},
		},
		{
			names: "*.js *.jsx *.ts *.tsx *.mjs *.cjs *.mts *.cts", arrowBodies: true,
			head: regex.New(`(?m)\bfunction\b\s*\*?\s*(?P<name>[\w$]+)\s*(?:<[^>(]*>)?\s*\(` +
				`|(?P<assigned>[\w$.]+)\s*(?::[^=\n]+)?[=:]\s*(?:async\s*)?(?:function\s*\*?\s*[\w$]*\s*)?(?:<[^>(]*>)?\(` +
				`|(?P<lone>[\w$.]+)\s*[=:]\s*(?:async\s+)?[\w$]+\s*=>` +
				`|^[ \t]+(?:(?:static|async|public|private|protected|override|get|set)\s+)*\*?#?(?P<method>[\w$]+)\s*(?:<[^>(]*>)?\(`),
			class: regex.New(`\bclass\s+(?P<name>[\w$]+)`), notFunctions: keywords, leave: returnUnder("true"),
			result: func(_, after string) string {
				t := strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(after), "=>"))
				return strings.TrimSpace(strings.TrimPrefix(t, ":"))
			},
			types: []typeValues{
				values(`^void$|^Promise<void>$`, list(""), nil),
				values(` \? .+ : `, list("undefined", "0", textValue), list("[]")),
				values(`^(?:boolean|Promise<boolean>)$|^(?:true|false)\b|^!|^Boolean\(|^[^\[{]* (?:===?|!==?|<|>|<=|>=|instanceof|&&) |\.(?:test|includes|has|some|every|startsWith|endsWith)\(`, list("false"), nil),
				values(`^(?:number|bigint|Promise<number>)$|^-?\d|^(?:Math\.\w+|Number|parseInt|parseFloat)\(|\.length$|[\w)\]] (?:[-*/%]|\*\*) |^\w+ \+ \w+$`, list("0"), list("77")),
				values("^(?:string|Promise<string>)$|^[\"'`]|^String\\(|\\.(?:join|trim|toString|toLowerCase|toUpperCase|replace|replaceAll)\\(", list(textValue), nil),
				values(`\[\]$|^(?:readonly )?Array<|^\[|^Array\.|^Object\.(?:keys|values|entries)\(|\.(?:map|filter|split|slice|concat)\(`, list("[]"), list(`["pawl"]`)),
				values(`^Record<|^\{`, list("{}"), list(`{pawl: 77}`)),
				values(``, list("undefined", "0", textValue), list("[]")),
			},
		},
		{
			names: "*.rs", tests: regex.New(`#\[(?:cfg\(test\)|\w*::?test\b|test\b|rstest)[^\n]*`),
			head:  regex.New(`(?m)\bfn\s+(?P<name>\w+)\s*(?:<[^(]*>)?\s*\(`),
			class: regex.New(`(?m)^[ \t]*(?:unsafe\s+)?impl\b(?:<[^{]*?>)?\s+(?:[\w:<>', ]+\s+for\s+)?(?P<name>\w+)`), notFunctions: keywords,
			leave: func(value string) string {
				return strings.TrimSuffix(" #[allow(unreachable_code)] if true { return "+value, " ") + "; }"
			},
			result: func(_, after string) string {
				t, _, _ := strings.Cut(after, " where ")
				return strings.TrimSpace(strings.TrimPrefix(strings.TrimSpace(t), "->"))
			},
			types: rustTypes(),
		},
		{
			names: "*.java",
			head:  regex.New(`(?m)^[ \t]*(?:@\w+[ \t]+)*(?:(?:public|private|protected|static|final|synchronized|default)\s+)*(?:<[^>]*>\s*)?[\w.]+(?:<[^;={}()]*>)?(?:\[\])*\s+(?P<name>\w+)\s*\(`),
			class: regex.New(`\b(?:class|record|enum|interface)\s+(?P<name>\w+)`), notFunctions: keywords, leave: returnUnder("true"),
			tests: regex.New(`@Test\b`), result: beforeName,
			types: []typeValues{
				values(`^void$`, list(""), nil),
				values(`^(?:int|long|short|byte|char)$`, list("0"), list("77")),
				values(`^(?:double|float)$`, list("0"), list("77")),
				values(`^boolean$`, list("false"), nil),
				values(`^String$`, list(textValue), nil),
				values(`^(?:Integer)$`, list("0"), list("77")),
				values(`^(?:return|new|throw|else)$`, nil, nil),
				values(``, list("null"), nil),
			},
		},
		cFamily("*.c", "("+sameType+"){0}"),
		cFamily("*.cc *.cpp *.cxx *.h *.hh *.hpp *.hxx *.inl *.ipp", "{}"),
	}
})

// cFamily describes C or C++, which differ in the value of an unknown type.
func cFamily(names, unknown string) language {
	return language{
		names: names,
		head:  regex.New(`(?m)^[ \t]*[A-Za-z_][\w \t*&:<>,]*?[ \t*&](?P<name>[\w:~]+)[ \t]*\(`),
		class: regex.New(`\b(?:class|struct)\s+(?P<name>\w+)(?:\s+final)?\s*(?::[^;{}()]*)?\{`), notFunctions: keywords, leave: returnUnder("1"),
		inertLines: regex.New(`^(?:(?:[\w:]+[\s*&<>,]+)+~?\w+(?:\s*\([^(){}=]*\)[\w\s]*)?;|#\s*(?:ifn?def|endif)\b.*|extern\s+"[^"]*"\s*\{)$`),
		tests:      regex.New(`(?m)^[ \t]*(?:TEST|TEST_F|TEST_P|TEST_CASE|SCENARIO)\b`), result: beforeName,
		types: []typeValues{
			values(`\bvoid$|^(?:explicit)?$`, list(""), nil),
			values(`\*$`, list("0"), nil),
			values(`\bbool$`, list("0"), nil),
			values(`\b(?:int|long|short|char|unsigned|signed|float|double|size_t|ssize_t|u?int\d+_t)$`, list("0"), list("77")),
			values(`\bstd::string$`, list(textValue), nil),
			values(`^(?:const )?(?:struct|union) \w+$`, list("("+sameType+"){0}"), nil),
			values(``, list(unknown), nil),
		},
	}
}

// sameType means the value's own type inside a value.
const sameType = "TYPE"

// returnUnder returns under a condition that always holds, so that the code after it still
// compiles.
func returnUnder(condition string) func(string) string {
	return func(value string) string { return strings.TrimSuffix(" if ("+condition+") return "+value, " ") + ";" }
}

// beforeName returns the type before a function's name.
func beforeName(before, _ string) string {
	return strings.Join(slices.DeleteFunc(strings.Fields(before), modifiers.MatchString), " ")
}

var modifiers = regex.New(`^(?:@\w+|public|private|protected|static|final|synchronized|default|inline|extern|constexpr|virtual|friend)$`)

func rustTypes() []typeValues {
	number := `(?:[iu](?:8|16|32|64|128|size))`
	return []typeValues{
		values(`^(?:\(\))?$`, list(""), nil),
		values(`^!$`, nil, nil),
		values(`^impl (?:\w+::)*(?:DoubleEnded|ExactSize)?Iterator\b`, list("std::iter::empty()"), nil),
		values(`^impl\b`, nil, nil),
		values(`^`+number+`$`, list("0"), list("77")),
		values(`^f(?:32|64)$`, list("0.0"), list("77.0")),
		values(`^bool$`, list("false"), nil),
		values(`^String$`, list(`String::from("pawl")`), nil),
		values(`^&(?:'\w+ )?str$`, list(textValue), nil),
		values(`^Option<`+number+`>$`, list("None"), list("Some(77)")),
		values(`^Option<`, list("None"), nil),
		values(`^(?:\w+::)*Result<\(\)`, list("Ok(())"), nil),
		values(`^(?:\w+::)*Result<`+number, list("Ok(0)"), list("Ok(77)")),
		values(`^(?:\w+::)*Result(?:<|$)`, list("Ok(Default::default())"), nil), // fmt::Result has no types
		values(`^(?:\w+::)*Ordering$`, list("std::cmp::Ordering::Equal"), list("std::cmp::Ordering::Less")),
		values(``, list("Default::default()"), nil),
	}
}

// syntax is how a language writes conditions and statements. In the formats, %s is what stands there.
type syntax struct {
	names      string
	condition  *regex.Regex // of a line; its group is the condition, which is in parentheses where there is none
	never      string       // a condition that does not hold
	always     string       // one that holds
	without    string       // a statement that does not run
	semicolons bool         // each statement ends with one
	arm        *regex.Regex // of a match, up to where a guard fits; nil = there is none
	unchosen   string       // a guard that lets nothing pass
}

const clang = "*.c *.cc *.cpp *.cxx *.h *.hh *.hpp *.hxx *.inl *.ipp"

// syntaxes are those of the known languages. The last one is that of all others.
var syntaxes = sync.OnceValue(func() []syntax {
	braces := regex.New(`^\s*(?:\} else )?if ((?:[^l{]|l[^e]|le[^t])[^{]*) \{\s*$`)
	parens := regex.New(`^\s*(?:\} else )?if \(`)
	const never, always = " false && (%s)", " true || (%s)"
	return []syntax{
		{"*.py", regex.New(`^\s*(?:el)?if (.+):\s*$`), "False and (%s)", "True or (%s)", "if False: %s", false, regex.New(`^\s*case (.+?):`), " if False"},
		{"*.sh *.bash", regex.New(`^\s*(?:el)?if (.+?); *then\s*$`), "false && { %s; }", "", "", false, nil, ""},
		{"*.go", braces, never, always, "if false { %s }", false, nil, ""},
		{"*.rs", braces, never, always, "if false { %s }", true, regex.New(`^\s*([^=;]*[^=;\s])\s*=> `), " if false"},
		{clang, parens, "0 && (%s)", "1 || (%s)", "if (0) { %s }", true, nil, ""},
		{"*.java", parens, never, always, "if (false) { %s }", true, nil, ""},
		{"", parens, never, always, "if (false) { %s }", false, nil, ""},
	}
})

// syntaxOf returns the syntax of a file's language.
func syntaxOf(file string) (s syntax) {
	for _, s = range syntaxes() {
		if source.HasExtension(s.names, file) {
			break
		}
	}
	return s
}
