package planfile

import (
	"bytes"
	"fmt"
	"slices"
	"sort"
	"strings"

	"github.com/pawl-dev/pawl/internal/core/plan"
	"github.com/pawl-dev/pawl/internal/regex"
)

// namedComment matches a comment that begins with a word, perhaps a colon, and more text.
var namedComment = regex.New(`^<!--\s*([A-Za-z]+)\s*(:?)((?s:.*?))-->$`)

// warnOfIgnoredComments warns of comments for Pawl that are not read: "pawl evidence=unproven"
// without the colon, "pwal: …", and comments without a task or with a task that has another one.
func (r *parseResult) warnOfIgnoredComments(d *document) {
	for _, at := range d.commentsForPawl() {
		if !d.readComments[at[0]] {
			text := string(d.data[at[0]:at[1]])
			r.warn(d.lines.lineAt(at[0]), fmt.Sprintf("this comment is ignored: %s", plan.OneLine(text, 60)), "one such comment per task, beside its title or below it")
		}
	}
	for _, at := range comment.FindAllSubmatchIndex(d.data, -1) {
		text := string(d.data[at[0]:at[1]])
		m := namedComment.FindStringSubmatch(text)
		if m == nil || pawlComment.MatchString(text) || !isMeantForPawl(m[1], m[2] != "", m[3]) {
			continue
		}
		line := bytes.Count(d.data[:at[0]], []byte("\n")) + 1
		r.warn(line, fmt.Sprintf("this comment is ignored: %s", plan.OneLine(text, 60)), `"<!-- pawl: … -->", with the colon`)
	}
}

// isMeantForPawl reports whether a comment with this first word was meant for Pawl.
func isMeantForPawl(word string, colon bool, rest string) bool {
	letters := []byte(strings.ToLower(word))
	slices.Sort(letters)
	return string(letters) == "alpw" && (colon || strings.Contains(rest, "="))
}

// withSettings returns the text of a task followed by the comment with its settings: the one in its
// head, else the first one in the regions below it or about it.
func (d *document) withSettings(text string, head region, below ...region) string {
	if pawlComment.MatchString(text) {
		if at := d.nextCommentForPawl(head); at != nil {
			d.markRead(at[0])
		}
		return text
	}
	for _, in := range below {
		if at := d.nextCommentForPawl(in); at != nil && !d.readComments[at[0]] {
			d.markRead(at[0])
			return text + " " + string(d.data[at[0]:at[1]])
		}
	}
	return text
}

// nextCommentForPawl returns where the first comment for Pawl in a region is, nil for none.
func (d *document) nextCommentForPawl(in region) []int {
	all := d.commentsForPawl()
	i := sort.Search(len(all), func(i int) bool { return all[i][0] >= in.from })
	if i == len(all) || all[i][0] >= in.to {
		return nil
	}
	return all[i]
}

// markRead stores that a comment was read.
func (d *document) markRead(at int) {
	if d.readComments == nil {
		d.readComments = map[int]bool{}
	}
	d.readComments[at] = true
}

// commentsForPawl returns where the comments for Pawl are, without those in code.
func (d *document) commentsForPawl() [][]int {
	if d.pawlComments == nil {
		d.pawlComments = slices.DeleteFunc(pawlComment.FindAllSubmatchIndex(d.data, -1), func(at []int) bool {
			i := sort.Search(len(d.code), func(i int) bool { return d.code[i].to > at[0] })
			return i < len(d.code) && d.code[i].from <= at[0] || at[0] > 0 && d.data[at[0]-1] == '`'
		})
	}
	return d.pawlComments
}
