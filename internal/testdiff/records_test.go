package testdiff

import "testing"

// Maps become records of a type that the task names; their values stay with their fields.
func TestAdaptConvertsMapsToRecords(t *testing.T) {
	t.Parallel()
	const old = "from track import climb, parse\n\n\ndef test_parse():\n    assert parse(\"1,2\") == [{\"lat\": 1.0, \"lon\": 2.0}]\n    assert parse(\"1,2\")[0][\"lat\"] == 1.0\n"
	const want = "from track import Point, climb, parse\n\n\ndef test_parse():\n    assert parse(\"1,2\") == [Point(1.0, 2.0)]\n    assert parse(\"1,2\")[0].lat == 1.0\n"
	const script = "const { parse } = require('./track');\n\ntest('parse', () => {\n  assert.deepEqual(parse('1,2'), [{ lat: 1, lon: 2 }]);\n});\n"
	w := Work{
		Task: "Points are a dataclass Point(lat, lon)", AddedNames: map[string]bool{"Point": true}, Records: map[string][]string{"Point": {"lat", "lon", "height"}},
		MayShadow: func(string) bool { return false }, Declares: func(name string) bool { return name == "Point" }, Untested: func(string) bool { return false },
	}
	for _, c := range []struct{ name, file, old, now, want string }{
		{"by place", "test_track.py", old, want, want},
		{"by name", "test_track.py", old, edited(want, "1.0, 2.0", "lat=1.0, lon=2.0"), edited(want, "1.0, 2.0", "lat=1.0, lon=2.0")},
		{"in a script", "track.test.js", script, edited(script, "{ lat: 1, lon: 2 }", "new Point(1, 2)", "{ parse }", "{ Point, parse }"), edited(script, "{ lat: 1, lon: 2 }", "new Point(1, 2)", "{ parse }", "{ Point, parse }")},
		{"another value", "test_track.py", old, edited(want, "1.0, 2.0)", "1.0, 3.0)"), ""},
		{"the values exchanged", "test_track.py", old, edited(want, "1.0, 2.0", "lat=2.0, lon=1.0"), ""},
		{"a field less", "test_track.py", old, edited(want, "1.0, 2.0)", "1.0)"), ""},
		{"another field", "test_track.py", old, edited(want, "[0].lat", "[0].height"), ""},
	} {
		got := ""
		if all := w.Adapt([]File{{c.file, []byte(c.old)}}, []File{{c.file, []byte(c.now)}}); len(all) > 0 {
			got = string(all[0].Content)
		}
		if c.want != "" && got != c.want || c.want == "" && got == c.now {
			t.Errorf("%s: got %s", c.name, got)
		}
	}
	w.Records = map[string][]string{"Point": {"lon", "lat"}}
	if all := w.Adapt([]File{{"test_track.py", []byte(old)}}, []File{{"test_track.py", []byte(want)}}); len(all) > 0 && string(all[0].Content) == want {
		t.Error("the fields are in another order")
	}
}

// A test that the task says has to go may go, also where it is a line of a program of tests.
func TestAdaptRemovesRequestedTests(t *testing.T) {
	t.Parallel()
	const old = "public class SettingsTest {\n    public static void main(String[] args) {\n        same(\"parses\", Settings.parse(\"a=1\"), 1);\n        same(\"ignoresBadLines\", Settings.parse(\"x\"), 0);\n        System.exit(failed);\n    }\n}\n"
	now := edited(old, "same(\"ignoresBadLines\", Settings.parse(\"x\"), 0);", "same(\"refusesBadLines\", error(\"x\"), \"line 1\");\n        same(\"empty\", Settings.parse(\"\"), 0);")
	want := edited(old, "same(\"ignoresBadLines\", Settings.parse(\"x\"), 0);", "")
	for task, may := range map[string]bool{
		"parse throws. The test ignoresBadLines has to go or change, obviously.": true,
		"parse throws. The tests parses and ignoresBadLines must be removed":     true,
		"parse throws": false,
		"parse throws; the test ignoresBadLines has to pass, and tests of other things have to go": false,
	} {
		w := Work{Task: task, MayShadow: func(string) bool { return false }, Declares: func(string) bool { return false }, Untested: func(string) bool { return false }}
		got := w.Adapt([]File{{"SettingsTest.java", []byte(old)}}, []File{{"SettingsTest.java", []byte(now)}})
		if may != (len(got) == 1) || may && string(got[0].Content) != want {
			t.Errorf("%s: %+v", task, got)
		}
	}
}
