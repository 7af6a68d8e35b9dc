package forkbench

import (
	"fmt"
	"math/rand/v2"
)

// A wording is what documents and tasks say about one operation. Lists of two belong to the library to learn from and to the one to judge
// by. Which document gets which name and description is drawn anew for every seed, look-alikes included.
type wording struct {
	title  string // for handbooks
	names  [2][]string
	abouts [2][]string
	notes  [2][]string
	asks   [2][]string // tasks to judge by draw from both lists, tasks to learn from draw from the first
}

func wordings() [kinds]wording {
	return [kinds]wording{queryWording(), calendarWording(), templateWording(), checksumWording(), encodingWording()}
}

// offices are those that issue documents; drawn anew for every seed, the first is the one whose rules are in force.
func offices() []string {
	return []string{"Harrow", "Milden", "Costa", "Quarry", "Ferry", "Orchard", "Lantern", "Summit"}
}

// remarks fill long documents; they say nothing about a rule.
func remarks() [2][]string {
	return [2][]string{
		{
			"Keep the input as it came in, so that a doubt can be settled later.",
			"If a step fails, say which row it was and stop; half a result is worse than none.",
			"Do the steps in the order in which the task names them, and look at the result after each.",
			"The examples were made with the rule as it is given here.",
			"Where this page and an older habit disagree, this page is right.",
			"Nothing on this page depends on the language of the text or the country it is sent to.",
			"A table may be empty. Then the output is empty too, before anything is added to it.",
			"Do not round, trim or tidy values on the way; what looks like a slip may be wanted.",
			"Questions about single cases are collected once a month and answered for all.",
			"A second pair of eyes finds more than a second look.",
		},
		{
			"Work on a copy; the original stays where it is.",
			"Try the rule by hand on one of the examples before it is used on many rows.",
			"When a value is missing, leave the place empty and go on.",
			"The page is kept short on purpose; what it does not say is as usual.",
			"One output belongs to one input, and the order of rows is never changed silently.",
			"It is no use to guess a parameter: a near miss fails as surely as a wild one.",
			"Write the result once, at the end, and read it again before it is handed over.",
			"Tools that promise to do the same may follow another rule.",
			"Results of last year are not recomputed when a page changes.",
			"If two pages speak about one thing, find out first which of them applies.",
		},
	}
}

// An aside is a document about something that no task needs.
type aside struct {
	name, about string
	notes       []string
}

func asides() [2][]aside {
	return [2][]aside{
		{
			{"table-backup", "Keeps a copy of a table and its rows, and brings back a row that was lost.",
				[]string{"A copy is made every night, and the last seven are kept.", "To bring a row back, name the table and the day."}},
			{"meeting-notes", "How to write notes of a meeting: who was there, what was decided, and by which date it is done.",
				[]string{"Decisions come first, in one line each.", "Dates without a person are not useful."}},
			{"mail-tone", "Words and tone of letters to customers, with a form of address for every case.",
				[]string{"Answer the question in the first line.", "Never put the blame on another desk."}},
			{"chart-colors", "Colors for charts of records, so that each state of an entry has the same color everywhere.",
				[]string{"Open is blue, held is yellow.", "Use no more than six colors in one chart."}},
			{"password-rules", "Letters and digits that a password must have, and when it is changed.",
				[]string{"Length matters more than odd marks.", "Never send one in a text."}},
			{"shelf-plan", "Where the parcels and samples of a week are put, shelf by shelf.",
				[]string{"Heavy things lie at the bottom.", "A crate that leaves today stands by the door."}},
		},
		{
			{"archive-rows", "Moves old rows of a table to the archive and says where an entry can be found.",
				[]string{"What is older than two years goes to the archive.", "The archive is searched by hand."}},
			{"holiday-plan", "Who is away on which days, and who does the work in the period.",
				[]string{"Plans are due in spring.", "Two people of one desk are never away together."}},
			{"text-style", "Style of texts: short lines, plain words, and how a result is put at the end of a report.",
				[]string{"One thought to a line.", "Numbers up to twelve are written as words."}},
			{"print-layout", "Paper, margins and letters for printed records.",
				[]string{"The margin on the left is wider for the binding.", "Print on both sides."}},
			{"access-codes", "Codes for the doors of the building, and whom to ask for a new one.",
				[]string{"A code is good for a year.", "Do not pass on a code by telephone."}},
			{"crate-sizes", "Sizes and weights of crates, for every kind of parcel.",
				[]string{"The small one takes ten kilograms.", "Ask before using the large one."}},
		},
	}
}

// leads open the text of a task.
func leads() []string {
	return []string{
		"Here is the table of %s for this week.", "Please work through the %s below.", "We got a list of %s from the depot.",
		"For the attached %s:", "The desk needs a line for each of these %s.",
	}
}

func subjects() []string {
	return []string{"parcels", "samples", "permits", "crates", "tickets", "loans"}
}

// sampleText draws a short text for a worked example.
func sampleText(r *rand.Rand) string {
	row := drawRows(r, 1)[0]
	return fmt.Sprintf("%s %s %s", row.id, row.town, row.state)
}
