package shop

// A preset is one of the two shops.
type preset struct {
	name       string // of the world
	prefix     string // of the task ids
	categories []category
	heldOut    int    // that many of the last categories are in no split but ood
	each       int    // products of a category
	goals      int    // tasks
	stream     uint64 // the seed of the catalogue's stream; goal n has the seed stream+1+n
	hits       int    // most hits of a search
	perPage    int    // hits on a page
	numbered   bool   // hits are clicked by their number on the page, not by their id
	turns      int
	pages      pages
}

// MaxTurns is the number of turns after which an episode of the full shop is truncated with the reason "max_turns". The small shop
// allows 12.
const MaxTurns = 15

func full() *preset {
	return &preset{
		name: "shop", prefix: "goal-", categories: fullCategories(), heldOut: 4, each: 50, goals: 2000, stream: 1_000_000,
		hits: 50, perPage: 10, turns: MaxTurns, pages: fullPages{},
	}
}

func small() *preset {
	return &preset{
		name: "shop_small", prefix: "small-", categories: smallCategories(), heldOut: 1, each: 12, goals: 1000, stream: 2_000_000,
		hits: 12, perPage: 4, numbered: true, turns: 12, pages: smallPages{},
	}
}
