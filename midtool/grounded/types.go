package grounded

import (
	"context"

	"github.com/throughline-go/throughline/midtool"
	"github.com/throughline-go/throughline/midtool/document"
)

// A Feature is one thing that a document can show about the use of tools.
type Feature string

// The features.
const (
	Endpoint Feature = "endpoint" // an HTTP verb followed by a path or a URL
	Command  Feature = "command"  // a command line
	Callable Feature = "callable" // a signature with a parameter list
	Param    Feature = "param"    // a name with a description or a type
	Step     Feature = "step"     // a step of a procedure
	Value    Feature = "value"    // a number with a unit, a date, a quoted text, a path, a URL, an identifier
	ErrorRef Feature = "error"    // what goes wrong, and how that shows
)

// A Span is a range of bytes of a document's text.
type Span struct{ Start, End int }

// A Profile says how much a document shows about the use of tools.
type Profile struct {
	Counts map[Feature]int // distinct texts of each feature
	Score  int             // 10,000 (1 - prod(1 - w min(1, n/c))), rounded
	Tools  []midtool.Tool  // endpoints, commands and callables as tools, normalized
	Steps  []Span          // in order
	Values []Span
	Errors []Span
}

// Read profiles a document.
func Read(d *document.Document) *Profile { return &Profile{} }

// A Tier is what a document is good for.
type Tier string

// The tiers.
const (
	TierText       Tier = "source" // the text alone
	TierQA         Tier = "qa"     // text, questions and answers
	TierTrajectory Tier = "traj"   // and conversations with calls
)

// An Item is one piece of augmentation that is bought for a document.
type Item struct {
	Kind string // for example "chain", "single", "tool_selection"
	Cost int    // tokens that are set aside for it
}

// An Outline is what a document gets.
type Outline struct {
	Tier   Tier
	Budget int // tokens
	Items  []Item
}

// Plan decides what a document of so many tokens gets.
func Plan(p *Profile, tokens int, o *Options) (Outline, error) { return Outline{}, nil }

// Options adjusts a [Generator]. A nil *Options equals &Options{}.
type Options struct {
	Seed uint64

	MinScore           *int // Score from which a document gets questions (TauQA); nil means 5000
	MinTrajectoryScore *int // Score from which it gets conversations (TauTraj); nil means 7000
	MinTokens          *int // nil means 64
	Percent            *int // augmentation in percent of the document's tokens at the highest score (Rho); nil means 150
	Cap                *int // most tokens of augmentation for a document; nil means 4096
	CostQA             int  // zero means 160
	CostTrajectory     int  // zero means 350
	CostChain          int  // zero means 900
	MaxTokens          int  // largest sample; zero means 8192

	Tokens   func(*midtool.Sample) int // length of a sample in a corpus; nil means that of its plain text
	Executor midtool.Executor          // nil means a [simulate.World] under Seed
	Replay   bool

	Teacher  midtool.Generator
	Attempts int    // zero means 3
	Answers  string // file
}

// A Result is what a document got.
type Result struct {
	Profile  *Profile
	Outline  Outline
	Samples  []midtool.Sample // in a fixed order
	Tokens   int              // of the samples, at most Outline.Budget
	Rejected []midtool.Rejection
}

// A Generator makes samples of documents. It is safe for concurrent use.
type Generator struct{}

// New returns a Generator.
func New(o *Options) (*Generator, error) { return &Generator{}, nil }

// Generate makes the samples of a document.
func (g *Generator) Generate(ctx context.Context, d *document.Document) (*Result, error) {
	return &Result{}, nil
}

// Close ends the use of the file of answers.
func (g *Generator) Close() error { return nil }
