package mix_test

import (
	"fmt"
	"log"

	"github.com/throughline-go/throughline/midtool/mix"
)

func ExampleSelect() {
	var units []mix.Unit
	add := func(kind string, n, tokens int) {
		for i := range n {
			units = append(units, mix.Unit{ID: fmt.Sprintf("%s/%d", kind, i), Source: mix.ShareOf(kind), Tokens: tokens})
		}
	}
	add("web", 300, 900)
	add("md", 100, 300)
	add("code", 400, 1000)
	add("pdf", 250, 2000)
	add("native", 200, 500)
	s, err := mix.Select(units, &mix.Options{Seed: 1, Budget: 1_000_000})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("budget", s.Budget, "tokens", s.Tokens)
	for _, name := range []string{"web", "code", "pdf", "native"} {
		share := s.Sources[name]
		fmt.Printf("%-6s available %6d, part %6d, taken %6d in %d units\n", name, share.Available, share.Target, share.Tokens, share.Units)
	}
	fmt.Printf("first %s, shares off by at most %.4f\n", units[s.Picks[0].Index].ID, s.ShareError())
	// Output:
	// budget 714285 tokens 713000
	// web    available 300000, part 300000, taken 300000 in 400 units
	// code   available 400000, part 185714, taken 185000 in 185 units
	// pdf    available 500000, part 164285, taken 164000 in 82 units
	// native available 100000, part  64286, taken  64000 in 128 units
	// first pdf/213, shares off by at most 0.0008
}

func ExampleShareOf() {
	fmt.Println(mix.ShareOf("skill"), mix.ShareOf("code"))
	// Output: web code
}

func ExampleDefaultShares() {
	fmt.Println(mix.DefaultShares())
	// Output: map[code:26 native:9 pdf:23 web:42]
}

func ExampleDefaultTiers() {
	all := []mix.Unit{
		{ID: "a", Source: "web", Tier: "source", Tokens: 400},
		{ID: "b", Source: "web", Tier: "qa", Tokens: 500},
		{ID: "c", Source: "web", Tier: "qa", Tokens: 700},
		{ID: "d", Source: "web", Tier: "qa", Tokens: 600},
	}
	s, err := mix.Select(all, &mix.Options{Shares: map[string]int{"web": 1}, Tiers: mix.DefaultTiers()})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(s.Notes)
	for _, tier := range []string{"source", "qa"} {
		t := s.Sources["web"].Tiers[tier]
		fmt.Printf("%s: %d units, share %.2f, stated %.2f\n", tier, t.Units, t.Got, t.Want)
	}
	// Output:
	// [source "web" has no unit of tier "traj"; its weight of 113 goes to the others]
	// source: 1 units, share 0.33, stated 0.36
	// qa: 2 units, share 0.67, stated 0.52
}

func ExampleSelection_ShareError() {
	all := []mix.Unit{{ID: "a", Source: "web", Tokens: 60}, {ID: "b", Source: "code", Tokens: 40}}
	s, err := mix.Select(all, &mix.Options{Shares: map[string]int{"web": 1, "code": 1}, Budget: 120, Shortfall: mix.Under})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%.2f\n", s.ShareError())
	// Output: 0.10
}

func ExampleShard() {
	for _, id := range []string{"web/doc-000", "web/doc-001", "web/doc-002"} {
		fmt.Println(id, mix.Shard(7, id, 16))
	}
	// Output:
	// web/doc-000 9
	// web/doc-001 2
	// web/doc-002 5
}
