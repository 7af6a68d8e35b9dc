package forkbench

import (
	"fmt"
	"math/rand/v2"
	"strconv"
	"time"
)

// A row is one line of the table that a task is about.
type row struct {
	id, town, state string
	weight          int
	date            time.Time
}

// field returns the text of a column; an unknown one is empty. The date is left to the caller, since a task may restate it.
func (r row) field(name string) string {
	switch name {
	case "id":
		return r.id
	case "town":
		return r.town
	case "state":
		return r.state
	case "weight":
		return strconv.Itoa(r.weight)
	}
	return ""
}

// An input is what one hidden test gives to the executor.
type input struct {
	rows  []row
	query string // in the private query language
	form  string // in the private template language
}

// states are the values of the column state.
func states() []string { return []string{"open", "held", "sent", "void"} }

// drawRows draws a table of n rows.
func drawRows(r *rand.Rand, n int) []row {
	towns := []string{"Alder", "Birch", "Cedar", "Dorn", "Elm", "Fern", "Gorse", "Hazel", "Iris", "Juno", "Kelp", "Linden"}
	rows := make([]row, n)
	for i := range rows {
		rows[i] = row{
			id:     fmt.Sprintf("%c%03d", 'A'+rune(r.IntN(26)), r.IntN(1000)),
			town:   towns[r.IntN(len(towns))],
			state:  states()[r.IntN(len(states()))],
			weight: 1 + r.IntN(99),
			date:   time.Date(2024+r.IntN(4), time.Month(1+r.IntN(12)), 1+r.IntN(28), 0, 0, 0, 0, time.UTC),
		}
	}
	return rows
}
