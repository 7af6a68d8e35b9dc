package shop

import (
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
)

// Pages make what differs between the presets: how products, goals and pages read.
type pages interface {
	product(r *rand.Rand, c category) product
	name(p *product) string            // what products differ in among the results
	arrange(products []product, n int) // orders those of n categories
	id(index int) string
	sentence(g *goal) string
	details() []string // the pages below that of a product
	appendText(text []byte, e *episode) []byte
	phrases() []string // the words of texts, but for those of the categories and the goals' bounds
}

// A page is where an episode is.
type page uint8

const (
	indexPage page = iota
	resultsPage
	itemPage
	descriptionPage
	featuresPage
	reviewsPage
	donePage
)

// String returns the name of the page, which is its link for those below a product's.
func (p page) String() string {
	return [...]string{"index", "results", "item", "description", "features", "reviews", "done"}[p]
}

// What can be clicked besides products, options and the pages below that of a product.
const (
	backLink = "back to search"
	prevLink = "< prev"
	nextLink = "next >"
	buyLink  = "buy now"
)

// fullPages reads as WebShop does: the visible strings of a page with " [SEP] " between them.
type fullPages struct{}

const separator = " [SEP] "

// id has two numbers of two digits, so that a closed vocabulary needs no word for every product.
func (fullPages) id(index int) string { return fmt.Sprintf("b-%02d-%02d", index/100, index%100) }

func (fullPages) details() []string {
	return []string{descriptionPage.String(), featuresPage.String(), reviewsPage.String()}
}

func (fullPages) sentence(g *goal) string {
	var s strings.Builder
	s.WriteString("i'm looking for ")
	if noun := g.product.noun; !strings.HasSuffix(noun, "s") {
		s.WriteString("a ")
	}
	s.WriteString(g.product.noun + " with these features: " + strings.Join(g.attributes, ", "))
	for i, o := range g.options {
		s.WriteString(", " + g.product.groups[i].name + ": " + o)
	}
	if g.upper > 0 {
		s.WriteString(", and price lower than " + strconv.Itoa(g.upper) + ".00 dollars")
	}
	return s.String()
}

const (
	fullTitle  = "Shop"
	fullThanks = "Thank you for shopping with us!"
	noReviews  = "No buyer has written a review yet."
)

func (fullPages) phrases() []string {
	out := []string{
		fullTitle, fullThanks, noReviews, separator, "Instruction: Search Back to Search < Prev Next >", "Page (Total results: )",
		"You have clicked . b-", "Price: $ . Rating: N.A. Description Features Reviews Buy Now", "color size",
		"i'm looking for a with these features: , and price lower than . dollars",
	}
	for _, list := range [][]string{descriptions[:], bullets[:], closings[:], brands()} {
		for _, s := range list {
			out = append(out, strings.ReplaceAll(s, "%s", " "))
		}
	}
	for n := range 100 {
		out = append(out, strconv.Itoa(n), fmt.Sprintf("%02d", n))
	}
	return out
}

func appendPrice(text []byte, cents int) []byte {
	text = strconv.AppendInt(append(text, '$'), int64(cents/100), 10)
	return append(text, '.', byte('0'+cents/10%10), byte('0'+cents%10))
}

func (fullPages) appendText(text []byte, e *episode) []byte {
	if e.page == donePage {
		return append(text, fullThanks...)
	}
	if e.page == indexPage {
		text = append(text, fullTitle+separator...)
	}
	if e.page == itemPage {
		for i, g := range e.item().groups {
			if k := e.chosen[i]; k != none {
				text = append(append(append(text, "You have clicked "...), g.values[k]...), "."+separator...)
			}
		}
	}
	text = append(append(text, "Instruction:"+separator...), e.task.sentence...)
	if e.page == indexPage {
		return append(text, separator+"Search"...)
	}
	text = append(text, separator+"Back to Search"...)
	switch e.page {
	case resultsPage:
		text = strconv.AppendInt(append(text, separator+"Page "...), int64(e.at+1), 10)
		text = append(strconv.AppendInt(append(text, " (Total results: "...), int64(len(e.hits)), 10), ')')
		if e.at > 0 {
			text = append(text, separator+"< Prev"...)
		}
		if e.more() {
			text = append(text, separator+"Next >"...)
		}
		for _, i := range e.shown() {
			p := &e.shop.products[i]
			text = append(append(text, separator...), e.shop.ids[i]...)
			text = append(append(text, separator...), p.title...)
			text = appendPrice(append(text, separator...), p.cents)
		}
	case itemPage:
		text = append(text, separator+"< Prev"...)
		p := e.item()
		for _, g := range p.groups {
			text = append(append(text, separator...), g.name...)
			for _, v := range g.values {
				text = append(append(text, separator...), v...)
			}
		}
		text = append(append(text, separator...), p.title...)
		text = appendPrice(append(text, separator+"Price: "...), p.cents)
		text = append(text, separator+"Rating: N.A."+separator+"Description"+separator+"Features"+separator+"Reviews"+separator+"Buy Now"...)
	case descriptionPage:
		text = append(append(text, separator+"< Prev"+separator...), e.item().description...)
	case featuresPage:
		text = append(text, separator+"< Prev"...)
		for _, s := range e.item().bullets {
			text = append(append(text, separator...), s...)
		}
	case reviewsPage:
		text = append(text, separator+"< Prev"+separator+noReviews...)
	}
	return text
}

// smallPages says the same in few words, a line for each thing.
type smallPages struct{}

func (smallPages) id(index int) string { return fmt.Sprintf("p%02d", index) }

func (smallPages) details() []string { return nil }

func (smallPages) sentence(g *goal) string {
	s := "want " + strings.Join(g.attributes, " ") + " " + g.product.noun + " " + strings.Join(g.options, " ")
	if g.upper > 0 {
		s += " under " + strconv.Itoa(g.upper)
	}
	return s
}

func (smallPages) phrases() []string {
	out := []string{"want under search results page of 1 2 3 4 item color size chosen bought -"}
	for cents := lowest; cents <= highest; cents += smallStep {
		out = append(out, strconv.Itoa(cents/100))
	}
	return out
}

func (smallPages) appendText(text []byte, e *episode) []byte {
	if e.page == donePage {
		return append(text, "bought"...)
	}
	text = append(append(text, e.task.sentence...), '\n')
	switch e.page {
	case indexPage:
		text = append(text, "search"...)
	case resultsPage:
		text = strconv.AppendInt(append(text, "results page "...), int64(e.at+1), 10)
		text = strconv.AppendInt(append(text, " of "...), int64(max(1, e.lastResults()+1)), 10)
		for k, i := range e.shown() {
			text = append(append(append(text, '\n'), e.shop.open[k].text...), ' ')
			text = e.appendLine(text, i)
		}
	case itemPage:
		text = e.appendLine(append(text, "item "...), e.product)
		for i, g := range e.item().groups {
			text = append(append(text, '\n'), g.name...)
			for _, v := range g.values {
				text = append(append(text, ' '), v...)
			}
			chosen := "-"
			if k := e.chosen[i]; k != none {
				chosen = g.values[k]
			}
			text = append(append(text, " chosen "...), chosen...)
		}
	}
	return text
}

// appendLine appends a product with its price in whole dollars.
func (e *episode) appendLine(text []byte, i int32) []byte {
	p := &e.shop.products[i]
	return strconv.AppendInt(append(append(text, p.title...), ' '), int64(p.cents/100), 10)
}
