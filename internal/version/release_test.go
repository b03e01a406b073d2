package version

import "testing"

func TestNewestReleaseIsFound(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		tags []string
		want string
	}{
		{nil, ""},
		{[]string{"vast", "1.0.0", "v1.0", "v1.0.0-rc.1", "v1.0.0.0", "v-1.0.0", "v+1.0.0"}, ""},
		{[]string{"v1.9.0", "v1.10.0", "v1.9.9", "v2.0.0-rc.1"}, "v1.10.0"},
		{[]string{"v2.0.0", "v10.0.0"}, "v10.0.0"},
	} {
		if got := Newest(tt.tags); got != tt.want {
			t.Errorf("%q: %q, want %q", tt.tags, got, tt.want)
		}
	}
	if IsNewer("v1.0.0", "v1.0.0") || !IsNewer("v1.0.1", "v1.0.0") || IsNewer("v1.0.1", "v1.1.0") {
		t.Error("IsNewer is wrong")
	}
}
