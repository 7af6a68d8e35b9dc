package main

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"github.com/throughline-go/throughline/midtool/bfcl"
)

// Kinds of fault and ids that one line of the table, or of what follows it, names at most.
const (
	mostFaults = 3
	mostIDs    = 10
)

func (s *settings) write(w io.Writer, r *bfcl.Report) error {
	if s.json {
		enc := json.NewEncoder(w)
		enc.SetEscapeHTML(false)
		enc.SetIndent("", "  ")
		return enc.Encode(r)
	}
	if err := table(w, r.Scores); err != nil {
		return err
	}
	if s.gold {
		failing := make([]string, len(r.Failures))
		for i, f := range r.Failures {
			failing[i] = f.ID
		}
		if err := ids(w, "gold that fails", failing, len(failing)); err != nil {
			return err
		}
	}
	missing := "without an answer"
	if s.gold {
		missing = "gold that is not written as calls"
	}
	for _, l := range []struct {
		what string
		ids  []string
	}{{missing, r.Missing}, {"answers to no task", r.Unknown}, {"answered again", r.Repeated}} {
		if err := ids(w, l.what, l.ids, mostIDs); err != nil {
			return err
		}
	}
	for _, f := range r.Failures[:min(len(r.Failures), s.failures)] {
		at := ""
		if f.Verdict.Call >= 0 {
			at = strings.TrimSuffix(fmt.Sprintf(" (call %d at %s", f.Verdict.Call, f.Verdict.Path), " at ") + ")"
		}
		if _, err := fmt.Fprintf(w, "%s: %s%s: %s\n", f.ID, f.Verdict.Error, at, f.Verdict.Detail); err != nil {
			return err
		}
	}
	return nil
}

func table(w io.Writer, scores []bfcl.Score) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "CATEGORY\tROWS\tANSWERED\tCORRECT\tACCURACY\tFAULTS")
	all := bfcl.Score{Category: "all rows"}
	for _, s := range scores {
		row(t, s)
		all.Rows += s.Rows
		all.Answered += s.Answered
		all.Correct += s.Correct
	}
	if len(scores) > 1 {
		all.Accuracy = float64(all.Correct) / float64(all.Rows)
		row(t, all)
	}
	return t.Flush()
}

// row writes to a tabwriter, which keeps its errors for Flush.
func row(w io.Writer, s bfcl.Score) {
	var faults []string
	for i, e := range s.Errors {
		if i == mostFaults {
			faults = append(faults, "...")
			break
		}
		faults = append(faults, fmt.Sprintf("%s %d", e.Error, e.Count))
	}
	line := fmt.Sprintf("%s\t%d\t%d\t%d\t%.4f\t%s", s.Category, s.Rows, s.Answered, s.Correct, s.Accuracy, strings.Join(faults, ", "))
	fmt.Fprintln(w, strings.TrimRight(line, "\t"))
}

// ids writes a line with some of a list, nothing for an empty one.
func ids(w io.Writer, what string, list []string, most int) error {
	if len(list) == 0 {
		return nil
	}
	more := ""
	if len(list) > most {
		more = ", ..."
	}
	quoted := make([]string, min(len(list), most))
	for i := range quoted {
		quoted[i] = strings.Trim(fmt.Sprintf("%q", list[i]), `"`) // ids of a stranger keep to one line
	}
	_, err := fmt.Fprintf(w, "%d %s: %s%s\n", len(list), what, strings.Join(quoted, ", "), more)
	return err
}
