package midtool

// An Edge says that one tool produces what another takes.
type Edge struct {
	Producer   int     // index of the tool whose result has the value
	Consumer   int     // index of the tool that takes it
	Field      string  // name of the field of the result; empty if unknown
	Parameter  string  // name of the required or optional parameter
	Rule       string  // "field" (R1), "identifier" (R2) or "mention" (R3)
	Confidence float64 // in (0, 1]
}

// DependencyOptions adjusts [Dependencies]. A nil *DependencyOptions equals &DependencyOptions{}.
type DependencyOptions struct {
	MinConfidence *float64 // edges below are dropped; in [0, 1]; nil means 0.5
	AcrossGroups  bool     // edges of rule "field" with confidence 0.9 or more may join tools of different groups
}

// Dependencies finds which tools feed which, by rules on names, schemas and descriptions, without a model.
func Dependencies(tools []Tool, o *DependencyOptions) ([]Edge, error) {
	return nil, nil
}
