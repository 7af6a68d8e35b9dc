package rigtest

import (
	"fmt"
	"sync"

	"github.com/throughline-go/throughline/envharness"
)

// A memo remembers what was made for each task. Only those who ask for the same task wait for each other. The zero value is empty.
type memo[T any] struct {
	mu    sync.Mutex
	tasks map[string]*memory[T]
}

type memory[T any] struct {
	mu    sync.Mutex
	made  bool
	value T
}

// of returns what was made for the task, or makes it. After an error it is made anew the next time.
func (m *memo[T]) of(task envharness.Task, build func() (T, error)) (T, error) {
	e := m.entry(task)
	e.mu.Lock()
	defer e.mu.Unlock()
	if !e.made {
		value, err := build()
		if err != nil {
			return value, err
		}
		e.value, e.made = value, true
	}
	return e.value, nil
}

func (m *memo[T]) entry(task envharness.Task) *memory[T] {
	seed := "none"
	if task.Seed != nil {
		seed = fmt.Sprint(*task.Seed)
	}
	key := fmt.Sprintf("%q %s %s", task.ID, seed, task.Options)
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.tasks == nil {
		m.tasks = make(map[string]*memory[T])
	}
	if m.tasks[key] == nil {
		m.tasks[key] = new(memory[T])
	}
	return m.tasks[key]
}
