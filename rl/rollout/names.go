package rollout

// Names are the words that stand in the slots of a [Tokenizer] in one episode: a word that is not in the vocabulary gets the next free slot
// where it is seen first, and keeps it. So an agent can refer to what was named in this episode alone, and two names stay two. The zero
// Names are empty. They serve one tokenizer, and one goroutine at a time.
type Names struct {
	slots map[string]int
	words []string
}

// NewNames returns names for an episode that begins.
func NewNames() *Names { return new(Names) }

// slot returns the slot of a word out of limit, a new one if note is set; -1 means none.
func (n *Names) slot(word string, limit int, note bool) int {
	if s, ok := n.slots[word]; ok {
		return s
	}
	if !note || len(n.words) >= limit {
		return -1
	}
	if n.slots == nil {
		n.slots = make(map[string]int)
	}
	s := len(n.words)
	n.slots[word] = s
	n.words = append(n.words, word)
	return s
}

// reset empties the names.
func (n *Names) reset() {
	clear(n.slots)
	n.words = n.words[:0]
}
