// Package codec translates what Claude Code sends into Pawl's own terms. It is the only
// place that knows the client's names for its tools and their inputs.
package codec

import (
	"maps"
	"slices"
	"strings"

	"github.com/pawl-dev/pawl/internal/core/toolcall"
)

// toolKinds has the client's tools. PowerShell and Monitor are of another kind than Bash:
// what they run may continue after the call.
var toolKinds = map[string]toolcall.Kind{
	"Bash": toolcall.Run, "PowerShell": toolcall.Other, "Monitor": toolcall.Other,
	"Write": toolcall.Write, "Edit": toolcall.Edit, "MultiEdit": toolcall.Edit, "NotebookEdit": toolcall.Edit,
	"Read": toolcall.Read, "NotebookRead": toolcall.Read, "Grep": toolcall.Search, "Glob": toolcall.List, "LS": toolcall.List,
	"WebFetch": toolcall.Fetch, "WebSearch": toolcall.Fetch, "TodoWrite": toolcall.Internal, "ToolSearch": toolcall.Internal,
	"StructuredOutput": toolcall.Answer,
}

// pathKeys has the key of the file for tools that take one. The client ignores other keys, so the guard
// must not check their values instead.
var pathKeys = map[string]string{
	"Write": "file_path", "Edit": "file_path", "MultiEdit": "file_path", "Read": "file_path",
	"NotebookEdit": "notebook_path", "NotebookRead": "notebook_path", "Grep": "path", "Glob": "path", "LS": "path",
}

// ToolCall returns what a call of the client's tool does.
func ToolCall(tool string, input map[string]any, dir string) toolcall.Call {
	c := toolcall.Call{
		Tool: tool, Kind: toolKinds[tool], Dir: dir,
		Path: filePath(tool, input), Glob: firstText(input, "glob"), Command: firstText(input, "command"),
		Lines: input["output_mode"] == "content",
	}
	c.Background = c.Command != "" && input["run_in_background"] == true
	if name, ok := strings.CutPrefix(tool, "mcp__"); ok {
		c.Server, c.Method, _ = strings.Cut(name, "__")
	}
	switch {
	case c.Kind == toolcall.Edit:
		c.Edits = edits(input)
	case c.Kind == toolcall.Other && c.Command == "", c.Kind == toolcall.Fetch, c.Kind == toolcall.Internal:
		c.Texts = texts(input)
	}
	return c
}

// FileTools returns the names of the tools that take a file, sorted.
func FileTools() []string {
	return toolsOfKind(toolcall.Write, toolcall.Edit, toolcall.Read, toolcall.Search, toolcall.List)
}

// ShellTools returns the names of the tools that take a command, sorted.
func ShellTools() []string { return toolsOfKind(toolcall.Run, toolcall.Other) }

func toolsOfKind(of ...toolcall.Kind) (names []string) {
	for _, name := range slices.Sorted(maps.Keys(toolKinds)) {
		if slices.Contains(of, toolKinds[name]) {
			names = append(names, name)
		}
	}
	return names
}

// filePath returns the file that a call names; of a tool that is not known, any that it may mean.
func filePath(tool string, input map[string]any) string {
	if key, known := pathKeys[tool]; known {
		return firstText(input, key)
	}
	return firstText(input, "file_path", "notebook_path", "path")
}

// firstText returns the first text among the values of the keys.
func firstText(input map[string]any, keys ...string) string {
	for _, key := range keys {
		if s, ok := input[key].(string); ok {
			return s
		}
	}
	return ""
}

// edits returns all replacements in a call. A tool that takes one replacement ignores a list, and a
// tool that takes a list ignores a single one.
func edits(input map[string]any) (all []toolcall.Replacement) {
	several, listed := input["edits"].([]any)
	_, one := input["new_string"]
	if !listed || one {
		all = append(all, replacement(input))
	}
	for _, e := range several {
		edit, _ := e.(map[string]any)
		all = append(all, replacement(edit))
	}
	return all
}

func replacement(edit map[string]any) toolcall.Replacement {
	was, okWas := edit["old_string"].(string)
	now, okNow := edit["new_string"].(string)
	if !okWas || !okNow {
		return toolcall.Replacement{}
	}
	return toolcall.Replacement{Old: was, New: now}
}

// texts returns the texts in an input, and those in its lists.
func texts(input map[string]any) (all []string) {
	for _, key := range slices.Sorted(maps.Keys(input)) {
		list, _ := input[key].([]any)
		for _, v := range append(list, input[key]) {
			if s, ok := v.(string); ok {
				all = append(all, s)
			}
		}
	}
	return all
}
