package learn

import "errors"

// A Record is one run of an agent: what was asked, what lay in its context, and whether it passed.
type Record struct {
	Query  string   // names the task; valid UTF-8
	Skills []string // names of the skills in the context, each once, in any order; nil if there were none; valid UTF-8
	Tokens int      // tokens of these skills together, counted as for [bps.Selection]; not negative
	Pass   bool
}

// Features describes what is behind a name by non-negative finite numbers, as many for every name: for example how often words occur in
// the text, each counted in one of some hundred places by its hash. It must be a pure function, and safe for concurrent use if the model
// is used so. The slice is only read. Nil says that the name is not known.
type Features func(name string) []float64

// A Form says how z, the logarithm of the probability of a pass, is put together. Let G(q,S) be the benefit, w[q] the demands of the
// query and t the tokens of S.
type Form int

// The forms.
const (
	Ceiling Form = iota // z = c[q] - (sum of w[q] - G(q,S)) - kappa*t with c[q] <= 0, so that z <= 0
	Offset              // z = b[q] + G(q,S) - kappa*t, cut off at 0; needs more records
)

// Options adjusts [Fit]. A nil *Options equals &Options{}.
type Options struct {
	Form         Form
	Dim          int      // number of capabilities, at most 64; zero means 5
	Epochs       int      // most steps, each over all records; zero means 600
	LearningRate float64  // of Adam, at most 1; zero means 0.2, or 0.1 for Offset
	L1           *float64 // weight of the sum of all supplies, demands and weights of maps in the loss; nil means 1e-4, for maps 1e-3
	Kappa        *float64 // fixes the price of a token, at most 1e9; nil learns it
	Seed         uint64   // of the start and of the validation part

	// Validation is the share of the records, below 1, that is held out to find out which step is the best, which is kept; zero means
	// none, and the last step is kept. Passes and failures are held out in equal shares.
	Validation float64
	// Patience is the number of steps without a smaller loss of the validation part after which the last, smaller steps begin early
	// and, among these, the fit ends; zero means 100.
	Patience int

	// SkillFeatures and QueryFeatures make supplies and demands linear maps of features, which serve also names that are in no record.
	// Names in the records must have features then. Nil learns a separate row for every name.
	SkillFeatures Features
	QueryFeatures Features
	// SkillRows learns a separate row for every skill in the records also where SkillFeatures is set, and then, with everything else
	// fixed, the map for the others. It is better with enough records of every skill; see the package comment.
	SkillRows bool

	Workers  int            // goroutines; zero means 1. It does not change the result
	Progress func(Progress) // called before every step; nil for none
}

// Progress is the state of a [Fit] before one of its steps.
type Progress struct {
	Epoch, Epochs int     // steps so far; the most that there will be
	Loss          float64 // mean log loss of the records that are trained on, without the term for L1
	Validation    float64 // mean log loss of those held out; 0 if there are none
}

// Errors that callers may tell apart with [errors.Is]. An option outside its range is another error, which names the field.
var (
	// ErrRecords reports records that nothing can be learned from: none, only passes, only failures, or a malformed one.
	ErrRecords = errors.New("learn: invalid records")
	// ErrFeatures reports features that are missing, negative, not finite, or not as many as those of the other names.
	ErrFeatures = errors.New("learn: invalid features")
	// ErrUnknown reports a query or a skill that is in no record and has no features.
	ErrUnknown = errors.New("learn: unknown name")
	// ErrFormat reports bytes that [Model.Save] does not write.
	ErrFormat = errors.New("learn: not a saved model")
)
