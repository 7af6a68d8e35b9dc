package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/throughline-go/throughline/bps"
	"github.com/throughline-go/throughline/internal/text"
)

// BFCL multi-turn: 128 functions of eight domains and 200 tasks of several turns. A task is complete if all functions that the answer
// calls are in the set, which is selected once, from all turns. Here each turn is a clause of the set objective. Words say little
// about which functions of a domain are needed ("go to the folder" needs cd), so selection hardly helps; it is shown for that.

const bfclTasks = "BFCL_v4_multi_turn_base.json"

var (
	bfclDomains = []string{
		"gorilla_file_system", "math_api", "message_api", "posting_api", "ticket_api", "trading_bot", "travel_booking", "vehicle_control",
	}
	bfclBudgets = []int{2000, 3000}
)

type bfclResult struct {
	Skipped   string    `json:"skipped,omitempty"` // why nothing was measured
	Functions int       `json:"functions,omitempty"`
	Coverage  *coverage `json:"coverage,omitempty"`
}

// runBFCL measures which share of the multi-turn tasks of BFCL is complete. Nothing is tuned. Without the data, the result says so.
func runBFCL(ctx context.Context, dataDir string, quick bool, progress func(string)) (*bfclResult, error) {
	res := &bfclResult{}
	dir := filepath.Join(dataDir, "bfcl")
	files := []string{filepath.Join(dir, bfclTasks), filepath.Join(dir, "possible_answer", bfclTasks)}
	for _, domain := range bfclDomains {
		files = append(files, filepath.Join(dir, "multi_turn_func_doc", domain+".json"))
	}
	if res.Skipped = absent(dataDir, files...); res.Skipped != "" {
		return res, nil
	}
	progress("bfcl: default settings")
	o, err := readFunctions(dir)
	if err != nil {
		return nil, err
	}
	requests, err := readTurns(ctx, o, dir)
	if err != nil {
		return nil, err
	}
	res.Functions = len(o.texts)
	res.Coverage = newCoverage(bfclTasks, requests, bfclBudgets)
	for _, objective := range objectives() {
		if err := res.Coverage.measure(ctx, "default", objective.name, optimizers(objective.form, 0, quick), requests, bfclBudgets); err != nil {
			return nil, err
		}
	}
	res.Coverage.headlines()
	return res, nil
}

func readFunctions(dir string) (*offer, error) {
	o := new(offer)
	for _, domain := range bfclDomains {
		file := filepath.Join(dir, "multi_turn_func_doc", domain+".json")
		data, err := os.ReadFile(file)
		if err != nil {
			return nil, err
		}
		for line := range bytes.Lines(data) {
			var f struct {
				Name        string          `json:"name"`
				Description string          `json:"description"`
				Parameters  json.RawMessage `json:"parameters"`
				Response    json.RawMessage `json:"response"`
			}
			if line = bytes.TrimSpace(line); len(line) == 0 {
				continue
			}
			if err := json.Unmarshal(line, &f); err != nil {
				return nil, fmt.Errorf("%s: %w", file, err)
			}
			t := bps.Text{Name: f.Name, Description: f.Description, Body: fmt.Sprintf("%s\n%s", f.Parameters, f.Response)}
			if err := o.add(t, len(line)/4); err != nil {
				return nil, fmt.Errorf("%s: %w", file, err)
			}
		}
	}
	return o, nil
}

// readTurns reads the tasks, whose answers are in a file of their own with the same order.
func readTurns(ctx context.Context, o *offer, dir string) ([]*request, error) {
	questions, err := os.ReadFile(filepath.Join(dir, bfclTasks))
	if err != nil {
		return nil, err
	}
	answers, err := os.ReadFile(filepath.Join(dir, "possible_answer", bfclTasks))
	if err != nil {
		return nil, err
	}
	gold := map[string][]int{}
	for line := range bytes.Lines(answers) {
		var a struct {
			ID    string     `json:"id"`
			Turns [][]string `json:"ground_truth"`
		}
		if err := json.Unmarshal(line, &a); err != nil {
			return nil, fmt.Errorf("possible_answer/%s: %w", bfclTasks, err)
		}
		for _, call := range slices.Concat(a.Turns...) {
			function, _, _ := strings.Cut(call, "(")
			i, ok := o.named[function]
			if !ok {
				return nil, fmt.Errorf("possible_answer/%s: %s calls %q, which is no function", bfclTasks, a.ID, function)
			}
			if !slices.Contains(gold[a.ID], i) {
				gold[a.ID] = append(gold[a.ID], i)
			}
		}
	}
	var requests []*request
	for line := range bytes.Lines(questions) {
		var t struct {
			ID    string `json:"id"`
			Turns [][]struct {
				Content string `json:"content"`
			} `json:"question"`
		}
		if err := json.Unmarshal(line, &t); err != nil {
			return nil, fmt.Errorf("%s: %w", bfclTasks, err)
		}
		if gold[t.ID] == nil {
			return nil, fmt.Errorf("%s: no answer for %s", bfclTasks, t.ID)
		}
		var query strings.Builder
		var turns [][]string
		for _, turn := range t.Turns {
			var words []string
			for _, message := range turn {
				words = append(words, text.Tokens(message.Content)...)
				fmt.Fprintln(&query, message.Content)
			}
			turns = append(turns, words)
		}
		requests = append(requests, newRequest(o, query.String(), turns, nil, false, gold[t.ID], len(o.texts), 0))
	}
	return requests, ctx.Err()
}

func (r *bfclResult) print(w io.Writer) error {
	if r.Skipped != "" {
		_, err := fmt.Fprintf(w, "BFCL multi-turn: skipped: %s\n", r.Skipped)
		return err
	}
	fmt.Fprintf(w, "BFCL multi-turn: %d functions; a turn is a clause, nothing is tuned\n", r.Functions)
	return r.Coverage.print(w)
}
