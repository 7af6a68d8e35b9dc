package judge

// A Result is what the testbed shows. Tasks and documents are ones that nothing was learned from, unless a field says otherwise. Intervals
// are of 95 %, from a bootstrap over seeds and over the tasks of a seed. Budgets are keys in decimal.
type Result struct {
	Testbed  Testbed                   `json:"executed_testbed"`
	Executed map[string]map[string]Row `json:"executed"` // budget, rule
	// Known has unseen tasks, but the documents that were learned from, within the tightest budget.
	Known  map[string]Row             `json:"executed_known_documents"` // rule
	Kappas map[string][]Kappa         `json:"executed_kappas"`          // rule that looks at the price of a token
	Harm   map[string]map[string]Harm `json:"look_alike_harm"`          // budget, the tightest and the largest; rule
	Saving map[string]Saving          `json:"executed_token_saving"`    // baseline
	Best   Comparison                 `json:"executed_summary"`
}

// Testbed says what was run.
type Testbed struct {
	Seeds       int     `json:"seeds"`
	Documents   int     `json:"documents"`
	TrainTasks  int     `json:"train_tasks"`
	UnseenTasks int     `json:"unseen_tasks"`
	Drawn       int     `json:"tasks_drawn"` // all seeds together; those not admitted and repeated texts included
	Records     int     `json:"records"`
	PassRate    float64 `json:"record_pass_rate"`
	Tightest    int     `json:"tightest_budget"` // the fewest tokens in which the oracle's set of every unseen task fits
	Oracle      float64 `json:"oracle_mean_tokens"`
}

// A Row is one rule within one budget.
type Row struct {
	Success   float64 `json:"success"`
	Low       float64 `json:"low"`
	High      float64 `json:"high"`
	Tokens    float64 `json:"tokens"`     // mean
	LookAlike float64 `json:"look_alike"` // share of selections with a look-alike
	Redundant float64 `json:"redundant"`  // mean tokens of documents that define nothing that was not defined before them
}

// A Kappa is one rule with another price of a token.
type Kappa struct {
	Budget  int     `json:"budget"`
	Kappa   float64 `json:"kappa"`
	Success float64 `json:"success"`
	Tokens  float64 `json:"tokens"`
}

// Harm is what look-alikes do to a rule.
type Harm struct {
	With      float64 `json:"success_with_look_alikes"`
	Without   float64 `json:"success_without"` // in the library without them
	Loss      float64 `json:"loss"`
	Low       float64 `json:"loss_low"`
	High      float64 `json:"loss_high"`
	LookAlike float64 `json:"selections_with_one"`
	// Harmed is the share of selections that fail and would pass if their look-alikes were taken out: the right document was there too.
	Harmed float64 `json:"right_but_overruled"`
}

// A Saving compares tokens at equal success: the largest success that bps_fitted and a baseline both reach within some budget, and the
// fewest mean tokens with which each of them reaches it.
type Saving struct {
	Best    float64 `json:"best_success"` // of the baseline, within any budget
	Success float64 `json:"equal_success"`
	Tokens  float64 `json:"tokens"`
	Ours    float64 `json:"bps_fitted_tokens"`
	Saved   float64 `json:"saved"` // 1 - Ours/Tokens
}

// A Comparison sets bps_fitted against the baselines that succeed most often within the tightest budget.
type Comparison struct {
	Budget     int     `json:"budget"`
	Success    float64 `json:"bps_fitted"`
	ModelFree  string  `json:"best_model_free"`
	Above      float64 `json:"above_best_model_free"` // success of bps_fitted / success of that baseline - 1
	AboveLow   float64 `json:"above_low"`
	AboveHigh  float64 `json:"above_high"`
	Fitted     string  `json:"best_on_fitted_benefit"`
	Difference float64 `json:"difference_to_best_on_fitted_benefit"`
	DiffLow    float64 `json:"difference_low"`
	DiffHigh   float64 `json:"difference_high"`
	// The baselines that succeed most often within any budget, and of equal ones those that need fewest tokens: see Result.Saving.
	StrongestModelFree string `json:"strongest_model_free"`
	StrongestFitted    string `json:"strongest_on_fitted_benefit"`
	Closest            string `json:"smallest_token_saving"` // the baseline of any kind that Result.Saving is smallest against
}
