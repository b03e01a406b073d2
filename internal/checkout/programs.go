package checkout

import (
	"os"
	"path/filepath"
	"strconv"

	"github.com/pawl-dev/pawl/internal/atomicfile"
	"github.com/pawl-dev/pawl/internal/deps"
	"github.com/pawl-dev/pawl/internal/environment"
)

// allPrograms returns the state of the programs in each PATH folder. It reads a folder with two
// names only once (/bin is often /usr/bin).
func (k *Checkout) allPrograms() map[string]map[string]string {
	found, read := map[string]map[string]string{}, map[string]map[string]string{}
	for _, dir := range k.pathFolders() {
		real := resolved(dir)
		if _, known := read[real]; !known {
			read[real] = programs(dir)
		}
		found[dir] = read[real]
	}
	return found
}

// programs returns the programs in a folder, with mode, size and times of each.
func programs(dir string) map[string]string {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil
	}
	found := make(map[string]string, len(entries))
	for _, e := range entries {
		info, err := os.Stat(filepath.Join(dir, e.Name()))
		if err != nil || !info.Mode().IsRegular() {
			continue
		}
		state := make([]byte, 0, 64)
		for _, n := range []int64{int64(info.Mode()), info.Size(), info.ModTime().UnixNano(), deps.ChangeTime(info)} {
			state = append(strconv.AppendInt(state, n, 36), ' ')
		}
		found[e.Name()] = string(state)
	}
	return found
}

// maxHashedProgram limits the size of programs compared by content, in bytes.
const maxHashedProgram = 16 << 10

// scripts returns the fingerprints of small programs in the home, because package managers rewrite
// them with the same content.
func (k *Checkout) scripts(programs map[string]map[string]string) map[string]string {
	found, home := map[string]string{}, environment.Variable(k.Env, "HOME")
	for dir, names := range programs {
		if !isWithin(dir, home) {
			continue
		}
		for name := range names {
			file := filepath.Join(dir, name)
			if info, err := os.Stat(file); err == nil && info.Size() <= maxHashedProgram {
				found[file] = atomicfile.Fingerprint(file, maxHashedProgram)
			}
		}
	}
	return found
}

// comparePrograms compares a folder's programs with those of the record.
func (n *unchangedHome) comparePrograms(dir string, is map[string]string, then *homeState) {
	var same []string
	for name, state := range is {
		file := filepath.Join(dir, name)
		isSame := then.Programs[dir][name] == state
		if content, isScript := then.Scripts[file]; isScript && (!isSame || !deps.HasChangeTime) {
			isSame = atomicfile.Fingerprint(file, maxHashedProgram) == content
		}
		if isSame {
			same = append(same, name)
		} else {
			n.changed = append(n.changed, file)
		}
	}
	if len(same) < len(is) {
		n.programs[dir] = same
	}
}
