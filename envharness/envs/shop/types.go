package shop

// A product is one thing for sale. Products are made once and never written to.
type product struct {
	index       int // from 0, also its id
	title       string
	noun        string // the head noun in the title, of one word or several; also that of the other products of the category
	description string
	bullets     []string
	attributes  []string
	groups      []group  // of options to choose from; none for some products
	category    []string // from the widest to the narrowest, three levels
	query       string   // that the category is searched by
	cents       int      // price
}

// A group is a set of options of which one is chosen.
type group struct {
	name   string // "color" or "size"
	values []string
}

// A goal is what is to be bought.
type goal struct {
	product    *product // the one that fits
	attributes []string // one to three of its attributes
	options    []string // one value of each of its groups, in their order
	upper      int      // bound on the price in dollars, 0 for none
}

// A scored purchase has the parts of its score.
type scored struct {
	attributes int     // wanted attributes found
	options    int     // wanted options found
	price      bool    // within the bound, or there is none
	kind       float64 // r_type: how near the product's kind is to the wanted one, 0, 0.1, 0.5 or 1
	total      float64 // in [0, 1]
}
