package config

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"

	"github.com/pawl-dev/pawl/internal/atomicfile"
	"github.com/pawl-dev/pawl/internal/failure"
)

// ReadLoopFile reads a Markdown file with a goal. Its optional front matter in YAML holds the
// options, its body is the prompt. The prompt has \n as line ends, and no blank lines around
// it. If the file is below root, its commands need trust.
func ReadLoopFile(path, root string) (l Layer, prompt string, err error) {
	l = Layer{name: layerLoop, file: path}
	if below, ok := relativeBelow(root, path); ok {
		l.file, l.repo = below, true
	}
	data, err := atomicfile.Read(path, maxFileBytes)
	if err != nil {
		return Layer{}, "", failure.New(failure.Usage, "", "read loop file: %w", err)
	}
	front, body, err := splitFrontMatter(string(data))
	if err == nil {
		l.values, l.lines, err = parseFrontMatter(front)
	}
	if err != nil {
		return Layer{}, "", failure.New(failure.Usage, "a loop file begins with ---, options in YAML, ---; then comes the prompt", "%s:%w", l.file, err)
	}
	return l, body, nil
}

// IsLoopFile reports whether a Markdown text begins with front matter.
func IsLoopFile(data []byte) bool {
	first, _, _ := strings.Cut(strings.TrimPrefix(string(data), "\ufeff"), "\n")
	return strings.TrimRight(first, " \t\r") == "---"
}

// relativeBelow returns path relative to root, with slashes and symlinks resolved. ok is false if
// path is not below root.
func relativeBelow(root, path string) (below string, ok bool) {
	if root == "" {
		return "", false
	}
	real := func(p string) string {
		if abs, err := filepath.Abs(p); err == nil {
			p = abs
		}
		if resolved, err := filepath.EvalSymlinks(p); err == nil {
			p = resolved
		}
		return p
	}
	rel, err := filepath.Rel(real(root), real(path))
	if err != nil || !filepath.IsLocal(rel) {
		return "", false
	}
	return filepath.ToSlash(rel), true
}

// splitFrontMatter splits a file into the lines between --- and ---, and the rest. Errors begin
// with the line number.
func splitFrontMatter(text string) (front, body string, err error) {
	text = strings.ReplaceAll(strings.TrimPrefix(text, "\ufeff"), "\r\n", "\n")
	if !IsLoopFile([]byte(text)) {
		return "", trimBlankLines(text), nil
	}
	_, rest, _ := strings.Cut(text, "\n")
	for at := 0; at < len(rest); {
		line, _, _ := strings.Cut(rest[at:], "\n")
		end := min(at+len(line)+1, len(rest))
		if mark := strings.TrimRight(line, " \t"); mark == "---" || mark == "..." {
			return rest[:at], trimBlankLines(rest[end:]), nil
		}
		at = end
	}
	return "", "", errors.New("1: the front matter has no closing ---")
}

// trimBlankLines removes blank lines at the beginning, and white space at the end.
func trimBlankLines(text string) string {
	for {
		line, rest, ok := strings.Cut(text, "\n")
		if !ok || strings.TrimSpace(line) != "" {
			return strings.TrimRight(text, " \t\r\n")
		}
		text = rest
	}
}

// parseFrontMatter reads YAML that begins on the second line of its file. It returns the values,
// and their lines by dotted path. Errors begin with the line number.
func parseFrontMatter(front string) (map[string]any, map[string]int, error) {
	file, err := parser.ParseBytes([]byte(front), 0)
	if err != nil {
		return nil, nil, yamlError(err)
	}
	lines := map[string]int{}
	for _, doc := range file.Docs {
		if err := yamlLines(doc.Body, "", lines); err != nil {
			return nil, nil, err
		}
	}
	var values map[string]any
	if err := yaml.Unmarshal([]byte(front), &values); err != nil {
		return nil, nil, yamlError(err)
	}
	return values, lines, nil
}

// frontMatterOffset is the number of lines in the file before the YAML.
const frontMatterOffset = 1

// yamlLines records the line of each value. It returns an error for anchors, aliases and tags:
// options do not need them, and nested aliases can use up all memory.
func yamlLines(n ast.Node, path string, lines map[string]int) error {
	switch n := n.(type) {
	case *ast.MappingNode:
		for _, entry := range n.Values {
			if err := yamlLines(entry, path, lines); err != nil {
				return err
			}
		}
	case *ast.MappingValueNode:
		at := join(path, n.Key.GetToken().Value)
		lines[at] = lineOf(n.Key)
		return yamlLines(n.Value, at, lines)
	case *ast.SequenceNode:
		for i, item := range n.Values {
			at := fmt.Sprintf("%s[%d]", path, i)
			lines[at] = lineOf(item)
			if err := yamlLines(item, at, lines); err != nil {
				return err
			}
		}
	case *ast.AnchorNode, *ast.AliasNode, *ast.TagNode, *ast.MergeKeyNode:
		return fmt.Errorf("%d: anchors, aliases and tags are not supported", lineOf(n))
	}
	return nil
}

// lineOf returns the line of a node in the whole file.
func lineOf(n ast.Node) int {
	if token := n.GetToken(); token != nil && token.Position != nil {
		return token.Position.Line + frontMatterOffset
	}
	return frontMatterOffset
}

// yamlError shortens an error of the YAML library, which spans several lines, to one line.
func yamlError(err error) error {
	if located, ok := errors.AsType[yaml.Error](err); ok && located.GetToken() != nil {
		return fmt.Errorf("%d: %s", located.GetToken().Position.Line+frontMatterOffset, located.GetMessage())
	}
	first, _, _ := strings.Cut(err.Error(), "\n")
	return fmt.Errorf("%d: %s", frontMatterOffset+1, first)
}
