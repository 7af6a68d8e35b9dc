package build

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"iter"
	"os"
	"sync"

	"github.com/throughline-go/throughline/internal/jsonl"
	"github.com/throughline-go/throughline/midtool"
	"github.com/throughline-go/throughline/midtool/decontaminate"
	"github.com/throughline-go/throughline/midtool/dedup"
	"github.com/throughline-go/throughline/midtool/document"
	"github.com/throughline-go/throughline/midtool/format"
	"github.com/throughline-go/throughline/midtool/mix"
)

// A unit is what is taken or left as a whole: a document with the samples that are grounded in it, or one native sample. It
// is a run of lines in the file of its part: the document, if there is one, and the samples.
type unit struct {
	document *document.Document
	samples  []midtool.Sample
}

// A line holds one of the two.
type line struct {
	Document *document.Document `json:"document,omitempty"`
	Sample   *midtool.Sample    `json:"sample,omitempty"`
}

// An entry is what the later stages need to know of a unit without reading it. It is a line in the index of the part.
type entry struct {
	ID      string `json:"id"`
	Kind    string `json:"kind"` // of the document, or native
	Tier    string `json:"tier,omitempty"`
	Offset  int64  `json:"offset"` // in the file of the part
	Length  int64  `json:"length"`
	Head    int64  `json:"head"`   // length of the first line
	Tokens  int    `json:"tokens"` // of all lines
	Content int    `json:"content"`
	Zero    bool   `json:"zero,omitempty"`
	Exact   []byte `json:"exact"`
	Bands   []byte `json:"bands,omitempty"`

	Matches []decontaminate.Match `json:"matches,omitempty"`
}

// zeroed says whether texts of a kind that differ in numbers alone are compared as equal.
func zeroed(kind document.Kind) bool { return kind == document.Web || kind == document.PDF }

// encode writes the lines of a unit and tells how long the first one is.
func (u *unit) encode(dst *bytes.Buffer) (head int64, err error) {
	start := dst.Len()
	enc := json.NewEncoder(dst)
	enc.SetEscapeHTML(false)
	put := func(l line) {
		if err == nil {
			err = enc.Encode(l)
		}
		if head == 0 {
			head = int64(dst.Len() - start)
		}
	}
	if u.document != nil {
		put(line{Document: u.document})
	}
	for i := range u.samples {
		put(line{Sample: &u.samples[i]})
	}
	return head, err
}

// decodeUnit reads lines that encode wrote.
func decodeUnit(data []byte) (*unit, error) {
	u := new(unit)
	for part := range bytes.Lines(data) {
		var l line
		if err := json.Unmarshal(part, &l); err != nil {
			return nil, err
		}
		switch {
		case l.Document != nil:
			u.document = l.Document
		case l.Sample != nil:
			u.samples = append(u.samples, *l.Sample)
		}
	}
	return u, nil
}

// content is the text by which units are compared.
func (u *unit) content() string {
	if u.document != nil {
		return u.document.Text
	}
	if len(u.samples) > 0 {
		return dedup.SampleContent(&u.samples[0])
	}
	return ""
}

// sketch fills the fields that find duplicates.
func (e *entry) sketch(s *dedup.Sketcher, u *unit) {
	r := dedup.Record{ID: e.ID, Content: u.content()}
	if u.document != nil {
		r.Zero = zeroed(u.document.Kind)
	} else {
		r.Exact = u.samples[0].ContentHash()
	}
	k := s.Sketch(&r)
	e.Content, e.Zero, e.Exact = k.Length, k.Zero, k.Exact[:]
	for _, band := range k.Bands {
		e.Bands = binary.BigEndian.AppendUint64(e.Bands, band)
	}
}

// sketched is the reverse.
func (e *entry) sketched(source string) dedup.Sketch {
	k := dedup.Sketch{ID: e.ID, Source: source, Length: e.Content, Zero: e.Zero}
	copy(k.Exact[:], e.Exact)
	for i := 0; i+8 <= len(e.Bands); i += 8 {
		k.Bands = append(k.Bands, binary.BigEndian.Uint64(e.Bands[i:]))
	}
	return k
}

// searched is what of a unit is compared with benchmarks. The excerpts that samples show of their document are left out: the
// document is there as a whole.
func (u *unit) searched() *decontaminate.Record {
	r := new(decontaminate.Record)
	if u.document != nil {
		r.Texts = append(r.Texts, u.document.Text)
	}
	for i := range u.samples {
		s := &u.samples[i]
		r.Tools = append(r.Tools, s.Tools...)
		for j := range s.Messages {
			m := &s.Messages[j]
			r.Tools = append(r.Tools, m.Offers...)
			switch m.Role {
			case midtool.RoleUser:
				r.Messages = append(r.Messages, m.Content)
			case midtool.RoleAssistant:
				if m.Content != "" {
					r.Texts = append(r.Texts, m.Content)
				}
			}
		}
	}
	return r
}

// records are what a unit is in a corpus, the document first. A pass above 0 is told in the IDs.
func (u *unit) records(id, kind string, pass int) []format.Record {
	mark := func(id string) string {
		if pass > 0 {
			return fmt.Sprintf("%s@%d", id, pass+1)
		}
		return id
	}
	var out []format.Record
	var licenses []string
	if d := u.document; d != nil {
		if d.License != "" {
			licenses = []string{d.License}
		}
		meta := map[string]string{"kind": string(d.Kind)}
		for key, value := range map[string]string{"title": d.Title, "url": d.URL, "date": d.Date, "language": d.Language, "syntax": d.Syntax} {
			if value != "" {
				meta[key] = value
			}
		}
		out = append(out, format.Record{ID: mark(id), Source: mix.ShareOf(kind), Text: d.Text, Licenses: licenses, Meta: meta})
	}
	for i := range u.samples {
		s := &u.samples[i]
		sample := s.ID
		if u.document == nil {
			sample = id
		}
		out = append(out, format.Record{ID: mark(sample), Source: mix.ShareOf(kind), Licenses: licenses, Sample: s})
	}
	return out
}

// An index iterates over the entries of a part.
func (f *folder) entries(name string) iter.Seq2[entry, error] {
	return func(yield func(entry, error) bool) {
		in, err := os.Open(f.at(name))
		if err != nil {
			yield(entry{}, fmt.Errorf("build: %w", err))
			return
		}
		defer in.Close()
		for line, err := range jsonl.Lines(in, maxLine) {
			var e entry
			if err == nil {
				err = json.Unmarshal(line, &e)
			}
			if err != nil {
				yield(entry{}, fmt.Errorf("build: %s: %w", name, err))
				return
			}
			if !yield(e, nil) {
				return
			}
		}
	}
}

// maxLine bounds the lines of this package's own files.
const maxLine = 1 << 30

// A library reads ranges of the files of parts, of which it keeps some open. It is safe for concurrent use.
type library struct {
	dir  *folder
	mu   sync.Mutex
	open map[string]*os.File
}

const mostOpen = 64

func (l *library) read(name string, offset, length int64) ([]byte, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	f := l.open[name]
	if f == nil {
		if len(l.open) >= mostOpen {
			l.closeAll()
		}
		var err error
		if f, err = os.Open(l.dir.at(name)); err != nil {
			return nil, fmt.Errorf("build: %w", err)
		}
		if l.open == nil {
			l.open = make(map[string]*os.File)
		}
		l.open[name] = f
	}
	data := make([]byte, length)
	if _, err := io.ReadFull(io.NewSectionReader(f, offset, length), data); err != nil {
		return nil, fmt.Errorf("build: %s at %d: %w", name, offset, err)
	}
	return data, nil
}

func (l *library) closeAll() {
	for _, f := range l.open {
		f.Close()
	}
	clear(l.open)
}

func (l *library) close() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.closeAll()
}
