package endpoint

import (
	"errors"
	"flag"
	"fmt"
	"math"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/throughline-go/throughline/envharness/openai"
)

// Flags are what a caller says about the model that is to act.
type Flags struct {
	set           *flag.FlagSet
	url, name     string
	keyEnv, price string
	maxCost       float64
	stream, http  bool
	tasks, atOnce int
	retries       int
}

// own are the flags of Register besides the two that it takes to have a model.
var own = []string{"key-env", "allow-http", "stream", "retries", "price", "max-cost", "tasks", "at-once"}

// Register adds the flags to a set. Tasks is the default of -tasks, and of says which tasks these are; with 0 there is one episode, and
// neither -tasks nor -at-once.
func Register(set *flag.FlagSet, tasks int, of string) *Flags {
	f := &Flags{set: set, tasks: 1, atOnce: 1}
	set.StringVar(&f.url, "endpoint", "",
		"let a model behind an OpenAI-compatible server act instead of the default: its base `URL`, such as http://localhost:8000/v1")
	set.StringVar(&f.name, "model", "", "`name` of the model, with -endpoint")
	set.StringVar(&f.keyEnv, "key-env", "", "`name` of the environment variable that holds the key, with -endpoint; empty sends no key")
	set.BoolVar(&f.http, "allow-http", false, "send the key unencrypted to another machine, with -endpoint")
	set.BoolVar(&f.stream, "stream", false, "ask for answers in pieces, with -endpoint")
	set.IntVar(&f.retries, "retries", 4, "`number` of further attempts where a request fails, with -endpoint")
	set.StringVar(&f.price, "price", "", "what a million tokens of input and of output cost, as `IN,OUT`, with -endpoint; empty tells no cost")
	set.Float64Var(&f.maxCost, "max-cost", 0, "ask for nothing more once the cost is this `amount`, with -price: what is left is invalid; 0 sets no limit")
	if tasks > 0 {
		set.IntVar(&f.tasks, "tasks", tasks, "`number` of "+of+", with -endpoint: each takes time and money")
		set.IntVar(&f.atOnce, "at-once", 4, "`number` of episodes that the model plays at once, with -endpoint")
	}
	return f
}

// Given says whether a flag of the set was given.
func (f *Flags) Given(name string) bool {
	given := false
	f.set.Visit(func(g *flag.Flag) { given = given || g.Name == name })
	return given
}

// Open returns the model that the parsed flags name, or nil if they name none. Getenv looks the key up. Nothing is sent. An error names
// the flag, and neither a key nor the URL, in which one may be.
func (f *Flags) Open(getenv func(string) string) (*Model, error) {
	if f.url == "" && f.name == "" {
		if i := slices.IndexFunc(own, f.Given); i >= 0 {
			return nil, fmt.Errorf("-%s says something about a model: it needs -endpoint and -model", own[i])
		}
		return nil, nil
	}
	switch {
	case f.url == "":
		return nil, errors.New("-model needs the server that has it, -endpoint")
	case f.name == "":
		return nil, errors.New("-endpoint needs the name of a model, -model")
	case f.tasks < 1:
		return nil, fmt.Errorf("-tasks is %d, want at least 1", f.tasks)
	case f.atOnce < 1:
		return nil, fmt.Errorf("-at-once is %d, want at least 1", f.atOnce)
	case f.retries < 0 || f.retries > mostRetries:
		return nil, fmt.Errorf("-retries is %d, want 0 to %d", f.retries, mostRetries)
	}
	if err := checkURL(f.url); err != nil {
		return nil, err
	}
	price, err := parsePrice(f.price)
	switch {
	case err != nil:
		return nil, err
	case !(f.maxCost >= 0) || math.IsInf(f.maxCost, 1):
		return nil, fmt.Errorf("-max-cost is %v, want a number of at least 0", f.maxCost)
	case f.maxCost > 0 && price == (openai.Price{}):
		return nil, errors.New("-max-cost needs to know what tokens cost, by -price")
	}
	key := ""
	if f.keyEnv != "" {
		if key = getenv(f.keyEnv); key == "" {
			named := "an environment variable"
			if isName(f.keyEnv) {
				named = f.keyEnv + ", an environment variable"
			}
			return nil, fmt.Errorf("-key-env names %s that is absent or empty", named)
		}
	}
	o := openai.Options{
		BaseURL: f.url, APIKey: key, AllowHTTP: true, Model: f.name, Stream: f.stream,
		Retries: &f.retries, Timeout: requestTimeout, Price: price, MaxCost: f.maxCost,
	}
	client, err := openai.New(o)
	if err != nil {
		return nil, fmt.Errorf("-endpoint: %w", err)
	}
	if !f.http {
		o.AllowHTTP = false
		if client, err = openai.New(o); err != nil {
			return nil, errors.New("-endpoint is another machine without https, to which a key or a query is not sent but with -allow-http")
		}
	}
	o.Retries, o.MaxTokens, o.MaxCost = new(0), 1, 0 // checked already, but for these
	short, err := openai.New(o)
	if err != nil {
		return nil, fmt.Errorf("-endpoint: %w", err)
	}
	return &Model{Name: f.name, Tasks: f.tasks, AtOnce: f.atOnce, client: client, short: short, priced: f.price != ""}, nil
}

// mostRetries is enough to wait a few minutes.
const mostRetries = 20

// checkURL refuses what is no base URL, and one with a secret in it, which process lists would show.
func checkURL(text string) error {
	u, err := url.Parse(text)
	switch {
	case err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "":
		return errors.New("-endpoint is no URL such as http://localhost:8000/v1")
	case u.User != nil:
		return errors.New("-endpoint is a URL with a user; what is secret belongs into the variable that -key-env names")
	}
	return nil
}

// isName says whether a text is surely the name of a variable, and so may be told, and not a key that was given by mistake: words of upper
// case, of at most 16 letters and 2 digits each, where keys are long or full of digits.
func isName(text string) bool {
	if len(text) > 64 || text[0] >= '0' && text[0] <= '9' {
		return false
	}
	for word := range strings.SplitSeq(text, "_") {
		digits := 0
		for _, r := range word {
			switch {
			case r >= '0' && r <= '9':
				digits++
			case r < 'A' || r > 'Z':
				return false
			}
		}
		if len(word) > 16 || digits > 2 {
			return false
		}
	}
	return true
}

// parsePrice reads two numbers. What the server has in its cache costs as much as other input, which errs high.
func parsePrice(text string) (openai.Price, error) {
	if text == "" {
		return openai.Price{}, nil
	}
	in, out, two := strings.Cut(text, ",")
	input, errIn := strconv.ParseFloat(strings.TrimSpace(in), 64)
	output, errOut := strconv.ParseFloat(strings.TrimSpace(out), 64)
	good := func(x float64) bool { return x >= 0 && !math.IsInf(x, 1) }
	if !two || errIn != nil || errOut != nil || !good(input) || !good(output) {
		return openai.Price{}, fmt.Errorf("-price is %q, want two numbers of at least 0, such as 0.5,1.5", text)
	}
	return openai.Price{Input: input, Output: output}, nil
}
