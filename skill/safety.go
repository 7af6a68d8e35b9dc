package skill

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode"

	"go.yaml.in/yaml/v3"

	"github.com/throughline-go/throughline/skill/scan"
)

// Scan looks in every field of the document that can reach a prompt for text that tries to steer an agent, by the rules of
// package scan. Resources are the names of further files of the skill. Nil means that nothing was found.
//
// The findings stand in the order of the file: Field is name, description, license, compatibility, allowed-tools, metadata
// for a key and metadata.KEY for its value, unknown and unknown.KEY for a key that the format does not define, body, and
// resources; a key that is no plain word is quoted and shortened there. Line counts within the text of the field, from 1.
// Values that are YAML text, of unknown keys and of lists and maps, are scanned as they stand and as YAML reads them, and
// there Line counts the texts in them.
//
// A document with a finding of severity [scan.High] should not be shown to a model; [Render] and [NewCatalog] do not
// check. The scan is a filter, no proof of safety. Time is linear in the text.
func (d *Document) Scan(resources ...string) []scan.Finding {
	if d == nil {
		return nil
	}
	var found []scan.Finding
	text := func(field, s string) { found = append(found, scan.Text(field, s)...) }
	value := func(field, s string, isYAML bool) {
		plain := scan.Text(field, s)
		found = append(found, plain...)
		if !isYAML && !strings.HasPrefix(s, "[") && !strings.HasPrefix(s, "{") {
			return
		}
		for _, f := range scan.Text(field, yamlTexts(s)) {
			// Most texts look the same in YAML: what is found in both is told once.
			if !slices.ContainsFunc(plain, func(p scan.Finding) bool { return p.Rule == f.Rule }) {
				found = append(found, f)
			}
		}
	}
	f := &d.Frontmatter
	text("name", f.Name)
	text("description", f.Description)
	value("license", f.License, false)
	value("compatibility", f.Compatibility, false)
	text("allowed-tools", strings.Join(f.AllowedTools, " "))
	for _, k := range slices.Sorted(maps.Keys(f.Metadata)) {
		text("metadata", k)
		value("metadata."+keyLabel(k), f.Metadata[k], false)
	}
	for _, u := range f.Unknown {
		text("unknown", u.Key)
		value("unknown."+keyLabel(u.Key), u.Value, true)
	}
	text("body", d.Content)
	for _, r := range resources {
		text("resources", r)
	}
	return found
}

// keyLabel returns a key as it can stand in a report.
func keyLabel(key string) string {
	const most = 40 // runes
	plain := key != "" && len(key) <= most && !strings.ContainsFunc(key, func(r rune) bool {
		return r != '-' && r != '_' && r != '.' && !unicode.IsLetter(r) && !unicode.IsDigit(r)
	})
	if plain {
		return key
	}
	return fmt.Sprintf("%.*q", most, key)
}

// yamlTexts returns the texts in a YAML value, keys too, one after another on lines of their own; empty if it is no YAML
// or longer than a file may be.
func yamlTexts(s string) string {
	if len(s) > maxFile {
		return ""
	}
	root, err := decodeYAML(s)
	if root == nil || err != nil {
		return ""
	}
	var b strings.Builder
	var walk func(n *yaml.Node)
	walk = func(n *yaml.Node) {
		if n.Kind == yaml.ScalarNode {
			b.WriteString(n.Value + "\n")
		}
		for _, c := range n.Content {
			walk(c)
		}
	}
	walk(root)
	return b.String()
}
