package record

import (
	"maps"
	"path/filepath"
)

// Followed is a tool call's input with the symbolic links in its path resolved:
// the guard looks at words only, and a link in the work tree may lead out of it.
func Followed(in map[string]any) map[string]any {
	for _, key := range PathKeys() {
		p, ok := in[key].(string)
		if !ok || !filepath.IsAbs(p) {
			continue
		}
		out := maps.Clone(in)
		out[key] = Resolved(p)
		return out
	}
	return in
}

// PathKeys are the names under which editing tools give the path of their file.
func PathKeys() []string { return []string{"file_path", "notebook_path", "path"} }

// Resolved follows the links of a path whose end need not exist yet.
func Resolved(path string) string {
	rest := ""
	for at := filepath.Clean(path); ; at = filepath.Dir(at) {
		if real, err := filepath.EvalSymlinks(at); err == nil {
			return filepath.Join(real, rest)
		}
		if at == filepath.Dir(at) {
			return path
		}
		rest = filepath.Join(filepath.Base(at), rest)
	}
}
