// Package mainjob is the work behind the pipeline command: the stages from tools to a trained policy.
package mainjob

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"text/tabwriter"

	"github.com/throughline-go/throughline/bps"
	"github.com/throughline-go/throughline/envharness/rigger"
	"github.com/throughline-go/throughline/examples/internal/endpoint"
	"github.com/throughline-go/throughline/examples/internal/worlds"
	"github.com/throughline-go/throughline/midtool"
	"github.com/throughline-go/throughline/midtool/document"
	"github.com/throughline-go/throughline/rl"
	"github.com/throughline-go/throughline/rl/train"
	"github.com/throughline-go/throughline/skill"
)

// ErrInput marks errors that the caller's flags or files cause.
var ErrInput = errors.New("bad input")

// Config is one run.
type Config struct {
	Seed    uint64
	Quick   bool
	Tools   string // JSONL file of tools; empty means the desk's own tools, unless OpenAPI names some
	OpenAPI string // OpenAPI document or folder of such; its tools come after those of Tools
	Docs    string // folder of documents; empty means the desk's handbook, or none beside tools of the caller's own
	Skills  string // folder of SKILL.md folders; empty means the induced skills
	Budget  int    // tokens of one selection; 0 means the default
	// Algorithm trains the policy, one of train.Algorithms by its name; empty means sapo.
	Algorithm string
	Workers   int // episodes at once
	// Model acts in place of the policy that would be trained: it is rigged, evaluated and recorded, on fewer tasks, and not trained. Nil
	// means none.
	Model    *endpoint.Model
	Progress func(stage string, done, total int)
	Warn     func(message string) // told about everything of the caller's own files that is left out or repaired
}

// Report holds the numbers of a run.
type Report struct {
	Seed   uint64 `json:"seed"`
	Corpus struct {
		Samples     int                     `json:"samples"`      // of both branches in the mix, and recorded plans
		Tokens      int                     `json:"tokens"`       // of the mix, documents too
		Rejected    int                     `json:"rejected"`     // tools, samples and documents that failed a check
		Duplicates  int                     `json:"duplicates"`   // documents and samples that repeat others
		Documents   int                     `json:"documents"`    // in the mix
		Native      int                     `json:"native"`       // samples in the mix that were made of tools
		Grounded    int                     `json:"grounded"`     // that were made of documents
		Recorded    int                     `json:"recorded"`     // that are recorded plans
		NativeShare float64                 `json:"native_share"` // of the tokens, of tools and recorded plans
		Families    map[midtool.Family]int  `json:"families"`     // kinds of samples
		Abilities   map[midtool.Ability]int `json:"abilities"`    // what they teach
	} `json:"corpus"`
	Skills struct {
		Count         int     `json:"count"`
		Parts         int     `json:"parts"`          // subtasks that they were made of
		MedianUtility float64 `json:"median_utility"` // the paper's score under the lexical embedder
		Placebo       float64 `json:"placebo"`        // the same of texts that are off topic
		Gated         float64 `json:"gated"`          // the median where a skill that no task would find counts 0
		MemoryLevel   float64 `json:"memory_level"`   // our score of all skills together
	} `json:"skills"`
	Selection struct {
		MeanTokens float64 `json:"mean_tokens"`
		Budget     int     `json:"budget"`
		Guarantee  float64 `json:"guarantee"` // smallest proven factor of all selections that are not empty
	} `json:"selection"`
	Environment struct {
		Tasks      int `json:"tasks"`      // training tasks that were rigged
		Candidates int `json:"candidates"` // that were written for them
		Accepted   int `json:"accepted"`   // tasks with components that passed the gate
		Rollouts   int `json:"rollouts"`   // of the policy, that this took
		// SuccessBase is that of the warm-started policy on accepted tasks as they were, and SuccessWrapped that of the same policy on
		// these tasks behind their components. With a model behind an endpoint they are nil where no task was accepted.
		SuccessBase    *float64 `json:"success_base"`
		SuccessWrapped *float64 `json:"success_wrapped"`
	} `json:"environment"`
	Training struct {
		SuccessBefore float64 `json:"success_before"` // untrained policy, test tasks, unmodified environment
		SuccessAfter  float64 `json:"success_after"`
		Iterations    int     `json:"iterations"`
	} `json:"training"`
	// Endpoint is nil but with a model behind one. SuccessBefore and SuccessAfter of Training are then those without and with skills.
	Endpoint *Endpoint `json:"endpoint,omitempty"`
	Seconds  float64   `json:"seconds"`
}

// A Row is one line of the closing table.
type Row struct {
	Stage  string `json:"stage,omitempty"` // empty: a further number of the stage above
	Did    string `json:"did"`
	Number string `json:"number"`
	Before string `json:"before"`
	After  string `json:"after"`
}

// Result is what a run made.
type Result struct {
	Report       Report
	Rows         []Row
	Samples      []midtool.Sample    // of the mix, in its order
	Documents    []document.Document // likewise
	Skills       []*skill.Document
	Curve        []Point
	Trajectories []rl.Trajectory // of the last training iteration
	WarmStart    float64         // success after the warm start, on the same tasks as Report.Training
	Rigged       *rigger.Report  // the tasks that were adapted to the warm-started policy
	Wrapped      float64         // success of the trained policy on the accepted tasks, behind their components
	NoSkills     float64         // success on validation tasks of a policy that was warm-started without skills; with them it is that of Curve[0]
	PlansAlone   float64         // likewise, of one with skills that imitates the recorded plans alone
	Null, Oracle float64         // success of the best policy that knows nothing and of the oracle, on the same tasks as Report.Training
	Model        *Modelled       // what a model behind an endpoint did, if there is one; then there is no curve, and the rates of policies are 0
}

// job carries a run from stage to stage.
type job struct {
	Config
	size
	desk       worlds.World
	algorithm  train.Algorithm
	result     Result
	tools      []midtool.Tool      // that the corpus is made of
	documents  []document.Document // likewise
	imitated   []midtool.Sample    // that the policy is warm-started from
	readOnly   map[string]bool     // the desk's tools that change nothing
	notes      map[string]string   // task id -> what the policy is given of the selected skills
	prompts    map[string]string   // task id -> the selected skills as a model is told them; nil without a model
	own        []bps.Text          // the user's tools and skills; nil without any
	ownQueries []query
}

// size is the effort of a run.
type size struct {
	perTool      int // corpus samples of each tool,
	samples      int // but not many more than these in all
	demos, train int // recorded episodes and training tasks, prefixes of the train split
	rigged       int // training tasks after the recorded ones that are adapted to the policy
	mixedEpochs  int // over all that the mix has to imitate, before
	warmEpochs   int // over its recorded plans
	iterations   int
	evalEvery    int // iterations between two points of the learning curve
	episodes     int // of one iteration, a multiple of twice the rollouts of a group
	eval         int // held-out tasks per evaluation, fewer where there are no more
	queries      int // selections on the user's own files
}

var (
	fullSize = size{perTool: 20, samples: 20000, demos: 120, train: 1166, rigged: 120, mixedEpochs: 4, warmEpochs: 20, iterations: 60,
		evalEvery: 6, episodes: 128, eval: 233, queries: 200}
	quickSize = size{perTool: 6, samples: 4000, demos: 80, train: 1166, rigged: 60, mixedEpochs: 4, warmEpochs: 20, iterations: 12,
		evalEvery: 4, episodes: 128, eval: 233, queries: 40}
)

// Run does the main job. Nothing is written. A model that does not answer at all is an error before the work begins.
func Run(ctx context.Context, cfg Config) (*Result, error) {
	if cfg.Quick {
		return start(ctx, cfg, quickSize)
	}
	return start(ctx, cfg, fullSize)
}

func start(ctx context.Context, cfg Config, effort size) (*Result, error) {
	if cfg.Budget < 0 {
		return nil, fmt.Errorf("%w: budget %d is negative", ErrInput, cfg.Budget)
	}
	if cfg.Workers < 1 {
		return nil, fmt.Errorf("%w: %d workers, need at least 1", ErrInput, cfg.Workers)
	}
	if cfg.Progress == nil {
		cfg.Progress = func(string, int, int) {}
	}
	if cfg.Warn == nil {
		cfg.Warn = func(string) {}
	}
	algorithm, err := train.Find(cmp.Or(cfg.Algorithm, "sapo"))
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrInput, err)
	}
	desk, err := worlds.Find(deskName)
	if err != nil {
		return nil, err
	}
	j := &job{Config: cfg, size: effort, desk: desk, algorithm: algorithm}
	j.result.Report.Seed = cfg.Seed
	act := j.training
	if j.Model != nil {
		act, j.prompts = j.modelled, make(map[string]string)
	}
	for _, stage := range []func(context.Context) error{j.readInput, j.Model.Reach, j.corpus, j.induce, j.selection, act} {
		if err := stage(ctx); err != nil {
			return nil, err
		}
		if err := ctx.Err(); err != nil {
			return nil, err
		}
	}
	return &j.result, nil
}

func (j *job) row(stage, did, number, before, after string) {
	j.result.Rows = append(j.result.Rows, Row{stage, did, number, before, after})
}

// LearningCurve prints a line for each evaluation during training.
func (r *Result) LearningCurve(w io.Writer) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(t, "ITERATION\tENV STEPS\tTRAIN SUCCESS\tVALIDATION SUCCESS\t")
	for _, p := range r.Curve {
		train := "-"
		if p.Train != nil {
			train = percent(*p.Train)
		}
		fmt.Fprintf(t, "%d\t%d\t%s\t%s\t\n", p.Iteration, p.EnvSteps, train, percent(p.Validation))
	}
	return t.Flush()
}

// Table prints the closing table.
func (r *Result) Table(w io.Writer) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "STAGE\tWHAT IT DID\tNUMBER\tBEFORE\tAFTER")
	for _, row := range r.Rows {
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%s\n", row.Stage, row.Did, row.Number, row.Before, row.After)
	}
	return t.Flush()
}
