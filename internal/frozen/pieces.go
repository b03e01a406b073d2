package frozen

import (
	"bytes"
	"slices"
	"strings"
)

// piece is a stretch of a file; the texts of all are the file.
type piece struct {
	text   string
	judges bool
}

// partly reports whether only a part of a file judges: then it is compared and put back
// in that alone.
func partly(file string) bool {
	return file == gitPrefix+"config" || file == gitPrefix+"config.worktree"
}

// restored is a configuration of git with the settings that judge as they were; as it
// was, where that cannot be made by pieces.
func restored(was, now []byte) []byte {
	out := refill(gitPieces(was), gitPieces(now))
	if !sameGitSettings(was, out) {
		return was
	}
	return out
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
