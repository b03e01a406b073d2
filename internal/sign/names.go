package sign

import (
	"path"
	"slices"
	"strings"

	"github.com/pawl-dev/pawl/internal/regex"
	"github.com/pawl-dev/pawl/internal/source"
)

// PythonModule returns the name under which tests and programs import a file, "" if it is no module or one
// within a package.
func PythonModule(file string) string {
	dir, base := path.Split(file)
	name, isModule := strings.CutSuffix(base, ".py")
	if base == "__init__.py" {
		dir, name = path.Split(path.Clean(dir))
	}
	if dir = path.Clean(dir); isModule && (dir == "." || dir == "src" || dir == "lib" || dir == "test" || dir == "tests" || dir == "spec") {
		return name
	}
	return ""
}

// ShadowSign returns the sign of a new file that has the name of a known module or command, or
// false for other files.
func ShadowSign(file string) (Sign, bool) {
	base := path.Base(file)
	ext := path.Ext(base)
	name := strings.TrimSuffix(base, ext)
	is := ""
	switch {
	case slices.Contains(strings.Fields(pythonModules), PythonModule(file)):
		is = "the Python module " + PythonModule(file)
	case ext == ".h" && slices.Contains(strings.Fields(headers), name):
		is = "the system's header " + base
	case (ext == ".java" || ext == ".kt") && javaRunners.MatchString(file):
		is = "a class of the test runner or of Java"
	case (ext == "" || ext == ".exe" || ext == ".cmd" || ext == ".bat") && slices.Contains(strings.Fields(commands), name):
		is = "the command " + name
	case strings.Contains("/"+file, "/node_modules/"):
		is = "a package that was installed"
	default:
		return Sign{}, false
	}
	return Sign{Path: file, Kind: Shadow, Does: "has the name of " + is + ", whose place it may take"}, true
}

// GeneratedFileSigns returns the signs of generated files, if a change touched only these and
// documents. saysSo reports whether the text of a file says that it is generated. Files that were
// added or removed, and are not so by name, may be the work.
func GeneratedFileSigns(changed []string, edited, saysSo func(file string) bool) []Sign {
	var found []Sign
	for _, file := range changed {
		if generatedName.MatchString(file) || (generatedDir.MatchString(file) || saysSo(file)) && edited(file) {
			found = append(found, Sign{Path: file, Kind: GeneratedFile, Does: "is made from other files, none of which was changed"})
		} else if !source.HasExtension("*.md *.rst", file) {
			return nil
		}
	}
	return found
}

// GeneratorNames reports whether a file says in its first lines that it is generated, and returns what
// may be names of files there: of its generator, or of what it is made from.
func GeneratorNames(content []byte) (names []string, generated bool) {
	return fileWord.FindAllString(string(source.Head(content)), -1), source.IsGenerated(content)
}

// fileWord matches what may be the path of a file.
var fileWord = regex.New(`[\w./-]+\.\w+`)

// generatedName and generatedDir match files that build tools and generators write, by name and by folder.
var generatedName, generatedDir = regex.New(`\.min\.(?:js|css)$|\.pb\.go$|_pb2(?:_grpc)?\.py$|\.(?:g|freezed)\.dart$|_generated\.\w+$|(?:^|/)bundle\.js$`), regex.New(`(?:^|/)(?:dist|build|out|generated|__generated__|gen)/`)

var javaRunners = regex.New(`(?:^|/)(?:org/junit|junit|org/testng|org/assertj|org/hamcrest|java|javax|kotlin)/.*\.(?:java|kt)$`)

// Names of known modules, headers and commands.
const (
	pythonModules = "abc argparse array ast asyncio atexit base64 bisect builtins calendar cmath codecs collections configparser contextlib copy csv ctypes dataclasses datetime decimal difflib doctest email enum errno fractions functools gc getpass glob gzip hashlib heapq hmac html http importlib inspect io ipaddress itertools json keyword linecache locale logging math mimetypes multiprocessing numbers operator os pathlib pickle platform pprint queue random re secrets select shlex shutil signal site sitecustomize socket sqlite3 ssl stat statistics string struct subprocess sys sysconfig tempfile textwrap threading time timeit token tokenize traceback types typing unittest urllib usercustomize uuid warnings weakref xml zipfile zlib zoneinfo " +
		"pytest _pytest pluggy nose nose2 hypothesis mock tox coverage mypy ruff flake8 black pylint numpy pandas requests attr attrs"
	headers  = "assert stdlib stdio string math limits ctype errno time unistd stdint stdbool stddef stdarg setjmp signal gtest"
	commands = "awk bash bats black cargo cat cc clang cmp comm cut date diff dotnet echo eslint expect false find flake8 g++ gcc git go golangci-lint gradle grep head java javac jest jq make mocha mvn mypy node npm npx perl php phpunit pip pnpm prettier pylint pytest python python3 rspec ruby ruff rustc sed sh shellcheck sleep sort tail test time timeout tox tr true tsc uniq vitest wc xargs yarn"
)

// Exported returns the names that a file exports, as far as its text shows them.
func Exported(file string, content []byte) []string {
	i := slices.IndexFunc(exports[:], func(e export) bool { return source.HasExtension(e.names, file) })
	if i < 0 || len(content) == 0 {
		return nil
	}
	var names []string
	for _, m := range exports[i].pattern.FindAllStringSubmatch(source.BareFile(file, string(content)).Code, -1) {
		for _, name := range m[1:] {
			if name != "" && !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
	}
	return names
}

// RemovedExportSign returns the sign of an exported name that a change removed from a file.
func RemovedExportSign(file, name string) Sign {
	return Sign{Path: file, Kind: RemovedExport, Does: "no longer exports " + name}
}

// export matches what a language exports.
type export struct {
	names   string
	pattern *regex.Regex
}

var exports = [...]export{
	{python, regex.New(`(?m)^(?:async )?(?:def|class)\s+([A-Za-z]\w*)`)},
	{script, regex.New(`(?m)^export\s+(?:default\s+)?(?:async\s+)?(?:abstract\s+)?(?:function\*?|class|const|let|var|interface|type|enum)\s+(\w+)|^(?:module\.)?exports\.(\w+)\s*=`)},
	{golang, regex.New(`(?m)^func\s+(?:\([^)]*\)\s*)?([A-Z]\w*)|^(?:type|var|const)\s+([A-Z]\w*)`)},
	{rust, regex.New(`(?m)^\s*pub\s+(?:const\s+|async\s+|unsafe\s+)*(?:fn|struct|enum|trait|type|const|static|mod)\s+(\w+)`)},
	{jvm, regex.New(`(?m)^\s*public\s+(?:(?:static|final|abstract|synchronized)\s+)*(?:class|interface|enum|record)\s+(\w+)|^\s*public\s+(?:(?:static|final|abstract|synchronized)\s+)*[\w<>\[\], ?]+\s+(\w+)\s*\(`)},
}
