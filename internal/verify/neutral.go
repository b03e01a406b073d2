package verify

import (
	"context"
	"fmt"

	"github.com/pawl-dev/pawl/internal/sign"
)

// weighed names the signs of the work that can be neutralized.
func (v *Verifier) weighed(ctx context.Context, r Request) ([]string, error) {
	_, done, err := v.neutralFiles(ctx, r)
	var names []string
	for _, s := range done {
		names = append(names, fmt.Sprintf("%s:%d, which %s", s.Path, s.Line, s.Does))
	}
	return names, err
}

// neutral is the tree of now with the signs neutralized, see sign.Neutral.
func (v *Verifier) neutral(ctx context.Context, r Request) (string, error) {
	files, _, err := v.neutralFiles(ctx, r)
	if err != nil {
		return "", err
	}
	return v.Repo.WithContent(ctx, r.Tree, files)
}

func (v *Verifier) neutralFiles(ctx context.Context, r Request) (map[string][]byte, []sign.Sign, error) {
	changes, err := v.Repo.Diff(ctx, r.Base, r.Tree)
	if err != nil || len(changes) > maxBroken {
		return nil, nil, err
	}
	files := map[string][]byte{}
	var signs []sign.Sign
	for _, c := range changes {
		if c.Status == 'D' || v.isTest(c.Path) || !sign.Knows(c.Path) {
			continue
		}
		before, after, err := contents(ctx, v.Repo, r.Base, r.Tree, c)
		if err != nil {
			return nil, nil, err
		}
		if text, done := sign.Neutral(c.Path, before, after); len(done) > 0 {
			files[c.Path] = text
			signs = append(signs, done...)
		}
	}
	return files, signs, nil
}
