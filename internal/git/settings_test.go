package git

import (
	"context"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestSettings(t *testing.T) {
	t.Parallel()
	got, err := Settings(context.Background(), []byte("[Core]\n\tBare\n[filter \"a b\"] clean=cat \"x # y\" ; z\n[include]\n\tpath = x\n[filter \"a b\"]\nclean = \n"))
	want := []Setting{{Key: "core.bare", Value: "true"}, {Key: "filter.a b.clean", Value: "cat x # y"}, {Key: "include.path", Value: "x"}, {Key: "filter.a b.clean"}}
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Errorf("%v\n%s", err, diff)
	}
	if _, err := Settings(context.Background(), []byte("[filter\n")); err == nil {
		t.Error("a configuration that git cannot read is read")
	}
}
