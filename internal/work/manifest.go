package work

import (
	"bytes"
	"encoding/json"
	"maps"
	"path"
	"reflect"
	"slices"
	"strings"

	"github.com/pelletier/go-toml/v2"

	"github.com/pawl-dev/pawl/internal/regex"
)

// A manifest holds the program's dependencies, which are work, and settings of test runners
// and tools, which are gate inputs.

// IsManifest reports whether only a part of a file is work: see [DependenciesOnly].
func IsManifest(file string) bool {
	return comparison(path.Base(file)) != nil
}

// IsLockFile reports whether a file records the versions that a manifest's dependencies have.
func IsLockFile(file string) bool { return lockFiles().Match(path.Base(file)) }

// DependenciesOnly reports whether all differences between two versions of a manifest are
// work: dependencies from the usual registry, the program's name and version, and lines that
// list its sources. It returns false if a version cannot be parsed.
func DependenciesOnly(file string, was, now []byte) bool {
	same := comparison(path.Base(file))
	return same != nil && same(was, now)
}

func comparison(base string) func(was, now []byte) bool {
	switch {
	case base == "package.json", base == "composer.json":
		return samePackageJSON
	case base == "pyproject.toml", base == "Cargo.toml", base == "Pipfile":
		return sameTOML
	case base == "setup.cfg":
		return sameSetupCfg
	case base == "go.mod":
		return sameGoMod
	case strings.HasPrefix(base, "requirements") && path.Ext(base) == ".txt":
		return func(was, now []byte) bool { return onlyAddsLines(was, now, requirementLine) }
	case base == "CMakeLists.txt", base == "BUILD", base == "BUILD.bazel", base == "meson.build", base == "pom.xml", base == "build.gradle",
		base == "build.gradle.kts", slices.Contains([]string{".csproj", ".fsproj", ".vbproj", ".cabal"}, path.Ext(base)):
		return func(was, now []byte) bool { return onlyAddsLines(was, now, sourceLine) }
	}
	return nil
}

// Members of a package.json that are work.
const (
	packageDependencies = `dependencies devDependencies optionalDependencies peerDependencies peerDependenciesMeta require require-dev`
	packageMetadata     = `name version description keywords author contributors license repository homepage bugs funding private bin files man engines`
)

func samePackageJSON(was, now []byte) bool {
	var before, after map[string]json.RawMessage
	if json.Unmarshal(was, &before) != nil || json.Unmarshal(now, &after) != nil {
		return bytes.Equal(was, now)
	}
	for _, name := range unionKeys(before, after) {
		switch {
		case contains(packageMetadata, name):
		case contains(packageDependencies, name):
			var a, b map[string]string
			if len(before[name]) > 0 && json.Unmarshal(before[name], &a) != nil || len(after[name]) > 0 && json.Unmarshal(after[name], &b) != nil || !sameTestDependencies(a, b) {
				return false
			}
		case !equalJSON(before[name], after[name]):
			return false
		}
	}
	return true
}

// testPackages are packages that run tests or affect their results.
var testPackages = regex.New(`^(jest|vitest|mocha|ava|tap|tape|jasmine|karma|cypress|@?playwright.*|chai|sinon|nyc|c8|ts-jest|babel-jest|uvu|qunit|@jest/.*|@vitest/.*|(jest|vitest|mocha|chai|eslint)-.*|eslint|typescript|pytest.*|nose2?|tox|hypothesis|coverage|unittest2|phpunit/.*)$`)

// nonRegistrySource matches the version of a dependency that does not come from a registry.
var nonRegistrySource = regex.New(`^(file|link|portal|git|git\+\w+|github|https?):|/|^-|@ |://`)

// sameTestDependencies reports whether no changed dependency, by name, is a test package that
// existed before, or comes from outside of a registry.
func sameTestDependencies(was, now map[string]string) bool {
	for _, name := range unionKeys(was, now) {
		if was[name] == now[name] {
			continue
		}
		if _, there := was[name]; there && testPackages.MatchString(name) || nonRegistrySource.MatchString(now[name]) {
			return false
		}
	}
	return true
}

func unionKeys[T any](was, now map[string]T) []string {
	all := maps.Clone(now)
	if all == nil {
		all = map[string]T{}
	}
	maps.Copy(all, was)
	return slices.Sorted(maps.Keys(all))
}

func equalJSON(a, b []byte) bool {
	var x, y any
	_, _ = json.Unmarshal(a, &x), json.Unmarshal(b, &y) // a missing value is nil
	return reflect.DeepEqual(x, y)
}

// workTables are the tables of a pyproject.toml, Cargo.toml or Pipfile that are work.
const workTables = `project build-system dependency-groups package dependencies dev-dependencies build-dependencies target features workspace lib bin
	example packages dev-packages requires badges`

// packageTools are the tools that declare dependencies in their table below [tool].
const packageTools = `poetry uv pdm hatch rye flit setuptools maturin pixi conda setuptools_scm`

func sameTOML(was, now []byte) bool {
	var before, after map[string]any
	if toml.Unmarshal(was, &before) != nil || toml.Unmarshal(now, &after) != nil {
		return bytes.Equal(was, now)
	}
	for _, name := range unionKeys(before, after) {
		if name == "tool" {
			a, _ := before[name].(map[string]any)
			b, _ := after[name].(map[string]any)
			for _, tool := range unionKeys(a, b) {
				if !contains(packageTools, tool) && !reflect.DeepEqual(a[tool], b[tool]) {
					return false
				}
			}
			continue
		}
		if !contains(workTables, name) && !reflect.DeepEqual(before[name], after[name]) {
			return false
		}
	}
	return true
}

var sectionHeader = regex.New(`^\[([^\]\n]+)\]`)

// sameSetupCfg reports whether two versions of a setup.cfg differ only in metadata and options.
func sameSetupCfg(was, now []byte) bool {
	settings := func(data []byte) string {
		var out strings.Builder
		installs := false
		for line := range strings.Lines(string(data)) {
			if m := sectionHeader.FindStringSubmatch(line); m != nil {
				installs = m[1] == "metadata" || strings.HasPrefix(m[1], "options")
			}
			if line = strings.TrimRight(line, " \t\r\n"); !installs && line != "" {
				out.WriteString(line + "\n")
			}
		}
		return out.String()
	}
	return settings(was) == settings(now)
}

var (
	requirementLine = regex.New(`^\s*(#.*|[A-Za-z0-9][\w.-]*(\[[\w, -]*\])?\s*([=<>!~]=?[^:/@]*)?(;.*)?|--hash=\S+\s*\\?)?\s*$`)
	sourceLine      = regex.New(`^\s*$|^\s*(#|//|<!--)|[\w/-]+\.(c|cc|cpp|cxx|h|hh|hpp|java|kt|cs|fs|vb|hs|py|go|rs|proto)\b|` +
		`^\s*</?(dependenc(y|ies)|groupId|artifactId|version|scope|ItemGroup|PackageReference|Compile)\b|` +
		`^\s*((testI|i)mplementation|api|compileOnly|runtimeOnly|annotationProcessor)\b[ (]['"]`)
)

// onlyAddsLines reports whether the version now only adds lines to was, all of which match.
func onlyAddsLines(was, now []byte, allowed *regex.Regex) bool {
	before := slices.Collect(strings.Lines(string(was)))
	for line := range strings.Lines(string(now)) {
		if len(before) > 0 && strings.TrimRight(line, "\r\n") == strings.TrimRight(before[0], "\r\n") {
			before = before[1:]
			continue
		}
		if !allowed.MatchString(strings.TrimRight(line, "\r\n")) {
			return false
		}
	}
	return len(before) == 0
}
