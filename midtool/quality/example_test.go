package quality_test

import (
	"fmt"
	"slices"

	"github.com/throughline-go/throughline/midtool/document"
	"github.com/throughline-go/throughline/midtool/quality"
)

func ExampleCheck() {
	d := &document.Document{Kind: document.Markdown, Text: "# Notes\n\nTo be written.\n"}
	f := quality.Check(d, quality.Rules(d.Kind))
	fmt.Println(f.Reason())
	fmt.Println(f)
	// Output:
	// words
	// words 4 is below 20
}

func ExampleRules() {
	rules := quality.Rules(document.Markdown)
	for i := range rules {
		if rules[i].Measure == quality.Words {
			rules[i].Min = 3
		}
	}
	rules = slices.DeleteFunc(rules, func(r quality.Rule) bool { return r.Measure == quality.LanguageScore })
	d := &document.Document{Text: "# Notes\n\nTo be written.\n"}
	fmt.Println(quality.Check(d, rules))
	// Output: <nil>
}

func ExampleValues() {
	values := quality.Values(&document.Document{Text: "Call /v1/items with a key.\nSee https://api.example.org for more.\n"})
	fmt.Printf("%.0f words, %.2f characters of addresses\n", values[quality.Words], values[quality.URLChars])
	// Output: 13 words, 0.35 characters of addresses
}

func ExampleValidate() {
	fmt.Println(quality.Validate([]quality.Rule{{Measure: "wrods", Min: 50, Max: 100}}))
	// Output: quality: rule 0: measure "wrods" is unknown
}

func ExampleChecker() {
	var c quality.Checker
	for _, text := range []string{"One.", "Run the command with the flag that prints the version of the tool."} {
		d := &document.Document{Text: text}
		fmt.Println(c.Check(d, []quality.Rule{{Measure: quality.Words, Min: 5, Max: 50}}), c.Values(d)[quality.StopWords])
	}
	// Output:
	// words 1 is below 5 0
	// <nil> 4
}
