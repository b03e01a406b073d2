package frozen

import (
	"bytes"
	"path"
	"reflect"
	"regexp"
	"slices"
	"strings"

	"github.com/pelletier/go-toml/v2"
)

// part says what of a file judges, where not all of it does: two contents are
// compared in that alone, and put back in that alone.
type part struct {
	same func(was, now []byte, words []string) bool
	mend func(was, now []byte, words []string) []byte
}

// partOf is the part of a file that judges; false if all of it does.
func partOf(file string) (part, bool) {
	switch {
	case isManifest(file):
		return part{
			same: func(was, now []byte, words []string) bool { return len(manifestChanges(was, now, words)) == 0 },
			mend: mendManifest,
		}, true
	case isMakefile(file):
		return byPieces(makePieces, sameMake), true
	case file == gitPrefix+"config" || file == gitPrefix+"config.worktree":
		return byPieces(gitPieces, sameGitSettings), true
	case path.Base(file) == "pyproject.toml":
		return byPieces(sections(toolSection), sameTools), true
	case path.Base(file) == "setup.cfg":
		return byPieces(sections(iniSection), sameSections), true
	}
	return part{}, false
}

// piece is a stretch of a file; the texts of all are the file.
type piece struct {
	text   string
	name   string // of a section
	judges bool
}

type splitter func(data []byte, words []string) []piece

// byPieces puts back the pieces that judge. What cannot be mended so is put back
// whole.
func byPieces(split splitter, same func(was, now []byte, words []string) bool) part {
	return part{same: same, mend: func(was, now []byte, words []string) []byte {
		mended := refill(split(was, words), split(now, words))
		if !same(was, mended, words) {
			return was
		}
		return mended
	}}
}

// refill is now with the pieces that judge as they were, in the places where they
// were between what is the same in both.
func refill(was, now []piece) []byte {
	var out bytes.Buffer
	put := func(pieces ...piece) {
		for _, p := range pieces {
			if b := out.Bytes(); len(b) > 0 && b[len(b)-1] != '\n' {
				out.WriteByte('\n')
			}
			out.WriteString(p.text)
		}
	}
	for len(was)+len(now) > 0 {
		i, j := agree(was, now)
		old := slices.DeleteFunc(slices.Clone(was[:i]), func(p piece) bool { return !p.judges })
		for _, p := range now[:j] {
			if !p.judges {
				put(p)
				continue
			}
			put(old...)
			old = nil
		}
		put(old...)
		if was, now = was[i:], now[j:]; len(was) > 0 {
			put(was[0])
			was, now = was[1:], now[1:]
		}
	}
	return out.Bytes()
}

// agree is where two lists first agree again, with as little between as can be;
// the ends of both if they do not. Blank pieces agree with anything, and do not
// count.
func agree(was, now []piece) (i, j int) {
	for skipped := range len(was) + len(now) {
		for i := max(0, skipped-len(now)+1); i <= min(skipped, len(was)-1); i++ {
			if was[i].text == now[skipped-i].text && (skipped == 0 || strings.TrimSpace(was[i].text) != "") {
				return i, skipped - i
			}
		}
	}
	return len(was), len(now)
}

var sectionHead = regexp.MustCompile(`^\[+([^\]\n]+)\]+`)

// sections divides a file of sections at the lines that begin one.
func sections(judges func(name string, words []string) bool) splitter {
	return func(data []byte, words []string) []piece {
		pieces := []piece{{}}
		for line := range strings.Lines(string(data)) {
			if m := sectionHead.FindStringSubmatch(line); m != nil {
				pieces = append(pieces, piece{name: m[1], judges: judges(m[1], words)})
			}
			pieces[len(pieces)-1].text += line
		}
		return pieces
	}
}

// iniSection: of a setup.cfg the settings of pytest judge, and of the tools that
// gates use by name.
func iniSection(name string, words []string) bool {
	tool, _, _ := strings.Cut(strings.TrimPrefix(name, "tool:"), "-")
	return isTool(tool, words)
}

// sameSections compares the sections that there were. A new one is no change of
// what was there, see shapes.
func sameSections(was, now []byte, words []string) bool {
	before, after := map[string]string{}, map[string]string{}
	for data, texts := range map[*[]byte]map[string]string{&was: before, &now: after} {
		for _, p := range sections(iniSection)(*data, words) {
			if p.judges {
				texts[p.name] += strings.TrimRight(p.text, " \t\r\n") + "\n"
			}
		}
	}
	for name, text := range before {
		if after[name] != text {
			return false
		}
	}
	return true
}

// toolSection: the same of a pyproject.toml.
func toolSection(name string, words []string) bool {
	keys := strings.Split(strings.NewReplacer(`"`, "", "'", "", " ", "").Replace(name), ".")
	return keys[0] == "tool" && (len(keys) == 1 || isTool(keys[1], words))
}

// packagers stand in the commands of gates, and their settings are dependencies.
const packagers = "poetry uv pdm hatch rye flit setuptools maturin pixi conda pip"

func isTool(key string, words []string) bool {
	return key == "pytest" || slices.Contains(words, key) && !slices.Contains(strings.Fields(packagers), key)
}

// sameTools compares by value: the same setting can be written in many ways, and
// a section can be hidden in a text.
func sameTools(was, now []byte, words []string) bool {
	before, okBefore := tools(was, words)
	after, okAfter := tools(now, words)
	if !okBefore || !okAfter {
		return bytes.Equal(was, now)
	}
	for key, value := range before {
		if !reflect.DeepEqual(value, after[key]) {
			return false
		}
	}
	return true
}

// tools are the settings that judge, by tool.
func tools(data []byte, words []string) (map[string]any, bool) {
	var file struct {
		Tool map[string]any `toml:"tool"`
	}
	if toml.Unmarshal(data, &file) != nil {
		return nil, false
	}
	out := map[string]any{}
	for key, value := range file.Tool {
		if isTool(key, words) {
			out[key] = value
		}
	}
	return out, true
}
