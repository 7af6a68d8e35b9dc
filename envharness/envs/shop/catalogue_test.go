package shop

import (
	"crypto/sha256"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// What the package comment says of the catalogues.
func TestCatalogue(t *testing.T) {
	forPresets(func(name string, o *Options) {
		t.Run(name, func(t *testing.T) {
			p := o.preset()
			products := p.catalogue()
			want := map[bool][2]int{false: {1000, 20}, true: {60, 5}}[name == "small"]
			if len(products) != want[0] || len(p.categories) != want[1] {
				t.Fatalf("%d products in %d categories, want %v", len(products), len(p.categories), want)
			}
			titles := map[string]bool{}
			var last [20]int // price by category
			counts := map[int]int{}
			for i, q := range products {
				c := p.categories[i%len(p.categories)]
				counts[len(q.attributes)]++
				switch {
				case q.index != i || q.noun != c.noun || q.query != c.query || !slices.Equal(q.category, c.path[:]):
					t.Errorf("product %d is not of category %d: %+v", i, i%len(p.categories), q)
				case q.cents < 500 || q.cents > 9999 || name == "small" && q.cents%1000 != 500:
					t.Errorf("product %d costs %d", i, q.cents)
				case titles[p.pages.name(&q)] || name == "full" && p.pages.name(&q) != q.title:
					t.Errorf("two products are %q", p.pages.name(&q))
				case name == "small" && i >= 5 && q.cents > last[i%5]:
					t.Errorf("product %d costs more than the one before it: %d and %d", i, q.cents, last[i%5])
				case !strings.HasPrefix(q.title, q.attributes[0]+" "+q.attributes[1]+" "+c.noun):
					t.Errorf("product %d: title %q, attributes %q", i, q.title, q.attributes)
				}
				titles[p.pages.name(&q)] = true
				last[i%len(p.categories)] = q.cents
				for k, a := range q.attributes {
					if !slices.Contains(c.attributes, a) || slices.Contains(q.attributes[:k], a) {
						t.Errorf("product %d: attribute %q", i, a)
					}
					if name == "full" && !strings.Contains(strings.Join(q.bullets, " "), ": "+a) {
						t.Errorf("product %d: %q is not among the features %q", i, a, q.bullets)
					}
				}
			}
			if want := map[bool][]int{false: {3, 4, 5}, true: {2}}[name == "small"]; !slices.Equal(slices.Sorted(maps.Keys(counts)), want) {
				t.Errorf("numbers of attributes %v, want %v", counts, want)
			}
		})
	})
}

func TestCategories(t *testing.T) {
	forPresets(func(name string, o *Options) {
		p := o.preset()
		sizes := map[bool][3]int{false: {12, 6, 5}, true: {4, 4, 3}}[name == "small"]
		nouns := map[string]bool{}
		for _, c := range p.categories {
			if nouns[c.noun] {
				t.Errorf("%s: two categories of %q", name, c.noun)
			}
			nouns[c.noun] = true
			if len(c.attributes) != sizes[0] || c.colors != nil && len(c.colors) != sizes[1] || c.sizes != nil && len(c.sizes) != sizes[2] {
				t.Errorf("%s, %s: %d attributes, %d colors and %d sizes, want %v", name, c.noun, len(c.attributes), len(c.colors), len(c.sizes), sizes)
			}
			if c.colors == nil && c.sizes == nil {
				t.Errorf("%s, %s: without options a product is easily bought by chance", name, c.noun)
			}
			links := slices.Concat([]string{backLink, prevLink, nextLink, buyLink}, p.pages.details(), c.colors, c.sizes)
			for i, l := range links {
				if slices.Contains(links[:i], l) || l != strings.ToLower(l) {
					t.Errorf("%s, %s: the link %q is not lower case or not the only one", name, c.noun, l)
				}
			}
			lists := slices.Concat(c.attributes, c.colors, c.sizes)
			if slices.Sort(lists); len(slices.Compact(lists)) != sizes[0]+len(c.colors)+len(c.sizes) {
				t.Errorf("%s, %s: a word stands twice in %q", name, c.noun, lists)
			}
		}
	})
}

// A head noun has no word of an attribute or a brand: else one product's attribute would be another's kind.
func TestNounsAreNoAttributes(t *testing.T) {
	forPresets(func(name string, o *Options) {
		for _, c := range o.preset().categories {
			for _, other := range o.preset().categories {
				for _, a := range slices.Concat(other.attributes, brands()) {
					for w := range strings.FieldsSeq(a) {
						if slices.Contains(strings.Fields(c.noun), w) {
							t.Errorf("%s: %q has a word of %q", name, c.noun, a)
						}
					}
				}
			}
		}
	})
}

// The options that another one of the product satisfies are those of clothes, as in WebShop.
func TestOptionsThatSatisfyOthers(t *testing.T) {
	got := map[string]int{}
	forPresets(func(name string, o *Options) {
		s := shopOf(o)
		for i := range s.items {
			p := &s.products[i]
			all := slices.Concat(values(p)...)
			for _, wanted := range all {
				for _, chosen := range all {
					g := goal{product: p, attributes: p.attributes[:1], options: []string{wanted}}
					if r := s.scorer.score(p, &g, []string{chosen}); (r.options == 1) != (wanted == chosen) {
						got[chosen+" satisfies "+wanted]++
					}
				}
			}
		}
	})
	want := map[string]int{ // rain jackets, button shirts and winter gloves
		"x-large satisfies large": 3, "xx-large satisfies large": 3, "large satisfies x-large": 3, "large satisfies xx-large": 3,
		"xx-large satisfies x-large": 3, "x-large satisfies xx-large": 3,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func values(p *product) [][]string {
	var out [][]string
	for _, g := range p.groups {
		out = append(out, g.values)
	}
	return out
}

// Catalogue and goals are the same in every process and version. A change here makes tasks other tasks.
func TestFingerprint(t *testing.T) {
	forPresets(func(name string, o *Options) {
		s := shopOf(o)
		h := sha256.New()
		for _, p := range s.products {
			fmt.Fprintf(h, "%d %q %q %q %q %q %d\n", p.index, p.title, p.description, p.bullets, p.attributes, p.groups, p.cents)
		}
		for _, k := range s.tasks {
			fmt.Fprintf(h, "%s %s %d %s %d\n", k.id, k.split, k.goal.product.index, k.sentence, k.goal.upper)
		}
		want := map[string]string{"full": "e94deec089632d61", "small": "1ff32b9a72f46849"}[name]
		if got := fmt.Sprintf("%x", h.Sum(nil)[:8]); got != want {
			t.Errorf("%s: %s, want %s", name, got, want)
		}
	})
}
