package midtool

// A Summary counts what a corpus consists of. The zero value is ready; Add takes the samples one by one.
type Summary struct {
	Samples   int                   `json:"samples"`
	Families  map[Family]int        `json:"families"`
	Abilities map[Ability]int       `json:"abilities"` // primary
	Evidence  map[EvidenceClass]int `json:"evidence"`
}

// Add counts a sample.
func (s *Summary) Add(sample *Sample) {}
