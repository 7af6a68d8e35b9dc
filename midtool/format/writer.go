package format

import (
	"bufio"
	"cmp"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/throughline-go/throughline/midtool"
	"github.com/throughline-go/throughline/midtool/internal/jsonval"
)

// Options adjusts a [Writer]. A nil *Options equals &Options{}. What a form does not use is passed over.
type Options struct {
	Tokens    func(text string) int // counts those of a text; nil means [midtool.ApproxTokens]
	Tokenizer Tokenizer             // of pretokenized, which needs one
	Text      string                // of pretokenized: the form that is cut, "plain", "hermes" or "qwen"; empty means "plain"
	MaxTokens int                   // of pretokenized: longer rows are skipped; zero means 8192
	Thinking  bool                  // of qwen: empty thinking blocks in the answers after the last request

	// Of hermes and qwen: the sentences before and behind the tools. Empty means ours; for the bytes of a model's own
	// template they must come from that model's files. The tools begin behind "\n<tools>\n", which Preamble cannot have.
	Preamble, Instructions string
}

// flavors are the forms of OpenAI.
var flavors = map[string]flavor{
	"openai":       {strings: true, weight: true},
	"trl":          {id: true, names: true, unmasked: true},
	"axolotl":      {id: true, names: true, strings: true, parameters: true, train: true},
	"llamafactory": {id: true, names: true, tools: true, calls: true, unmasked: true, alternates: true},
}

// Names returns the names of the forms: plain, openai, trl, axolotl, llamafactory, sharegpt, hermes, qwen, pretokenized.
func Names() []string {
	return []string{"plain", "openai", "trl", "axolotl", "llamafactory", "sharegpt", "hermes", "qwen", "pretokenized"}
}

// Counts says what a [Writer] did.
type Counts struct {
	Written int            // records
	Bytes   int64          // of the lines, with their line breaks
	Tokens  int            // of the texts that were written; in forms of conversations those of their plain text
	Trained int            // learned bytes of these texts, learned tokens of pretokenized; 0 where the trainer decides
	Skipped map[string]int // records by the reason of their [SkipError]
}

// A Writer writes records in one form, one JSON object a line. The same records give the same bytes. It is not safe for
// concurrent use.
type Writer struct {
	name    string
	out     *bufio.Writer
	encode  encoder
	counts  Counts
	line    []byte
	failure error // of the writer below, or that this one is closed
}

// An encoder appends the line of a record, without a line break, and returns its tokens and how much of it is learned. A
// conversation is nil for a document. The error is a [*SkipError], or ends the writer.
type encoder func(dst []byte, r *Record, c *conversation) (line []byte, tokens, trained int, err error)

// NewWriter returns a Writer of the form of a name that [Names] lists. The error lists all that is wrong with the options.
func NewWriter(w io.Writer, name string, o *Options) (*Writer, error) {
	if o == nil {
		o = &Options{}
	}
	encode, err := encoderOf(name, o)
	if err != nil {
		return nil, fmt.Errorf("format: %w", err)
	}
	return &Writer{name: name, out: bufio.NewWriterSize(w, 64<<10), encode: encode, counts: Counts{Skipped: make(map[string]int)}}, nil
}

func encoderOf(name string, o *Options) (encoder, error) {
	tokens := o.Tokens
	if tokens == nil {
		tokens = midtool.ApproxTokens
	}
	if f, ok := flavors[name]; ok {
		return conversations(tokens, f.unmasked, func(dst []byte, id string, c *conversation) ([]byte, *SkipError) {
			if f.alternates {
				if err := checkTurns(c); err != nil {
					return dst, err
				}
			}
			return f.append(dst, id, c), nil
		}), nil
	}
	switch name {
	case "plain":
		return func(dst []byte, r *Record, c *conversation) ([]byte, int, int, error) {
			row, trained := plainRow(r, c, tokens)
			return row.append(dst, nil), row.Tokens, trained, nil
		}, nil
	case "sharegpt":
		return conversations(tokens, true, appendShareGPT), nil
	case "hermes", "qwen":
		form, err := chatForm(name, o)
		return form.encoder(tokens), err
	case "pretokenized":
		return pretokenized(o)
	}
	return nil, fmt.Errorf("unknown form %q, want one of %s", name, strings.Join(Names(), ", "))
}

// conversations makes the encoder of a form that has no place for documents.
func conversations(tokens func(string) int, unmasked bool, form func([]byte, string, *conversation) ([]byte, *SkipError)) encoder {
	return func(dst []byte, r *Record, c *conversation) ([]byte, int, int, error) {
		if c == nil {
			return dst, 0, 0, skip("document", "")
		}
		if unmasked {
			if i := slices.IndexFunc(c.messages, func(m message) bool { return m.untrained }); i >= 0 {
				return dst, 0, 0, skip("untrained_turn", "message %d", i)
			}
		}
		if !slices.ContainsFunc(c.messages, func(m message) bool { return m.trained() }) {
			return dst, 0, 0, skip("untrained", "no answer is learned")
		}
		line, err := form(dst, idOf(r), c)
		if err != nil {
			return dst, 0, 0, err
		}
		return line, tokens(plainText(c).Text), 0, nil
	}
}

func chatForm(name string, o *Options) (*chatML, error) {
	form := &chatML{"user", cmp.Or(o.Preamble, defaultPreamble), cmp.Or(o.Instructions, defaultInstructions), o.Thinking}
	if name == "hermes" {
		form.results, form.thinking = "tool", false
	}
	var errs []error
	for _, s := range []struct{ option, text string }{{"Preamble", form.preamble}, {"Instructions", form.instructions}} {
		for _, bad := range []string{"\n" + toolsOpen + "\n", turnStart, turnEnd} {
			if strings.Contains(s.text, bad) {
				errs = append(errs, fmt.Errorf("option %s holds %q", s.option, bad))
			}
		}
		if invalid(s.text) {
			errs = append(errs, fmt.Errorf("option %s is not UTF-8", s.option))
		}
	}
	return form, errors.Join(errs...)
}

// text renders a record.
func (f *chatML) text(r *Record, c *conversation) (Rendering, int, *SkipError) {
	if c == nil {
		if m := markerIn(r.Text); m != "" {
			return Rendering{}, 0, skip("marker", "the text holds %s", m)
		}
		return Rendering{r.Text, []Span{{0, len(r.Text)}}}, -1, nil
	}
	text, shown, err := f.render(c)
	if err == nil && len(text.Loss) == 0 {
		err = skip("untrained", "no answer is learned")
	}
	return text, shown, err
}

func (f *chatML) encoder(tokens func(string) int) encoder {
	return func(dst []byte, r *Record, c *conversation) ([]byte, int, int, error) {
		text, shown, err := f.text(r, c)
		if err != nil {
			return dst, 0, 0, err
		}
		var system jsonval.Value
		if shown >= 0 {
			system = count(shown)
		}
		row := rowOf(r, text.Text, tokens, jsonval.Pair("system", system))
		return row.append(dst, text.Loss), row.Tokens, text.trained(), nil
	}
}

func pretokenized(o *Options) (encoder, error) {
	var errs []error
	if o.Tokenizer == nil {
		errs = append(errs, errors.New("pretokenized needs a Tokenizer"))
	}
	if o.MaxTokens < 0 {
		errs = append(errs, fmt.Errorf("option MaxTokens is %d, want at least 0", o.MaxTokens))
	}
	window := cmp.Or(o.MaxTokens, 8192)
	render := func(r *Record, c *conversation) (Rendering, *SkipError) {
		if c == nil {
			return Rendering{r.Text, []Span{{0, len(r.Text)}}}, nil
		}
		return plainText(c), nil
	}
	switch o.Text {
	case "", "plain":
	case "hermes", "qwen":
		form, err := chatForm(o.Text, o)
		if err != nil {
			errs = append(errs, err)
		}
		render = func(r *Record, c *conversation) (Rendering, *SkipError) {
			text, _, err := form.text(r, c)
			return text, err
		}
	default:
		errs = append(errs, fmt.Errorf("option Text is %q, want plain, hermes or qwen", o.Text))
	}
	return func(dst []byte, r *Record, c *conversation) ([]byte, int, int, error) {
		text, bad := render(r, c)
		if bad != nil {
			return dst, 0, 0, bad
		}
		row, trained, err := tokenRow(&text, o.Tokenizer)
		switch {
		case err != nil:
			return dst, 0, 0, err
		case len(row.InputIDs) > window:
			return dst, 0, 0, skip("window", "%d tokens, at most %d", len(row.InputIDs), window)
		case trained == 0:
			return dst, 0, 0, skip("untrained", "no token is learned")
		}
		return row.append(dst), len(row.InputIDs), trained + 1, nil
	}, errors.Join(errs...)
}

// Write writes a record. A [*SkipError] says why the form has no place for it; it is counted, and the next record can be
// written. Any other error comes from the writer below or the tokenizer and is final.
func (w *Writer) Write(r *Record) error {
	if w.failure != nil {
		return w.failure
	}
	c, bad := conversationOf(r)
	var tokens, trained int
	var err error
	if bad != nil {
		err = bad
	} else if w.line, tokens, trained, err = w.encode(w.line[:0], r, c); err == nil && len(w.line) > jsonval.MaxBytes {
		err = skip("too_long", "%d bytes", len(w.line))
	}
	if skipped, ok := errors.AsType[*SkipError](err); ok {
		skipped.Format, skipped.Record = w.name, idOf(r)
		w.counts.Skipped[skipped.Reason]++
		return skipped
	}
	if err == nil {
		w.line = append(w.line, '\n')
		_, err = w.out.Write(w.line)
	}
	if err != nil {
		w.failure = fmt.Errorf("format: %s: record %q: %w", w.name, idOf(r), err)
		return w.failure
	}
	w.counts.Written++
	w.counts.Bytes += int64(len(w.line))
	w.counts.Tokens += tokens
	w.counts.Trained += trained
	if cap(w.line) > 1<<20 {
		w.line = nil // one long record must not hold memory to the end
	}
	return nil
}

// Close writes what is buffered; the writer below stays open. It is an error if records were given and none was
// written, and it names the reasons.
func (w *Writer) Close() error {
	if w.failure != nil {
		return w.failure
	}
	w.failure = fmt.Errorf("format: %s: the writer is closed", w.name)
	if err := w.out.Flush(); err != nil {
		return fmt.Errorf("format: %s: %w", w.name, err)
	}
	if len(w.counts.Skipped) > 0 && w.counts.Written == 0 {
		var reasons []string
		for _, reason := range slices.Sorted(maps.Keys(w.counts.Skipped)) {
			reasons = append(reasons, fmt.Sprintf("%s %d", reason, w.counts.Skipped[reason]))
		}
		return fmt.Errorf("format: %s: no record was written: %s", w.name, strings.Join(reasons, ", "))
	}
	return nil
}

// Counts returns what was written and skipped so far.
func (w *Writer) Counts() Counts {
	out := w.counts
	out.Skipped = maps.Clone(out.Skipped)
	return out
}
