package shop

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"
)

// eleven is a head noun of eleven words, from which titles with any share of its nouns can be made.
const eleven = "one two three four five six seven eight nine ten eleven"

// firstOf returns the first n words of eleven.
func firstOf(n int) string { return strings.Join(words(eleven)[:n], " ") }

// lamp is the product of the worked cases.
func lamp() product {
	return product{
		title:       "Dimmable Bedside Table Lamp by Acme",
		noun:        "table lamp",
		bullets:     []string{"Comes with a Linen shade.", "Runs on USB power."},
		description: "Made of solid Oak; a present for readers.",
		attributes:  []string{"long cord", "easy clean", "warm light"},
		groups:      []group{{"color", []string{"black", "navy blue", "white and black"}}, {"size", []string{"small", "large"}}},
		category:    []string{"home", "lighting", "table lamps"},
		query:       "table lamps",
		cents:       4999,
	}
}

// A purchase is a worked case before it is scored.
type purchase struct {
	wanted, bought product
	attributes     []string
	options        []string
	upper          int
	chosen         []string
}

func TestScoreWorked(t *testing.T) {
	// The purchase that the cases change: the wanted lamp itself with two of its attributes and both options, below the bound. Five
	// parts count.
	whole := func() *purchase {
		return &purchase{
			wanted: lamp(), bought: lamp(),
			attributes: []string{"long cord", "easy clean"}, options: []string{"black", "small"}, upper: 60,
			chosen: []string{"black", "small"},
		}
	}
	// other makes the bought product one of another query and of no category of the wanted one.
	other := func(p *purchase) {
		p.bought.query, p.bought.category = "chairs", []string{"garden", "seats", "chairs"}
	}
	// nouns gives the wanted title the first n nouns of eleven, and the bought one the nouns given.
	nouns := func(p *purchase, n int, bought string) {
		p.wanted.noun, p.wanted.title = eleven, firstOf(n)+" by Acme"
		p.bought.noun, p.bought.title = eleven, bought+" of Brio"
	}
	// want makes the wanted attributes those given.
	want := func(p *purchase, attributes ...string) { p.attributes = attributes }
	// option makes the wanted option and the chosen ones those given.
	option := func(p *purchase, wanted string, chosen ...string) { p.options, p.chosen = []string{wanted}, chosen }

	all := scored{attributes: 2, options: 2, price: true, kind: 1, total: 1}
	ofKind := func(kind float64) scored {
		return scored{attributes: 2, options: 2, price: true, kind: kind, total: kind}
	}
	// one makes the score of a goal of one attribute, both options hit and the price right: four parts.
	one := func(hit int) scored {
		return scored{attributes: hit, options: 2, price: true, kind: 1, total: float64(hit+3) / 4}
	}
	// pick makes the score of a goal of two attributes, both hit, and one option: four parts.
	pick := func(hit int) scored {
		return scored{attributes: 2, options: hit, price: true, kind: 1, total: float64(hit+3) / 4}
	}

	for _, c := range []struct {
		name   string
		change func(p *purchase)
		want   scored
		reason string
	}{
		// Totals.
		{"whole", func(*purchase) {}, all, "5/5 * 1"},
		{"worked 18a", func(p *purchase) {
			want(p, "long cord", "easy clean", "stone")
			p.chosen = []string{"black", "large"}
		}, scored{2, 1, true, 1, 4.0 / 6}, "(2 + 1 + 1) / (3 + 2 + 1)"},
		{"worked 18b", func(p *purchase) {
			want(p, "long cord", "easy clean", "warm light")
			p.upper = 40
		}, scored{3, 2, false, 1, 5.0 / 6}, "(3 + 2 + 0) / 6"},
		{"worked 18c", func(p *purchase) {
			want(p, "long cord", "easy clean", "warm light")
			other(p)
			nouns(p, 5, "one")
		}, scored{3, 2, true, 0.5, 0.5}, "6/6 * .5"},
		{"only the price", func(p *purchase) {
			want(p, "stone", "heavy")
			p.chosen = nil
		}, scored{0, 0, true, 1, 1.0 / 5}, "(0 + 0 + 1) / 5"},
		{"nothing", func(p *purchase) {
			want(p, "stone", "heavy")
			p.chosen, p.upper = nil, 10
		}, scored{0, 0, false, 1, 0}, "0/5, although the kind is right"},
		{"nothing wanted", func(p *purchase) { p.attributes, p.options = nil, nil }, scored{0, 0, true, 1, 1}, "the price alone: 1/1"},
		{"two thirds of a half", func(p *purchase) {
			want(p, "long cord", "stone")
			p.options = nil
			other(p)
			nouns(p, 10, "one two")
		}, scored{1, 0, true, 0.5, 1.0 / 3}, "t = 2/10: (1 + 0 + 1) / 3 * .5"},
		{"too expensive and far", func(p *purchase) {
			p.upper = 40
			nouns(p, 11, "one")
		}, scored{2, 2, false, 0.1, 0.08}, "t = 1/11: 4/5 * .1"},

		// The kind.
		{"same query alone, t = .2", func(p *purchase) {
			other(p)
			p.bought.query = p.wanted.query
			nouns(p, 5, "one")
		}, all, "the query is the same, no category is"},
		{"same query alone, t = .1", func(p *purchase) {
			other(p)
			p.bought.query = p.wanted.query
			nouns(p, 10, "one")
		}, all, "1/10 is not below .1"},
		{"same query alone, t = 1/11", func(p *purchase) {
			other(p)
			p.bought.query = p.wanted.query
			nouns(p, 11, "one")
		}, ofKind(0.1), "t < .1 overrides the query"},
		{"same query alone, t = 0", func(p *purchase) {
			other(p)
			p.bought.query = p.wanted.query
			nouns(p, 2, "three four")
		}, ofKind(0), "t = 0 overrides the query"},
		{"three categories", func(p *purchase) {
			p.bought.query = "chairs"
			nouns(p, 5, "one")
		}, all, "3 categories shared"},
		{"two categories", func(p *purchase) {
			p.bought.query, p.bought.category = "chairs", []string{"home", "lighting", "floor lamps"}
			nouns(p, 5, "one")
		}, all, "home and lighting"},
		{"two categories elsewhere", func(p *purchase) {
			p.bought.query, p.bought.category = "chairs", []string{"table lamps", "garden", "home"}
			nouns(p, 5, "one")
		}, all, "home and table lamps, at other levels"},
		{"one category", func(p *purchase) {
			p.bought.query, p.bought.category = "chairs", []string{"home", "seats", "chairs"}
			nouns(p, 5, "one")
		}, ofKind(0.5), "home alone is too little"},
		{"one category, three times", func(p *purchase) {
			p.bought.query, p.bought.category = "chairs", []string{"home", "home", "home"}
			nouns(p, 5, "one")
		}, ofKind(0.5), "distinct ones count"},
		{"three categories, t = 1/11", func(p *purchase) {
			p.bought.query = "chairs"
			nouns(p, 11, "one")
		}, ofKind(0.1), "t < .1 overrides the categories"},
		{"three categories, t = 0", func(p *purchase) {
			p.bought.query = "chairs"
			nouns(p, 1, "two")
		}, ofKind(0), "t = 0 overrides the categories"},
		{"t = 1", func(p *purchase) {
			other(p)
			nouns(p, 3, "one two three four")
		}, all, "3/3 > .2 is enough alone; more nouns than wanted do no harm"},
		{"t = 1/4", func(p *purchase) {
			other(p)
			nouns(p, 4, "one")
		}, all, ".25 > .2"},
		{"t = 2/9", func(p *purchase) {
			other(p)
			nouns(p, 9, "nine one")
		}, all, ".222 > .2"},
		{"t = 1/5", func(p *purchase) {
			other(p)
			nouns(p, 5, "five")
		}, ofKind(0.5), ".2 is not above .2"},
		{"t = 2/10", func(p *purchase) {
			other(p)
			nouns(p, 10, "five six")
		}, ofKind(0.5), "as 1/5"},
		{"t = 2/11", func(p *purchase) {
			other(p)
			nouns(p, 11, "five six")
		}, ofKind(0.5), ".1 <= .182 <= .2"},
		{"t = 1/10", func(p *purchase) {
			other(p)
			nouns(p, 10, "ten")
		}, ofKind(0.5), ".1 is not below .1"},
		{"t = 1/11", func(p *purchase) {
			other(p)
			nouns(p, 11, "ten")
		}, ofKind(0.1), ".0909 < .1"},
		{"t = 0", func(p *purchase) {
			other(p)
			nouns(p, 10, "eleven")
		}, ofKind(0), "no noun in common"},
		{"no nouns wanted", func(p *purchase) {
			other(p)
			p.wanted.title = "Something by Acme"
		}, ofKind(0.5), "t = .2 by rule"},
		{"no nouns wanted, same query", func(p *purchase) { p.wanted.title = "Something" }, all, "t = .2, and the query is the same"},
		{"no nouns wanted, two categories", func(p *purchase) {
			p.wanted.title, p.bought.query = "Something", "chairs"
			p.bought.category = []string{"lighting", "home", "chairs"}
		}, all, "t = .2, and two categories are shared"},
		{"no nouns bought", func(p *purchase) { p.bought.title = "Something by Acme" }, ofKind(0), "0/2, although query and categories are the same"},
		{"no head nouns at all", func(p *purchase) {
			other(p)
			p.wanted.noun, p.bought.noun = "", ""
		}, ofKind(0.5), "an empty lexicon: t = .2, even for the same title"},
		{"a noun wanted five times", func(p *purchase) {
			other(p)
			p.wanted.title, p.bought.title = "lamp lamp lamp lamp lamp", "lamp lamp lamp lamp lamp"
		}, ofKind(0.5), "1 distinct over 5 with repeats"},
		{"a noun wanted eleven times", func(p *purchase) {
			other(p)
			p.wanted.title = strings.Repeat("lamp ", 11)
			p.bought.title = p.wanted.title
		}, ofKind(0.1), "1 distinct over 11 with repeats"},
		{"a noun bought twice", func(p *purchase) {
			other(p)
			nouns(p, 5, "one one")
		}, ofKind(0.5), "1/5: distinct ones are shared"},
		{"nouns in other cases", func(p *purchase) {
			other(p)
			p.bought.title = "TABLE-lamp"
		}, all, "2/2 in lower case, at any place"},
		{"plural", func(p *purchase) {
			other(p)
			p.bought.title, p.bought.noun = "Lamps", "lamps"
		}, ofKind(0), "lamps is another word than lamp"},
		{"brand in common", func(p *purchase) {
			other(p)
			p.bought.title, p.bought.noun = "Garden Chair by Acme", "chair"
		}, ofKind(0), "a brand is no noun"},
		{"attribute in common", func(p *purchase) {
			other(p)
			p.bought.title, p.bought.noun = "Dimmable Bedside Chair", "chair"
		}, ofKind(0), "dimmable, bedside are no nouns"},
		{"brand that is a head noun", func(p *purchase) {
			other(p)
			p.bought.title, p.bought.noun = "Garden Chair by Acme", "chair acme"
		}, all, "acme is in a head noun: 1/3 > .2"},

		// Attributes.
		{"attribute, equal", func(p *purchase) { want(p, "warm light") }, one(1), "100"},
		{"attribute, fewer words", func(p *purchase) { want(p, "cord") }, one(1), "I = cord and no rest: 100"},
		{"attribute, more words", func(p *purchase) { want(p, "very long cord") }, one(1), "I = cord long and no rest: 100"},
		{"attribute, other order", func(p *purchase) { want(p, "clean easy") }, one(1), "the same set: 100"},
		{"attribute, plural", func(p *purchase) { want(p, "long cords") }, one(1), "2*9/(9 + 10) = 94.7"},
		{"attribute, near", func(p *purchase) {
			want(p, "bread")
			p.bought.attributes = []string{"red"}
		}, one(0), "75"},
		{"attribute, at the threshold", func(p *purchase) {
			want(p, "abcdefghijklmnopqrst")
			p.bought.attributes = []string{"abcdefghijklmnopqxyz"}
		}, one(0), "2*17/40 is 85, not above"},
		{"attribute, just above", func(p *purchase) {
			want(p, "abcdefghijklmnopqrstuvw0000")
			p.bought.attributes = []string{"abcdefghijklmnopqrstuvw1111"}
		}, one(1), "2*23/54 = 85.19; a rounded ratio would be 85"},
		{"attribute, the last of several", func(p *purchase) {
			want(p, "stone")
			p.bought.attributes = []string{"a", "b", "c", "stone"}
		}, one(1), "any attribute will do"},
		{"attribute in the title", func(p *purchase) { want(p, "bedside") }, one(1), "Bedside in lower case"},
		{"attribute in the title, from within words", func(p *purchase) { want(p, "side tab") }, one(1), "beD-SIDE TAB-le: text, not words"},
		{"attribute in a bullet", func(p *purchase) { want(p, "linen") }, one(1), "Linen in lower case"},
		{"attribute in another bullet", func(p *purchase) { want(p, "usb power") }, one(1), "USB power in lower case"},
		{"attribute over two bullets", func(p *purchase) { want(p, "shade. runs") }, one(1), "bullets are joined by a space, as in WebShop"},
		{"attribute in the description", func(p *purchase) { want(p, "solid oak") }, one(1), "solid Oak in lower case"},
		{"attribute over two texts", func(p *purchase) { want(p, "power. made") }, one(0), "bullets and description are apart"},
		{"attribute over title and bullets", func(p *purchase) { want(p, "acme comes") }, one(0), "title and bullets are apart"},
		{"attribute with a capital", func(p *purchase) { want(p, "Linen") }, one(0), "texts are in lower case, the attribute is not"},
		{"attribute with a capital, close", func(p *purchase) { want(p, "Long Cord") }, one(1), "the ratio takes the lower case: 100"},
		{"attribute among texts in other order", func(p *purchase) { want(p, "oak solid") }, one(0), "texts are searched for the words as written"},
		{"attribute in an option", func(p *purchase) { want(p, "navy") }, one(0), "options are not searched"},
		{"attribute in the category", func(p *purchase) { want(p, "lighting") }, one(0), "neither are categories"},
		{"attribute, none in the product", func(p *purchase) {
			want(p, "long cord")
			p.bought.attributes = nil
		}, one(0), "no attributes, and no text has it"},
		{"attribute, none in the product but in the title", func(p *purchase) {
			want(p, "dimmable")
			p.bought.attributes = nil
		}, one(1), "the title has it"},
		{"attribute without a letter", func(p *purchase) { want(p, "!") }, one(0), "no tokens: ratio 0"},
		{"attribute of no text", func(p *purchase) { want(p, "") }, one(1), "ratio 0, but every text contains it"},
		{"attribute of another product", func(p *purchase) {
			p.bought.attributes = []string{"long cord", "heavy"}
		}, scored{1, 2, true, 1, 4.0 / 5}, "what the wanted product has does not count: (1 + 2 + 1) / 5"},
		{"four attributes", func(p *purchase) { want(p, "long cord", "stone", "easy clean", "warm light") },
			scored{3, 2, true, 1, 6.0 / 7}, "(3 + 2 + 1) / (4 + 2 + 1)"},
		{"attribute wanted twice", func(p *purchase) { want(p, "long cord", "cord") }, all, "one attribute of the product may serve several"},

		// Options.
		{"no option chosen", func(p *purchase) { p.chosen = nil }, scored{2, 0, true, 1, 3.0 / 5}, "(2 + 0 + 1) / 5"},
		{"one option chosen", func(p *purchase) { p.chosen = []string{"small"} }, scored{2, 1, true, 1, 4.0 / 5}, "(2 + 1 + 1) / 5"},
		{"another option chosen", func(p *purchase) { p.chosen = []string{"navy blue", "small"} }, scored{2, 1, true, 1, 4.0 / 5},
			"blue, black: b, l: 2*2/9 = 44.4"},
		{"options in other order", func(p *purchase) { p.chosen = []string{"small", "black"} }, all, "any chosen value will do"},
		{"option chosen three times", func(p *purchase) { p.chosen = []string{"small", "small", "small"} }, scored{2, 1, true, 1, 4.0 / 5},
			"a wanted option counts once"},
		{"one chosen for two", func(p *purchase) {
			p.options, p.chosen = []string{"navy blue", "sky blue"}, []string{"blue"}
		}, all, "both are blue"},
		{"no options wanted", func(p *purchase) { p.options, p.chosen = nil, nil }, scored{2, 0, true, 1, 1}, "(2 + 1) / 3"},
		{"no options wanted, some chosen", func(p *purchase) { p.options = nil }, scored{2, 0, true, 1, 1}, "what is chosen beyond does no harm"},
		{"colour mapped", func(p *purchase) { option(p, "navy blue", "light blue") }, pick(1), "both become blue"},
		{"colour mapped within a word", func(p *purchase) { option(p, "navyblue", "blue") }, pick(1), "both become blue"},
		{"colours of two names", func(p *purchase) { option(p, "rose gold", "gold") }, pick(1), "gold comes before rose in the list"},
		{"first of the list, not of the text", func(p *purchase) { option(p, "white and black", "white") }, pick(0), "black, white: 0 in common"},
		{"first of the list, other", func(p *purchase) { option(p, "white and black", "black") }, pick(1), "both become black"},
		{"colours apart", func(p *purchase) { option(p, "gray", "grey") }, pick(0), "both are in the list: 2*3/8 = 75"},
		{"colour in capitals", func(p *purchase) { option(p, "Navy BLUE", "blue") }, pick(1), "in lower case"},
		{"a size with a colour in it", func(p *purchase) { option(p, "standard", "tan") }, pick(1), "s-TAN-dard: as upstream, within words"},
		{"x-large for large", func(p *purchase) { option(p, "large", "x-large") }, pick(1), "100, wrongly, as upstream (worked number 18)"},
		{"large for x-large", func(p *purchase) { option(p, "x-large", "large") }, pick(1), "100 as well"},
		{"xx-large for x-large", func(p *purchase) { option(p, "x-large", "xx-large") }, pick(1), "2*7/15 = 93.3 as well"},
		{"medium for small", func(p *purchase) { option(p, "small", "medium") }, pick(0), "18.2"},
		{"option without letters", func(p *purchase) { option(p, "--", "--") }, pick(0), "no tokens: ratio 0, even to itself"},
		{"option in the title", func(p *purchase) { option(p, "dimmable", "small") }, pick(0), "texts are not searched for options"},

		// The price.
		{"price at the bound", func(p *purchase) { p.bought.cents = 6000 }, all, "60.00 <= 60"},
		{"price a cent above", func(p *purchase) { p.bought.cents = 6001 }, scored{2, 2, false, 1, 4.0 / 5}, "60.01 > 60"},
		{"price of the wanted one", func(p *purchase) { p.wanted.cents = 9999 }, all, "the bought product's price counts"},
		{"no bound", func(p *purchase) { p.bought.cents, p.upper = 99999, 0 }, all, "no bound counts as kept"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if c.reason == "" {
				t.Fatal("no reason")
			}
			p := whole()
			c.change(p)
			products := []product{p.wanted, p.bought}
			products[1].index = 1
			g := &goal{product: &products[0], attributes: p.attributes, options: p.options, upper: p.upper}
			approx := []cmp.Option{cmp.AllowUnexported(scored{}), cmpopts.EquateApprox(0, 1e-15)}
			got := newScorer(products).score(&products[1], g, p.chosen)
			if diff := cmp.Diff(c.want, got, approx...); diff != "" {
				t.Errorf("%s (-want +got):\n%s", c.reason, diff)
			}
			if (c.want.total == 1) != (got.total == 1) {
				t.Errorf("total %v, want %v: 1 must be met exactly or not at all", got.total, c.want.total)
			}
			slow := slowScore(slowNouns(products), &products[1], g, p.chosen)
			if diff := cmp.Diff(c.want, slow, approx...); diff != "" {
				t.Errorf("oracle: %s (-want +got):\n%s", c.reason, diff)
			}
		})
	}
}

func TestColourOf(t *testing.T) {
	if !slices.IsSorted(colours[:]) {
		t.Error("colours are not in alphabetical order")
	}
	for _, c := range colours {
		if got := colourOf(c); got != c {
			t.Errorf("colourOf(%q) = %q: a colour of the list must be its own", c, got)
		}
	}
	for _, c := range []struct{ option, want, reason string }{
		{"", "", "nothing in it"},
		{"x-large", "x-large", "no colour"},
		{"X-Large", "X-Large", "no colour: as it was"},
		{"Navy Blue", "blue", "blue comes before navy"},
		{"réed", "red", "in its ASCII form, without é"},
	} {
		if got := colourOf(c.option); got != c.want {
			t.Errorf("colourOf(%q) = %q, want %q: %s", c.option, got, c.want, c.reason)
		}
	}
}

// phrase draws texts that often have words in common.
func phrase(most int) *rapid.Generator[string] {
	word := rapid.SampledFrom([]string{
		"long", "sleeve", "sleeves", "red", "bread", "navy", "blue", "x", "large", "xx", "easy", "clean", "cleaning", "Oak", "table", "lamp",
		"mug", "é",
	})
	return rapid.Map(rapid.SliceOfN(word, 0, most), func(w []string) string { return strings.Join(w, " ") })
}

func phrases(most int) *rapid.Generator[[]string] { return rapid.SliceOfN(phrase(3), 0, most) }

// catalogue draws a few products.
func catalogue() *rapid.Generator[[]product] {
	return rapid.Custom(func(t *rapid.T) []product {
		products := make([]product, rapid.IntRange(1, 4).Draw(t, "products"))
		for i := range products {
			products[i] = product{
				index:       i,
				title:       phrase(12).Draw(t, "title"),
				noun:        phrase(3).Draw(t, "noun"),
				description: phrase(6).Draw(t, "description"),
				bullets:     phrases(2).Draw(t, "bullets"),
				attributes:  phrases(4).Draw(t, "attributes"),
				category:    rapid.SliceOfN(rapid.SampledFrom([]string{"a", "b", "c", "d"}), 0, 3).Draw(t, "category"),
				query:       rapid.SampledFrom([]string{"p", "q", "r"}).Draw(t, "query"),
				cents:       rapid.IntRange(500, 9999).Draw(t, "cents"),
			}
			if values := phrases(3).Draw(t, "values"); len(values) > 0 {
				products[i].groups = []group{{"color", values}}
			}
		}
		return products
	})
}

// drawGoal draws a goal and what was chosen.
func drawGoal(t *rapid.T, products []product) (bought *product, g *goal, chosen []string) {
	bought = &products[rapid.IntRange(0, len(products)-1).Draw(t, "bought")]
	wanted := &products[rapid.IntRange(0, len(products)-1).Draw(t, "wanted")]
	return bought, &goal{
		product:    wanted,
		attributes: phrases(3).Draw(t, "attributes"),
		options:    phrases(2).Draw(t, "options"),
		upper:      rapid.SampledFrom([]int{0, 10, 40, 60, 100}).Draw(t, "upper"),
	}, phrases(3).Draw(t, "chosen")
}

// A score is the oracle's. Its parts are within their counts, its total within [0, 1] and 1 exactly if everything is hit and the
// kind is 1. The order of the attributes, options and chosen values makes no difference.
func TestScoreLaws(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		products := catalogue().Draw(t, "catalogue")
		bought, g, chosen := drawGoal(t, products)
		s := newScorer(products)
		got := s.score(bought, g, chosen)
		if want := slowScore(slowNouns(products), bought, g, chosen); got != want {
			t.Fatalf("score %+v, the oracle says %+v", got, want)
		}
		if !(got.total >= 0 && got.total <= 1) || got.attributes > len(g.attributes) || got.options > len(g.options) {
			t.Fatalf("%+v for %d attributes and %d options", got, len(g.attributes), len(g.options))
		}
		if !slices.Contains([]float64{0, 0.1, 0.5, 1}, got.kind) {
			t.Fatalf("kind %v", got.kind)
		}
		everything := got.attributes == len(g.attributes) && got.options == len(g.options) && got.price && got.kind == 1
		if everything != (got.total == 1) {
			t.Fatalf("%+v for %d attributes and %d options", got, len(g.attributes), len(g.options))
		}
		turned := *g
		turned.attributes = rapid.Permutation(g.attributes).Draw(t, "attributes in other order")
		turned.options = rapid.Permutation(g.options).Draw(t, "options in other order")
		again := s.score(bought, &turned, rapid.Permutation(chosen).Draw(t, "chosen in other order"))
		if again != got {
			t.Fatalf("score %+v, in another order %+v", got, again)
		}
	})
}

// The wanted product bought with the wanted options scores 1 if its title has no noun twice.
func TestScoreOfWanted(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := lamp()
		p.title = rapid.StringMatching(`(soft|warm){0,2} table lamp [a-k]{3,5}`).Draw(t, "title")
		p.attributes = rapid.SliceOfN(rapid.StringMatching(`[a-z]{1,8}( [a-z]{1,8})?`), 1, 5).Draw(t, "attributes")
		values := rapid.SliceOfN(rapid.StringMatching(`[a-z]{1,8}([ -][a-z0-9]{1,8})?`), 1, 6)
		p.groups = []group{{"color", values.Draw(t, "colours")}, {"size", values.Draw(t, "sizes")}}
		products := []product{p}
		g := &goal{product: &products[0], upper: 50, attributes: rapid.SliceOfN(rapid.SampledFrom(p.attributes), 1, 3).Draw(t, "wanted")}
		for _, group := range p.groups {
			g.options = append(g.options, rapid.SampledFrom(group.values).Draw(t, group.name))
		}
		if got := newScorer(products).score(&products[0], g, g.options); got.total != 1 {
			t.Fatalf("%+v, want a total of 1", got)
		}
	})
}

// On WebShop's own attributes the ratio is the oracle's, and each product that an instruction was written for has all that is
// wanted of it.
func TestScoreOnWebShop(t *testing.T) {
	items := map[string]item{}
	readShopData(t, "items_ins_v2_1000.json", &items)
	var ids []string
	vocabulary := map[string]bool{}
	for id, it := range items {
		ids = append(ids, id)
		for _, a := range it.Attributes {
			vocabulary[a] = true
		}
	}
	slices.Sort(ids)
	if len(ids) != 1000 || len(vocabulary) != 598 {
		t.Errorf("%d items with %d different attributes, want 1000 with 598", len(ids), len(vocabulary))
	}

	var all []string
	for a := range vocabulary {
		all = append(all, a)
	}
	slices.Sort(all)
	step := 5
	if testing.Short() {
		step = 50
	}
	hits := 0
	for i := 0; i < len(all); i += step { // all pairs agree as well, in a few seconds
		for _, b := range all[i:] {
			got := ratio(all[i], b)
			if want := slowRatio(all[i], b); got != want {
				t.Fatalf("ratio(%q, %q) = %v, the oracle says %v", all[i], b, got, want)
			}
			if got > enough && all[i] != b {
				hits++
			}
		}
	}
	t.Logf("%d pairs of different attributes hit one another", hits)

	products, goals := make([]product, len(ids)), 0
	for i, id := range ids {
		products[i] = product{index: i, title: id, query: "q", attributes: items[id].Attributes}
	}
	s := newScorer(products)
	for i, id := range ids {
		it := items[id]
		if it.Instruction == "" {
			continue
		}
		goals++
		g := &goal{product: &products[i], attributes: it.Wanted}
		if got := s.score(&products[i], g, nil); got.total != 1 {
			t.Errorf("%s: %+v for %q of %q, want a total of 1", id, got, it.Wanted, it.Attributes)
		}
		other := &products[(i+1)%len(products)]
		if got, want := s.score(other, g, nil), slowScore(nil, other, g, nil); got != want {
			t.Errorf("%s: %+v for %q of %q, the oracle says %+v", id, got, it.Wanted, other.attributes, want)
		}
	}
	if goals != 415 {
		t.Errorf("%d goals, want 415", goals)
	}
}

// shelf is a catalogue of the size and make of the world's.
func shelf() (products []product, g *goal) {
	r := rand.New(rand.NewPCG(1, 2))
	pick := func(from ...string) string { return from[r.IntN(len(from))] }
	for i := range 1000 {
		p := lamp()
		p.index = i
		p.attributes = nil
		for range 3 + r.IntN(3) {
			p.attributes = append(p.attributes, pick("long", "easy", "warm", "soft")+" "+pick("cord", "clean", "light", "cover", "handle"))
		}
		products = append(products, p)
	}
	return products, &goal{
		product: &products[0], attributes: []string{"long cord", "easy clean", "stain resistant"}, options: []string{"navy blue", "large"}, upper: 60,
	}
}

func TestScoreTakesNoMemory(t *testing.T) {
	products, g := shelf()
	g.attributes[2] = products[5].attributes[0]
	s, chosen := newScorer(products), []string{"black", "small"}
	i := 0
	if n := testing.AllocsPerRun(1000, func() {
		s.score(&products[i%len(products)], g, chosen)
		i++
	}); n != 0 {
		t.Errorf("%v allocations a score, want none", n)
	}
}
