package wording

// Wish is what a user wants of a tool, as an infinitive with its object: "look up the weather". It has no arguments.
func (w *Writer) Wish(t *Tool) string {
	w.start(nil)
	c := w.clause(t)
	return c.verb + " " + c.object
}

// Described says whether the description tells what the tool does, so that a request has words of it.
func (t *Tool) Described() bool { return len(t.said) > 0 && t.said[0].described }
