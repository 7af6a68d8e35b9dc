package mix

// A Unit is what is taken or left as a whole: a document with its augmentations, or one sample.
type Unit struct {
	ID     string
	Source string // one of those with a share
	Tier   string // of a document; empty for others
	Tokens int
}

// A Policy says what happens where a source has less than its share.
type Policy string

// The policies.
const (
	Scale  Policy = "scale"
	Under  Policy = "under"
	Strict Policy = "strict"
	Repeat Policy = "repeat"
)

// Options adjusts [Select]. A nil *Options equals &Options{}.
type Options struct {
	Seed      uint64
	Budget    int                       // tokens; zero means all that the shares allow
	Shares    map[string]int            // weights; nil means those of MidTool
	Shortfall Policy                    // empty means Scale
	Epochs    map[string]int            // passes for Repeat; absent means 1
	Tiers     map[string]map[string]int // weights of tiers by source; nil means that tiers are not enforced
}

// A Pick is a unit in its place.
type Pick struct {
	Index int    // of the unit
	Pass  int    // from 0
	Order uint64 // the key it is ordered by
}

// A Selection is the mix.
type Selection struct {
	Budget  int    // after scaling
	Picks   []Pick // in their final order
	Sources map[string]Share
}

// A Share is the outcome for a source.
type Share struct {
	Available, Target, Tokens, Units int
	Tiers                            map[string]int // tokens
}

// Select chooses units.
func Select(units []Unit, o *Options) (*Selection, error) { return &Selection{}, nil }

// Shard returns which of n output shards an ID belongs to.
func Shard(seed uint64, id string, n int) int { return 0 }
