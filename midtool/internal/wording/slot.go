package wording

import (
	"slices"
	"strings"

	"github.com/throughline-go/throughline/midtool/internal/jsonval"
	"github.com/throughline-go/throughline/midtool/internal/names"
	"github.com/throughline-go/throughline/midtool/internal/schema"
)

// An item is what one phrase says: a scalar, or the scalars of one list together.
type item struct {
	slots  []Slot // of the task, so that their Text can be filled
	phrase string // names it
	value  string // its words in the sentence; empty for a plain item
	plain  string // the whole phrase, where the name and the value are one: "with alerts"
	form   string // template of plain
	short  string // format that needs no name: "in %v"; empty if there is none
}

// many says whether the item is a plural.
func (it *item) many() bool {
	head, _, _ := strings.Cut(it.phrase, " of ")
	return len(it.slots) > 1 || plural(head[strings.LastIndexByte(head, ' ')+1:])
}

// Names of things that are mere boxes for arguments: nobody says "name of the body".
var boxes = names.WordSet(`
		body data args arguments params parameters payload input inputs properties options request config settings attributes
		fields object item items filter query`)

// Abbreviations of keys as people say or write them.
var sayings = map[string]string{
	"id": "ID", "ids": "IDs", "url": "URL", "urls": "URLs", "uri": "URI", "api": "API", "html": "HTML", "json": "JSON",
	"csv": "CSV", "pdf": "PDF",
	"xml": "XML", "sql": "SQL", "css": "CSS", "http": "HTTP", "https": "HTTPS", "ip": "IP", "uuid": "UUID", "uid": "UID",
	"uids": "UIDs", "ui": "UI", "llm": "LLM", "gdb": "GDB", "md5": "MD5", "sdk": "SDK", "rss": "RSS", "s3": "S3",
	"dns": "DNS", "ssh": "SSH", "usd": "USD", "nft": "NFT", "pid": "PID", "sms": "SMS", "sku": "SKU", "cpu": "CPU", "gpu": "GPU",
	"iso": "ISO",
	"crm": "CRM", "ai": "AI", "q": "query", "gen": "generate", "num": "number of", "lat": "latitude", "lon": "longitude",
	"lng": "longitude", "lang": "language",
	"msg": "message", "desc": "description", "dir": "directory", "src": "source", "dst": "destination", "dest": "destination",
	"addr": "address",
	"qty":  "quantity", "img": "image", "pwd": "password", "tz": "time zone", "repo": "repository", "repos": "repositories",
	"cfg": "configuration",
	"min": "minimum", "max": "maximum", "db": "database", "doc": "document", "docs": "documents", "env": "environment", "cmd": "command",
	"ctx": "context", "idx": "index", "auth": "authentication", "param": "parameter", "ref": "reference", "pct": "percentage",
	"freq": "frequency", "uuids": "UUIDs", "col": "column", "cols": "columns", "ext": "extension", "dirs": "directories",
	"config": "configuration", "attr": "attribute", "attrs": "attributes", "params": "parameters", "pos": "position",
	"prev": "previous", "btn": "button", "txt": "text", "pdfs": "PDFs", "tmp": "temporary", "ts": "timestamp",
	"info": "information", "lib": "library", "pkg": "package", "loc": "location", "temp": "temperature", "vol": "volume", "amt": "amount",
}

func spoken(word string) string {
	if s, ok := sayings[word]; ok {
		return s
	}
	return word
}

// keyPhrase is [names.KeyPhrase] with boxes left out, in the words of people.
func keyPhrase(keys []string, flag bool) string {
	var open []string // keys without the boxes
	for i, key := range keys {
		if i+1 < len(keys) && boxes[lowered(key)] && !isIndex(keys[i+1]) {
			if open == nil {
				open = append(make([]string, 0, len(keys)), keys[:i]...)
			}
		} else if open != nil {
			open = append(open, key)
		}
	}
	if open != nil {
		keys = open
	}
	phrase := names.KeyPhrase(keys, flag)
	var b strings.Builder
	b.Grow(len(phrase) + 8)
	for word := range strings.SplitSeq(phrase, " ") {
		if b.Len() > 0 {
			b.WriteByte(' ')
		}
		b.WriteString(spoken(word))
	}
	phrase = strings.TrimSuffix(b.String(), " of") // "page num"
	if !flag {
		phrase = natural(phrase)
	}
	switch {
	case cutWords[phrase]: // "to" is no noun
		return phrase + " field"
	case len(phrase) == 1 && isLetter(phrase[0]):
		return "value for " + phrase
	}
	return phrase
}

// Names of keys that people have another word for.
var otherNames = map[string]string{
	"sort by": "sort order", "order by": "sort order", "sort dir": "sort direction", "group by": "grouping",
	"cwd":        "working directory",
	"created at": "creation time", "updated at": "update time", "opens": "opening time", "closes": "closing time", "due": "due date",
	"starts at": "start time", "ends at": "end time", "created by": "creator", "assigned to": "assignee",
	"from": "from field", "to": "to field",
}

// Units that stand at the end of keys, and nouns before which "from" and "to" mark the ends of a period.
var (
	units   = names.WordSet("kg km cm mm lbs kwh seconds minutes hours ms USD EUR usd eur meters miles bytes mb gb percent celsius fahrenheit")
	periods = names.WordSet("date time year month day hour datetime timestamp period week")
)

// natural makes a phrase of a key into one that people would say: "target currency" for "to currency", "weight in kg".
func natural(phrase string) string {
	if other, ok := otherNames[phrase]; ok {
		return other
	}
	first, rest, ok := strings.Cut(phrase, " ")
	if !ok || strings.Contains(phrase, " of ") {
		return phrase
	}
	head := phrase[:strings.LastIndexByte(phrase, ' ')]
	switch last := phrase[len(head)+1:]; {
	case (first == "from" || first == "to") && periods[last]:
		return map[string]string{"from": "start ", "to": "end "}[first] + rest
	case (first == "from" || first == "to") && !cutWords[last]:
		return map[string]string{"from": "source ", "to": "target "}[first] + rest
	case last == "on" && first != "": // "ready on"
		return head + " date"
	case last == "at":
		return head + " time"
	case units[last] && head != "minimum" && head != "maximum" && !strings.HasSuffix(head, " in") && !strings.HasSuffix(head, " per"):
		return head + " in " + last
	}
	return phrase
}

// items groups the slots that are said by value, in a drawn order now and then, each with a phrase of its own.
func (w *Writer) items(task *Task) []item {
	out := make([]item, 0, len(task.Slots))
	for i := 0; i < len(task.Slots); {
		s := &task.Slots[i]
		if s.Hidden || s.From > 0 {
			i++
			continue
		}
		j := i + 1
		for inList(s) && j < len(task.Slots) && sameList(s, &task.Slots[j]) {
			j++
		}
		it := item{slots: task.Slots[i:j]}
		w.name(&it, out)
		w.realize(&it)
		out = append(out, it)
		i = j
	}
	if len(out) > 1 && len(out) <= 8 && w.percent(30) {
		i, j := w.pick(len(out)), w.pick(len(out))
		out[i], out[j] = out[j], out[i]
	}
	return out
}

// inList says whether a slot is a scalar that stands in a list.
func inList(s *Slot) bool {
	n := len(s.Keys)
	return n > 1 && isIndex(s.Keys[n-1]) && s.Value.Kind != jsonval.List && s.Value.Kind != jsonval.Object
}

func sameList(a, b *Slot) bool {
	n := len(a.Keys)
	return !b.Hidden && b.From == 0 && inList(b) && len(b.Keys) == n && slices.Equal(a.Keys[:n-1], b.Keys[:n-1])
}

func isIndex(key string) bool {
	return key != "" && strings.Trim(key, "0123456789") == ""
}

// name finds the words for an item that no item before it has.
func (w *Writer) name(it *item, before []item) {
	s := &it.slots[0]
	if s.called != "" { // in the question that this answers
		it.phrase = s.called
		return
	}
	keys, flag := s.Keys, s.Value.Kind == jsonval.Bool
	if inList(s) {
		keys, flag = keys[:len(keys)-1], false
	}
	taken := func(p string) bool { return slices.ContainsFunc(before, func(o item) bool { return o.phrase == p }) }
	if len(s.Keys) == 1 && !flag && w.percent(40) {
		if p := descriptionPhrase(s.Schema); p != "" && !taken(p) && !w.leaks(p) {
			it.phrase = p
			return
		}
	}
	it.phrase = keyPhrase(keys, flag)
	if taken(it.phrase) {
		it.phrase = names.KeyPhrase(keys, false)
	}
	if len(it.slots) == 1 && inList(s) && !isIndex(keys[len(keys)-1]) {
		it.phrase = singularHead(it.phrase)
	}
}

// singularHead makes the first noun of "tags of the filter" one: what stands before "of".
func singularHead(phrase string) string {
	head, rest, ok := strings.Cut(phrase, " of ")
	head = names.Singular(head)
	if ok {
		return head + " of " + rest
	}
	return head
}

// realize puts the value of an item into words and notes them in its slots.
func (w *Writer) realize(it *item) {
	if len(it.slots) > 1 || inList(&it.slots[0]) {
		var b strings.Builder
		for i := range it.slots {
			s := &it.slots[i]
			switch {
			case i == 0:
			case i == len(it.slots)-1:
				b.WriteString(" and ")
			default:
				b.WriteString(", ")
			}
			s.Text = s.Value.Text
			if s.Value.Kind == jsonval.Null {
				s.Text = "null"
			}
			b.WriteString(w.quoted(s, true))
		}
		it.value = b.String()
		return
	}
	s := &it.slots[0]
	v := s.Value
	switch v.Kind {
	case jsonval.Bool:
		forms := offForms
		if v.Text == "true" {
			forms = onForms
		}
		if nounFlag(s.Keys[len(s.Keys)-1]) {
			forms = forms[:2]
		} else {
			forms = forms[2:]
		}
		it.plainly(s, w.one(forms))
		return
	case jsonval.Null, jsonval.List, jsonval.Object: // an empty list or object
		it.plainly(s, w.one(noneForms))
		return
	case jsonval.Number:
		s.Text = v.Text
		if n, ok := smallNumber(v.Text); ok && w.percent(20) {
			s.Text = names.NumberWords[n]
		}
		it.value, it.short = s.Text, w.short(s)
		return
	}
	if strings.TrimSpace(v.Text) == "" {
		it.plainly(s, w.one(blankForms))
		return
	}
	s.Text = v.Text
	bare := false
	if long, ok := names.LongDate(v.Text); ok {
		if w.percent(50) {
			s.Text, bare = long, true
		}
	} else if s.Schema != nil && len(s.Schema.Enum) > 0 && strings.ContainsAny(v.Text, "_-") && w.percent(40) {
		if spaced := spaceOut.Replace(v.Text); strings.TrimSpace(spaced) == spaced {
			s.Text, bare = spaced, strings.Count(spaced, " ") < 4
		}
	}
	it.value = s.Text
	if !bare {
		it.value = w.quoted(s, false)
	}
	it.short = w.short(s)
}

var spaceOut = strings.NewReplacer("_", " ", "-", " ")

// plainly says an item as one phrase.
func (it *item) plainly(s *Slot, format string) {
	before, after, _ := strings.Cut(format, "%p")
	s.Text = before + it.phrase + after
	it.plain, it.form = s.Text, before+"{name}"+after
}

// Ways to say a boolean: the first two for a thing that is there or not, the others for a switch.
var (
	onForms = []string{"with %p", "with the %p", "with %p turned on", "with the %p option on", "with the %p flag on",
		"with %p set to yes",
		"with %p switched on", "with %p enabled"}
	offForms = []string{"without %p", "without the %p", "with %p turned off", "with the %p option off", "with the %p flag off",
		"with %p set to no",
		"with %p switched off", "with %p disabled"}
	noneForms  = []string{"with no %p", "without any %p", "with the %p left empty", "with the %p left out"}
	blankForms = []string{"with a blank %p", "with the %p kept blank", "with the %p left blank", "with an empty text for the %p"}
)

// nounFlag says whether the key of a boolean names a thing: "include_details", "alerts".
func nounFlag(key string) bool {
	var buf [8]string
	w := names.AppendWords(buf[:0], key)
	switch {
	case len(w) == 1:
		return plural(w[0])
	case len(w) > 1:
		switch w[0] {
		case "include", "includes", "has", "with", "show", "return":
			return w[1] != "only"
		}
	}
	return false
}

// quoted writes a text in quotes where it would run into the sentence otherwise. In an enumeration a comma would too.
func (w *Writer) quoted(s *Slot, listed bool) string {
	t := s.Text
	if s.Value.Kind != jsonval.String {
		return t
	}
	if !strings.ContainsAny(t, " \t\r\n.,:;!?'`") && t != "" && (listed || !w.percent(15)) {
		return t
	}
	switch {
	case !strings.Contains(t, `"`):
		return `"` + t + `"`
	case !strings.Contains(t, "'"):
		return "'" + t + "'"
	}
	return t
}

func smallNumber(text string) (int, bool) {
	if len(text) == 0 || len(text) > 2 {
		return 0, false
	}
	n := 0
	for i := range len(text) {
		if text[i] < '0' || text[i] > '9' {
			return 0, false
		}
		n = 10*n + int(text[i]-'0')
	}
	return n, n < len(names.NumberWords)
}

// Formats for values of arguments with a telling name of one word (ours).
var shortForms = map[string][]string{
	"city": {"in %v"}, "town": {"in %v"}, "country": {"in %v", "for %v"}, "location": {"in %v", "for %v", "at %v"},
	"region": {"in %v", "for %v"},
	"place":  {"in %v", "at %v"}, "date": {"on %v", "for %v"}, "day": {"on %v", "for %v"}, "year": {"for %v", "in %v"},
	"month":  {"for %v", "in %v"},
	"symbol": {"for %v"}, "ticker": {"for %v"}, "coin": {"for %v"}, "query": {"about %v", "matching %v", "on %v"},
	"topic":   {"about %v", "on %v"},
	"keyword": {"about %v", "matching %v"}, "subject": {"about %v"}, "email": {"for %v"}, "recipient": {"to %v", "for %v"},
	"to":   {"to %v"},
	"from": {"from %v"}, "path": {"at %v", "under %v"}, "url": {"at %v", "under %v"}, "domain": {"for %v"}, "host": {"on %v"},
	"hostname": {"on %v"},
	"language": {"in %v"}, "lang": {"in %v"}, "currency": {"in %v"}, "id": {"with ID %v", "for ID %v"}, "name": {"named %v", "called %v"},
	"title": {"titled %v", "with the title %v"}, "username": {"for user %v", "for %v"}, "user": {"for user %v", "for %v"},
	"message": {"saying %v"},
	"limit":   {"limited to %v", "with a limit of %v", "up to %v at most"}, "page": {"on page %v", "from page %v"},
	"since": {"since %v"}, "until": {"until %v"},
	"category": {"in category %v", "from category %v"}, "address": {"for %v", "at %v"}, "branch": {"on branch %v"}, "network": {"on %v"},
	"project": {"in project %v", "for project %v"}, "database": {"in database %v"}, "offset": {"starting from %v",
		"with an offset of %v"},
	"timeout": {"with a timeout of %v"}, "version": {"in version %v"}, "model": {"with model %v"}, "port": {"on port %v"},
}

// short is a format for a value that needs no name, or nothing.
func (w *Writer) short(s *Slot) string {
	if len(s.Keys) != 1 {
		return ""
	}
	var buf [8]string
	key := names.AppendWords(buf[:0], s.Keys[0])
	if len(key) != 1 {
		return ""
	}
	forms := shortForms[key[0]]
	if forms == nil || !w.percent(45) || s.Value.Kind == jsonval.Number && (key[0] == "date" || key[0] == "message") {
		return ""
	}
	return w.one(forms)
}

// Words that no name of an argument begins with, although its description may.
var noName = names.WordSet(`
		whether how what when where which if must should can only use used enter specify not no yes true false default
		defaults dummy e one most least any either list array json
		comma comma-separated optional required human and or for to in on with by from of is
		are be see all set same it this that these those unused deprecated ignore exact absolute`)

// Adjectives whose noun does not follow at once: "short, plain summary".
var lone = names.WordSet("short brief long new full custom unique valid exact old simple single main default additional extra")

// descriptionPhrase takes a short noun phrase from the start of a parameter's description, or nothing.
func descriptionPhrase(s *schema.Schema) string {
	if s == nil || s.Description == "" {
		return ""
	}
	clause := firstClause(s.Description)
	var b strings.Builder
	n, last := 0, ""
	for _, w := range clause {
		low := lowered(w)
		if n == 0 && (low == "the" || low == "a" || low == "an" || low == "optional" || low == "your" || low == "its" || pointing[low]) {
			continue
		}
		if n > 0 && (cutWords[low] || low == "of" && n > 3) {
			break
		}
		if n == 0 && (noName[low] || otherVerbs[low] && low != "start" && low != "search" || cutWords[low]) || n == 5 || clauseWords[low] ||
			low == "your" || low == "parameter" || low == "wanted" || pointing[low] {
			return ""
		}
		if n > 0 {
			b.WriteByte(' ')
		}
		if hasUpper(w[1:]) {
			b.WriteString(w)
			last = w
		} else {
			last = spoken(low)
			b.WriteString(last)
		}
		n++
	}
	if n == 0 || last == "of" || openWords[last] || n == 1 && lone[last] {
		return ""
	}
	return b.String()
}
