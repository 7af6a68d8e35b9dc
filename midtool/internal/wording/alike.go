package wording

import (
	"slices"
	"strings"
)

// SoundsLike says whether a request for t can have the words of a request for o: some way to say what one does is a way to
// say what the other does, articles and case apart.
func (t *Tool) SoundsLike(o *Tool) bool {
	for i := range t.said {
		p := &t.said[i]
		for j := range o.said {
			q := &o.said[j]
			if p.core == q.core && slices.ContainsFunc(p.verbs, func(v string) bool { return slices.Contains(q.verbs, v) }) {
				return true
			}
		}
	}
	return false
}

func withoutArticle(object string) string {
	s := strings.ToLower(object)
	for _, article := range []string{"the ", "a ", "an ", "all ", "all the "} {
		s = strings.TrimPrefix(s, article)
	}
	return s
}
