package openai

// Usage is what a client has used so far.
type Usage struct {
	Requests, Retries int // Requests that were sent, those sent once more included, of which there are Retries
	// Tokens, as the server counts them, or by [bps.EstimateTokens] where it does not tell; Cached are part of Input. Attempts that failed
	// count nothing.
	Input, Cached, Output int
	Cost                  float64 // by [Options].Price
}

// tokens are those of one answer.
type tokens struct{ input, cached, output int }

func (u *Usage) add(t tokens) {
	u.Input += t.input
	u.Cached += t.cached
	u.Output += t.output
}

// cost follows from the totals alone, so that the order of the answers does not change a bit of it.
func (p Price) cost(u Usage) float64 {
	cached := p.Cached
	if cached == 0 {
		cached = p.Input
	}
	return (float64(u.Input-u.Cached)*p.Input + float64(u.Cached)*cached + float64(u.Output)*p.Output) / 1e6
}
