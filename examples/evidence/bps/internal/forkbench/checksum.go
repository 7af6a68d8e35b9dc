package forkbench

import (
	"fmt"
	"math/bits"
	"math/rand/v2"
)

// A checksumRule is a cyclic redundancy check of 16 bits.
type checksumRule struct {
	poly, start, final uint16
	mirrored           bool // bytes are taken with the lowest bit first, and so is the result
}

// standardChecksum is the variant known as CRC-16/CCITT-FALSE.
func standardChecksum() checksumRule { return checksumRule{poly: 0x1021, start: 0xffff} }

func drawChecksum(r *rand.Rand) checksumRule {
	// A polynomial of a checksum is odd; the standard one is even in the middle, so it cannot come out.
	return checksumRule{
		poly:     uint16(r.Uint32()) | 0x0101,
		start:    uint16(r.Uint32()),
		final:    uint16(r.Uint32()),
		mirrored: r.IntN(2) == 0,
	}
}

func readChecksum(f *fields) checksumRule {
	return checksumRule{
		poly:     uint16(f.number("poly", 1, 0xffff)),
		start:    uint16(f.number("start", 0, 0xffff)),
		final:    uint16(f.number("final", 0, 0xffff)),
		mirrored: f.choice("mirrored", "no", "yes") == "yes",
	}
}

func (c checksumRule) block() string {
	mirrored := "no"
	if c.mirrored {
		mirrored = "yes"
	}
	hex := func(n uint16) string { return fmt.Sprintf("%#04x", n) }
	return block(Checksum, "poly", hex(c.poly), "start", hex(c.start), "final", hex(c.final), "mirrored", mirrored)
}

func (c checksumRule) example(r *rand.Rand) string {
	text := sampleText(r)
	return fmt.Sprintf("the text %q has the code %s", text, c.code(text))
}

// code returns the checksum of a text as four hexadecimal digits.
func (c checksumRule) code(text string) string {
	sum := c.start
	for i := range len(text) {
		b := text[i]
		if c.mirrored {
			b = bits.Reverse8(b)
		}
		sum ^= uint16(b) << 8
		for range 8 {
			top := sum & 0x8000
			sum <<= 1
			if top != 0 {
				sum ^= c.poly
			}
		}
	}
	if c.mirrored {
		sum = bits.Reverse16(sum)
	}
	return fmt.Sprintf("%04x", sum^c.final)
}

func checksumWording() wording {
	return wording{
		title: "check codes",
		names: [2][]string{
			{"control-code", "checksum-digits", "text-check-code", "integrity-code"},
			{"check-digits", "closing-checksum", "control-digits", "checksum-rule"},
		},
		abouts: [2][]string{
			{
				"Computes the control code that closes a text, so that a reader can check its integrity.",
				"How to add check digits at the end of a text: the checksum and the form it is written in.",
				"The checksum behind a text. Use it when a text has to end with a control code.",
				"Integrity code of a text, four check digits that are put behind it.",
			},
			{
				"Which checksum a text is closed with, and how its control digits are computed.",
				"Add the check code of a text at its end; defines the checksum behind the digits.",
				"Control code for texts that travel: the integrity digits are appended to the text.",
				"Computing the closing check digits of a text by a checksum of its own.",
			},
		},
		notes: [2][]string{
			{
				"The code is taken over all bytes of the text as it stands, line ends included, before anything else is done to it.",
				"A slash comes between the text and the code, and is not part of what the code is taken over.",
				"The four digits are written in small letters, with zeros in front where there are fewer.",
				"Two texts that differ in one letter never have the same code.",
				"If the text is changed afterwards, even by a blank, the code has to be computed again.",
				"The register starts with the given value, takes the bytes one after another and is combined with the final value.",
			},
			{
				"Take the bytes of the finished text in order; a line end is one byte and counts.",
				"The digits follow the text after a slash.",
				"Always write four hexadecimal digits, small letters, padded with zeros on the left.",
				"A swap of two neighbouring letters shows in the code, which a plain sum would miss.",
				"The code protects against slips, not against people who mean harm.",
				"Mirrored means that each byte enters with its lowest bit first, and that the result is turned around in the same way.",
			},
		},
		asks: [2][]string{
			{"append the control code", "add the check digits at the end", "close the text with its checksum",
				"put the integrity code behind the text"},
			{"finish with the check code", "let the control digits follow the text", "add the checksum digits last"},
		},
	}
}
