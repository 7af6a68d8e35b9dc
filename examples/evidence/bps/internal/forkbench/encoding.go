package forkbench

import (
	"encoding/base32"
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
)

// An encodingRule is a base-32 encoding with an alphabet of its own.
type encodingRule struct {
	alphabet string // 32 different letters and digits
	pad      byte   // fills the last eight letters; 0 for none
	group    int    // a dash comes after this many letters; 0 for none
}

// standardEncoding is the one of RFC 4648.
func standardEncoding() encodingRule {
	return encodingRule{alphabet: "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567", pad: '='}
}

func drawEncoding(r *rand.Rand) encodingRule {
	letters := []byte("abcdefghijklmnopqrstuvwxyz0123456789")
	r.Shuffle(len(letters), func(i, j int) { letters[i], letters[j] = letters[j], letters[i] })
	return encodingRule{
		alphabet: string(letters[:32]),
		pad:      [...]byte{'+', '_', '.', 0}[r.IntN(4)],
		group:    [...]int{0, 4, 5, 6}[r.IntN(4)],
	}
}

func readEncoding(f *fields) encodingRule {
	e := encodingRule{alphabet: f.text("alphabet"), group: int(f.number("group", 0, 64))}
	if len(e.alphabet) != 32 {
		f.fail("alphabet has %d letters, want 32", len(e.alphabet))
	}
	for i, c := range e.alphabet {
		if !letterOrDigit(c) || strings.IndexRune(e.alphabet, c) < i {
			f.fail("alphabet has %q, want different letters and digits", c)
		}
	}
	switch pad := f.text("pad"); {
	case pad == "none":
	case len(pad) == 1 && pad[0] > ' ' && pad[0] <= '~' && !letterOrDigit(rune(pad[0])):
		e.pad = pad[0]
	default:
		f.fail("pad is %.20q, want a mark or none", pad)
	}
	return e
}

func (e encodingRule) block() string {
	pad := "none"
	if e.pad != 0 {
		pad = string(rune(e.pad))
	}
	return block(Encoding, "alphabet", e.alphabet, "pad", pad, "group", strconv.Itoa(e.group))
}

func (e encodingRule) example(r *rand.Rand) string {
	text := sampleText(r)
	return fmt.Sprintf("the text %q becomes %s", text, e.encode(text))
}

func (e encodingRule) encode(text string) string {
	pad := base32.NoPadding
	if e.pad != 0 {
		pad = rune(e.pad)
	}
	code := base32.NewEncoding(e.alphabet).WithPadding(pad).EncodeToString([]byte(text))
	if e.group == 0 {
		return code
	}
	var b strings.Builder
	for i := range len(code) {
		if i > 0 && i%e.group == 0 {
			b.WriteByte('-')
		}
		b.WriteByte(code[i])
	}
	return b.String()
}

func encodingWording() wording {
	return wording{
		title: "transport letters",
		names: [2][]string{
			{"wire-letters", "transport-alphabet", "text-to-wire-code", "letter-encoding"},
			{"wire-encoding", "coded-alphabet", "transport-letters", "encode-for-transport"},
		},
		abouts: [2][]string{
			{
				"Encodes a text for the wire: its bytes are written in an alphabet of 32 letters.",
				"How to turn a whole text into transport letters, with the alphabet and the padding.",
				"The coded alphabet of the wire. Use it when the final output has to be encoded.",
				"Transport encoding of texts, five bits to a letter, in the alphabet given here.",
			},
			{
				"Which alphabet is used to encode a text for transport, and how its letters are grouped.",
				"Write a result in wire letters: the encoding, its alphabet and the mark that fills the end.",
				"Encoding for output that leaves over the wire: every five bits become a letter of the coded alphabet.",
				"Turning the final text into letters for transport, one alphabet for all texts.",
			},
		},
		notes: [2][]string{
			{
				"The bits of the text are taken five at a time from the left, and each five of them are a place in the alphabet.",
				"At the end zero bits are added until there are five.",
				"Where a padding mark is given, the last group of eight letters is filled with it.",
				"Dashes only help the eye and are put in after the padding, counted from the left.",
				"Encode last. Whatever else is done to the text comes before.",
				"Letter case matters; there is no second spelling of a letter.",
			},
			{
				"Read the text as bytes and these as one long row of bits; five bits name one letter.",
				"A rest of fewer than five bits is filled with zeros on the right.",
				"The padding mark, if there is one, fills up to a multiple of eight letters.",
				"The dashes between groups are set when everything else is in place.",
				"Nothing may be changed after the text has been encoded.",
				"The alphabet has no letter twice, so that the way back is always clear.",
			},
		},
		asks: [2][]string{
			{"encode the result for the wire", "turn the whole text into transport letters", "hand over the output in the coded alphabet",
				"write the final text in wire letters"},
			{"the output has to be in transport encoding", "encode everything into wire letters",
				"recode the final text with the transport alphabet"},
		},
	}
}
