// Package shop is a web shop as a small world: find a product that a sentence asks for, choose its options and buy it.
//
//	want: i'm looking for a desk lamp with these features: dimmable, color: red, size: mini, and price lower than 40.00 dollars
//
// Pages, actions and score are those of WebShop (arXiv:2207.01206), as far as they are told below; the catalogue, the sentences and the
// search index are ours. Results on it cannot be compared with published results on WebShop.
//
// # Catalogue
//
// There are 1,000 products in 20 categories of 50; product i is of category i modulo 20. A category has a head noun, a search query, a
// path of three levels, 12 attributes, and a choice of six colors, of five sizes or of both. A product has three to five of
// the attributes, a brand and a price from 5.00 to 99.99 dollars; its title is two attributes, the noun and the brand. The
// description tells two attributes, and the list of features all of them. Everything is drawn once from fixed streams
// ([envharness.RandStream]), so that the catalogue is the same in every process.
//
// # Tasks
//
// "goal-0000" to "goal-1999". A goal is drawn from a stream that its number seeds: a product, one to three of its attributes, a value of
// each of its options, and a bound on the price as in WebShop: of the next four multiples of 10 above the price two are drawn, and the
// larger counts. No two goals read the same: one that does is drawn again. Seeds change nothing. Splits:
//
//   - ood: goals for the last four categories
//   - validation, test, train: of the others, those where the FNV-1a hash (64 bits) of the id modulo 10 is 0, 1 or more
//
// WebShop draws the bounds before it is seeded and splits by the position in a list that it shuffles, so that its goals
// may differ between processes and its splits overlap.
//
// No two splits share a sentence, but all share one catalogue. Of the goals of test, 78% are for a product that a goal of train is for as
// well, 12% with the same attributes and 0.6% with the same options too, and so differ from it in the bound alone. In ood the products are
// new.
//
// # Pages and calls
//
//   - search{query} works on the first page alone, which has the search bar, and leads to the results
//   - click{text} works if the text, in lower case, can be clicked on the present page
//
// Results are at most 50, ten a page, with "next >" and "< prev". The id of a product leads to its page, where options are set by clicking
// them, "description", "features" and "reviews" lead to pages below, and "buy now" ends the episode. "< prev" goes one page up, and "back
// to search" to the first page, which forgets the query. Options belong to the product that is open: leaving its pages for the
// results drops them (ours).
//
// Anything else is refused: it changes nothing and uses up a turn. The classes are unknown_tool, bad_args and precondition (nothing to
// click by that name, no search bar). After [MaxTurns] turns the episode is truncated.
//
// The text has the strings of the page with " [SEP] " between them, the sentence of the task, which is also Data["task"], on every page
// but the last, and first "You have clicked" for every option that is set. All clicks that are possible are listed as
// actions, in the order of the page. On the first page the list offers searches made of the sentence: the noun, each
// attribute with it, all attributes with it, the whole sentence. Any other query is accepted as well.
//
// # Search
//
// Hits are ranked by BM25 with k1 = 0.9, b = 0.4 and idf = ln(1 + (N-df+0.5)/(df+0.5)) over the tokens [a-z0-9]+ of title, description,
// first bullet and options. Products without any token of the query are left out; of two with the same score the one
// with the lower index comes first.
//
// # Score
//
// For a purchase it is
//
//	(attributes that fit + options that fit + 1 if the price is within the bound) / (attributes + options + 1) * type
//
// and nothing else has a score. An attribute fits if its token set ratio with one of the product's attributes is above 85, or if the title,
// a bullet or the description contains it; an option, reduced to the first color word that it contains (if any), if its ratio with
// a chosen one is above 85. With t the number of distinct nouns that both titles share over the number of nouns in the wanted title, the
// type is 0 if t is 0, else 0.1 if t < 0.1, else 1 if the query is the same, two categories of the path are shared or t > 0.2, else
// 0.5. Nouns are the words of the catalogue's head nouns, where WebShop asks a tagger.
//
// Three things about it are lenient, by WebShop's rules. Of the sizes of clothes "x-large" satisfies "large" and "xx-large", and so
// on, by the ratio. A color word is looked for as a substring, in the alphabetical order of a list of ours, so that "navy blue" and "sky
// blue" both count as "blue", and "standard" would as "tan"; the values in the catalogue are plain words. And "desk lamp" and "desk chair"
// share a noun of two, so that for 12 of the goals products of the other of these kinds score 1 as well.
//
// The reward of the purchase is the score. An episode passes if the score is exactly 1, with whatever product; else it fails with the
// score as partial credit. Verdict.Parts has the share of attributes and options, the price (0 or 1) and the type. The verifier replays
// the logged calls.
//
// # Oracle
//
// Plans know what no text tells before it is opened, namely which product has the wanted attributes, and go straight to it: by the listed
// search that needs fewest pages, and by listed actions only. They take 5.03 turns in the mean and 9 at most. What can be reached without that
// knowledge is less: a scripted reader of the texts alone, who searches for all attributes, opens what is cheap enough and has most of them
// in its title, and reads the features where the title does not have all, passes 95% of train, 94% of validation and test, and 93% of ood
// (TestReader). It fails where a third product is not the right one: there are no turns left for more.
//
// # Small shop
//
// With [Options].Small there are 60 products of five categories, with one-word names, two attributes, three sizes, four colors and prices of
// 5, 15, ... 95 dollars. A search has at most 12 hits, four a page, and they are clicked by their number on the page. Equally good hits come
// with the dearest first, so that the price must be minded. There are no pages below that of a product. The text is terse: at most 40
// words, which tell the goal and the page. An episode has 12 turns. The 1,000 tasks are "small-0000" to "small-0999";
// those for the last category are out of distribution. The score is the same. Of the goals of test all are for a product that a goal of
// train is for as well, 99% with the same attributes and 26% with the same options too. Plans take 5.17 turns in the mean and 6 at most, and
// a scripted reader of the texts alone passes all tasks, as titles tell all attributes.
//
// # Cost
//
// To fill the full shop takes 25 to 55 ms, which [World] does once for all its environments. After that a reset takes a few microseconds, a
// search about 5 for a noun and 25 for a whole sentence, and a click that opens a page about 2. A click that changes nothing
// takes about 0.1 and no memory.
package shop
