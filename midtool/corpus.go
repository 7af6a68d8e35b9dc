package midtool

// A Corpus is what was made and what was left out.
type Corpus struct {
	Samples  []Sample    // in a fixed order; nil where they were handed to a callback
	Kept     int         // number of samples
	Tokens   int         // sum over the samples of [Findings] Tokens
	Tools    int         // distinct usable tools
	Rejected []Rejection // tools first, then samples, in a fixed order
}

// Reasons counts what was left out by reason.
func (c *Corpus) Reasons() map[string]int {
	out := make(map[string]int)
	for _, r := range c.Rejected {
		out[r.Reason]++
	}
	return out
}

// DefaultLicenses returns the SPDX identifiers of the licenses whose tools are used unless a caller names others.
func DefaultLicenses() []string {
	return []string{"MIT", "Apache-2.0", "BSD-2-Clause", "BSD-3-Clause", "ISC", "CC0-1.0"}
}
