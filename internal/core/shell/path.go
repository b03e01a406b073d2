package shell

import (
	"path"
	"strings"
)

// Abs makes the name of a file absolute and clean, with slashes; "" if it is
// relative to a folder that is not known (dir is ""). A home that is not known,
// or another user's, is a place outside of everything.
func Abs(dir, home, name string) string {
	if strings.HasPrefix(name, "~") {
		user, rest, _ := strings.Cut(name, "/")
		at := "/~/" + user
		if user == "~" && home != "" {
			at = CleanPath(home)
		}
		return path.Join(at, rest)
	}
	p := strings.ReplaceAll(name, `\`, "/")
	switch {
	case strings.HasPrefix(p, "/"), HasDriveLetter(p):
		return CleanPath(name)
	case dir == "":
		return ""
	}
	return CleanPath(dir + "/" + p)
}

// Slashed cleans an absolute path. A drive's letter is folded, as Windows does.
func CleanPath(p string) string {
	if HasDriveLetter(p) || strings.HasPrefix(p, `\\`) {
		p = strings.ReplaceAll(p, `\`, "/")
	}
	if HasDriveLetter(p) {
		p = strings.ToLower(p[:1]) + p[1:]
	}
	return path.Clean(p)
}

// HasDriveLetter tells a path of Windows that begins with a drive's letter.
func HasDriveLetter(p string) bool {
	return len(p) >= 2 && p[1] == ':' && (p[0]|0x20 >= 'a' && p[0]|0x20 <= 'z')
}

// Base is the name of a command without its folder.
func Base(name string) string {
	return strings.TrimSuffix(path.Base(strings.ReplaceAll(name, `\`, "/")), ".exe")
}
