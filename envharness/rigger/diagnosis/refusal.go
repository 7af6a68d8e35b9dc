package diagnosis

import (
	"strconv"
	"strings"

	"github.com/throughline-go/throughline/envharness"
)

// ahead is the number of calls in which a policy is to react to a refusal.
const ahead = 3

// ignoredError is F03: Fail, a refusal at t, and none of the next 3 calls is of the same tool or a read, where reads can be told. Fewer than
// 3 calls follow only if the policy itself ended the episode, and one at least. To wait is the answer to a limit on the rate.
func ignoredError(e *episode) sign {
	if !e.failed {
		return sign{}
	}
	var found []int
	for i, u := range e.turns {
		if u.call < 0 || u.refusal == nil || u.refusal.Class == envharness.ClassRateLimit {
			continue
		}
		end := min(i+1+ahead, len(e.turns))
		if end == i+1 || end < i+1+ahead && !e.stopped {
			continue
		}
		reacts := false
		for k := i + 1; k < end; k++ {
			reacts = reacts || e.tool(k) == e.tool(i) || e.split && e.role(k) == reads
		}
		if !reacts {
			found = append(found, i)
		}
	}
	if len(found) == 0 {
		return sign{}
	}
	first := found[0]
	return e.at(found, "%s was refused (%s), and what follows does not deal with it", e.callOf(first).words(), class(e.turns[first].refusal))
}

// noRetry is F04: a refusal that passes, and the tool is never called again though turns were left or the policy ended the episode.
func noRetry(e *episode) sign {
	if len(e.turns) == 0 {
		return sign{}
	}
	last := make(map[string]int)
	same := func(i int) string {
		if c := e.callOf(i); c.spoken {
			return "\x00" + strconv.Itoa(e.turns[i].call)
		}
		return e.tool(i)
	}
	for i, u := range e.turns {
		if u.call >= 0 {
			last[same(i)] = i
		}
	}
	var found []int
	for i, u := range e.turns {
		if u.call < 0 || !u.passes {
			continue
		}
		chance := i+max(u.wait, 1) < len(e.turns)
		if last[same(i)] == i && (chance || e.stopped) {
			found = append(found, i)
		}
	}
	if len(found) == 0 {
		return sign{}
	}
	first := found[0]
	return e.at(found, "%s failed for a while only (%s) and is not tried again", e.callOf(first).words(), class(e.turns[first].refusal))
}

// blindRetry is F05: at least 2 times, a call refused for good that was refused for good before, with nothing but reads carried out since.
func blindRetry(e *episode) sign {
	var found []int
	for i, u := range e.turns {
		if u.blind {
			found = append(found, i)
		}
	}
	if len(found) < 2 {
		return sign{}
	}
	return e.at(found, "%s and the like repeated %d times after a refusal for good (%s)",
		e.callOf(found[0]).words(), len(found), class(e.turns[found[0]].refusal))
}

// markBlind notes the repetitions of calls refused for good.
func (e *episode) markBlind() {
	epoch := 0 // of a world that stays as it is
	refused := make(map[int]int)
	for i := range e.turns {
		u := &e.turns[i]
		switch {
		case u.call < 0 || u.passes:
		case u.refusal != nil:
			before, ok := refused[u.call]
			u.blind = ok && before == epoch
			u.again = u.blind && e.turns[i-1].call == u.call
			refused[u.call] = epoch
		case !e.split || e.role(i) != reads:
			epoch++
		}
	}
}

// hammering is F20: a refusal of class rate_limit, and the tool is called again within retry_after.
func hammering(e *episode) sign {
	var found []int
	for i, u := range e.turns {
		if u.hammers {
			found = append(found, i)
		}
	}
	if len(found) == 0 {
		return sign{}
	}
	return e.at(found, "%s called again within the time to wait, %d times", e.callOf(found[0]).words(), len(found))
}

// markWaits notes what is called while a limit on the rate runs.
func (e *episode) markWaits() {
	begin := 0
	for i := range e.turns {
		u := &e.turns[i]
		if b := &e.turns[begin]; b.wait > 0 && i < begin+b.wait {
			again := u.call == b.call
			if u.call >= 0 && !e.calls[b.call].spoken {
				again = e.calls[u.call].action.Name == e.calls[b.call].action.Name
			}
			u.hammers, u.waiting = again, !again
			continue
		}
		if u.call >= 0 && u.refusal != nil && u.refusal.Class == envharness.ClassRateLimit {
			begin, u.wait = i, retryAfter(u.refusal.Message)
		}
	}
}

// retryAfter returns the number after "retry_after" in a message: turns from the refused call until one is let through. Without one the
// next turn is too early.
func retryAfter(message string) int {
	const unknown, most = 2, 1 << 20
	_, rest, ok := strings.Cut(message, "retry_after")
	rest = strings.TrimLeft(rest, " :=\"")
	end := 0
	for end < len(rest) && rest[end] >= '0' && rest[end] <= '9' {
		end++
	}
	if !ok || end == 0 {
		return unknown
	}
	n, err := strconv.Atoi(rest[:end])
	if err != nil {
		return most
	}
	return min(n, most)
}
