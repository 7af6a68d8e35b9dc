package document

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"iter"
	"net/url"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/throughline-go/throughline/midtool"
)

// Prescreen is a [Source] of the documents of another that may be about the use of tools. It costs little, so that a large crawl shrinks
// before anything dear looks at it. It rejects a document with a reason, and the rule that it broke:
//
//   - prescreen_url: its URL is below one of Block, or not below one of Allow, if there are any. A document without a URL passes;
//   - prescreen_keyword: its title and text have fewer than Least of the Keywords, each counted once.
//
// It is a [Splitter] and a [Digester] if the other is; else Split returns the whole as one part, and Digest an error that wraps
// [errors.ErrUnsupported]. That pages are chosen by their address and by keywords is the field's custom; the lists are ours.
type Prescreen struct {
	Source   Source
	Keywords []string // words of letters and digits; case is not compared; nil means DefaultKeywords
	Least    int      // keywords that a document must have; zero means 2, below zero none
	Allow    []string // "host" or "host/path": hosts below it and paths below that count too, parts as wholes; nil means every address
	Block    []string // in the same form; nil means DefaultBlockedURLs
}

// DefaultKeywords returns words of texts about the use of tools: of interfaces, commands and calls.
func DefaultKeywords() []string {
	return []string{
		"api", "apis", "endpoint", "endpoints", "curl", "cli", "sdk", "parameter", "parameters", "argument", "arguments",
		"request", "requests", "response",
		"responses", "function", "functions", "method", "methods", "command", "commands", "json", "http", "https", "rest",
		"graphql", "webhook", "oauth", "token",
		"query", "schema", "install", "configure", "returns", "rpc", "mcp", "openapi", "swagger", "plugin", "tool", "tools",
		"integration", "client",
	}
}

// DefaultBlockedURLs returns where benchmarks for tool use are published.
func DefaultBlockedURLs() []string {
	return []string{
		"gorilla.cs.berkeley.edu", "github.com/ShishirPatil/gorilla", "huggingface.co/datasets/gorilla-llm", "taubench.com",
		"github.com/sierra-research/tau-bench", "github.com/sierra-research/tau2-bench", "mcp-universe.github.io",
		"github.com/SalesforceAIResearch/MCP-Universe",
		"github.com/OpenBMB/ToolBench", "github.com/THUNLP-MT/StableToolBench", "github.com/apple/ToolSandbox",
		"github.com/fairyshine/Seal-Tools",
	}
}

// Documents yields the documents that pass.
func (p Prescreen) Documents(ctx context.Context, reject func(midtool.Rejection)) iter.Seq2[Document, error] {
	return func(yield func(Document, error) bool) {
		s, err := p.screen()
		if err != nil {
			yield(Document{}, err)
			return
		}
		for d, err := range p.Source.Documents(ctx, reject) {
			if err != nil {
				yield(Document{}, err)
				return
			}
			if reason, detail := s.check(&d); reason != "" {
				if reject != nil {
					reject(midtool.Rejection{Origin: d.Origin, Sample: d.ID, Reason: reason, Detail: detail})
				}
				continue
			}
			if !yield(d, nil) {
				return
			}
		}
	}
}

// Split screens each part of the source.
func (p Prescreen) Split(ctx context.Context, size int) ([]Source, error) {
	if _, err := p.screen(); err != nil {
		return nil, err
	}
	inner, ok := p.Source.(Splitter)
	if !ok {
		return []Source{p}, nil
	}
	parts, err := inner.Split(ctx, size)
	if err != nil {
		return nil, err
	}
	out := make([]Source, len(parts))
	for i, part := range parts {
		one := p
		one.Source = part
		out[i] = one
	}
	return out, nil
}

// Digest hashes the digest of the source and the options.
func (p Prescreen) Digest(ctx context.Context) (string, error) {
	s, err := p.screen()
	if err != nil {
		return "", err
	}
	inner, ok := p.Source.(Digester)
	if !ok {
		return "", fmt.Errorf("document: prescreen of a %T, which has no digest: %w", p.Source, errors.ErrUnsupported)
	}
	digest, err := inner.Digest(ctx)
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256(fmt.Appendf(nil, "prescreen 1 %s %q %d %q %q", digest, s.keywords, s.least, s.allow, s.block))
	return hex.EncodeToString(sum[:]), nil
}

// A screen is a Prescreen with its defaults.
type screen struct {
	keywords     []string // in lower case, sorted
	place        map[string]int
	least        int
	allow, block []string
}

func (p Prescreen) screen() (*screen, error) {
	s := &screen{least: max(p.Least, 0), allow: foldURLs(p.Allow), block: foldURLs(p.Block), place: make(map[string]int)}
	if p.Least == 0 {
		s.least = 2
	}
	keywords := p.Keywords
	if keywords == nil {
		keywords = DefaultKeywords()
	}
	if p.Block == nil {
		s.block = foldURLs(DefaultBlockedURLs())
	}
	var errs []error
	if p.Source == nil {
		errs = append(errs, errors.New("document: prescreen: Source is nil"))
	}
	for i, k := range keywords {
		if k == "" || strings.ContainsFunc(k, func(r rune) bool { return !wordRune(r) }) {
			errs = append(errs, fmt.Errorf("document: prescreen: Keywords[%d] is %q, want letters and digits", i, k))
		}
		s.keywords = append(s.keywords, strings.ToLower(k))
	}
	slices.Sort(s.keywords)
	s.keywords = slices.Compact(s.keywords)
	for i, k := range s.keywords {
		s.place[k] = i
	}
	if s.least > len(s.keywords) {
		errs = append(errs, fmt.Errorf("document: prescreen: Least is %d, of %d keywords", s.least, len(s.keywords)))
	}
	return s, errors.Join(errs...)
}

func wordRune(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }

func foldURLs(list []string) []string {
	var out []string
	for _, u := range list {
		_, rest, ok := strings.Cut(u, "://")
		if !ok {
			rest = u
		}
		out = append(out, strings.TrimPrefix(strings.ToLower(strings.TrimRight(rest, "/")), "www."))
	}
	return out
}

func (s *screen) check(d *Document) (reason, detail string) {
	if d.URL != "" {
		host, place := address(d.URL)
		for _, b := range s.block {
			if below(host, place, b) {
				return "prescreen_url", "below " + b
			}
		}
		if len(s.allow) > 0 && !slices.ContainsFunc(s.allow, func(a string) bool { return below(host, place, a) }) {
			return "prescreen_url", "not below what is allowed"
		}
	}
	if n := s.count(d.Title, d.Text); n < s.least {
		return "prescreen_keyword", fmt.Sprintf("%d keywords, want %d", n, s.least)
	}
	return "", ""
}

// address returns the host and the path of a URL in lower case.
func address(text string) (host, place string) {
	if u, err := url.Parse(text); err == nil && u.Host != "" {
		return strings.ToLower(u.Hostname()), strings.ToLower(u.Path)
	}
	_, rest, ok := strings.Cut(text, "://")
	if !ok {
		rest = text
	}
	if i := strings.IndexAny(rest, "?#"); i >= 0 {
		rest = rest[:i]
	}
	host, place, _ = strings.Cut(strings.ToLower(rest), "/")
	return host, "/" + place
}

// below says whether an address lies below "host" or "host/path".
func below(host, place, at string) bool {
	atHost, atPath, _ := strings.Cut(at, "/")
	if host != atHost && !strings.HasSuffix(host, "."+atHost) {
		return false
	}
	rest, ok := strings.CutPrefix(strings.TrimPrefix(place, "/"), atPath)
	return ok && (atPath == "" || rest == "" || rest[0] == '/')
}

// maxKeyword bounds a word that is looked up.
const maxKeyword = 64

// count returns the number of different keywords in the texts, or the least that is wanted if there are more.
func (s *screen) count(texts ...string) int {
	if s.least == 0 {
		return 0
	}
	seen := make([]bool, len(s.keywords))
	n := 0
	word := make([]byte, 0, maxKeyword+utf8.UTFMax)
	take := func() bool {
		if len(word) > 0 && len(word) <= maxKeyword {
			if i, ok := s.place[string(word)]; ok && !seen[i] {
				seen[i] = true
				n++
			}
		}
		word = word[:0]
		return n >= s.least
	}
	for _, text := range texts {
		for _, r := range text {
			switch {
			case !wordRune(r):
				if take() {
					return n
				}
			case len(word) <= maxKeyword:
				word = utf8.AppendRune(word, unicode.ToLower(r))
			}
		}
		if take() {
			return n
		}
	}
	return n
}

var (
	_ Splitter = Prescreen{}
	_ Digester = Prescreen{}
)
