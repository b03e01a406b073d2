package page

import (
	"net/http"

	"github.com/pawl-dev/pawl/internal/report"
)

// diffPage is what a task changed.
type diffPage struct {
	shell
	ID, Task string
	Lines    []report.DiffLine
}

func (s *server) diff(w http.ResponseWriter, r *http.Request) {
	id, task := r.PathValue("id"), r.PathValue("task")
	if !isLoopID(id) {
		s.fail(w, http.StatusNotFound, "there is no such loop")
		return
	}
	text, err := s.Source.Diff(r.Context(), id, task)
	if err != nil {
		s.failed(w, err)
		return
	}
	s.show(w, http.StatusOK, "diff", diffPage{shell{Title: "Changes of task " + task, Loop: id}, id, task, report.DiffLines(text, 5000)})
}
