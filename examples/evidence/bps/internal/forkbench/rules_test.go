package forkbench

import (
	"testing"
	"time"
)

func TestChecksum(t *testing.T) {
	for _, tt := range []struct {
		name   string
		rule   checksumRule
		want   string
		reason string
	}{
		{"standard", standardChecksum(), "29b1", "check value of CRC-16/CCITT-FALSE for 123456789"},
		{"xmodem", checksumRule{poly: 0x1021}, "31c3", "check value of CRC-16/XMODEM"},
		{"arc", checksumRule{poly: 0x8005, mirrored: true}, "bb3d", "check value of CRC-16/ARC: mirrored, starts at 0"},
		{"x25", checksumRule{poly: 0x1021, start: 0xffff, final: 0xffff, mirrored: true}, "906e", "check value of CRC-16/X-25"},
	} {
		if got := tt.rule.code("123456789"); got != tt.want {
			t.Errorf("%s: got %s, want %s (%s)", tt.name, got, tt.want, tt.reason)
		}
	}
}

func TestEncoding(t *testing.T) {
	for _, tt := range []struct {
		name   string
		rule   encodingRule
		want   string
		reason string
	}{
		{"standard", standardEncoding(), "MZXW6YTBOI======", "RFC 4648, section 10"},
		{"other letters", encodingRule{alphabet: "abcdefghijklmnopqrstuvwxyz234567", pad: '+'}, "mzxw6ytboi++++++", "the same places"},
		{"groups", encodingRule{alphabet: "abcdefghijklmnopqrstuvwxyz234567", group: 4}, "mzxw-6ytb-oi", "no padding, dashes"},
	} {
		if got := tt.rule.encode("foobar"); got != tt.want {
			t.Errorf("%s: got %s, want %s (%s)", tt.name, got, tt.want, tt.reason)
		}
	}
}

func TestCalendar(t *testing.T) {
	april := calendarRule{first: time.April, rest: [7]bool{time.Sunday: true, time.Monday: true}}
	ending := april
	ending.ending = true
	january := standardCalendar()
	january.ending = true
	forward := april
	forward.forward = true
	for _, tt := range []struct {
		name   string
		rule   calendarRule
		date   string
		want   string
		reason string
	}{
		{"standard", standardCalendar(), "2026-03-17", "Y2026.P03.17", "a Tuesday of a calendar year"},
		{"weekend", standardCalendar(), "2026-05-30", "Y2026.P06.01", "a Saturday moves to Monday, in the next period"},
		{"before the opening month", april, "2026-03-17", "Y2025.P12.17", "March is the last of twelve periods from April"},
		{"opening month", april, "2026-04-01", "Y2026.P01.01", "a Wednesday"},
		{"named after the end", ending, "2026-04-01", "Y2027.P01.01", "the year from April 2026 ends in 2027"},
		{"January has one name", january, "2026-03-17", "Y2026.P03.17", "a year from January ends where it starts"},
		{"back into the last year", april, "2024-04-01", "Y2023.P12.30", "a Monday moves over Sunday to Saturday, the 30th of March"},
		{"forward", forward, "2026-03-29", "Y2025.P12.31", "a Sunday moves over Monday to Tuesday"},
	} {
		date, err := time.Parse("2006-01-02", tt.date)
		if err != nil {
			t.Fatal(err)
		}
		if got := tt.rule.book(date); got != tt.want {
			t.Errorf("%s: got %s, want %s (%s)", tt.name, got, tt.want, tt.reason)
		}
	}
}

func TestTemplate(t *testing.T) {
	own := templateRule{open: "<:", close: ":>", upper: "!", reverse: "+", first: "?"}
	value := func(column string) string { return map[string]string{"town": "Elm", "id": "A12"}[column] }
	for _, tt := range []struct {
		name   string
		rule   templateRule
		form   string
		want   string
		reason string
	}{
		{"standard", standardTemplate(), "{{^town}} {{~id}} {{.id}} {{id}}", "ELM 21A A A12", "the three marks and none"},
		{"own", own, "<:!town:>/<:+id:>/<:?id:>", "ELM/21A/A", "the same with other marks"},
		{"foreign", own, "{{^town}}", "{{^town}}", "other brackets are text"},
		{"not closed", own, "a <:town", "a <:town", "what does not close is text"},
		{"no such column", own, "[<:age:>]", "[]", "an unknown column is empty"},
		{"first of nothing", own, "[<:?age:>]", "[]", "there is no first letter"},
	} {
		if got := tt.rule.render(tt.form, value); got != tt.want {
			t.Errorf("%s: got %q, want %q (%s)", tt.name, got, tt.want, tt.reason)
		}
	}
}

func TestQuery(t *testing.T) {
	rows := []row{{id: "A", town: "Fern", state: "open", weight: 30}, {id: "B", town: "Elm", state: "void", weight: 20},
		{id: "C", town: "Elm", state: "open", weight: 10}, {id: "D", town: "Dorn", state: "open", weight: 20}}
	own := queryRule{equal: "::", least: "^", most: "%", join: "&", sort: "!", take: "@"}
	for _, tt := range []struct {
		name   string
		rule   queryRule
		query  string
		want   string
		reason string
	}{
		{"standard", standardQuery(), "state = open and weight >= 20 and sort town and take 1", "D", "A and D remain, Dorn comes before Fern"},
		{"own", own, "state :: open & weight ^ 20 & ! town & @ 1", "D", "the same in other marks"},
		{"at most", own, "weight % 20", "BCD", "the value itself is included"},
		{"stable", own, "! town", "DBCA", "B and C have one town and keep their order"},
		{"more than there are", own, "@ 9", "ABCD", "all that there are"},
		{"foreign", own, "state = open", "error", "the mark is unknown"},
		{"size of a text", own, "town ^ 3", "error", "sizes are for the weight alone"},
		{"negative number", own, "@ -1", "error", "no rows cannot be less than none"},
		{"empty", own, "", "error", "one term that is none"},
	} {
		got := ""
		kept, err := tt.rule.pick(tt.query, rows)
		for _, r := range kept {
			got += r.id
		}
		if err != nil {
			got = "error"
		}
		if got != tt.want {
			t.Errorf("%s: got %s, want %s (%s)", tt.name, got, tt.want, tt.reason)
		}
	}
	if rows[0].id != "A" || rows[1].id != "B" {
		t.Error("pick changed the table")
	}
}
