package wording

import (
	"slices"
	"strings"
	"unicode"

	"github.com/throughline-go/throughline/midtool/internal/names"
)

// A Tool is what is said about a tool: nothing but its name and its description. It is made once for a tool and is
// safe for concurrent use.
type Tool struct {
	Meaning names.Meaning
	said    []phrasing // from the description, if that can be read, then from the name; empty if neither says anything
	turned  phrasing   // the words of the name in another order, for where all of said gives it away; no verbs if there are none
}

// A phrasing is one way to say what a tool does: any of the verbs, done to the object.
type phrasing struct {
	verbs     []string // never empty
	object    string   // as the assistant says it; for the user "your" becomes "my"
	askable   bool     // the object can be asked for by itself: "I need the weather"
	described bool     // taken from the description
	core      string   // the object without its article, in lower case
}

// About reads a tool's original name and description.
func About(name, description string) *Tool {
	t := &Tool{Meaning: names.MeaningOf(name)}
	if p, ok := describe(description, t.Meaning.Class); ok {
		p.described = true
		t.said = append(t.said, p)
	}
	// A name outside the table of verbs says less than any description.
	if t.Meaning.Class != names.OtherVerb || len(t.said) == 0 {
		t.said = append(t.said, ofName(t.Meaning)...)
	}
	for i := range t.said {
		t.said[i].core = withoutArticle(t.said[i].object)
	}
	if noun := spokenNoun(t.Meaning.Noun); len(noun) > 1 && !slices.ContainsFunc(noun, func(w string) bool { return otherVerbs[w] }) {
		last := len(noun) - 1
		t.turned = phrasing{verbs: classVerbs[t.Meaning.Class], object: "the " + noun[last] + " of the " + strings.Join(noun[:last], " ")}
		if t.turned.verbs == nil {
			t.turned.verbs = help
		}
	}
	return t
}

// Tables (ours).
var (
	// Verbs for what only a noun is known of.
	help = []string{"help me with", "take care of", "run", "handle", "deal with"}
	// Verbs of the classes, to be put before any object.
	classVerbs = map[names.VerbClass][]string{
		names.GetVerb:    {"get", "look up", "show me", "fetch", "check", "pull up", "give me", "bring up", "retrieve", "get me"},
		names.ListVerb:   {"list", "show me", "give me", "get", "pull up", "fetch", "bring up"},
		names.SearchVerb: {"search for", "look for", "find", "hunt for", "track down", "run a search for"},
		names.CreateVerb: {"create", "add", "set up", "make"},
		names.UpdateVerb: {"update", "change", "edit", "adjust", "modify"},
		names.DeleteVerb: {"delete", "remove", "get rid of", "erase"},
	}
	// Verbs of descriptions that have others beside them; one that is missing here stands for itself.
	sameVerbs = map[string][]string{
		"return": classVerbs[names.GetVerb], "retrieve": classVerbs[names.GetVerb], "get": classVerbs[names.GetVerb],
		"fetch": classVerbs[names.GetVerb], "show": classVerbs[names.GetVerb], "display": classVerbs[names.GetVerb],
		"provide": {"give me", "get", "show me", "put together", "fetch"}, "describe": {"describe", "tell me about",
			"give me details of"},
		"read": {"read", "open", "look at", "show me", "go through"}, "view": {"show me", "look at", "bring up", "view", "open"},
		"list": classVerbs[names.ListVerb], "enumerate": classVerbs[names.ListVerb],
		"find": {"find", "look for", "track down", "locate"}, "query": {"query", "look through"}, "lookup": {"look up", "find", "check"},
		"create": {"create", "make", "set up"}, "add": {"add", "insert"}, "insert": {"insert", "add"},
		"update": classVerbs[names.UpdateVerb], "edit": classVerbs[names.UpdateVerb], "modify": classVerbs[names.UpdateVerb],
		"change": classVerbs[names.UpdateVerb], "delete": classVerbs[names.DeleteVerb], "remove": {"remove", "delete", "get rid of"},
		"calculate": {"calculate", "work out", "compute", "figure out"}, "compute": {"compute", "work out", "calculate", "figure out"},
		"generate": {"generate", "produce", "create", "make"}, "analyze": {"analyze", "examine", "look into"},
		"convert": {"convert"}, "send": {"send", "send out"}, "run": {"run", "execute"},
		"execute": {"execute", "run"}, "perform": {"perform", "carry out", "run"}, "start": {"start", "launch", "begin"},
		"launch": {"launch", "start", "open", "bring up"}, "stop": {"stop", "halt", "end", "shut down"}, "check": {"check", "look at",
			"inspect"},
		"verify": {"verify", "check", "confirm"}, "validate": {"validate", "check", "verify"},
		"download": {"download", "save"}, "open": {"open", "bring up", "open up"}, "close": {"close", "shut"},
		"set": {"set", "change", "adjust"}, "compare": {"compare"}, "extract": {"extract", "pull out"},
		"take": {"take", "grab"}, "manage": {"manage", "look after", "handle"}, "track": {"track", "keep track of"},
		"test": {"test", "try out", "check"}, "inspect": {"inspect", "look at", "examine"}, "summarize": {"summarize", "sum up"},
		"move": {"move"}, "copy": {"copy", "duplicate", "make a copy of"}, "rename": {"rename"},
		"evaluate": {"evaluate", "assess"}, "estimate": {"estimate", "work out"}, "explain": {"explain",
			"walk me through"},
		"monitor": {"monitor", "watch", "keep an eye on"}, "clear": {"clear", "empty", "wipe"}, "cancel": {"cancel", "call off"},
		"mark": {"mark", "flag"}, "save": {"save", "store"}, "build": {"build", "put together", "make"},
		"determine": {"determine", "work out", "figure out"}, "detect": {"detect", "find", "spot"}, "initialize": {"initialize",
			"set up", "prepare"},
	}
	// Verbs that ask for something to be told, so that their object can be asked for by itself.
	tellingVerbs = names.WordSet("return retrieve get fetch show display provide list enumerate")
	// Verbs that bring about what was not there.
	makingVerbs = names.WordSet("create add insert generate build write make register open post send schedule")
	otherVerbs  = names.WordSet(`
		accept access activate analyze analyse append apply approve archive ask assign attach authenticate block book browse
		build buy calculate call cancel capture change check choose clean clear click clone close collect combine commit
		compare compile compress compute configure confirm connect construct convert copy count crawl customize deactivate
		debug decode decompile decrypt delegate demote deny deploy describe destroy detect determine disable disconnect
		display download drag draw drop duplicate enable encode encrypt enumerate estimate evaluate execute explain explore
		export extract fill filter follow forward format generate handle hide identify import initialize initiate inspect
		install invite join kill launch leave list load lock log lookup make manage mark measure merge migrate monitor go
		hover echo demonstrate observe engage guide equip paste hash reload pack facilitate zip unzip upsert fork lint
		deprecate ensure perform move mute navigate notify open optimize parse pause pin place plan play populate post predict
		prepare press preview print prioritize process promote provide publish pull purchase push put read rebase recommend
		record refresh register reject rename render reorder replace reply report request reserve reset resize resolve respond
		restart restore resume reveal revert review revoke rewrite rotate run sample save scan schedule scrape scroll select
		send set share show sign simulate solve sort split star start stop store submit subscribe suggest summarize summarise
		suspend swap swipe switch sync take terminate test track transfer transform translate trash trigger turn type
		unarchive unblock unfollow uninstall unlock unmute unpin unregister unsubscribe upload use validate verify view visit
		wait watch wipe withdraw write return retrieve get fetch search find query create add insert update edit modify delete
		remove`)
	// A description's object is cut before these words: what follows speaks about the arguments.
	cutWords = names.WordSet(`
		by using with given based via from through including and or that which where when while if so optionally for in to on
		as within into at after before without against during per but since until once then because such whether whose used
		representing containing specifying describing identifying indicating needed required associated matching`)
	// Prepositions that make one thing with the verb before them.
	linking = names.WordSet("for with to over into at from on in through")
	// Words that do not end an object.
	openWords = names.WordSet(`
		a an the of its their your all any each every this these multiple various several new current
		specific between about`)
	// Adjectives that point at the arguments and say nothing to who asks.
	pointing = names.WordSet("specified given provided particular certain supplied specific")
	// Words with which no object of a sentence goes on: the clause was not what it seemed.
	clauseWords = names.WordSet("is are was were be been must should can could will would may might has have had does do not it they you we i")
	// Words that no noun phrase at the start of a description begins with.
	noNoun = names.WordSet(`
		either if when this these that use used you it to only required optional args arguments parameters returns usage note
		warning deprecated must always never please for in on at by with what how why who there important example tool tools
		function api endpoint here and or not no helper method allows lets enables helps make`)
	// Words of names that say what a thing is to programmers and nothing of what it does.
	fillers = names.WordSet("mcp api tool tools function func controller handler endpoint cmd v1 v2 v3 v4")
	quiet   = names.WordSet("all my every any some back forward up down in out")
)

// describe reads the first clause of a description: a verb with what it is done to, or a noun that the class of the
// tool's name has a verb for.
func describe(description string, class names.VerbClass) (phrasing, bool) {
	clause := firstClause(description)
	clause = clause[preamble(clause):]
	if len(clause) == 0 {
		return phrasing{}, false
	}
	first, _, _ := strings.Cut(lowered(clause[0]), "/") // "creates/updates"
	verb := baseForm(first)
	if verb == "" {
		return nounDescription(clause, class)
	}
	rest := clause[1:]
	for len(rest) > 2 && (lowered(rest[0]) == "and" || lowered(rest[0]) == "or") && baseForm(lowered(rest[1])) != "" {
		rest = rest[2:] // "fetch and parse": the first says enough
	}
	p := phrasing{verbs: sameVerbs[verb], askable: tellingVerbs[verb]}
	switch {
	case p.askable && len(rest) > 2 && (lowered(rest[0]) == "how" || lowered(rest[0]) == "what"):
		p = phrasing{verbs: []string{"tell me", "find out", "check"}, object: object(rest)} // "how many tickets wait"
		return p, p.object != "" && len(p.object) <= maxObject
	case verb == "search" && len(rest) > 1 && lowered(rest[0]) == "for":
		p.verbs, rest = classVerbs[names.SearchVerb], rest[1:]
	case verb == "search":
		if len(rest) > 1 && lowered(rest[0]) == "through" {
			rest = rest[1:]
		}
		p.verbs = []string{"search", "search through", "look through"}
		if i := slices.IndexFunc(rest, func(w string) bool { return lowered(w) == "for" }); i > 0 && i+1 < len(rest) {
			if sought := object(rest[i+1:]); sought != "" {
				if where := object(rest[:i]); where != "" {
					p.object = where + " for " + sought
					return p, len(p.object) <= maxObject
				}
			}
		}
	case len(rest) > 1 && linking[lowered(rest[0])]:
		if o := object(rest[1:]); o != "" { // "wait for a page": the preposition belongs to the verb
			return phrasing{verbs: []string{verb}, object: lowered(rest[0]) + " " + o}, len(o) <= maxObject
		}
	case p.verbs == nil:
		p.verbs = []string{verb}
	}
	p.object = object(rest)
	switch head := lowered(headOf(p.object)); {
	case p.object == "":
	case p.askable, !strings.Contains(p.object, " ") && !plural(p.object):
		p.object = definite(p.object)
	case strings.Contains(p.object, " ") && !plural(head) && !mass[head]: // "create browser session"
		if first, _, _ := strings.Cut(p.object, " "); makingVerbs[verb] && !bare[lowered(first)] {
			p.object = article(first) + " " + p.object
		} else {
			p.object = definite(p.object)
		}
	}
	return p, p.object != "" && len(p.object) <= maxObject
}

// An object of more words or bytes is cut, or not said: nobody asks for anything at such length.
const (
	maxWords  = 10
	maxObject = 90
)

// preamble counts the words before the verb: "Use this tool to", "Quickly".
func preamble(clause []string) int {
	n := 0
	is := func(i int, words ...string) bool {
		return n+i < len(clause) && slices.Contains(words, lowered(clause[n+i]))
	}
	switch {
	case is(0, "use", "call") && is(1, "this", "it") && is(2, "tool", "function", "endpoint", "to"),
		is(0, "a", "this", "the") && is(1, "tool", "function"):
		for i := 1; i < 5; i++ {
			if is(i, "to", "that", "for") {
				return n + i + 1
			}
		}
		if is(0, "this") {
			n += 2
		}
	case is(0, "used") && is(1, "to", "for"):
		n += 2
	default: // "A detailed tool for", "Weather tool that"
		for i := range 4 {
			if is(i, "tool", "function", "utility", "endpoint") && is(i+1, "to", "for", "that") {
				n += i + 2
				break
			}
		}
	}
	if is(0, "allows", "allow", "lets", "enables", "helps") && is(1, "you", "users", "the", "clients") {
		n += 2
		if is(0, "user") {
			n++
		}
		if is(0, "to") {
			n++
		}
	}
	for n+1 < len(clause) && (len(clause[n]) > 4 && strings.HasSuffix(clause[n], "ly") && !is(0, "apply", "reply") ||
		is(0, "just", "simply", "please", "force")) {
		n++
	}
	return min(n, len(clause))
}

// nounDescription takes "Weather for a city" for a thing to get.
func nounDescription(clause []string, class names.VerbClass) (phrasing, bool) {
	if class != names.GetVerb && class != names.ListVerb && class != names.SearchVerb || noNoun[lowered(clause[0])] {
		return phrasing{}, false
	}
	o := object(clause)
	if n := strings.Count(o, " "); o == "" || n == 0 || n > 5 {
		return phrasing{}, false
	}
	first, rest, _ := strings.Cut(o, " ")
	if lower := lowered(first); !quiet[lower] && lower != "a" && lower != "an" && lower != "the" {
		if !hasUpper(first[1:]) { // no name or abbreviation
			first = lower
		}
		first = "the " + first
	}
	return phrasing{verbs: classVerbs[class], object: first + " " + rest, askable: class != names.SearchVerb}, true
}

// object cuts what follows the verb of a clause to what can be said without the arguments; it is empty where nothing
// is left or what is left is no noun phrase.
func object(words []string) string {
	out := make([]string, 0, maxWords)
	if len(words) > 3 && (lowered(words[0]) == "one" || lowered(words[0]) == "a") && lowered(words[1]) == "or" {
		words = words[3:] // "one or more files"
	}
	for _, w := range words {
		low := lowered(w)
		if cutWords[low] || len(out) == maxWords {
			break
		}
		if clauseWords[low] {
			return ""
		}
		if pointing[low] && (len(out) == 0 || low != "specific" || openWords[lowered(out[len(out)-1])]) {
			continue
		}
		if s := sayings[w]; s != "" && s == strings.ToUpper(s) {
			w = s // "the url"
		}
		out = append(out, w)
	}
	for len(out) > 0 && openWords[lowered(out[len(out)-1])] {
		out = out[:len(out)-1]
	}
	if len(out) == 0 || len(out) == 1 && (len(out[0]) == 1 || baseForm(lowered(out[0])) != "" && !plural(out[0])) {
		return ""
	}
	if len(out) > 1 && lowered(out[0]) == "one" && lowered(out[1]) != "of" { // "one order" of many
		out[0] = article(out[1])
	}
	for i := range len(out) - 1 { // an adjective may have gone from between
		if low := lowered(out[i]); low == "a" || low == "an" {
			out[i] = article(out[i+1])
		}
	}
	return strings.Join(out, " ")
}

// headOf is the noun that an object is about: the last word before a preposition or "and".
func headOf(object string) string {
	head, _, _ := strings.Cut(object, " of ")
	head, _, _ = strings.Cut(head, " and ")
	head, _, _ = strings.Cut(head, " between ")
	return head[strings.LastIndexByte(head, ' ')+1:]
}

// Words before which a thing that is asked for has no article.
var bare = names.WordSet(`
		a an the all any some every each no my your our this these those both two three multiple several many various detailed
		comprehensive information info statistics stats details metadata data general basic full available related similar
		more back forward up down in out online offline everything everyone that it me them what`)

// definite gives an object without an article the definite one: descriptions leave it out.
func definite(object string) string {
	first, _, _ := strings.Cut(object, " ")
	head := headOf(object)
	if bare[lowered(first)] || hasUpper(first) && (head == first || head == object || plural(head) || mass[lowered(head)]) {
		return object
	}
	return "the " + object
}

// firstClause returns the words of a text up to its first punctuation; nil if one of them is not plain ASCII.
func firstClause(s string) []string {
	s = s[:min(len(s), 400)]
	for { // marks of lists and headings, and labels: "[Mail] Send"
		s = strings.TrimLeftFunc(s, func(r rune) bool { return r != '[' && r != '(' && !unicode.IsLetter(r) })
		if s == "" || s[0] != '[' && s[0] != '(' {
			break
		}
		_, after, ok := strings.Cut(s, map[byte]string{'[': "]", '(': ")"}[s[0]])
		if !ok {
			return nil
		}
		s = after
	}
	out := make([]byte, 0, min(len(s), 128))
	for i := 0; i < len(s); i++ {
		c := s[i]
		inside := i > 0 && i+1 < len(s) && isLetter(s[i-1]) && isLetter(s[i+1])
		if c == '(' && i > 0 && s[i-1] == ' ' {
			if j := strings.IndexByte(s[i:], ')'); j >= 0 { // an aside
				i += j
				continue
			}
		}
		if strings.IndexByte(",;:()[]{}<>\"`*#|=!?", c) >= 0 || (c == '.' || c == '\'' || c == '/') && !inside ||
			c == '\n' && (i+1 == len(s) || !isLetter(s[i+1])) || c == '-' && i > 0 && s[i-1] == ' ' {
			break
		}
		if c >= 0x80 || c < ' ' && c != '\n' && c != '\t' && c != '\r' || c == '_' {
			return nil
		}
		out = append(out, c)
	}
	return strings.Fields(string(out))
}

// baseForm returns the infinitive of a verb it knows, written so, in the third person or as a gerund.
func baseForm(w string) string {
	if otherVerbs[w] {
		return w
	}
	try := func(f string) bool { return otherVerbs[f] }
	if f, ok := strings.CutSuffix(w, "s"); ok {
		if try(f) {
			return f
		}
		if f, ok = strings.CutSuffix(w, "es"); ok && try(f) {
			return f
		}
		if f, ok = strings.CutSuffix(w, "ies"); ok && try(f+"y") {
			return f + "y"
		}
	}
	if f, ok := strings.CutSuffix(w, "ing"); ok && len(f) > 2 {
		switch {
		case try(f):
			return f
		case try(f + "e"):
			return f + "e"
		case f[len(f)-1] == f[len(f)-2] && try(f[:len(f)-1]):
			return f[:len(f)-1]
		}
	}
	return ""
}

// ofName lists what a name says by itself.
func ofName(m names.Meaning) []phrasing {
	noun := spokenNoun(m.Noun)
	the := func(words []string) string {
		if last := len(words) - 1; m.Class == names.ListVerb && !plural(words[last]) && !mass[words[last]] {
			words[last] = plurally(words[last])
		}
		switch {
		case quiet[words[0]]:
			return strings.Join(words, " ")
		case m.Class == names.CreateVerb && !plural(words[len(words)-1]):
			return article(words[0]) + " " + strings.Join(words, " ")
		case m.Class == names.CreateVerb:
			return strings.Join(words, " ")
		}
		return "the " + strings.Join(words, " ")
	}
	verbs, told := classVerbs[m.Class], m.Class == names.GetVerb || m.Class == names.ListVerb
	switch {
	case len(noun) == 0 && (told || m.Class == names.SearchVerb):
		return []phrasing{{verbs: verbs, object: "what is there"}, {verbs: verbs, object: "what matters here"}}
	case len(noun) == 0 && m.Verb != "":
		return []phrasing{{verbs: []string{m.Verb}, object: "this"}, {verbs: []string{m.Verb}, object: "something"}}
	case len(noun) == 0: // a name without letters or digits
		return nil
	case m.Class != names.OtherVerb:
		return []phrasing{{verbs: verbs, object: the(noun), askable: told}}
	}
	// The verb of a name outside the table stands first, or last behind its noun.
	at := slices.IndexFunc(noun, func(w string) bool { return otherVerbs[w] })
	last := len(noun) - 1
	switch {
	case at >= 0 && at < last:
		verbs = sameVerbs[noun[at]]
		if verbs == nil {
			verbs = []string{noun[at]}
		}
		return []phrasing{{verbs: verbs, object: the(noun[at+1:])}}
	case at == last && last >= 0:
		verb := noun[last:]
		return []phrasing{{verbs: verb, object: "this"}, {verbs: verb, object: "something"}}
	}
	return []phrasing{{verbs: help, object: the(noun)}}
}

// spokenNoun leaves out of a name's noun what nobody would say.
func spokenNoun(noun []string) []string {
	// What a name says after "by" or "to" is about the arguments, as in a description.
	if i := slices.IndexFunc(noun, func(w string) bool { return cutWords[w] }); i > 0 {
		noun = noun[:i]
	}
	// What stands before "controller" names the part of a program.
	if i := slices.Index(noun, "controller"); i >= 0 && i+1 < len(noun) {
		noun = noun[i+1:]
	}
	out := make([]string, 0, len(noun))
	for _, w := range noun {
		if fillers[w] || len(out) > 0 && names.Singular(out[len(out)-1]) == names.Singular(w) {
			continue
		}
		out = append(out, spoken(w))
	}
	return out[:min(len(out), maxWords)]
}

// article is the indefinite article of a word, by its first sound as far as letters tell.
func article(word string) string {
	w := lowered(word)
	if strings.HasPrefix(w, "hour") || strings.HasPrefix(w, "honest") {
		return "an"
	}
	if !strings.ContainsRune("aeiou", rune(w[0])) {
		if hasUpper(word[1:]) && strings.IndexByte("FHLMNRSX", word[0]) >= 0 && word == strings.ToUpper(word) {
			return "an" // an HTML page
		}
		return "a"
	}
	for _, p := range []string{"uni", "use", "usa", "usd", "uri", "url", "uu", "eu", "one", "ui"} {
		if strings.HasPrefix(w, p) && !strings.HasPrefix(w, "unin") {
			return "a"
		}
	}
	return "an"
}

// Nouns that have no plural, or are one.
var mass = names.WordSet(`
		information data metadata inventory history news content help status info documentation all media people activity
		availability code text usage access traffic weather music children schema config settings us this`)

// plurally makes more of a noun, by its letters alone.
func plurally(w string) string {
	n := len(w)
	switch {
	case n > 1 && w[n-1] == 'y' && !strings.ContainsRune("aeiou", rune(w[n-2])):
		return w[:n-1] + "ies"
	case names.HasAnySuffix(w, "s", "x", "z", "ch", "sh"):
		return w + "es"
	}
	return w + "s"
}

func plural(w string) bool { return names.Singular(w) != w }

func lowered(w string) string { return strings.ToLower(w) }

func hasUpper(s string) bool { return strings.IndexFunc(s, unicode.IsUpper) >= 0 }

func isLetter(c byte) bool { return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' }
