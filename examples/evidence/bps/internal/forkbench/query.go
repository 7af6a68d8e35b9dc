package forkbench

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
)

// A queryRule is a language of conditions: "state = open and weight >= 20 and sort weight and take 3", with other marks.
type queryRule struct {
	equal, least, most string // between a column and a value
	join               string // between two conditions
	sort, take         string // before a column, before a number of rows
}

// standardQuery is the common one.
func standardQuery() queryRule {
	return queryRule{equal: "=", least: ">=", most: "<=", join: "and", sort: "sort", take: "take"}
}

func drawQuery(r *rand.Rand) queryRule {
	marks := [...]string{"::", "^", "%", "~", "!", "@", "&", "$"}
	m := r.Perm(len(marks))
	return queryRule{equal: marks[m[0]], least: marks[m[1]], most: marks[m[2]], join: marks[m[3]], sort: marks[m[4]], take: marks[m[5]]}
}

func readQuery(f *fields) queryRule {
	m := f.marks("equal", "at-least", "at-most", "join", "sort-by", "take")
	return queryRule{equal: m[0], least: m[1], most: m[2], join: m[3], sort: m[4], take: m[5]}
}

func (q queryRule) block() string {
	return block(Query, "equal", q.equal, "at-least", q.least, "at-most", q.most, "join", q.join, "sort-by", q.sort, "take", q.take)
}

func (q queryRule) example(r *rand.Rand) string {
	limit, state, n := 20+r.IntN(60), states()[r.IntN(len(states()))], 1+r.IntN(4)
	return fmt.Sprintf("the line %q keeps the rows in state %s with a weight of %d or more, sorted by town, the first %d of them",
		q.write(state, q.least, limit, "town", n), state, limit, n)
}

// write puts a query into this language; an empty state is left out.
func (q queryRule) write(state, comparison string, limit int, column string, n int) string {
	terms := []string{"weight " + comparison + " " + strconv.Itoa(limit), q.sort + " " + column, q.take + " " + strconv.Itoa(n)}
	if state != "" {
		terms = append([]string{"state " + q.equal + " " + state}, terms...)
	}
	return strings.Join(terms, " "+q.join+" ")
}

// drawQuery writes a query in this language that keeps some of the rows.
func (q queryRule) drawQuery(r *rand.Rand) string {
	comparison := q.least
	if r.IntN(2) == 0 {
		comparison = q.most
	}
	state := ""
	if r.IntN(3) == 0 {
		state = states()[r.IntN(len(states()))]
	}
	return q.write(state, comparison, 30+r.IntN(40), [...]string{"id", "town"}[r.IntN(2)], 3+r.IntN(3))
}

// pick returns the rows that a query asks for. Conditions hold for all rows kept; sorting is by text, and stable.
func (q queryRule) pick(query string, rows []row) ([]row, error) {
	kept := slices.Clone(rows)
	take := len(rows)
	for term := range strings.SplitSeq(query, " "+q.join+" ") {
		words := strings.Split(term, " ")
		switch {
		case len(words) == 2 && words[0] == q.sort:
			slices.SortStableFunc(kept, func(a, b row) int { return cmp.Compare(a.field(words[1]), b.field(words[1])) })
		case len(words) == 2 && words[0] == q.take:
			n, err := strconv.Atoi(words[1])
			if err != nil || n < 0 {
				return nil, fmt.Errorf("forkbench: query: cannot take %.20q rows", words[1])
			}
			take = n
		case len(words) == 3:
			keep, err := q.condition(words[0], words[1], words[2])
			if err != nil {
				return nil, err
			}
			kept = slices.DeleteFunc(kept, func(r row) bool { return !keep(r) })
		default:
			return nil, fmt.Errorf("forkbench: query: cannot read %.40q", term)
		}
	}
	return kept[:min(take, len(kept))], nil
}

// condition reads one comparison. Those of size are of the weight.
func (q queryRule) condition(column, mark, value string) (func(row) bool, error) {
	if mark == q.equal {
		return func(r row) bool { return r.field(column) == value }, nil
	}
	limit, err := strconv.Atoi(value)
	switch {
	case err != nil || column != "weight":
		return nil, fmt.Errorf("forkbench: query: cannot compare %.20q with %.20q", column, value)
	case mark == q.least:
		return func(r row) bool { return r.weight >= limit }, nil
	case mark == q.most:
		return func(r row) bool { return r.weight <= limit }, nil
	}
	return nil, fmt.Errorf("forkbench: query: unknown mark %.20q", mark)
}

func queryWording() wording {
	return wording{
		title: "search lines",
		names: [2][]string{
			{"search-line", "record-query", "row-selection", "lookup-expression"},
			{"query-line", "record-filter", "search-expression", "select-rows"},
		},
		abouts: [2][]string{
			{
				"Reads a search line and keeps the rows of a table that it asks for.",
				"How to filter records by a query, with the marks of its conditions.",
				"The selection line of tables. Use it when entries have to match a lookup expression.",
				"Query language for records: conditions, order and number of the rows that are kept.",
			},
			{
				"Which rows a query line selects, and in which order they are returned.",
				"Run a search expression over the entries of a table; defines the marks of the filter.",
				"Filter language for tables: an expression says which records match and how many are kept.",
				"Selecting the entries of a table that match a query, sorted as the line says.",
			},
		},
		notes: [2][]string{
			{
				"A line is a row of conditions with the joining mark between them, and blanks around every mark.",
				"Conditions of equality compare texts; those of size are for the weight alone.",
				"All conditions have to hold; there is no way to say that one of several is enough.",
				"Sorting is by the text of a column, from the smallest to the largest, and rows that are equal keep their order.",
				"The number of rows is cut after everything else is done.",
				"A column is named as in the head of the table, in small letters.",
			},
			{
				"Read the line from left to right; the joining mark ends a condition.",
				"Equal means the same text, letter by letter.",
				"The marks for at least and at most include the value itself.",
				"A line without a condition keeps all rows.",
				"When the line asks for more rows than there are, it gets those there are.",
				"An order that is given twice counts the second time.",
			},
		},
		asks: [2][]string{
			{"keep only the rows that the search line asks for", "apply the selection line to the table", "filter the records by the given query",
				"find the entries that match the lookup expression"},
			{"drop every row that the search expression does not match", "return the records that the query line selects",
				"run the filter expression over the entries"},
		},
	}
}
