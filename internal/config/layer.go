package config

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"

	"github.com/pelletier/go-toml/v2"
	"github.com/pelletier/go-toml/v2/unstable"

	"github.com/pawl-dev/pawl/internal/atomicfile"
	"github.com/pawl-dev/pawl/internal/environment"
	"github.com/pawl-dev/pawl/internal/failure"
)

// Layer names.
const (
	layerUser    = "user"
	layerProject = "project"
	layerLoop    = "loop file"
	layerEnv     = "environment"
	layerFlags   = "flags"
)

// Layer is what one place says, not yet checked. The zero Layer says nothing.
type Layer struct {
	name   string
	file   string // as shown to people; "" for flags
	repo   bool   // the file belongs to the repository: its commands need trust
	values map[string]any
	lines  map[string]int // of the values, by dotted path
}

// Source is the place where a value was set.
type Source struct {
	Layer string `json:"layer"`          // user, project, loop file, environment, flags
	File  string `json:"file,omitempty"` // "" for flags
	Line  int    `json:"line,omitempty"` // from 1; 0 if it cannot be told
	Repo  bool   `json:"repo,omitempty"` // the file belongs to the repository
}

// String is file:line, or the layer's name.
func (s Source) String() string {
	switch {
	case s.Layer == "":
		return "default"
	case s.File == "":
		return s.Layer
	case s.Line == 0:
		return s.File
	}
	return fmt.Sprintf("%s:%d", s.File, s.Line)
}

// Flags is the layer of what was typed: values by key (max_duration for
// --max-duration), only of the flags that were given. Values may be text, as
// typed, or of their natural type; lists are []string.
func Flags(values map[string]any) Layer {
	return Layer{name: layerFlags, values: values}
}

// Environment is the layer of what variables of the environment say.
func Environment(values map[string]any) Layer {
	return Layer{name: layerEnv, values: values}
}

// ReadUser reads the user's config.toml; where there is none the layer is empty.
func ReadUser(env environment.Environment) (Layer, error) {
	path := filepath.Join(env.ConfigHome, "pawl", "config.toml")
	return readTOML(Layer{name: layerUser, file: path}, path)
}

// ProjectFile is the configuration of a repository, at its root.
const ProjectFile = "pawl.toml"

// ReadProject reads pawl.toml at the root of a repository; where there is none
// the layer is empty.
func ReadProject(root string) (Layer, error) {
	return readTOML(Layer{name: layerProject, file: ProjectFile, repo: true}, filepath.Join(root, ProjectFile))
}

func readTOML(l Layer, path string) (Layer, error) {
	data, err := atomicfile.Read(path, maxFile)
	if errors.Is(err, fs.ErrNotExist) {
		return Layer{}, nil
	}
	if err != nil {
		return Layer{}, failure.New(failure.Usage, "", "read %s: %w", l.file, err)
	}
	if strings.HasPrefix(string(data), "\xff\xfe") || strings.HasPrefix(string(data), "\xfe\xff") {
		return Layer{}, failure.New(failure.Usage, "save it as UTF-8", "read %s: it is UTF-16", l.file)
	}
	data = []byte(strings.TrimPrefix(string(data), "\ufeff"))
	if err := toml.Unmarshal(data, &l.values); err != nil {
		if syntax, ok := errors.AsType[*toml.DecodeError](err); ok {
			row, _ := syntax.Position()
			hint := tomlHint
			if strings.Contains(err.Error(), "already") {
				hint = "keep one of them"
			}
			return Layer{}, failure.New(failure.Usage, hint, "%s:%d: %s", l.file, row, strings.TrimPrefix(err.Error(), "toml: "))
		}
		return Layer{}, failure.New(failure.Usage, "", "%s: %w", l.file, err)
	}
	l.lines = tomlLines(data)
	return l, nil
}

// tomlHint is what most mistakes in the syntax come from.
const tomlHint = `text is quoted: model = "opus"; so is each item of a list: gates = ["make test"]`

// maxFile bounds configuration files and loop files, in bytes.
const maxFile = 4 << 20

// tomlLines maps the path of each value in a valid document to its line.
func tomlLines(data []byte) map[string]int {
	lines := map[string]int{}
	var p unstable.Parser
	p.Reset(data)
	table, items := "", map[string]int{}
	for p.NextExpression() {
		e := p.Expression()
		switch e.Kind {
		case unstable.Table:
			table = tomlKey(&p, e, "", lines)
		case unstable.ArrayTable:
			here := map[string]int{}
			name := tomlKey(&p, e, "", here)
			table = fmt.Sprintf("%s[%d]", name, items[name])
			if lines[table] = here[name]; items[name] == 0 {
				lines[name] = here[name]
			}
			items[name]++
		case unstable.KeyValue:
			tomlValue(&p, e.Value(), tomlKey(&p, e, table, lines), lines)
		}
	}
	return lines
}

// tomlKey notes the line of an expression's key and returns its dotted path.
func tomlKey(p *unstable.Parser, e *unstable.Node, table string, lines map[string]int) string {
	path := table
	for it := e.Key(); it.Next(); {
		path = join(path, string(it.Node().Data))
		lines[path] = p.Shape(it.Node().Raw).Start.Line
	}
	return path
}

// tomlValue notes the lines of what stands inside a list or an inline table.
func tomlValue(p *unstable.Parser, v *unstable.Node, path string, lines map[string]int) {
	it, n := v.Children(), 0
	for it.Next() {
		child := it.Node()
		switch {
		case v.Kind == unstable.Array:
			at := fmt.Sprintf("%s[%d]", path, n)
			if child.Raw.Length > 0 {
				lines[at] = p.Shape(child.Raw).Start.Line
			}
			tomlValue(p, child, at, lines)
			n++
		case child.Kind == unstable.KeyValue:
			tomlValue(p, child.Value(), tomlKey(p, child, path, lines), lines)
		}
	}
}

func join(path, key string) string {
	if path == "" {
		return key
	}
	return path + "." + key
}

// source is the place of a value. A value without a line of its own has that of
// what encloses it.
func (l Layer) source(path string) Source {
	s := Source{Layer: l.name, File: l.file, Repo: l.repo}
	for path != "" && s.Line == 0 {
		s.Line = l.lines[path]
		path = path[:max(strings.LastIndexAny(path, ".["), 0)]
	}
	return s
}

// where is the place of a value as messages begin with it: "pawl.toml:3",
// "--max-cost".
func (l Layer) where(path string) string {
	if l.name == layerFlags {
		key, _, _ := strings.Cut(path, ".")
		key, _, _ = strings.Cut(key, "[")
		switch key {
		case "gates":
			return "--gate" // given once for each
		case "confine_hosts":
			return "--confine-host"
		case "verify":
			key = strings.TrimPrefix(path, "verify.") // --tries, --isolate
		}
		return "--" + strings.ReplaceAll(key, "_", "-")
	}
	return l.source(path).String()
}
