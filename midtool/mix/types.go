package mix

// A Unit is what is taken or left as a whole: a document with its augmentations, or one sample.
type Unit struct {
	ID     string // unique among all units
	Source string // one of those with a share; see [ShareOf]
	Tier   string // of a document, see [DefaultTiers]; empty for others
	Tokens int    // at least 0
}

// ShareOf returns the source whose share a kind of documents counts for: "web" for "md" and "skill", and the kind itself for any other.
func ShareOf(kind string) string {
	switch kind {
	case "md", "skill":
		return "web"
	}
	return kind
}

// A Policy says what happens where a source has less than its part of the budget.
type Policy string

// The policies.
const (
	Scale  Policy = "scale"  // the budget becomes the largest at which no source falls short
	Under  Policy = "under"  // what there is is taken, and the corpus is smaller than its budget
	Strict Policy = "strict" // that is an error, as is a source with a share and no unit
	Repeat Policy = "repeat" // the source is passed over again, each time in another order, Epochs times at most
)

// Options adjusts [Select]. A nil *Options equals &Options{}.
type Options struct {
	Seed uint64

	// Budget is how many tokens the corpus gets. Zero means the most at which no source falls short: all of the scarcest source,
	// and of the others as much as fits to it.
	Budget int

	Shares    map[string]int // weights of sources, at least 0; nil means [DefaultShares]
	Shortfall Policy         // empty means Scale
	Epochs    map[string]int // passes over a source under Repeat, at least 1; absent means 1

	// Tiers has the weights of tiers by source, such as [DefaultTiers]. Every unit of a source in it must have one of the tiers, and
	// a tier without units is left out with a note. A source that is not in it is taken as it comes; nil means all are.
	Tiers map[string]map[string]int
}

// DefaultShares returns the shares of MidTool: web 42, code 26, pdf 23, native 9.
func DefaultShares() map[string]int {
	return map[string]int{"web": 42, "code": 26, "pdf": 23, "native": 9}
}

// DefaultTiers returns the shares of tiers that MidTool states, in a thousand: "source" for a text alone, "qa" for one with questions and
// answers, "traj" for one with conversations too. Those of a source add up to 999, for they were rounded.
func DefaultTiers() map[string]map[string]int {
	return map[string]map[string]int{
		"web":  {"source": 364, "qa": 522, "traj": 113},
		"pdf":  {"source": 308, "qa": 134, "traj": 557},
		"code": {"source": 689, "qa": 42, "traj": 268},
	}
}

// A Pick is a unit in its place.
type Pick struct {
	Index int    // of the unit
	Pass  int    // 0, and more where [Repeat] takes a unit again
	Order uint64 // the key that it is ordered by
}

// A Selection is the mix.
type Selection struct {
	Budget  int              // that was divided: as given, scaled, or found
	Tokens  int              // of all picks
	Picks   []Pick           // in their final order: by Order, then ID, then Pass
	Sources map[string]Share // all that have a weight or units
	Notes   []string         // what was left out of the shares, in order
}

// A Share is the outcome for a source.
type Share struct {
	Available int     // tokens that could be taken, in all passes
	Target    int     // its part of the budget
	Tokens    int     // that were taken
	Units     int     // that were taken, each as often as it was
	Want      float64 // its share of the budget, in [0, 1]
	Got       float64 // its share of Selection.Tokens
	Tiers     map[string]Tier
}

// A Tier is the outcome for the units of a tier in a source.
type Tier struct {
	Units, Tokens int
	Want          float64 // share of the units by Tiers, by [DefaultTiers] without; 0 for a tier that is in neither
	Got           float64 // share of the units that were taken, in [0, 1]
}

// ShareError returns the largest difference, over the sources, between the share that a source has of the tokens and that which it should
// have. An empty selection has none.
func (s *Selection) ShareError() float64 {
	worst := 0.0
	if s.Tokens == 0 {
		return worst
	}
	for _, share := range s.Sources {
		worst = max(worst, share.Got-share.Want, share.Want-share.Got)
	}
	return worst
}
