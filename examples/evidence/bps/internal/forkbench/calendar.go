package forkbench

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"time"
)

// A calendarRule says under which year, period and day a date is booked.
type calendarRule struct {
	first   time.Month // the month that opens the year
	ending  bool       // a year is named after the calendar year it ends in, not the one it starts in
	rest    [7]bool    // days of the week on which nothing is booked, Sunday first; not all of them
	forward bool       // a date on such a day moves to the next other day, not to the one before
}

// standardCalendar is the calendar year with Saturday and Sunday off.
func standardCalendar() calendarRule {
	return calendarRule{first: time.January, rest: [7]bool{time.Saturday: true, time.Sunday: true}, forward: true}
}

func drawCalendar(r *rand.Rand) calendarRule {
	c := calendarRule{first: time.Month(2 + r.IntN(11)), ending: r.IntN(2) == 0, forward: r.IntN(2) == 0}
	day := r.IntN(5) // Sunday to Thursday, so that it is never the standard pair
	c.rest[day], c.rest[day+1] = true, true
	return c
}

func readCalendar(f *fields) calendarRule {
	c := calendarRule{
		first:   time.Month(f.number("first-month", 1, 12)),
		ending:  f.choice("year-named-after", "start", "end") == "end",
		forward: f.choice("rest-day-moves", "back", "forward") == "forward",
	}
	for name := range strings.SplitSeq(f.text("rest-days"), " ") {
		day := slices.Index(weekdays(), name)
		if day < 0 || c.rest[day] {
			f.fail("rest-days has %.20q, want different days like %q", name, "mon tue")
			break
		}
		c.rest[day] = true
	}
	if c.rest == [7]bool{true, true, true, true, true, true, true} {
		f.fail("rest-days has all days, want one left")
	}
	return c
}

func weekdays() []string { return []string{"sun", "mon", "tue", "wed", "thu", "fri", "sat"} }

func (c calendarRule) block() string {
	named, moves := "start", "back"
	if c.ending {
		named = "end"
	}
	if c.forward {
		moves = "forward"
	}
	var rest []string
	for day, off := range c.rest {
		if off {
			rest = append(rest, weekdays()[day])
		}
	}
	return block(Calendar, "first-month", strconv.Itoa(int(c.first)), "year-named-after", named, "rest-days", strings.Join(rest, " "),
		"rest-day-moves", moves)
}

func (c calendarRule) example(r *rand.Rand) string {
	date := drawRows(r, 1)[0].date
	return fmt.Sprintf("%s, a %s, is booked as %s", date.Format("2006-01-02"), date.Weekday(), c.book(date))
}

// book returns the label of a date: year, period from 1 to 12, day of the month.
func (c calendarRule) book(date time.Time) string {
	step := -1
	if c.forward {
		step = 1
	}
	for range 6 { // one day of seven at least is no rest day
		if !c.rest[date.Weekday()] {
			break
		}
		date = date.AddDate(0, 0, step)
	}
	year, period := date.Year(), int(date.Month()-c.first)+1
	if period < 1 {
		period += 12
		year--
	}
	if c.ending && c.first != time.January {
		year++
	}
	return fmt.Sprintf("Y%d.P%02d.%02d", year, period, date.Day())
}

func calendarWording() wording {
	return wording{
		title: "booking dates",
		names: [2][]string{
			{"booking-period", "fiscal-calendar", "accounting-dates", "fiscal-day"},
			{"fiscal-period", "booking-calendar", "accounting-period", "fiscal-dates"},
		},
		abouts: [2][]string{
			{
				"States a date as a booking period: fiscal year, period and day.",
				"How dates are converted to the fiscal calendar, and what happens to days on which nothing is booked.",
				"The accounting period of a day. Use it when plain dates have to be written as fiscal ones.",
				"Fiscal dates for bookings: when the accounting year starts and which days are no booking days.",
			},
			{
				"Which fiscal year and accounting period a date belongs to.",
				"Convert days to booking periods; defines the fiscal calendar and its rest days.",
				"Booking calendar for accounts: plain dates are replaced by year, period and day.",
				"Writing dates by the accounting calendar, with the period in which a day is booked.",
			},
		},
		notes: [2][]string{
			{
				"The label is the letter Y with the year, P with the period of two digits, and the day of the month, with points between.",
				"Period 1 is the month that opens the year, and there are twelve of them.",
				"A date on a rest day is moved first; year and period are those of the day it is moved to.",
				"If the next day is a rest day too, it is moved on in the same direction.",
				"Public holidays are ordinary days here.",
				"A year that starts in January has one name only, whichever end it is named after.",
			},
			{
				"Write Y and the year, a point, P and two digits for the period, a point, and two digits for the day.",
				"Count the periods from the opening month of the year, which is number 1.",
				"Rest days are looked at before anything else, because the move may lead into another period.",
				"A move goes on until a day is reached on which bookings are made.",
				"The time of day has no influence.",
				"Be careful around the turn of the year: the name of the year and the calendar year are not the same.",
			},
		},
		asks: [2][]string{
			{"state every date as a booking period", "convert the dates to the fiscal calendar", "give the accounting period of each day",
				"write fiscal dates instead of plain ones"},
			{"replace each day by its fiscal period", "use the booking calendar for the dates", "show the accounting year and period of each date"},
		},
	}
}
