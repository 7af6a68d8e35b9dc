package judge

import (
	"fmt"
	"io"
	"strconv"
	"strings"
	"text/tabwriter"
)

// Print writes the tables.
func (r *Result) Print(w io.Writer) error {
	b, c := r.Testbed, r.Best
	budgets := r.budgets()
	tight, largest := strconv.Itoa(b.Tightest), strconv.Itoa(budgets[len(budgets)-1])
	fmt.Fprintf(w, "executed testbed: %d seeds; %d documents, %d tasks and %d records to learn from (%.1f %% pass); %d other\n"+
		"documents and %d other tasks to judge by. The oracle's sets fit into %d tokens (mean %.0f).\n\n",
		b.Seeds, b.Documents, b.TrainTasks, b.Records, 100*b.PassRate, b.Documents, b.UnseenTasks, b.Tightest, b.Oracle)

	var table []string
	row := func(cells ...string) { table = append(table, strings.Join(cells, "\t")+"\t\n") }
	flush := func() error {
		t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
		_, err := io.WriteString(t, strings.Join(table, ""))
		table = nil
		if err == nil {
			err = t.Flush()
		}
		return err
	}

	head := []string{"success (tokens) within"}
	for _, budget := range budgets {
		head = append(head, strconv.Itoa(budget))
	}
	row(append(head, "95 % at "+tight, "with look-alike", "redundant tokens")...)
	for _, rule := range rules() {
		cells := []string{rule.name}
		for _, budget := range budgets {
			x := r.Executed[strconv.Itoa(budget)][rule.name]
			cells = append(cells, fmt.Sprintf("%.3f (%.0f)", x.Success, x.Tokens))
		}
		x := r.Executed[tight][rule.name]
		row(append(cells, fmt.Sprintf("%.3f to %.3f", x.Low, x.High), fmt.Sprintf("%.2f", x.LookAlike), fmt.Sprintf("%.0f", x.Redundant))...)
	}
	if err := flush(); err != nil {
		return err
	}

	fmt.Fprint(w, "\nharm done by look-alikes: success with them in the library and without;\n"+
		"right: with the documents that were learned from\n\n")
	row("", "within "+tight, "without", "loss (95 %)", "within "+largest, "without", "loss (95 %)", "known, "+tight)
	for _, rule := range rules() {
		cells := []string{rule.name}
		for _, key := range []string{tight, largest} {
			h := r.Harm[key][rule.name]
			cells = append(cells, fmt.Sprintf("%.3f", h.With), fmt.Sprintf("%.3f", h.Without),
				fmt.Sprintf("%.3f (%.3f to %.3f)", h.Loss, h.Low, h.High))
		}
		row(append(cells, fmt.Sprintf("%.3f", r.Known[rule.name].Success))...)
	}
	if err := flush(); err != nil {
		return err
	}

	fmt.Fprint(w, "\nprice of a token: success (tokens); in brackets the price in the tables above\n\n")
	head = []string{"", "within"}
	for _, kappa := range kappaGrid() {
		head = append(head, fmt.Sprint(kappa))
	}
	row(head...)
	for _, rule := range rules() {
		var cells []string
		for i, k := range r.Kappas[rule.name] {
			if i%len(kappaGrid()) == 0 {
				cells = []string{fmt.Sprintf("%s [%g]", rule.name, rule.kappa), strconv.Itoa(k.Budget)}
			}
			cells = append(cells, fmt.Sprintf("%.3f (%.0f)", k.Success, k.Tokens))
			if len(cells) == len(head) {
				row(cells...)
			}
		}
	}
	if err := flush(); err != nil {
		return err
	}

	fmt.Fprintf(w, "\ntokens at equal success, over all budgets; the strongest baseline is %s without a model and %s with the\n"+
		"fitted benefit; the smallest saving is against %s\n\n", c.StrongestModelFree, c.StrongestFitted, c.Closest)
	row("", "best success", "equal success", "tokens", "bps_fitted", "saved")
	for _, rule := range rules() {
		if s, ok := r.Saving[rule.name]; ok {
			row(rule.name, fmt.Sprintf("%.3f", s.Best), fmt.Sprintf("%.3f", s.Success), fmt.Sprintf("%.0f", s.Tokens), fmt.Sprintf("%.0f", s.Ours),
				fmt.Sprintf("%.0f %%", 100*s.Saved))
		}
	}
	if err := flush(); err != nil {
		return err
	}
	_, err := fmt.Fprintf(w, "\nwithin %d tokens bps_fitted succeeds %.0f %% more often than %s, the best baseline without a model\n"+
		"(95 %%: %.0f to %.0f %%), and its success differs by %+.3f from that of %s, the best one with the fitted\n"+
		"benefit (95 %%: %+.3f to %+.3f)\n",
		c.Budget, 100*c.Above, c.ModelFree, 100*c.AboveLow, 100*c.AboveHigh, c.Difference, c.Fitted, c.DiffLow, c.DiffHigh)
	return err
}
