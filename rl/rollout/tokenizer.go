package rollout

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/throughline-go/throughline/envharness"
)

// The ids that no text has. Words follow from id 9.
const (
	Pad        = iota // fills up; in no sequence of this package
	BOS               // begins a context
	EOS               // ends a text; in no sequence of this package
	Unk               // a word that is not in the vocabulary and has no slot
	Sep               // stands before what is shown
	Act               // stands before an action
	EndAct            // ends an action: the last token of a response
	ValuePlus         // the two entries that SAPO reads values off (loss.Head), in no sequence
	ValueMinus        //
	firstWord
)

var marks = [firstWord]string{"<pad>", "<bos>", "<eos>", "<unk>", "<sep>", "<act>", "<end>", "<v+>", "<v->"}

// TokenizerOptions adjusts [NewTokenizer]. A nil *TokenizerOptions equals &TokenizerOptions{}.
type TokenizerOptions struct {
	// Max is the highest number of ids, those of the marks and the slots among them; rarer words are left out. Zero means no limit.
	Max      int
	Slots    int      // ids for words that are not in the vocabulary, such as names invented in an episode; see [Names]
	More     []string // further words, or texts whose words count, such as those of the notes that agents are given
	KeepCase bool     // words that differ in case are different words; otherwise all are in lower case
}

// A Tokenizer turns texts into ids and back. Its words are maximal runs of letters and decimal digits, in lower case, and every other
// character that is not white space, as in the Vocabulary of an [envharness.Description]. The ids of the marks ([Pad] to [ValueMinus]) come
// first; then those of the words, by descending count and equal counts by bytes; then the slots. No text has the id of a mark, but for [Unk].
//
// A Tokenizer does not change and is safe for concurrent use.
type Tokenizer struct {
	ids      map[string]int
	words    []string // the word of id firstWord+i
	slots    int
	keepCase bool
}

// NewTokenizer makes a tokenizer of words, or of whole texts, the words of which count. A word counts as often as it occurs.
func NewTokenizer(words []string, o *TokenizerOptions) (*Tokenizer, error) {
	if o == nil {
		o = &TokenizerOptions{}
	}
	if o.Slots < 0 || o.Slots > maxIDs {
		return nil, fmt.Errorf("rollout: TokenizerOptions.Slots is %d, want 0 to %d", o.Slots, maxIDs)
	}
	if o.Max != 0 && o.Max <= firstWord+o.Slots {
		return nil, fmt.Errorf("rollout: TokenizerOptions.Max is %d, want 0 or more than the %d marks and %d slots", o.Max, firstWord, o.Slots)
	}
	t := &Tokenizer{slots: o.Slots, keepCase: o.KeepCase}
	count := make(map[string]int)
	for _, s := range slices.Concat(words, o.More) {
		for w, rest := cut(s); w != ""; w, rest = cut(rest) {
			count[t.fold(w)]++
		}
	}
	if len(count) == 0 {
		return nil, errors.New("rollout: a tokenizer without words")
	}
	list := slices.SortedFunc(maps.Keys(count), func(a, b string) int {
		if d := count[b] - count[a]; d != 0 {
			return d
		}
		return strings.Compare(a, b)
	})
	if o.Max > 0 {
		list = list[:min(len(list), o.Max-firstWord-o.Slots)]
	}
	t.index(list)
	return t, nil
}

// maxIDs bounds what a file can ask for.
const maxIDs = 1 << 24

func (t *Tokenizer) index(words []string) {
	t.words, t.ids = words, make(map[string]int, len(words))
	for i, w := range words {
		t.ids[w] = firstWord + i
	}
}

// WorldTokenizer makes a tokenizer of the Vocabulary that the environments of w declare, and of the words in which an [Agent] is told of a
// refusal. A world that declares none, as where names are invented in each episode, is an error: let episodes be played, by the world's
// oracle or at random, and give [Words] of them to [NewTokenizer], with Slots for the names. A Vocabulary is in lower case, so KeepCase is an
// error.
func WorldTokenizer(ctx context.Context, w envharness.World, o *TokenizerOptions) (*Tokenizer, error) {
	if w.New == nil {
		return nil, errors.New("rollout: the world has no New")
	}
	if o != nil && o.KeepCase {
		return nil, errors.New("rollout: TokenizerOptions.KeepCase is set, and the vocabulary of a world is in lower case")
	}
	env, err := w.New(ctx)
	if err != nil {
		return nil, fmt.Errorf("rollout: opening the world: %w", err)
	}
	defer env.Close()
	var d envharness.Description
	if describer, ok := envharness.As[envharness.Describer](env); ok {
		d = describer.Describe()
	}
	if d.Vocabulary == nil {
		return nil, fmt.Errorf("rollout: the words of world %q are not known (Description.Vocabulary is nil): play some episodes "+
			"and give Words of their traces to NewTokenizer, with TokenizerOptions.Slots for names", d.Name)
	}
	refusals := d.Refusals
	if refusals == nil {
		refusals = classes
	}
	distinct := make(map[string]bool) // each counts once
	for _, s := range d.Vocabulary {
		distinct[s] = true
	}
	for _, c := range append([]envharness.ErrorClass{unreadable}, refusals...) {
		for w, rest := cut(refusalText(c)); w != ""; w, rest = cut(rest) {
			distinct[w] = true
		}
	}
	return NewTokenizer(slices.Collect(maps.Keys(distinct)), o)
}

// classes are those that an environment may refuse with, in the order of envharness.
var classes = []envharness.ErrorClass{
	envharness.ClassUnknownTool, envharness.ClassBadArgs, envharness.ClassNotFound, envharness.ClassPrecondition, envharness.ClassPermission,
	envharness.ClassRateLimit, envharness.ClassTimeout, envharness.ClassTransient, envharness.ClassOther,
}

// unreadable is the class of the refusal of an answer that could not be read.
const unreadable = envharness.ClassBadArgs

// refusalText is how an agent is told of a refusal.
func refusalText(c envharness.ErrorClass) string { return strings.ReplaceAll(string(c), "_", " ") }

// Words lists the words of recorded episodes for [NewTokenizer], sorted, each as often as there are tasks in the episodes of which it occurs.
// Words of fewer than least tasks are left out: such are the names invented for one episode, for which slots can stand. Read is what an
// [Agent] reads: the texts shown, Data["task"], the admissible actions and the actions taken. The words of the classes of refusals are always
// among them, once at least. Words that differ in case are counted apart, and are returned as they stand.
func Words(traces []envharness.Trace, least int) []string {
	tasks := make(map[string]int)
	type use struct{ n, last int } // tasks, and the last of them
	uses := make(map[string]use)
	byTask := make([][]int, 0, len(traces))
	for i := range traces {
		id := traces[i].Task.ID
		k, ok := tasks[id]
		if !ok {
			k = len(byTask)
			tasks[id] = k
			byTask = append(byTask, nil)
		}
		byTask[k] = append(byTask[k], i)
	}
	for k, list := range byTask {
		read := func(s string) {
			for w, rest := cut(s); w != ""; w, rest = cut(rest) {
				if u := uses[w]; u.last != k+1 {
					uses[w] = use{u.n + 1, k + 1}
				}
			}
		}
		shown := func(o envharness.Observation) {
			read(o.Text)
			if task, ok := o.Data["task"].(string); ok {
				read(task)
			}
			for _, a := range o.Actions {
				read(a.Text())
			}
		}
		for _, i := range list {
			shown(traces[i].Shown)
			for j := range traces[i].Turns {
				turn := &traces[i].Turns[j]
				if turn.Proposed != nil {
					read(turn.Proposed.Text())
				}
				shown(turn.Shown.Observation)
			}
		}
	}
	known := make(map[string]bool)
	for _, c := range classes {
		for w, rest := cut(refusalText(c)); w != ""; w, rest = cut(rest) {
			known[w] = true
			uses[w] = use{n: max(uses[w].n, 1)}
		}
	}
	var out []string
	for _, w := range slices.Sorted(maps.Keys(uses)) {
		if n := uses[w].n; n >= least || known[w] {
			out = append(out, slices.Repeat([]string{w}, n)...)
		}
	}
	return out
}

// cut returns the first word of s as it stands there and what follows it; the word is empty where there is none.
func cut(s string) (word, rest string) {
	for i := 0; i < len(s); {
		r, n := rune(s[i]), 1
		if r >= utf8.RuneSelf {
			r, n = utf8.DecodeRuneInString(s[i:])
		}
		switch {
		case isRun(r):
			j := i + n
			for j < len(s) {
				if r, n = rune(s[j]), 1; r >= utf8.RuneSelf {
					r, n = utf8.DecodeRuneInString(s[j:])
				}
				if !isRun(r) {
					break
				}
				j += n
			}
			return s[i:j], s[j:]
		case unicode.IsSpace(r):
			i += n
		case r == utf8.RuneError: // perhaps a byte that is not UTF-8
			return "\uFFFD", s[i+n:]
		default:
			return s[i : i+n], s[i+n:]
		}
	}
	return "", ""
}

func isRun(r rune) bool {
	if r < utf8.RuneSelf {
		return 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9'
	}
	return unicode.IsLetter(r) || unicode.IsDigit(r)
}

// Vocab returns the number of ids: those of the marks, the words and the slots.
func (t *Tokenizer) Vocab() int { return firstWord + len(t.words) + t.slots }

// Words returns the words in the order of their ids, from 9 on.
func (t *Tokenizer) Words() []string { return slices.Clone(t.words) }

// Encode appends to dst the ids of the words of s. A word that is not in the vocabulary gets the slot that names has for it, or the next free
// one; where none is left, or names is nil, it is [Unk]. It allocates to grow dst, to note a name, and for words with capitals beyond ASCII.
func (t *Tokenizer) Encode(dst []int, names *Names, s string) []int {
	return t.encode(dst, names, s, true)
}

// encode is Encode; without note no word gets a new slot.
func (t *Tokenizer) encode(dst []int, names *Names, s string, note bool) []int {
	var space [64]byte
	for w, rest := cut(s); w != ""; w, rest = cut(rest) {
		key := w
		var id int
		var ok bool
		if t.keepCase || isLower(w) {
			id, ok = t.ids[key]
		} else if b, fits := lower(space[:0], w); fits {
			if id, ok = t.ids[string(b)]; !ok && names != nil {
				key = string(b)
			}
		} else {
			key = t.fold(w)
			id, ok = t.ids[key]
		}
		if !ok {
			id = Unk
			if names != nil {
				if slot := names.slot(key, t.slots, note); slot >= 0 {
					id = firstWord + len(t.words) + slot
				}
			}
		}
		dst = append(dst, id)
	}
	return dst
}

// fold returns a word as the vocabulary has it. There are signs with a case that are no letters, such as Roman numerals; they stay as they are.
func (t *Tokenizer) fold(w string) string {
	if r, _ := utf8.DecodeRuneInString(w); t.keepCase || !isRun(r) {
		return w
	}
	return strings.ToLower(w)
}

// isLower reports whether w is ASCII without capitals.
func isLower(w string) bool {
	for i := range len(w) {
		if c := w[i]; c >= utf8.RuneSelf || 'A' <= c && c <= 'Z' {
			return false
		}
	}
	return true
}

// lower appends w in lower case, if it is ASCII and fits.
func lower(dst []byte, w string) ([]byte, bool) {
	if len(w) > cap(dst) {
		return nil, false
	}
	for i := range len(w) {
		c := w[i]
		if c >= utf8.RuneSelf {
			return nil, false
		}
		if 'A' <= c && c <= 'Z' {
			c += 'a' - 'A'
		}
		dst = append(dst, c)
	}
	return dst, true
}

// Decode returns the words of ids with a space between them: the words of a text, though not its spaces. For a slot it is the word that names
// has there. Ids that are of no word are shown as marks that no text encodes to, such as <unk>, <slot3> for a free slot, and <-1>.
func (t *Tokenizer) Decode(names *Names, ids []int) string {
	var b strings.Builder
	for i, id := range ids {
		if i > 0 {
			b.WriteByte(' ')
		}
		slot := id - firstWord - len(t.words)
		switch {
		case id >= 0 && id < firstWord:
			b.WriteString(marks[id])
		case id < 0 || slot >= t.slots:
			b.WriteString("<" + strconv.Itoa(id) + ">")
		case slot < 0:
			b.WriteString(t.words[id-firstWord])
		case names != nil && slot < len(names.words):
			b.WriteString(names.words[slot])
		default:
			b.WriteString("<slot" + strconv.Itoa(slot) + ">")
		}
	}
	return b.String()
}

// tokenizerJSON is a tokenizer in a file.
type tokenizerJSON struct {
	Words    []string `json:"words"`
	Slots    int      `json:"slots"`
	KeepCase bool     `json:"keep_case"`
}

// MarshalJSON writes the words in the order of their ids, the number of slots, and whether case counts: all that there is to it.
func (t *Tokenizer) MarshalJSON() ([]byte, error) {
	return json.Marshal(tokenizerJSON{t.words, t.slots, t.keepCase})
}

// UnmarshalJSON reads what MarshalJSON wrote: the same ids for the same texts. On an error t stays as it was.
func (t *Tokenizer) UnmarshalJSON(data []byte) error {
	var f tokenizerJSON
	if err := json.Unmarshal(data, &f); err != nil {
		return fmt.Errorf("rollout: tokenizer: %w", err)
	}
	if len(f.Words) == 0 || f.Slots < 0 || f.Slots > maxIDs {
		return fmt.Errorf("rollout: tokenizer: %d words and %d slots, want at least one word, and 0 to %d slots", len(f.Words), f.Slots, maxIDs)
	}
	n := Tokenizer{slots: f.Slots, keepCase: f.KeepCase}
	n.index(f.Words)
	if len(n.ids) != len(n.words) {
		return errors.New("rollout: tokenizer: a word stands twice")
	}
	for i, w := range f.Words {
		first, rest := cut(w)
		if first != w || rest != "" || w == "" || w != n.fold(w) {
			return fmt.Errorf("rollout: tokenizer: word %d is %q, which is not one word, or not in lower case", i, w)
		}
	}
	*t = n
	return nil
}
