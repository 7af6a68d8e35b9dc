package memory

import (
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// The definitions of a program, each at the start of a line or after the end of a statement, so that comments at the end of a line and
// most strings do not count. The last group that matched is the name.
var (
	pythonDefinition = regexp.MustCompile(`(?m)(?:^|;)[ \t]*(?:async[ \t]+)?def[ \t]+([\pL_][\pL\pN\p{Mn}_]*)[ \t]*[(\[]`)
	scriptDefinition = regexp.MustCompile(`(?m)(?:^|[;{}])[ \t]*(?:export[ \t]+)?(?:default[ \t]+)?(?:` +
		`(?:async[ \t]+)?function(?:[ \t]*\*[ \t]*|[ \t]+)([\pL_$][\pL\pN\p{Mn}_$]*)[ \t]*[(<]|` +
		`(?:const|let|var)[ \t]+([\pL_$][\pL\pN\p{Mn}_$]*)[ \t]*(?::[^=;\n]*)?=)`)
)

// defines says whether source defines a function. Python and JavaScript with TypeScript are known by the name of the language; of others
// it is enough that the name occurs as a word.
func defines(language, source, function string) bool {
	var definition *regexp.Regexp
	switch strings.ToLower(language) {
	case "python", "python3", "py", "py3", "ipython":
		definition = pythonDefinition
	case "javascript", "js", "jsx", "mjs", "cjs", "node", "typescript", "ts", "tsx":
		definition = scriptDefinition
	default:
		return occurs(source, function)
	}
	for _, m := range definition.FindAllStringSubmatch(source, -1) {
		if slices.Contains(m[1:], function) {
			return true
		}
	}
	return false
}

// occurs says whether a word stands in a text with no letter, digit or underscore beside it.
func occurs(text, word string) bool {
	for at := 0; word != ""; at += len(word) {
		i := strings.Index(text[at:], word)
		if i < 0 {
			return false
		}
		at += i
		before, _ := utf8.DecodeLastRuneInString(text[:at])
		after, _ := utf8.DecodeRuneInString(text[at+len(word):])
		if !inWord(before) && !inWord(after) {
			return true
		}
	}
	return false
}

func inWord(r rune) bool { return r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r) }
