package skill

// A Document is a skill in the Agent Skills format: the content of one SKILL.md file. It implements [Skill]. [Parse] and
// [LoadFS] read documents, [Marshal] and [WriteDir] write them, [Induce] makes them from a finished episode.
type Document struct {
	Frontmatter Frontmatter
	Content     string // Markdown after the frontmatter; lines end in \n
	CRLF        bool   // the file's lines end in \r\n; Content does not show it
}

// Frontmatter is the YAML head of a SKILL.md file. All values are the text of the file, never numbers, booleans or dates.
// The limits below are those of the format: [Marshal] and a strict [Parse] keep them, a lenient one reports what breaks them.
type Frontmatter struct {
	Name          string // 1 to 64 runes: lower-case letters, decimal digits, single hyphens inside
	Description   string // 1 to 1,024 runes; what the skill does and when to use it
	License       string // empty means not stated
	Compatibility string // at most 500 runes; empty means not stated

	// AllowedTools lists the tools that the skill may use, for example "Bash(git add:*)". Nil means that the file makes
	// no statement, empty but not nil that it allows none.
	AllowedTools []string

	// Metadata holds free keys and values; nil if there are none. A value that was not a scalar is its YAML text. The keys of
	// a [Record] start with "throughline-".
	Metadata map[string]string

	// Unknown holds the keys that the format does not define, in the order of the file, so that they are not lost when it
	// is written again; nil if there are none.
	Unknown []Field
}

// A Field is a frontmatter key that the format does not define.
type Field struct {
	Key   string
	Value string // as YAML text, without comments and the end of its last line; empty for null
}

// Name returns the name of the skill.
func (d *Document) Name() string { return d.Frontmatter.Name }

// Description returns the description of the skill, by which it is found.
func (d *Document) Description() string { return d.Frontmatter.Description }

// Body returns the content after the frontmatter.
func (d *Document) Body() string { return d.Content }
