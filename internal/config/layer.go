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

// The names of the layers.
const (
	layerUser    = "user"
	layerProject = "project"
	layerLoop    = "loop file"
	layerEnv     = "environment"
	layerFlags   = "flags"
)

// Layer holds the unchecked values of one source of options. The zero Layer has no values.
type Layer struct {
	name   string
	file   string // as messages show it; "" for flags
	repo   bool   // the file belongs to the repository: its commands need trust
	values map[string]any
	lines  map[string]int // lines of the values, by dotted path
}

// Source is the place where a value was set.
type Source struct {
	Layer string `json:"layer"`          // user, project, loop file, environment, flags
	File  string `json:"file,omitempty"` // "" for flags
	Line  int    `json:"line,omitempty"` // from 1; 0 if unknown
	Repo  bool   `json:"repo,omitempty"` // the file belongs to the repository
}

// String returns file:line. Without a line it returns the file, without a file the layer's
// name, and "default" for the zero Source.
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

// Flags returns the layer of the command line. It takes the flags that were given, by key
// (max_duration for --max-duration). Values are text, or have the option's type. Lists are
// []string.
func Flags(values map[string]any) Layer {
	return Layer{name: layerFlags, values: values}
}

// Environment returns the layer of the environment variables.
func Environment(values map[string]any) Layer {
	return Layer{name: layerEnv, values: values}
}

// ReadUser reads the user's config.toml. If the file does not exist, the layer is empty.
func ReadUser(env environment.Environment) (Layer, error) {
	path := filepath.Join(env.ConfigHome, "pawl", "config.toml")
	return readTOML(Layer{name: layerUser, file: path}, path)
}

// ProjectFile is the name of a repository's configuration file, at its root.
const ProjectFile = "pawl.toml"

// ReadProject reads pawl.toml at the root of a repository. If the file does not exist, the layer
// is empty.
func ReadProject(root string) (Layer, error) {
	return readTOML(Layer{name: layerProject, file: ProjectFile, repo: true}, filepath.Join(root, ProjectFile))
}

// ReadFiles reads the layers of the user and of the repository at root, the lowest first.
func ReadFiles(env environment.Environment, root string) ([]Layer, error) {
	user, err := ReadUser(env)
	if err != nil {
		return nil, err
	}
	project, err := ReadProject(root)
	return []Layer{user, project}, err
}

func readTOML(l Layer, path string) (Layer, error) {
	data, err := atomicfile.Read(path, maxFileBytes)
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

// tomlHint is the hint for syntax errors. It shows the most common mistakes.
const tomlHint = `text is quoted: model = "opus"; so is each item of a list: gates = ["make test"]`

// maxFileBytes is the maximum size of configuration files and loop files, in bytes.
const maxFileBytes = 4 << 20

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

// tomlKey records the line of an expression's key and returns its dotted path.
func tomlKey(p *unstable.Parser, e *unstable.Node, table string, lines map[string]int) string {
	path := table
	for it := e.Key(); it.Next(); {
		path = join(path, string(it.Node().Data))
		lines[path] = p.Shape(it.Node().Raw).Start.Line
	}
	return path
}

// tomlValue records the lines of the values in a list or an inline table.
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

// join appends a key to a dotted path.
func join(path, key string) string {
	if path == "" {
		return key
	}
	return path + "." + key
}

// source returns the place of a value. If its line is unknown, it is the line of the nearest
// table or list around it.
func (l Layer) source(path string) Source {
	s := Source{Layer: l.name, File: l.file, Repo: l.repo}
	for path != "" && s.Line == 0 {
		s.Line = l.lines[path]
		path = path[:max(strings.LastIndexAny(path, ".["), 0)]
	}
	return s
}

// where returns the place of a value for the beginning of a message: "pawl.toml:3" or
// "--max-cost".
func (l Layer) where(path string) string {
	if l.name == layerFlags {
		key, _, _ := strings.Cut(path, ".")
		key, _, _ = strings.Cut(key, "[")
		switch key {
		case "gates":
			return "--gate" // the flag is given once for each gate
		case "confine_hosts":
			return "--confine-host"
		case "verify":
			key = strings.TrimPrefix(path, "verify.") // --tries, --isolate
		}
		return "--" + strings.ReplaceAll(key, "_", "-")
	}
	return l.source(path).String()
}
