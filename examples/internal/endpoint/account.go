package endpoint

import (
	"fmt"
	"io"
	"strings"
)

// Finished notes a part that is done and what came of it, for [Model.Account].
func (m *Model) Finished(part string, result any) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.finished = append(m.finished, fmt.Sprintf("%s %v", part, result))
}

// Account tells what a program that failed had finished and what the model has used, which is paid for nevertheless: two lines that begin
// with the name of the program. Of a nil model, and one that was never asked, there is nothing to tell.
func (m *Model) Account(w io.Writer, program string) {
	if m == nil {
		return
	}
	used := m.Usage()
	if used.Requests == 0 {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	finished := "nothing"
	if len(m.finished) > 0 {
		finished = strings.Join(m.finished, "; ")
	}
	fmt.Fprintf(w, "%s: finished before that: %s\n%s: used: %v\n", program, finished, program, used)
}
