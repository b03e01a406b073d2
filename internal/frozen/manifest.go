package frozen

import (
	"bytes"
	"encoding/json"
	"maps"
	"path"
	"slices"
	"strings"
)

// In a package.json dependencies come and go with the work; what judges are the
// scripts that gates run, and the settings of test runners.

func isManifest(file string) bool { return path.Base(file) == "package.json" }

const runnerKeys = "jest vitest mocha ava tap c8 nyc"

// manifestChanges names the members that judge and differ. A manifest that
// cannot be read any more differs in all.
func manifestChanges(was, now []byte, words []string) []string {
	before, okBefore := members(was)
	after, okAfter := members(now)
	if !okBefore {
		if bytes.Equal(was, now) {
			return nil
		}
		return []string{"scripts"}
	}
	if !okAfter {
		return slices.Sorted(maps.Keys(before))
	}
	var changed []string
	for key := range strings.FieldsSeq(runnerKeys) {
		if old, there := before[key]; there && !sameJSON(old.raw, after[key].raw) {
			changed = append(changed, key)
		}
	}
	old, current := scripts(before), scripts(after)
	for _, name := range used(old, words) {
		if old[name] != current[name] {
			return append(changed, "scripts")
		}
	}
	return changed
}

// used are the scripts that the words of the gates' commands lead to, with those
// that run before and after them, there or not.
func used(scripts map[string]string, words []string) []string {
	names := map[string]bool{}
	todo := slices.Clone(words)
	for len(todo) > 0 {
		name := strings.TrimPrefix(todo[len(todo)-1], "npm:")
		todo = todo[:len(todo)-1]
		if strings.Contains(name, "*") { // run-s test:*
			for other := range scripts {
				if ok, err := path.Match(name, other); ok && err == nil && !strings.Contains(other, "*") {
					todo = append(todo, other)
				}
			}
			continue
		}
		body, there := scripts[name]
		if !there || names[name] {
			continue
		}
		names[name], names["pre"+name], names["post"+name] = true, true, true
		todo = append(todo, strings.FieldsFunc(body+" "+scripts["pre"+name]+" "+scripts["post"+name], notInWord)...)
	}
	return slices.Sorted(maps.Keys(names))
}

func scripts(m map[string]member) map[string]string {
	var s map[string]string
	if json.Unmarshal(m["scripts"].raw, &s) != nil {
		return nil
	}
	return s
}

// member is one value of the top object, and where it stands.
type member struct {
	raw      []byte
	from, to int
}

// members reads the top object; false if there is none.
func members(data []byte) (map[string]member, bool) {
	if !json.Valid(data) {
		return nil, false
	}
	d := json.NewDecoder(bytes.NewReader(data))
	if tok, err := d.Token(); err != nil || tok != json.Delim('{') {
		return nil, false
	}
	all := map[string]member{}
	for d.More() {
		key, err := d.Token()
		name, ok := key.(string)
		var raw json.RawMessage
		if err != nil || !ok || d.Decode(&raw) != nil {
			return nil, false
		}
		to := int(d.InputOffset())
		all[name] = member{raw: raw, from: to - len(raw), to: to}
	}
	return all, true
}

func sameJSON(a, b []byte) bool {
	var x, y bytes.Buffer
	if json.Compact(&x, a) != nil || json.Compact(&y, b) != nil {
		return len(a) == len(b)
	}
	return bytes.Equal(x.Bytes(), y.Bytes())
}

// mendManifest is now with the members that judge as they were, byte for byte,
// and all else untouched.
func mendManifest(was, now []byte, words []string) []byte {
	changed := manifestChanges(was, now, words)
	before, okBefore := members(was)
	after, okAfter := members(now)
	if !okBefore || !okAfter {
		return was
	}
	var comma []byte // after an inserted member, unless it is the only one
	if len(after) > 0 {
		comma = []byte(",")
	}
	// From the end to the start, so that what is not yet done stays in its place.
	slices.SortFunc(changed, func(a, b string) int { return after[b].from - after[a].from })
	for _, key := range changed {
		m, there := after[key]
		if !there {
			m.from = bytes.IndexByte(now, '{') + 1
			m.to = m.from
		}
		value := before[key].raw
		if !there {
			value = slices.Concat([]byte("\n  \""+key+"\": "), value, comma)
			comma = []byte(",")
		}
		now = slices.Concat(now[:m.from], value, now[m.to:])
	}
	return now
}

// dependencies are the members of a manifest that say what it depends on.
func dependencies(data []byte) []byte {
	all, ok := members(data)
	if !ok {
		return data
	}
	var out []byte
	for _, key := range []string{"dependencies", "devDependencies", "optionalDependencies", "peerDependencies", "overrides", "resolutions", "workspaces"} {
		out = append(out, all[key].raw...)
		out = append(out, '\n')
	}
	return out
}
